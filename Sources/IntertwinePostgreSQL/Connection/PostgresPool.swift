internal import Dispatch
package import IntertwineFeed
package import IntertwineStorage
internal import Synchronization

/// Connections to one database, as many at most as there are threads that use them, and those threads.
///
/// A server that goes away stops nothing: what is asked for meanwhile fails at once, and connections are tried again after 50 ms, then
/// twice as long each time, up to a second.
package final class PostgresPool: Sendable {
    private struct State {
        var idle: [PostgresConnection] = []
        /// Of all connections that there are.
        var backends: Set<Int32> = []
        /// Failures to connect, one after another.
        var failures = 0
        /// Before then nothing is tried, and everything fails with the error.
        var pause: (until: ContinuousClock.Instant, error: PostgresError)?
    }

    package let address: PostgresAddress
    private let settings: PostgresSettings
    private let threads: ReaderPool
    private let state = Mutex(State())

    /// Connects to nothing yet.
    package init(
        _ address: PostgresAddress, reading limits: ReadLimits = ReadLimits(), settings: PostgresSettings = PostgresSettings()
    ) {
        self.address = address
        self.settings = settings
        threads = ReaderPool(limits)
    }

    /// How it goes.
    package var statistics: ReadStatistics { threads.statistics }

    /// - Throws: what `body` throws, with failures of PostgreSQL as `StoreError.unavailable`; `StoreError.overloaded`; `CancellationError`
    ///   where the task was cancelled while it waited.
    package func run<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        try await StoreError.wrappingPostgres { try await threads.run(for: purpose) { [self] in try use(body) } }
    }

    /// The same for those who have no task to wait in.
    ///
    /// - Parameter completion: called once, on the thread that had the connection or on whatever thread finds out that there is none.
    /// - Returns: what calls it off as long as it waits.
    package func run<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (PostgresConnection) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) -> @Sendable () -> Void {
        threads.run(for: purpose, { [self] in try use(body) }) { result in
            completion(result.mapError { ($0 as? PostgresError)?.storeError ?? $0 })
        }
    }

    /// On the caller's thread, which waits.
    ///
    /// - Throws: ``PostgresError``, or what `body` throws.
    package func use<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        let connection = try acquire()
        defer {
            // What a failure leaves in the middle of something ends with its connection.
            if connection.isReusable { state.withLock { $0.idle.append(connection) } } else { forget(connection) }
        }
        return try body(connection)
    }

    /// Whether a process of the server serves one of these connections.
    package func isOwn(_ backend: Int32) -> Bool { state.withLock { $0.backends.contains(backend) } }

    private func forget(_ connection: PostgresConnection) {
        state.withLock { _ = $0.backends.remove(connection.backend) }
    }

    private func acquire() throws(PostgresError) -> PostgresConnection {
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
            let connection = try PostgresConnection(address, settings)
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
