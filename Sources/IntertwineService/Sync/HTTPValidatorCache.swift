internal import Foundation
internal import IntertwineFeed
internal import IntertwineImages
internal import IntertwinePrimitives

struct HTTPValidatorCache: Sendable, Hashable {
    var pages: [Page] = []
    var items = 0
    var skipped = 0
    var omittedValues = 0
    var invalid: [String] = []
    var version: StoreVersion?
    /// The page that a failed synchronization did not find, although the one before it had found it.
    var missingPage: Int?

    struct Page: Sendable, Hashable {
        var url: FetchURL
        var entityTag: String?
        var lastModified: String?
        /// Empty for the end of a numbered list.
        var digest: [UInt8]

        var hasValidator: Bool { entityTag != nil || lastModified != nil }
    }
}

/// A record of the last successful synchronisation of a source and of its list, in a small file beside the store. It outlives the process,
/// and all processes share it. Why: a write to the store itself would make cached pages stale.
struct SourceRecord: Sendable, Hashable, Codable {
    /// The time in milliseconds since 1970-01-01 UTC.
    var lastSuccess: Int64
    var items: Int
    var skipped: Int
    var pages: Int
    var omittedValues: Int?
    var invalid: [String]?

    init(of outcome: SourceOutcome) {
        lastSuccess = WallClock.now()
        (items, skipped, pages) = (outcome.items, outcome.skipped, outcome.pages)
        (omittedValues, invalid) = (outcome.omittedValues, outcome.invalid)
    }

    init?(of source: String, nextTo database: String) {
        guard let data = FileManager.default.contents(atPath: Self.path(source, database)),
            let record = try? JSONDecoder().decode(SourceRecord.self, from: data)
        else { return nil }
        self = record
    }

    func save(_ source: String, nextTo database: String) {
        guard let data = try? JSONEncoder().encode(self) else { return }
        try? data.write(to: URL(fileURLWithPath: Self.path(source, database)), options: .atomic)
    }

    private static func path(_ source: String, _ database: String) -> String { "\(database).synced-\(source)" }
}
