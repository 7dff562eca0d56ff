internal import IntertwineFeed
internal import Synchronization

/// Makes a page once for all who ask for it at the same time.
///
/// Whoever comes first makes it, and the others wait. Nobody gets a page from before he asked: who finds that the store has changed since the
/// making began waits for the next one, which is one for all who found that. So however many wait and however often the store changes, a
/// page is made once at a time.
final class PageRequestCoalescer<Made: Sendable>: Sendable {
    struct Key: Hashable, Sendable {
        var page: PageCache.Key
        /// Until when a page that is made now is good, as its tokens are bound to the hour.
        var validUntil: Int64
    }

    private typealias Waiter = @Sendable (Outcome) -> Void

    private enum Outcome: Sendable {
        case made(Made)
        case failed(any Error)
        /// The flight did not arrive, or was not for this one: there will be another.
        case again
    }

    private struct PendingLoad {
        let number: UInt64
        /// The store's, read before the making began.
        let version: StoreVersion
        var waiters: [UInt64: Waiter] = [:]
        /// They came after the store had changed.
        var nextWaiters: [UInt64: Waiter] = [:]
    }

    private struct State {
        var loads: [Key: PendingLoad] = [:]
        /// Numbers flights and those who wait.
        var last: UInt64 = 0

        mutating func number() -> UInt64 {
            last &+= 1
            return last
        }
    }

    private let state = Mutex(State())

    /// - Parameters:
    ///   - version: the store's at this moment.
    ///   - ready: a page that somebody has made since.
    ///   - joined: called where another one's page is waited for.
    ///   - make: makes the page of a moment after the call.
    /// - Throws: what `make` throws, to all who waited for it; but where the maker was cancelled, another one makes the page.
    func page(
        _ key: Key, version: () -> StoreVersion, ready: () -> Made?, joined: () -> Void, make: (StoreVersion) async throws -> Made
    ) async throws -> Made {
        let arrival = state.withLock { $0.number() }
        while true {
            let version = version()
            if begin(key, version) {
                // One that landed since this one last looked has left its page.
                if let made = ready() {
                    complete(key, .again)
                    return made
                }
                return try await load(key) { try await make(version) }
            }
            joined()
            switch try await wait(key, version, since: arrival) {
            case .made(let made): return made
            case .failed(let error): throw error
            case .again: continue
            }
        }
    }

    /// Makes a page unless somebody does already. Nobody who has come to wait for it meanwhile is told where that fails: he makes it himself.
    func runIfIdle(
        _ key: Key, version: StoreVersion, make: () async throws -> Made
    ) async throws -> Made? {
        guard begin(key, version) else { return nil }
        return try await load(key, reportsFailure: false, make)
    }

    private func load(_ key: Key, reportsFailure: Bool = true, _ make: () async throws -> Made) async throws -> Made {
        do {
            let made = try await make()
            complete(key, .made(made))
            return made
        } catch {
            complete(key, reportsFailure && !Task.isCancelled ? .failed(error) : .again)
            throw error
        }
    }

    private func complete(_ key: Key, _ landing: Outcome) {
        let flight = state.withLock { $0.loads.removeValue(forKey: key) }
        flight?.waiters.values.forEach { $0(landing) }
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

    /// False where there is no flight any more, or the task that would wait is cancelled: the waiter is not called then.
    ///
    /// - Parameter arrival: flights with greater numbers began after this one had asked.
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

    /// Tells flights that begin from here on from those before.
    func arrive() -> UInt64 { state.withLock { $0.number() } }

    /// False where somebody makes the page already. Whoever was let to make it ends that by ``land(_:_:)``, with nil where there is to be
    /// another flight.
    func begin(_ key: Key, _ version: StoreVersion) -> Bool {
        state.withLock { state in
            guard state.loads[key] == nil else { return false }
            state.loads[key] = PendingLoad(number: state.number(), version: version)
            return true
        }
    }

    func complete(_ key: Key, _ made: Result<Made, any Error>?) {
        switch made {
        case .success(let made): complete(key, .made(made))
        case .failure(let error): complete(key, error is CancellationError ? .again : .failed(error))
        case nil: complete(key, .again)
        }
    }

    /// Waits for the page that somebody makes.
    ///
    /// - Parameters:
    ///   - arrival: from ``arrive()``.
    ///   - completion: called once, with nil where there is to be another flight.
    /// - Returns: what ends the waiting, as `CancellationError`; nil where the flight is over, and nobody is called.
    func join(
        _ key: Key, _ version: StoreVersion, since arrival: UInt64, completion: @escaping @Sendable (Result<Made, any Error>?) -> Void
    ) -> (@Sendable () -> Void)? {
        let id = arrive()
        let isAboard = join(key, as: id, version, since: arrival) { landing in
            switch landing {
            case .made(let made): completion(.success(made))
            case .failed(let error): completion(.failure(error))
            case .again: completion(nil)
            }
        }
        guard isAboard else { return nil }
        return { [self] in cancel(key, as: id) }
    }
}
