internal import Foundation

/// `store.*`: the files that the service keeps.
public struct StoreSettings: Sendable {
    /// The items. Its folder is the data folder: ledger, signing key and image cache are kept beside it.
    public var database: String

    init(_ reader: inout SettingsReader) throws {
        // SQLite takes some names for something else than a file, and the ledger is to be found beside it.
        database = try reader.read(
            "store.database", default: "data/intertwine.sqlite", allowed: "a file's path, neither :memory: nor a file: URL",
            where: { !$0.isEmpty && $0 != ":memory:" && !$0.lowercased().hasPrefix("file:") })
    }

    /// `intertwine.sqlite` keeps its ledger in `intertwine.ledger.sqlite`: a long import never makes a click wait.
    public var ledgerDatabase: String {
        let url = URL(fileURLWithPath: database)
        let suffix = url.pathExtension.isEmpty ? "" : "." + url.pathExtension
        return url.deletingPathExtension().path + ".ledger" + suffix
    }

    /// A file or folder in the data folder.
    public func path(of name: String) -> String {
        URL(fileURLWithPath: database).deletingLastPathComponent().appendingPathComponent(name).path
    }
}
