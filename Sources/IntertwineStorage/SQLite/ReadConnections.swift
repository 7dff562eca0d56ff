import GRDB
import IntertwineFeed
import Synchronization

/// Connections that only read, each in the hands of one thread at a time: as many as there are threads that read at once.
final class ReadConnections: Sendable {
    private let path: String
    private let busyTimeout: Double
    private let pragmas: String
    private let idle = Mutex<[ReadConnection]>([])
    /// Of the file; set once it is open.
    private let integrity = Mutex<FileIntegrity?>(nil)

    /// - Parameters:
    ///   - patience: seconds that a read waits while another process keeps the file locked.
    ///   - pragmas: what each connection is set to.
    init(_ path: String, busyTimeout: Double, pragmas: String) {
        self.path = path
        self.busyTimeout = busyTimeout
        self.pragmas = pragmas
    }

    /// Has damage that reads come upon be noted.
    func report(to integrity: FileIntegrity) { self.integrity.withLock { $0 = integrity } }

    /// Reads in one transaction, on the caller's thread.
    ///
    /// - Throws: what `body` throws, or SQLite's error.
    func read<Value>(_ body: (any SQLConnection) throws -> Value) throws -> Value {
        let connection = try idle.withLock { $0.popLast() } ?? made()
        defer {
            // A transaction that a failing disk leaves open ends with its connection.
            if !connection.isInsideTransaction { idle.withLock { $0.append(connection) } }
        }
        return try read(through: connection, body)
    }

    /// Reads what the file holds now: whoever has read it before has parts of it in memory, and would not notice what became of those.
    ///
    /// - Throws: what `body` throws, `StoreError.unavailable` where a read has found the file damaged, or SQLite's error.
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
            // If this fails there is no transaction any more, or the connection is let go of with it.
            try? SQLStatement(connection, "ROLLBACK").run()
            throw error
        }
    }
}
