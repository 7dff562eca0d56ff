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

    /// The version is the store's, read before the load began.
    private typealias Load = (number: UInt64, version: StoreVersion, waiters: [UInt64: (needsNext: Bool, completion: Completion)])

    private let loads = Mutex<[Key: Load]>([:])
    private let last = Atomic<UInt64>(0)

    /// Returns the number of a request or of a load, in the order in which they begin.
    func arrive() -> UInt64 { last.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue }

    /// `version`: The store's version, read before.
    func begin(_ key: Key, _ version: StoreVersion) -> Bool {
        loads.withLock { loads in
            guard loads[key] == nil else { return false }
            loads[key] = (arrive(), version, [:])
            return true
        }
    }

    func beginOrWait(
        _ key: Key, _ version: StoreVersion, since arrival: UInt64, completion: @escaping Completion
    ) -> (@Sendable () -> Void)? {
        let waiter = loads.withLock { loads -> UInt64? in
            let number = arrive()
            guard let load = loads[key] else {
                loads[key] = (number, version, [:])
                return nil
            }
            loads[key]?.waiters[number] = (load.number <= arrival && load.version != version, completion)
            return number
        }
        guard let waiter else { return nil }
        return { [self] in
            let gone = loads.withLock { $0[key]?.waiters.removeValue(forKey: waiter) }
            gone?.completion(.failure(CancellationError()))
        }
    }

    func complete(_ key: Key, _ result: Result<Value, any Error>?) {
        let load = loads.withLock { $0.removeValue(forKey: key) }
        var outcome = result
        if case .failure(let error) = result, error is CancellationError { outcome = nil }
        load?.waiters.values.forEach { $0.completion($0.needsNext ? nil : outcome) }
    }
}
