internal import IntertwineFeed
internal import Synchronization

/// Coalesces concurrent requests for a page (single-flight): the page is made once for all of them.
///
/// The first request makes the page, and the others wait for it. A request never gets a page that is older than the request. If the store has
/// changed since the load began, a new request waits for the next load, together with all others in that situation. Therefore one load
/// of a page is in progress at a time, independent of the number of waiters and of changes.
final class PageRequestCoalescer<Value: Sendable>: Sendable {
    struct Key: Hashable, Sendable {
        var page: PageCache.Key
        /// The end of validity of a page that is made now, because its tokens are bound to the hour.
        var validUntil: Int64
    }

    /// Called once for a waiter. Nil means that it has to try again: the load was cancelled, or it is too old for this waiter.
    typealias Completion = @Sendable (Result<Value, any Error>?) -> Void

    private struct Load {
        let number: UInt64
        /// The store's version, read before the load began.
        let version: StoreVersion
        /// The waiters by number. A waiter that arrived after the store had changed needs the next load.
        var waiters: [UInt64: (needsNext: Bool, completion: Completion)] = [:]
    }

    private struct State {
        var loads: [Key: Load] = [:]
        /// The last number that a load or a waiter got.
        var last: UInt64 = 0

        mutating func number() -> UInt64 {
            last &+= 1
            return last
        }
    }

    private let state = Mutex(State())

    /// Returns a number that distinguishes loads that begin later from earlier ones.
    func arrive() -> UInt64 { state.withLock { $0.number() } }

    /// Begins a load. The caller ends it with ``complete(_:_:)``.
    ///
    /// - Parameter version: The store's version, read before.
    /// - Returns: False if a load is in progress.
    func begin(_ key: Key, _ version: StoreVersion) -> Bool {
        state.withLock { state in
            guard state.loads[key] == nil else { return false }
            state.loads[key] = Load(number: state.number(), version: version)
            return true
        }
    }

    /// Begins a load, or waits for the one in progress.
    ///
    /// - Parameters:
    ///   - version: The store's version, read before.
    ///   - arrival: The result of ``arrive()``.
    /// - Returns: A function that cancels the wait with `CancellationError`; nil if the load begins, which the caller ends with ``complete(_:_:)``.
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

    /// Ends a load. If it failed, all waiters get its error; if it was cancelled or the result is nil, they try again.
    func complete(_ key: Key, _ result: Result<Value, any Error>?) {
        let load = state.withLock { $0.loads.removeValue(forKey: key) }
        var outcome = result
        if case .failure(let error) = result, error is CancellationError { outcome = nil }
        load?.waiters.values.forEach { $0.completion($0.needsNext ? nil : outcome) }
    }
}
