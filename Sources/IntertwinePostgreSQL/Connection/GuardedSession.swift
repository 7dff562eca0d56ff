internal import Dispatch
internal import Synchronization

/// A session that the server ends, with all locks that it holds, while this process stands still.
///
/// The server ends a session that is idle for six seconds, and this process gives a sign of life every second. A frozen process holds its
/// connection for as long as it is frozen: only the server can find out.
final class GuardedSession: Sendable {
    private static let interval = DispatchTimeInterval.seconds(1)
    /// How long the server waits for a sign of life.
    private static let timeout = "6s"

    private let connection: Mutex<PostgresConnection?>
    private let queue = DispatchQueue(label: "intertwine.heartbeat")

    init(_ connection: PostgresConnection) throws(PostgresError) {
        try connection.execute("SET idle_session_timeout = '\(Self.timeout)'; SET idle_in_transaction_session_timeout = '\(Self.timeout)'")
        self.connection = Mutex(connection)
        plan()
    }

    /// - Throws: what `body` throws, or ``PostgresError`` where the session is over.
    func use<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        try connection.withLock { connection in
            guard let connection, connection.isAlive else {
                throw PostgresError(message: "the session is over", isConnectionLost: true)
            }
            return try body(connection)
        }
    }

    func end() {
        connection.withLock { $0 = nil }
    }

    private func plan() {
        queue.asyncAfter(deadline: .now() + Self.interval) { [weak self] in
            guard let self, beat() else { return }
            plan()
        }
    }

    /// False once there is no session any more. One that is in use gives signs of life by itself.
    private func beat() -> Bool {
        connection.withLockIfAvailable { connection in
            guard let session = connection else { return false }
            // What is open is idle in a transaction, and nobody has to be told.
            _ = try? session.query("SELECT 1")
            if !session.isAlive { connection = nil }
            return connection != nil
        } ?? true
    }
}
