package import IntertwineFeed

/// A lock that one writer at a time has, in all processes. SQLite needs none: one transaction writes at a time.
package enum LedgerLock: Sendable {
    case clients, reservations, retention
    case viewer(String)
}

/// A ledger in a database. The extensions of this protocol have what all databases do alike.
package protocol SQLLedger: PersistentLedger {
    associatedtype Session: SQLSession

    /// Reads on the caller's thread, which it blocks.
    func reading<Value>(_ body: (Session) throws -> Value) throws -> Value

    /// Reads on a thread of the ledger, in one snapshot.
    func reading<Value: Sendable>(for purpose: ReadPurpose, _ body: @escaping @Sendable (Session) throws -> Value) async throws -> Value

    /// Reads data whose expiry the present time decides, in one round trip.
    ///
    /// - Parameters:
    ///   - start: The initial value of the result.
    ///   - read: Called with each row of a result, the index of its question and the time in milliseconds since 1970-01-01 UTC.
    /// - Throws: `StoreError.unavailable` if this machine's clock is wrong: callers compare the result with it.
    func answer<Value: Sendable>(
        _ questions: [SQLCommand], _ start: Value,
        _ read: @escaping @Sendable (_ value: inout Value, _ question: Int, _ row: Session.Row, _ now: Int64) -> Void
    ) async throws -> Value

    /// Runs a write transaction.
    ///
    /// - Parameter isDurable: False if the loss of the transaction in a power failure is harmless.
    func writing<Value: Sendable>(
        isDurable: Bool, _ lock: LedgerLock?, _ body: @escaping @Sendable (Session) throws -> Value
    ) async throws -> Value

    /// Runs a write transaction in order with the groups, and blocks the caller's thread.
    ///
    /// On PostgreSQL it is durable, because other replicas rely on leases. On SQLite it becomes durable with the next group.
    func writingInTurn<Value>(_ lock: LedgerLock?, _ body: (Session) throws -> Value) throws -> Value

    /// Returns the marker of the last event before which no event is still uncommitted.
    func settledEnd() async throws -> Int64

    /// Writes the waiting counts, so that readers find all of them.
    func flushCounts() async throws

    /// Removes events before a time that are in the totals. Returns their number.
    func removeSettledEvents(before moment: Int64) async throws -> Int
}
