internal import Synchronization

/// A cache of one value that is computed from the store once per store version instead of once per request.
final class VersionedCache<Value: Sendable>: Sendable {
    @usableFromInline typealias CachedValue = (version: StoreVersion, value: Value, cost: Duration, found: ContinuousClock.Instant)

    @usableFromInline static var share: Int { 20 }

    @usableFromInline let maximumWait: Duration
    @usableFromInline let state = Mutex<(known: CachedValue?, isLookedFor: Bool)>((nil, false))
    @usableFromInline let loadLock = Mutex(())

    @inlinable init(maximumWait: Duration) {
        self.maximumWait = maximumWait
    }

    /// `version`: The store version, read before the snapshot was taken, so that a cached value is never older than its version.
    @inlinable func value(
        at version: StoreVersion, in snapshot: any StoreSnapshot, of store: any FeedStore,
        _ find: @escaping @Sendable (any StoreSnapshot) throws -> Value
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

    @inlinable func value(at version: StoreVersion, find: () throws -> Value, aside: () -> Void) throws -> Value {
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

    @inlinable func known(at version: StoreVersion) -> Value? {
        state.withLock { state in state.known.flatMap { $0.version == version ? $0.value : nil } }
    }

    @inlinable func renew(at version: StoreVersion, find: () throws -> Value) {
        // An error is ignored here, because requests report it if the store fails.
        _ = try? load(at: version, find)
        state.withLock { $0.isLookedFor = false }
    }

    @inlinable func load(at version: StoreVersion, _ find: () throws -> Value) throws -> Value {
        let start = ContinuousClock.now
        let value = try find()
        let end = ContinuousClock.now
        state.withLock { $0.known = (version, value, end - start, end) }
        return value
    }
}
