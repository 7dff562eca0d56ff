internal import Foundation
internal import IntertwineFeed
internal import IntertwineImages
internal import IntertwinePrimitives

/// The validators of the pages of the last applied snapshot, for conditional requests. The poller keeps it; with an empty cache all pages
/// are read.
///
/// ```swift
/// var validators = HTTPValidatorCache()
/// _ = try await job.run(&validators)  // All pages are read.
/// _ = try await job.run(&validators)  // Unchanged pages are answered with 304.
/// ```
struct HTTPValidatorCache: Sendable, Hashable {
    var pages: [Page] = []
    /// The number of valid and skipped items of that snapshot.
    var items = 0
    var skipped = 0
    var omittedValues = 0
    var invalid: [String] = []
    /// The version of the store at which it was last known to contain all items of the source.
    var version: StoreVersion?

    /// Creates an empty cache, with which the next synchronisation reads all pages.
    init() {}

    struct Page: Sendable, Hashable {
        var url: FetchURL
        /// The values of `ETag` and `Last-Modified`, unchanged.
        var entityTag: String?
        var lastModified: String?
        /// The digest of the body.
        var digest: [UInt8]

        var hasValidator: Bool { entityTag != nil || lastModified != nil }
    }
}

/// A record of the last successful synchronisation of a source and of its list, in a small file beside the store. It outlives the process,
/// and all processes share it.
/// Why: a write to the store itself would make cached pages stale.
///
/// ```swift
/// if let record = SourceRecord(of: "news", nextTo: "items.sqlite") {
///     print("\(record.items) items in \(record.pages) pages")
/// }
/// ```
struct SourceRecord: Sendable, Hashable, Codable {
    /// The time in milliseconds since 1970-01-01 UTC.
    var lastSuccess: Int64
    /// The number of valid and skipped items of the list, and its pages.
    var items: Int
    /// The number of invalid items that were skipped.
    var skipped: Int
    /// The number of pages of the list.
    var pages: Int
    /// The number of invalid values of optional fields, which were left out.
    var omittedValues: Int?
    /// The first of these values and of the skipped items, with their reasons.
    var invalid: [String]?

    init(of outcome: SourceOutcome) {
        lastSuccess = WallClock.now()
        (items, skipped, pages) = (outcome.items, outcome.skipped, outcome.pages)
        (omittedValues, invalid) = (outcome.omittedValues, outcome.invalid)
    }

    /// Reads the record of a source. Returns nil if the record is missing or unreadable.
    ///
    /// - Parameter database: The store's file.
    init?(of source: String, nextTo database: String) {
        guard let data = FileManager.default.contents(atPath: Self.path(source, database)),
            let record = try? JSONDecoder().decode(SourceRecord.self, from: data)
        else { return nil }
        self = record
    }

    /// Writes the record. A failure is ignored: the source is in step all the same, and the next start reads an older record.
    func save(_ source: String, nextTo database: String) {
        guard let data = try? JSONEncoder().encode(self) else { return }
        try? data.write(to: URL(fileURLWithPath: Self.path(source, database)), options: .atomic)
    }

    private static func path(_ source: String, _ database: String) -> String { "\(database).synced-\(source)" }
}
