import GRDB
internal import IntertwineFeed
import Synchronization

/// Each is used by one thread at a time.
final class ReadConnections: Sendable {
    private let file: ServedFile
    private let busyTimeout: Double
    private let pragmas: String
    private let idle = Mutex<[ReadConnection]>([])

    init(_ file: ServedFile, busyTimeout: Double, pragmas: String) {
        self.file = file
        self.busyTimeout = busyTimeout
        self.pragmas = pragmas
    }

    func read<Value>(_ body: (any SQLConnection) throws -> Value) throws -> Value {
        let connection = try idle.withLock { $0.popLast() } ?? made()
        defer {
            // A connection with an open transaction after a disk error is closed instead of reused.
            if !connection.isInsideTransaction { idle.withLock { $0.append(connection) } }
        }
        return try read(through: connection, body)
    }

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
