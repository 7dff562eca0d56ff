package import IntertwineFeed
internal import IntertwinePrimitives
package import IntertwineStorageCore

extension PostgresLedger: PersistentLedger {
    package func reading<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        try StoreError.wrappingBlocking { try pool.use(body) }
    }

    package func reading<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        try await pool.run(for: purpose, body)
    }

    package func answer<Value: Sendable>(
        _ questions: [SQLCommand], _ start: Value,
        _ read: @escaping @Sendable (_ value: inout Value, _ question: Int, _ row: PostgresRow, _ now: Int64) -> Void
    ) async throws -> Value {
        let clock = clock
        return try await pool.run(for: .request) { connection in
            let asked = WallClock.now()
            var (value, now) = (start, Int64.min)
            try connection.run([SQLCommand("SELECT \(ServerClock.expression)")] + questions) { command, row in
                if command == 0 {
                    let time = try clock.check(row.integer(0), askedAt: asked)
                    now = clock.substitute?() ?? time
                } else {
                    read(&value, command - 1, row, now)
                }
            }
            return value
        }
    }

    package func writing<Value: Sendable>(
        isDurable: Bool, _ lock: LedgerLock?, _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        try await pool.run(for: isDurable ? .request : .background) { try Self.transaction(isDurable: isDurable, lock, $0, body) }
    }

    package func addingCounts(_ body: (PostgresConnection, Int64?) throws -> Void) throws {
        try StoreError.wrappingBlocking {
            try commits.inTurnBlocking { writer in
                try writer.run { connection, slot in
                    try Self.transaction(isDurable: false, nil, connection) { try body($0, slot) }
                }
            }
        }
    }

    package func processes(in session: PostgresConnection) throws -> Int {
        Int(try session.integer("SELECT count(*) FROM ledger_writer WHERE seen > clock_timestamp() - interval '1 minute'") ?? 1)
    }

    private static func transaction<Value>(
        isDurable: Bool, _ lock: LedgerLock?, _ connection: PostgresConnection, _ body: (PostgresConnection) throws -> Value
    ) throws -> Value {
        try connection.transaction {
            let number: Int64? =
                switch lock {
                case .retention: nil
                case .clients: PostgresLedgerSchema.Lock.clients
                case .viewer(let viewer): PostgresLedgerSchema.Lock.of(viewer)
                case nil: nil
                }
            var commands = isDurable ? [] : [SQLCommand("SET LOCAL synchronous_commit = off")]
            if let number {
                commands.append(
                    SQLCommand(
                        "SELECT pg_advisory_xact_lock($1::int, $2::int)", [.integer(PostgresLedgerSchema.lockClass), .integer(number)]))
            }
            if case .retention = lock { commands.append(SQLCommand("LOCK TABLE passed_time IN SHARE ROW EXCLUSIVE MODE")) }
            if !commands.isEmpty { try connection.run(commands) }
            return try body(connection)
        }
    }
}
