package import IntertwineFeed

extension SQLiteLedger: PersistentLedger {
    package func reading<Value>(_ body: (SQLiteSession) throws -> Value) throws -> Value {
        try StoreError.wrappingBlocking { try connections.read { try body(SQLiteSession(connection: $0)) } }
    }

    package func reading<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (SQLiteSession) throws -> Value
    ) async throws -> Value {
        try await read(for: purpose) { try body(SQLiteSession(connection: $0)) }
    }

    package func answer<Value: Sendable>(
        _ questions: [SQLCommand], _ start: Value,
        _ read: @escaping @Sendable (_ value: inout Value, _ question: Int, _ row: SQLStatement, _ now: Int64) -> Void
    ) async throws -> Value {
        let now = now()
        return try await reading(for: .request) { session in
            var value = start
            try session.run(questions) { read(&value, $0, $1, now) }
            return value
        }
    }

    package func writing<Value: Sendable>(
        isDurable: Bool, _ lock: LedgerLock?, _ body: @escaping @Sendable (SQLiteSession) throws -> Value
    ) async throws -> Value {
        try await StoreError.wrapping {
            try await isDurable
                ? commits.write { try body(SQLiteSession(connection: $0)) } : commits.sweep { try body(SQLiteSession(connection: $0)) }
        }
    }

    package func addingCounts(_ body: (SQLiteSession, Int64?) throws -> Void) throws {
        try StoreError.wrappingBlocking {
            try commits.inTurnBlocking { writer in try writer.write(isSynced: false) { try body(SQLiteSession(connection: $0), nil) } }
        }
    }

    package func processes(in session: SQLiteSession) -> Int { 1 }

    package func settledEnd() async throws -> Int64 {
        try await reading(for: .background) { try $0.integer("SELECT max(id) FROM event") ?? 0 }
    }
}
