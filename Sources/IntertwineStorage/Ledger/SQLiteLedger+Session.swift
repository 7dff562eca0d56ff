package import IntertwineFeed

extension SQLiteLedger: SQLLedger {
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

    package func writingInTurn<Value>(_ lock: LedgerLock?, _ body: (SQLiteSession) throws -> Value) throws -> Value {
        try StoreError.wrappingBlocking {
            try commits.inTurnBlocking { writer in try writer.write(isSynced: false) { try body(SQLiteSession(connection: $0)) } }
        }
    }

    package func settledEnd() async throws -> Int64 {
        try await reading(for: .background) { try $0.integer("SELECT max(id) FROM event") ?? 0 }
    }

    package func drainRecent(_ checkpoint: ReportCheckpoint) async throws -> EventTail? {
        try await commits.inTurn { $0.drainRecent(checkpoint) }
    }

    package func flushCounts() async throws { try await StoreError.wrapping { try await commits.flushCounts() } }

    package func claim(_ claim: FrequencyCapReservation) throws -> Bool {
        try StoreError.wrappingBlocking { try claims.claim(claim, commits) }
    }

    package func exchange(_ exchange: BudgetSyncRequest, _ decide: @escaping @Sendable (BudgetSyncState) -> SharedBudgetLeases) throws {
        try writingInTurn(.reservations) { session in
            let others = try session.rows("SELECT process FROM reservation WHERE campaign = '' AND process <> ?1", .text(exchange.process))
            {
                $0.text(0)
            }
            let ended = others.filter { ProcessName.hasEnded($0) }
            try session.write("DELETE FROM reservation WHERE process = ?1 AND campaign = ''", .texts(ended))
            try BudgetLeaseTable.exchange(exchange, decide, session)
        }
    }
}
