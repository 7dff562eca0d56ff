internal import IntertwineItems
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

    private typealias Waiter = @Sendable (Outcome) -> Void

    private enum Outcome: Sendable {
        case value(Value)
        case failed(any Error)
        /// The load was cancelled or too old for this waiter; the waiter has to try again.
        case again
    }

    private struct PendingLoad {
        let number: UInt64
        /// The store's version, read before the load began.
        let version: StoreVersion
        var waiters: [UInt64: Waiter] = [:]
        /// Waiters that arrived after the store had changed; they need the next load.
        var nextWaiters: [UInt64: Waiter] = [:]
    }

    private struct State {
        var loads: [Key: PendingLoad] = [:]
        /// The last number that a load or a waiter got.
        var last: UInt64 = 0

        mutating func number() -> UInt64 {
            last &+= 1
            return last
        }
    }

    private let state = Mutex(State())

    /// Returns the page of a key; loads it, or waits for a load in progress.
    ///
    /// - Parameters:
    ///   - version: Returns the store's current version.
    ///   - ready: Returns a page that was cached in the meantime.
    ///   - joined: Called if the request waits for a load of another request.
    ///   - make: Makes the page after the call began.
    /// - Throws: The error of `make`, for all waiters. If the loading task was cancelled, a waiter loads the page instead.
    func page(
        _ key: Key, version: () -> StoreVersion, ready: () -> Value?, joined: () -> Void, make: (StoreVersion) async throws -> Value
    ) async throws -> Value {
        let arrival = state.withLock { $0.number() }
        while true {
            let version = version()
            if begin(key, version) {
                // A load that completed since the last check has cached its page.
                if let value = ready() {
                    complete(key, .again)
                    return value
                }
                return try await load(key) { try await make(version) }
            }
            joined()
            switch try await wait(key, version, since: arrival) {
            case .value(let value): return value
            case .failed(let error): throw error
            case .again: continue
            }
        }
    }

    /// Loads a page unless a load is in progress. If the load fails, requests that joined it retry and do not get its error.
    func runIfIdle(
        _ key: Key, version: StoreVersion, make: () async throws -> Value
    ) async throws -> Value? {
        guard begin(key, version) else { return nil }
        return try await load(key, reportsFailure: false, make)
    }

    private func load(_ key: Key, reportsFailure: Bool = true, _ make: () async throws -> Value) async throws -> Value {
        do {
            let value = try await make()
            complete(key, .value(value))
            return value
        } catch {
            complete(key, reportsFailure && !Task.isCancelled ? .failed(error) : .again)
            throw error
        }
    }

    private func complete(_ key: Key, _ outcome: Outcome) {
        let flight = state.withLock { $0.loads.removeValue(forKey: key) }
        flight?.waiters.values.forEach { $0(outcome) }
        flight?.nextWaiters.values.forEach { $0(.again) }
    }

    private func wait(_ key: Key, _ version: StoreVersion, since arrival: UInt64) async throws -> Outcome {
        let id = state.withLock { $0.number() }
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                if join(key, as: id, version, since: arrival, { continuation.resume(returning: $0) }) { return }
                if Task.isCancelled { continuation.resume(throwing: CancellationError()) } else { continuation.resume(returning: .again) }
            }
        } onCancel: {
            cancel(key, as: id)
        }
    }

    /// Adds a waiter to the load in progress.
    ///
    /// - Parameter arrival: The number of the request's arrival. Loads with greater numbers began after it.
    /// - Returns: False if no load is in progress or the waiting task is cancelled. The waiter is not called in that case.
    private func join(
        _ key: Key, as id: UInt64, _ version: StoreVersion, since arrival: UInt64, _ waiter: @escaping Waiter
    ) -> Bool {
        state.withLock { state in
            guard !Task.isCancelled, var flight = state.loads[key] else { return false }
            let isNew = flight.number > arrival || flight.version == version
            if isNew { flight.waiters[id] = waiter } else { flight.nextWaiters[id] = waiter }
            state.loads[key] = flight
            return true
        }
    }

    private func cancel(_ key: Key, as id: UInt64) {
        let waiter = state.withLock { state in
            state.loads[key]?.waiters.removeValue(forKey: id) ?? state.loads[key]?.nextWaiters.removeValue(forKey: id)
        }
        waiter?(.failed(CancellationError()))
    }

    // MARK: Without a task

    /// Returns a number that distinguishes loads that begin later from earlier ones.
    func arrive() -> UInt64 { state.withLock { $0.number() } }

    /// Begins a load. The caller must end it with ``complete(_:_:)``; nil there makes the waiters try again.
    ///
    /// - Returns: False if a load is already in progress.
    func begin(_ key: Key, _ version: StoreVersion) -> Bool {
        state.withLock { state in
            guard state.loads[key] == nil else { return false }
            state.loads[key] = PendingLoad(number: state.number(), version: version)
            return true
        }
    }

    func complete(_ key: Key, _ value: Result<Value, any Error>?) {
        switch value {
        case .success(let value): complete(key, .value(value))
        case .failure(let error): complete(key, error is CancellationError ? .again : .failed(error))
        case nil: complete(key, .again)
        }
    }

    /// Waits for the load in progress without a task.
    ///
    /// - Parameters:
    ///   - arrival: The result of ``arrive()``.
    ///   - completion: Called once; nil means that the waiter has to try again.
    /// - Returns: A function that cancels the wait with `CancellationError`; nil if no load is in progress, and `completion` is not called.
    func join(
        _ key: Key, _ version: StoreVersion, since arrival: UInt64, completion: @escaping @Sendable (Result<Value, any Error>?) -> Void
    ) -> (@Sendable () -> Void)? {
        let id = arrive()
        let isJoined = join(key, as: id, version, since: arrival) { outcome in
            switch outcome {
            case .value(let value): completion(.success(value))
            case .failed(let error): completion(.failure(error))
            case .again: completion(nil)
            }
        }
        guard isJoined else { return nil }
        return { [self] in cancel(key, as: id) }
    }
}
