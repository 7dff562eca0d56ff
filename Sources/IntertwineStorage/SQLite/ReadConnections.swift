import GRDB
internal import IntertwineItems
import Synchronization

/// A pool of read-only connections, one for each thread that reads at once. Each is used by one thread at a time.
final class ReadConnections: Sendable {
    private let path: String
    private let busyTimeout: Double
    private let pragmas: String
    private let idle = Mutex<[ReadConnection]>([])
    /// The integrity state of the file; set after the file is open.
    private let integrity = Mutex<FileIntegrity?>(nil)

    /// Creates a pool without connections.
    ///
    /// - Parameters:
    ///   - busyTimeout: seconds that a read waits while another process keeps the file locked.
    ///   - pragmas: the settings of each connection.
    init(_ path: String, busyTimeout: Double, pragmas: String) {
        self.path = path
        self.busyTimeout = busyTimeout
        self.pragmas = pragmas
    }

    /// Sets the integrity state that receives damage found by reads.
    func report(to integrity: FileIntegrity) { self.integrity.withLock { $0 = integrity } }

    /// Reads in one transaction, on the caller's thread.
    ///
    /// - Throws: the error of `body`, or SQLite's error.
    func read<Value>(_ body: (any SQLConnection) throws -> Value) throws -> Value {
        let connection = try idle.withLock { $0.popLast() } ?? made()
        defer {
            // A connection with an open transaction after a disk error is closed instead of reused.
            if !connection.isInsideTransaction { idle.withLock { $0.append(connection) } }
        }
        return try read(through: connection, body)
    }

    /// Reads the current content of the file on a new connection.
    ///
    /// - Throws: the error of `body`, `StoreError.unavailable` if a read has found the file damaged, or SQLite's error.
    ///
    /// Why: a used connection has cached pages, and would not detect damage on disk.
    func readAfresh<Value>(_ body: (any SQLConnection) throws -> Value) throws -> Value {
        if let damage = integrity.withLock({ $0 })?.damage { throw StoreError.unavailable("\(path): \(damage)") }
        return try read(through: made(), body)
    }

    private func made() throws -> ReadConnection { try ReadConnection(path, busyTimeout: busyTimeout, pragmas: pragmas) }

    private func read<Value>(through connection: ReadConnection, _ body: (any SQLConnection) throws -> Value) throws -> Value {
        do {
            try SQLStatement(connection, "BEGIN").run()
            let value = try body(connection)
            try SQLStatement(connection, "COMMIT").run()
            return value
        } catch {
            integrity.withLock { $0 }?.note(error)
            // If this fails, there is no transaction, or the connection is discarded together with it.
            try? SQLStatement(connection, "ROLLBACK").run()
            throw error
        }
    }
}
