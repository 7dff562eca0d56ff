import Synchronization

/// Remembers what was found in the store, so that it is looked for once per change of the store and not once per request.
///
/// Where looking takes long, as for the middle of a feed among millions of items, requests do not wait for it: they get what was found before
/// the store changed while it is looked for aside, and no more often than takes a small share of the time.
final class VersionedCache<Value: Sendable>: Sendable {
    private struct CachedValue {
        var version: StoreVersion
        var value: Value
        /// How long it took, and when that was over.
        var cost: Duration
        var found: ContinuousClock.Instant
    }

    private struct State {
        var known: CachedValue?
        var isLookedFor = false
    }

    /// Looking aside takes at most one part of so many of the time.
    private static var share: Int { 20 }

    private let maximumWait: Duration
    private let state = Mutex(State())
    /// Held by the one who looks while the others, who have nothing to go by yet, wait for what is found.
    private let loadLock = Mutex(())

    /// - Parameter patience: what looking may take for requests to wait for it.
    init(maximumWait: Duration) {
        self.maximumWait = maximumWait
    }

    /// - Parameters:
    ///   - version: the store's, read before the snapshot was taken, so that what is kept under it is never older.
    ///   - find: looks for it, in this snapshot or, aside, in one of its own.
    func value(
        at version: StoreVersion, in snapshot: any FeedSnapshot, of store: any FeedStore,
        _ find: @escaping @Sendable (any FeedSnapshot) throws -> Value
    ) throws -> Value {
        try value(at: version) {
            try find(snapshot)
        } aside: {
            Task.detached(priority: .background) { [self] in
                let version = store.version
                do {
                    try await store.read(for: .background) { snapshot in self.renew(at: version) { try find(snapshot) } }
                } catch {
                    renew(at: version) { throw error }
                }
            }
        }
    }

    /// - Parameter aside: to call ``renew(at:find:)`` with a snapshot of its own, later.
    func value(at version: StoreVersion, find: () throws -> Value, aside: () -> Void) throws -> Value {
        let (known, begins) = state.withLock { state -> (CachedValue?, Bool) in
            guard let known = state.known, known.version == version || known.cost > maximumWait else { return (nil, false) }
            let isDue = known.version != version && ContinuousClock.now - known.found > known.cost * Self.share
            guard isDue, !state.isLookedFor else { return (known, false) }
            state.isLookedFor = true
            return (known, true)
        }
        if begins { aside() }
        if let known { return known.value }
        return try loadLock.withLock { _ in
            if let known = state.withLock({ $0.known }), known.version == version { return known.value }
            return try load(at: version, find)
        }
    }

    /// What was found in the store as it is; nil where nobody has looked since it changed.
    func known(at version: StoreVersion) -> Value? {
        state.withLock { state in state.known.flatMap { $0.version == version ? $0.value : nil } }
    }

    /// Looks for it anew, whatever is known.
    func renew(at version: StoreVersion, find: () throws -> Value) {
        // Where the store does not answer, requests will say so.
        _ = try? load(at: version, find)
        state.withLock { $0.isLookedFor = false }
    }

    private func load(at version: StoreVersion, _ find: () throws -> Value) throws -> Value {
        let start = ContinuousClock.now
        let value = try find()
        let end = ContinuousClock.now
        state.withLock { $0.known = CachedValue(version: version, value: value, cost: end - start, found: end) }
        return value
    }
}
