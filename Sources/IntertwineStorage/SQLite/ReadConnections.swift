import GRDB
internal import IntertwineFeed
import Synchronization

/// A pool of read-only connections, one for each thread that reads at once. Each is used by one thread at a time.
final class ReadConnections: Sendable {
    private let file: ServedFile
    private let busyTimeout: Double
    private let pragmas: String
    private let idle = Mutex<[ReadConnection]>([])

    /// Creates a pool without connections.
    ///
    /// - Parameters:
    ///   - file: the file, which records corruption that reads find.
    ///   - busyTimeout: seconds that a read waits while another process keeps the file locked.
    ///   - pragmas: the settings of each connection.
    init(_ file: ServedFile, busyTimeout: Double, pragmas: String) {
        self.file = file
        self.busyTimeout = busyTimeout
        self.pragmas = pragmas
    }

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
    /// - Throws: the error of `body`, `StoreError.unavailable` if the file has a fault, or SQLite's error.
    ///
    /// Why: a used connection has cached pages, and would not detect damage on disk.
    func readAfresh<Value>(_ body: (any SQLConnection) throws -> Value) throws -> Value {
        try read(through: made(), body)
    }

    private func made() throws -> ReadConnection {
        try file.check()
        do {
            return try ReadConnection(file.path, busyTimeout: busyTimeout, pragmas: pragmas)
        } catch {
            file.note(error)
            throw error
        }
    }

    private func read<Value>(through connection: ReadConnection, _ body: (any SQLConnection) throws -> Value) throws -> Value {
        do {
            try SQLStatement(connection, "BEGIN").run()
            let value = try body(connection)
            try SQLStatement(connection, "COMMIT").run()
            return value
        } catch {
            file.note(error)
            // If this fails, there is no transaction, or the connection is discarded together with it.
            try? SQLStatement(connection, "ROLLBACK").run()
            throw error
        }
    }
}
