internal import IntertwineFeed
internal import Synchronization

/// A request never gets a page that is older than the request. If the store has changed since the load began, a new request waits for the
/// next load, together with all others in that situation. Therefore one load of a page is in progress at a time, independent of the number
/// of waiters and of changes.
final class PageRequestCoalescer<Value: Sendable>: Sendable {
    struct Key: Hashable, Sendable {
        var page: PageCache.Key
        /// The end of validity of a page that is made now, because its tokens are bound to the hour.
        var validUntil: Int64
    }

    typealias Completion = @Sendable (Result<Value, any Error>?) -> Void

    private struct Load {
        let number: UInt64
        /// The store's version, read before the load began.
        let version: StoreVersion
        var waiters: [UInt64: (needsNext: Bool, completion: Completion)] = [:]
    }

    private struct State {
        var loads: [Key: Load] = [:]
        var last: UInt64 = 0

        mutating func number() -> UInt64 {
            last &+= 1
            return last
        }
    }

    private let state = Mutex(State())

    func arrive() -> UInt64 { state.withLock { $0.number() } }

    /// `version`: The store's version, read before.
    func begin(_ key: Key, _ version: StoreVersion) -> Bool {
        state.withLock { state in
            guard state.loads[key] == nil else { return false }
            state.loads[key] = Load(number: state.number(), version: version)
            return true
        }
    }

    func beginOrWait(
        _ key: Key, _ version: StoreVersion, since arrival: UInt64, completion: @escaping Completion
    ) -> (@Sendable () -> Void)? {
        let waiter = state.withLock { state -> UInt64? in
            let number = state.number()
            guard let load = state.loads[key] else {
                state.loads[key] = Load(number: number, version: version)
                return nil
            }
            state.loads[key]?.waiters[number] = (load.number <= arrival && load.version != version, completion)
            return number
        }
        guard let waiter else { return nil }
        return { [self] in
            let gone = state.withLock { $0.loads[key]?.waiters.removeValue(forKey: waiter) }
            gone?.completion(.failure(CancellationError()))
        }
    }

    func complete(_ key: Key, _ result: Result<Value, any Error>?) {
        let load = state.withLock { $0.loads.removeValue(forKey: key) }
        var outcome = result
        if case .failure(let error) = result, error is CancellationError { outcome = nil }
        load?.waiters.values.forEach { $0.completion($0.needsNext ? nil : outcome) }
    }
}
