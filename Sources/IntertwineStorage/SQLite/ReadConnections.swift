import GRDB
import Synchronization

/// Connections that only read, each in the hands of one thread at a time: as many as there are threads that read at once.
///
/// GRDB's own pool would ask for the schema's version before each read, which takes longer than what many reads are after, and begin and end
/// transactions with statements that are prepared anew each time.
final class ReadConnections: Sendable {
    private let path: String
    private let configuration: Configuration
    private let idle = Mutex<[DatabaseQueue]>([])

    /// - Parameter configuration: that of the connection which writes.
    init(_ path: String, _ configuration: Configuration) {
        self.path = path
        var configuration = configuration
        configuration.readonly = true
        // A transaction that a failing disk leaves open ends with its connection, rather than by a trap of GRDB's.
        configuration.allowsUnsafeTransactions = true
        self.configuration = configuration
    }

    /// Reads in one transaction, on the caller's thread.
    ///
    /// - Throws: what `body` throws, or SQLite's error.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        let connection = try idle.withLock { $0.popLast() } ?? DatabaseQueue(path: path, configuration: configuration)
        var isClean = false
        defer {
            if isClean { idle.withLock { $0.append(connection) } }
        }
        return try connection.unsafeRead { database in
            defer { isClean = !database.isInsideTransaction }
            try SQLStatement(database, "BEGIN").run()
            do {
                let value = try body(database)
                try SQLStatement(database, "COMMIT").run()
                return value
            } catch {
                // If this fails there is no transaction any more, or the connection is let go of with it.
                try? SQLStatement(database, "ROLLBACK").run()
                throw error
            }
        }
    }
}
