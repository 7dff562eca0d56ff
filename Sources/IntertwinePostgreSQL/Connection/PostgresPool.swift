internal import Dispatch
internal import IntertwineFeed
internal import IntertwineStorageCore
internal import Synchronization

/// A pool of connections to one database and of the threads that use them, at most one connection for each thread.
final class PostgresPool: Sendable {
    private struct State {
        var idle: [PostgresConnection] = []
        var backends: Set<Int32> = []
        var failures = 0
        var pause: (until: ContinuousClock.Instant, error: PostgresError)?
    }

    let address: PostgresAddress
    private let settings: PostgresSettings
    let pulse: PostgresPulse?
    private let threads: ReaderPool
    private let state = Mutex(State())

    init(
        _ address: PostgresAddress, reading limits: ReadLimits = ReadLimits(), settings: PostgresSettings = PostgresSettings(),
        pulse: PostgresPulse? = nil
    ) {
        self.pulse = pulse
        self.address = address
        self.settings = settings
        threads = ReaderPool(limits)
    }

    var statistics: ReadStatistics { threads.statistics }

    func run<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        try await perform(for: purpose) { [self] in try use(body) }
    }

    func perform<Value: Sendable>(for purpose: ReadPurpose, _ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await StoreError.wrapping { try await threads.run(for: purpose, body) }
    }

    func perform<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable () throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) -> @Sendable () -> Void {
        threads.run(for: purpose, body) { result in
            completion(result.mapError { ($0 as? PostgresError)?.storeError ?? $0 })
        }
    }

    func use<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        let connection = try acquire()
        defer {
            // A connection that a failure left in an unknown state is closed.
            if connection.isReusable { state.withLock { $0.idle.append(connection) } } else { forget(connection) }
        }
        return try body(connection)
    }

    func isOwn(_ backend: Int32) -> Bool { state.withLock { $0.backends.contains(backend) } }

    var sessions: Int { state.withLock { $0.backends.count } }

    private func forget(_ connection: PostgresConnection) {
        state.withLock { _ = $0.backends.remove(connection.backend) }
    }

    private func acquire() throws(PostgresError) -> PostgresConnection {
        guard pulse?.isGone != true else { throw PostgresError(message: "the server does not respond", isConnectionLost: true) }
        while let connection = state.withLock({ $0.idle.popLast() }) {
            if connection.isAlive { return connection }
            forget(connection)
        }
        let fault: PostgresError? = state.withLock { state in
            guard let pause = state.pause, ContinuousClock.now < pause.until else { return nil }
            return pause.error
        }
        if let fault { throw fault }
        do throws(PostgresError) {
            let connection = try PostgresConnection(address, settings, pulse: pulse)
            state.withLock { state in
                (state.failures, state.pause) = (0, nil)
                state.backends.insert(connection.backend)
            }
            return connection
        } catch {
            state.withLock { state in
                let pause = Duration.milliseconds(min(1_000, 50 << min(state.failures, 5)))
                state.failures += 1
                state.pause = (.now + pause, error)
            }
            throw error
        }
    }
}
