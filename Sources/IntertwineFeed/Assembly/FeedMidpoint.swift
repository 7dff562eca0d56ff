import Synchronization

/// Remembers where the middle of the feed lies, so that it is looked for once per change of the store and not once per request.
///
/// Where looking takes long, which it does among millions of items, requests do not wait for it: they get the middle as it was before the
/// store changed, which is a place in the feed still, while it is looked for aside, and no more often than takes a small share of the time.
final class FeedMidpoint: Sendable {
    private struct Known {
        var version: StoreVersion
        var place: FeedPlace?
        /// How long it took, and when that was over.
        var cost: Duration
        var found: ContinuousClock.Instant
    }

    private struct State {
        var known: Known?
        var isLookedFor = false
    }

    /// Looking aside takes at most one part of so many of the time.
    private static let share = 20

    private let patience: Duration
    private let state = Mutex(State())
    /// Held by the one who looks while the others, who have nothing to go by yet, wait for what is found.
    private let turn = Mutex(())

    /// - Parameter patience: what looking may take for requests to wait for it.
    init(patience: Duration = .milliseconds(20)) {
        self.patience = patience
    }

    /// - Parameters:
    ///   - version: the store's, read before the snapshot was taken, so that what is kept under it is never older.
    ///   - find: looks for it in the snapshot.
    ///   - aside: to call ``renew(at:find:)`` with a snapshot of its own, later.
    func place(at version: StoreVersion, find: () throws -> FeedPlace?, aside: () -> Void) throws -> FeedPlace? {
        let (known, begins) = state.withLock { state -> (Known?, Bool) in
            guard let known = state.known, known.version == version || known.cost > patience else { return (nil, false) }
            let isDue = known.version != version && ContinuousClock.now - known.found > known.cost * Self.share
            guard isDue, !state.isLookedFor else { return (known, false) }
            state.isLookedFor = true
            return (known, true)
        }
        if begins { aside() }
        if let known { return known.place }
        return try turn.withLock { _ in
            if let known = state.withLock({ $0.known }), known.version == version { return known.place }
            return try look(at: version, find)
        }
    }

    /// Looks for it anew, whatever is known.
    func renew(at version: StoreVersion, find: () throws -> FeedPlace?) {
        // Where the store does not answer, requests will say so.
        _ = try? look(at: version, find)
        state.withLock { $0.isLookedFor = false }
    }

    private func look(at version: StoreVersion, _ find: () throws -> FeedPlace?) throws -> FeedPlace? {
        let start = ContinuousClock.now
        let place = try find()
        let end = ContinuousClock.now
        state.withLock { $0.known = Known(version: version, place: place, cost: end - start, found: end) }
        return place
    }
}

extension DataSource {
    /// The place of the item in the middle of some sections; nil where they are empty.
    ///
    /// - Parameter hidden: forms that do not count. Where there are some, the sections are walked: nothing else knows which of their items
    ///   have them.
    func midpoint(of sections: [Int], without hidden: Set<ItemForm>, in snapshot: any FeedSnapshot) throws -> FeedPlace? {
        guard hidden.isEmpty else { return try walkToMidpoint(of: sections, without: hidden, in: snapshot) }
        let counts = try sections.map { try itemCount(in: $0, of: snapshot) }
        var index = counts.reduce(0, +) / 2
        for (section, count) in zip(sections, counts) {
            if index < count { return try place(at: index, in: section, of: snapshot).map { FeedPlace(section: section, item: $0) } }
            index -= count
        }
        return nil
    }

    private func walkToMidpoint(of sections: [Int], without hidden: Set<ItemForm>, in snapshot: any FeedSnapshot) throws -> FeedPlace? {
        var count = 0
        try walk(sections, in: snapshot) { item, _ in
            if !hidden.contains(ItemForm(kind: item.kind, variant: item.variant)) { count += 1 }
            return true
        }
        var rest = count / 2
        var middle: FeedPlace?
        try walk(sections, in: snapshot) { item, section in
            guard !hidden.contains(ItemForm(kind: item.kind, variant: item.variant)) else { return true }
            if rest == 0 { middle = FeedPlace(section: section, item: item.place) }
            rest -= 1
            return middle == nil
        }
        return middle
    }

    /// - Parameter visit: false ends the walk.
    private func walk(_ sections: [Int], in snapshot: any FeedSnapshot, _ visit: (FeedItem, Int) -> Bool) throws {
        let batch = 500
        for section in sections {
            var place: ItemPlace?
            while true {
                let items = try items(in: section, .forward, of: place, limit: batch, from: snapshot)
                for item in items where !visit(item, section) { return }
                guard items.count == batch, let last = items.last else { break }
                place = last.place
            }
        }
    }
}
