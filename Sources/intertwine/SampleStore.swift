import Foundation
import Glibc
import IntertwineFeed
import IntertwinePrimitives
import IntertwineSample
import IntertwineService
import IntertwineStorage

/// The store of `intertwine serve --sample`: a temporary folder, or the store that a flag or the environment names.
/// The configuration file never names it, so that the sample does not enter the store of an installed service by accident.
struct SampleStore {
    let settings: [String: String]
    private let temporaryFolder: String?

    init(_ named: ServiceConfiguration, begins: (() throws -> @Sendable () -> Void) throws -> Void) throws {
        let listeners = [(named.server.host, named.server.port), (named.admin.host, named.admin.port)]
        for listener in listeners.map({ LocalRequest(host: $0.0, port: $0.1) }) where listener.isAnswered {
            throw ExitError("\(listener.authority) is in use: select other ports with --port and --admin-port")
        }
        var settings = ["sources.file": "", "campaigns.file": "", "ads.placement": "at 1, 9"]
        let folder: String
        switch named.settings.first(where: { $0.key == "store.database" })?.origin {
        case .flag, .environment:
            named.store.makeDataFolder()
            folder = named.store.path(of: "")
            guard access(folder, W_OK | X_OK) == 0 else { throw ExitError("\(folder): cannot be written: \(OwnedFile.reason(folder))") }
            temporaryFolder = nil
        default:
            var made = ""
            try begins {
                made = try Self.makeTemporaryFolder()
                return { [made] in Self.remove(made) }
            }
            (folder, temporaryFolder) = (made, made)
            settings["store.database"] = "\(folder)/intertwine.sqlite"
        }
        let kinds = URL(fileURLWithPath: folder).appendingPathComponent("sample-kinds.yaml")
        do {
            try Data(SampleFeed.kinds).write(to: kinds, options: .atomic)
        } catch {
            if let temporaryFolder { Self.remove(temporaryFolder) }
            throw ExitError("\(kinds.path): cannot be written: \(error.localizedDescription)")
        }
        settings["kinds.file"] = kinds.path
        self.settings = settings
    }

    /// Imports the items of the sample that the store does not have, unless the store was filled before.
    func fill(_ configuration: ServiceConfiguration) async throws -> String? {
        let items = try configuration.store.items()
        var missing = SampleFeed.items
        if items.isThere {
            let store = try items.open(reading: ReadLimits())
            let hasSample = try await store.read { snapshot in
                try SampleFeed.events.contains { try snapshot.storedItem(kind: "event", id: $0) != nil }
            }
            guard !hasSample else { return nil }
            guard let found = try await Self.missingItems(of: store) else {
                throw ExitError("\(items.shown): has other items; name another store with --database")
            }
            missing = found
        }
        let importer = try items.importer(kinds: try configuration.itemKinds(), policy: .stop, limit: .max) { _ in }
        try importer.append(missing)
        try importer.endOfFile()
        let summary = try importer.commit()
        return "\(configuration.store.location): added \(summary.added), replaced \(summary.replaced), skipped \(summary.skipped)"
    }

    private static func missingItems(of store: any ItemStore) async throws -> [UInt8]? {
        let objects = try JSONSerialization.jsonObject(with: Data(SampleFeed.items)) as? [[String: Any]] ?? []
        let keys = objects.map { ItemKey(kind: "\($0["kind"] ?? "")", id: "\($0["id"] ?? "")") }
        let (stored, isEmpty) = try await store.read { snapshot in
            (try Set(keys.filter { try snapshot.storedItem(kind: $0.kind, id: $0.id) != nil }), try snapshot.count(in: .content) == 0)
        }
        guard isEmpty || stored.count * 2 > keys.count else { return nil }
        let missing = zip(keys, objects).filter { !stored.contains($0.0) }.map { $0.1 }
        return Array(try JSONSerialization.data(withJSONObject: missing))
    }

    func remove() {
        if let temporaryFolder { Self.remove(temporaryFolder) }
    }

    /// Why several attempts: a connection that closes meanwhile removes its own files, and `FileManager` stops at a file that has vanished.
    private static func remove(_ folder: String) {
        for _ in 0..<10 where access(folder, F_OK) == 0 { try? FileManager.default.removeItem(atPath: folder) }
    }

    static func suggestions(at address: String) -> String {
        let service = "http://" + address.replacing("0.0.0.0:", with: "127.0.0.1:").replacing("[::]:", with: "[::1]:")
        return """

            Open \(service) in a browser, or try:
              curl '\(service)/feed?limit=2'
              curl -X POST '\(service)/cells/user:tongue-twister/selection'
              curl --json '{"reason": "other", "note": "sold out"}' '\(service)/cells/event:open-air-cinema/report'

            Ctrl-C stops the service.
            """
    }

    private static func makeTemporaryFolder() throws -> String {
        var template = Array("\(FileManager.default.temporaryDirectory.path)/intertwine-sample-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw ExitError("no temporary folder can be created: \(String(cString: strerror(errno)))") }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
