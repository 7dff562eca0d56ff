internal import Foundation
internal import IntertwineFeed
internal import IntertwineFetch
internal import IntertwinePrimitives

/// The pages of the last snapshot that was applied: what asks the origin whether anything is new. Kept by whoever polls; without it everything
/// is read.
public struct HTTPValidatorCache: Sendable, Hashable {
    var pages: [Page] = []
    /// Good and skipped items of that snapshot.
    var items = 0
    var skipped = 0
    /// The store's, when what the source brought was last seen to be all there.
    var version: StoreVersion?

    public init() {}

    struct Page: Sendable, Hashable {
        var url: FetchURL
        /// `ETag` and `Last-Modified`, as they came.
        var entityTag: String?
        var lastModified: String?
        /// Of the body.
        var digest: [UInt8]

        var hasValidator: Bool { entityTag != nil || lastModified != nil }
    }
}

/// When a source was last found or brought in step, and by which list: a small file beside the store, so that it outlives the process and is the
/// same whoever synchronised. Not in the store itself, of which every write makes finished pages stale.
public struct SourceRecord: Sendable, Hashable, Codable {
    /// Milliseconds since 1970-01-01 UTC.
    public var lastSuccess: Int64
    /// Good and skipped items of the list, and its pages.
    public var items: Int
    public var skipped: Int
    public var pages: Int

    init(of outcome: SourceOutcome) {
        lastSuccess = WallClock.now()
        (items, skipped, pages) = (outcome.items, outcome.skipped, outcome.pages)
    }

    /// Nil where there is none that can be read.
    ///
    /// - Parameter database: the store's file.
    public init?(of source: String, beside database: String) {
        guard let data = FileManager.default.contents(atPath: Self.path(source, database)),
            let record = try? JSONDecoder().decode(SourceRecord.self, from: data)
        else { return nil }
        self = record
    }

    /// Where the disk does not take it, the source is in step all the same: what is known is then older after the next start.
    func save(_ source: String, beside database: String) {
        guard let data = try? JSONEncoder().encode(self) else { return }
        try? data.write(to: URL(fileURLWithPath: Self.path(source, database)), options: .atomic)
    }

    private static func path(_ source: String, _ database: String) -> String { "\(database).synced-\(source)" }
}
