import Synchronization

/// Connections that only read, each in the hands of one thread at a time: as many as there are threads that read at once.
final class ReadConnections: Sendable {
    private let path: String
    private let patience: Double
    private let pragmas: String
    private let idle = Mutex<[ReadConnection]>([])

    /// - Parameters:
    ///   - patience: seconds that a read waits while another process keeps the file locked.
    ///   - pragmas: what each connection is set to.
    init(_ path: String, patience: Double, pragmas: String) {
        self.path = path
        self.patience = patience
        self.pragmas = pragmas
    }

    /// Reads in one transaction, on the caller's thread.
    ///
    /// - Throws: what `body` throws, or SQLite's error.
    func read<Value>(_ body: (any SQLConnection) throws -> Value) throws -> Value {
        let connection = try idle.withLock { $0.popLast() } ?? ReadConnection(path, patience: patience, pragmas: pragmas)
        defer {
            // A transaction that a failing disk leaves open ends with its connection.
            if !connection.isInsideTransaction { idle.withLock { $0.append(connection) } }
        }
        try SQLStatement(connection, "BEGIN").run()
        do {
            let value = try body(connection)
            try SQLStatement(connection, "COMMIT").run()
            return value
        } catch {
            // If this fails there is no transaction any more, or the connection is let go of with it.
            try? SQLStatement(connection, "ROLLBACK").run()
            throw error
        }
    }
}
