import Synchronization

/// Remembers where the middle of the feed lies, so that it is looked for once per change of the store and not once per request.
final class FeedMidpoint: Sendable {
    private struct Known {
        var version: StoreVersion
        var place: FeedPlace?
    }

    private let known = Mutex<Known?>(nil)

    /// - Parameters:
    ///   - version: the store's, read before the snapshot was taken, so that what is kept under it is never older.
    ///   - sections: those that have advertisements; the middle is that of their items.
    func place(at version: StoreVersion, of source: any DataSource, sections: [Int], in snapshot: any FeedSnapshot) throws -> FeedPlace? {
        if let known = known.withLock({ $0 }), known.version == version { return known.place }
        let place = try Self.find(in: source, sections: sections, of: snapshot)
        known.withLock { $0 = Known(version: version, place: place) }
        return place
    }

    private static func find(in source: any DataSource, sections: [Int], of snapshot: any FeedSnapshot) throws -> FeedPlace? {
        let counts = try sections.map { try source.itemCount(in: $0, of: snapshot) }
        var index = counts.reduce(0, +) / 2
        for (section, count) in zip(sections, counts) {
            if index < count { return try source.place(at: index, in: section, of: snapshot).map { FeedPlace(section: section, item: $0) } }
            index -= count
        }
        return nil
    }
}
