internal import IntertwineFeed
internal import Synchronization

/// Makes a page once for all who ask for it at the same time.
///
/// Whoever comes first makes it, and the others wait. Nobody gets a page from before he asked: who finds that the store has changed since the
/// making began waits for the next one, which is one for all who found that. So however many wait and however often the store changes, a
/// page is made once at a time.
final class PageFlights<Made: Sendable>: Sendable {
    struct Key: Hashable, Sendable {
        var page: FinishedPages.Key
        /// Until when a page that is made now is good, as its tokens are bound to the hour.
        var validUntil: Int64
    }

    private typealias Waiter = @Sendable (Landing) -> Void

    private enum Landing: Sendable {
        case made(Made)
        case failed(any Error)
        /// The flight did not arrive, or was not for this one: there will be another.
        case again
    }

    private struct Flight {
        let number: UInt64
        /// The store's, read before the making began.
        let version: StoreVersion
        var aboard: [UInt64: Waiter] = [:]
        /// They came after the store had changed.
        var behind: [UInt64: Waiter] = [:]
    }

    private struct State {
        var flights: [Key: Flight] = [:]
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
                    land(key, .again)
                    return made
                }
                return try await fly(key) { try await make(version) }
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
    func tryPage(
        _ key: Key, version: StoreVersion, make: () async throws -> Made
    ) async throws -> Made? {
        guard begin(key, version) else { return nil }
        return try await fly(key, tellsFailure: false, make)
    }

    private func fly(_ key: Key, tellsFailure: Bool = true, _ make: () async throws -> Made) async throws -> Made {
        do {
            let made = try await make()
            land(key, .made(made))
            return made
        } catch {
            land(key, tellsFailure && !Task.isCancelled ? .failed(error) : .again)
            throw error
        }
    }

    private func land(_ key: Key, _ landing: Landing) {
        let flight = state.withLock { $0.flights.removeValue(forKey: key) }
        flight?.aboard.values.forEach { $0(landing) }
        flight?.behind.values.forEach { $0(.again) }
    }

    private func wait(_ key: Key, _ version: StoreVersion, since arrival: UInt64) async throws -> Landing {
        let id = state.withLock { $0.number() }
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                if board(key, as: id, version, since: arrival, { continuation.resume(returning: $0) }) { return }
                if Task.isCancelled { continuation.resume(throwing: CancellationError()) } else { continuation.resume(returning: .again) }
            }
        } onCancel: {
            leave(key, as: id)
        }
    }

    /// False where there is no flight any more, or the task that would wait is cancelled: the waiter is not called then.
    ///
    /// - Parameter arrival: flights with greater numbers began after this one had asked.
    private func board(
        _ key: Key, as id: UInt64, _ version: StoreVersion, since arrival: UInt64, _ waiter: @escaping Waiter
    ) -> Bool {
        state.withLock { state in
            guard !Task.isCancelled, var flight = state.flights[key] else { return false }
            let isNew = flight.number > arrival || flight.version == version
            if isNew { flight.aboard[id] = waiter } else { flight.behind[id] = waiter }
            state.flights[key] = flight
            return true
        }
    }

    private func leave(_ key: Key, as id: UInt64) {
        let waiter = state.withLock { state in
            state.flights[key]?.aboard.removeValue(forKey: id) ?? state.flights[key]?.behind.removeValue(forKey: id)
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
            guard state.flights[key] == nil else { return false }
            state.flights[key] = Flight(number: state.number(), version: version)
            return true
        }
    }

    func land(_ key: Key, _ made: Result<Made, any Error>?) {
        switch made {
        case .success(let made): land(key, .made(made))
        case .failure(let error): land(key, error is CancellationError ? .again : .failed(error))
        case nil: land(key, .again)
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
        let isAboard = board(key, as: id, version, since: arrival) { landing in
            switch landing {
            case .made(let made): completion(.success(made))
            case .failed(let error): completion(.failure(error))
            case .again: completion(nil)
            }
        }
        guard isAboard else { return nil }
        return { [self] in leave(key, as: id) }
    }
}
