internal import Synchronization

/// A cache of one value that is computed from the store once per store version instead of once per request.
///
/// If the computation is slow, such as the midpoint of a feed with millions of items, requests do not wait for it. They get the value of the
/// version before while the value is computed in the background, which is limited to a small share of the time.
final class VersionedCache<Value: Sendable>: Sendable {
    /// A value with the duration of its computation and the time at which that ended.
    @usableFromInline typealias CachedValue = (version: StoreVersion, value: Value, cost: Duration, found: ContinuousClock.Instant)

    /// The divisor of the share of time for background computation: at most 1/20.
    @usableFromInline static var share: Int { 20 }

    @usableFromInline let maximumWait: Duration
    @usableFromInline let state = Mutex<(known: CachedValue?, isLookedFor: Bool)>((nil, false))
    /// A lock held during computation, while other requests without a cached value wait for the result.
    @usableFromInline let loadLock = Mutex(())

    /// - Parameter maximumWait: The maximum duration of a computation that requests wait for.
    @inlinable init(maximumWait: Duration) {
        self.maximumWait = maximumWait
    }

    /// Returns the value, computed in the given snapshot or, in the background, in another one.
    ///
    /// - Parameters:
    ///   - version: The store version, read before the snapshot was taken, so that a cached value is never older than its version.
    ///   - find: Computes the value in a snapshot.
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

    /// - Parameter aside: Starts a background task that calls ``renew(at:find:)`` with a snapshot of its own.
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

    /// Returns the cached value for a store version, or nil if it was not computed for that version.
    @inlinable func known(at version: StoreVersion) -> Value? {
        state.withLock { state in state.known.flatMap { $0.version == version ? $0.value : nil } }
    }

    /// Computes the value again, regardless of the cached one.
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
