internal import Dispatch
internal import IntertwineStorageCore
internal import Synchronization

/// A session that the server ends, together with its locks, if this process freezes.
/// This process sends a heartbeat query every second. Why: a frozen process keeps its connection open, so only the server can detect it.
final class GuardedSession: Sendable {
    private static let interval = DispatchTimeInterval.seconds(1)
    private static let timeout = "6s"

    private let connection: Mutex<PostgresConnection?>
    private let queue = DispatchQueue(label: "intertwine.heartbeat")

    init(_ connection: PostgresConnection) throws(PostgresError) {
        try connection.execute("SET idle_session_timeout = '\(Self.timeout)'; SET idle_in_transaction_session_timeout = '\(Self.timeout)'")
        self.connection = Mutex(connection)
        plan()
    }

    func use<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        try connection.withLock { connection in
            guard let connection, connection.isAlive else {
                throw PostgresError(message: "the session has ended", isConnectionLost: true)
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

    private func beat() -> Bool {
        connection.withLockIfAvailable { connection in
            guard let session = connection else { return false }
            // The session is idle in a transaction. A failure needs no report.
            _ = try? session.query("SELECT 1")
            if !session.isAlive { connection = nil }
            return connection != nil
        } ?? true
    }
}
