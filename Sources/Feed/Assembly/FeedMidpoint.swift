import Synchronization

/// Remembers where the middle of the feed lies, so that it is looked for once per change of the store and not once per request.
final class FeedMidpoint: Sendable {
    private struct Known {
        var version: StoreVersion
        var position: Int64?
    }

    private let known = Mutex<Known?>(nil)

    /// - Parameter version: the store's, read before the snapshot was taken, so that what is kept under it is never older.
    func position(at version: StoreVersion, in snapshot: any FeedSnapshot) throws -> Int64? {
        if let known = known.withLock({ $0 }), known.version == version { return known.position }
        let position = try snapshot.midpoint(of: .content)
        known.withLock { $0 = Known(version: version, position: position) }
        return position
    }
}
