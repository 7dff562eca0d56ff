package import IntertwineFeed

/// A lock that one writer at a time has, in all processes. SQLite needs none: one transaction writes at a time.
package enum LedgerLock: Sendable {
    case clients, reservations, retention
    case viewer(String)
}

package protocol SQLLedger: PersistentLedger {
    associatedtype Session: SQLSession

    /// Reads on the caller's thread, which it blocks.
    func reading<Value>(_ body: (Session) throws -> Value) throws -> Value

    func reading<Value: Sendable>(for purpose: ReadPurpose, _ body: @escaping @Sendable (Session) throws -> Value) async throws -> Value

    /// `read`: Called with each row of a result, the index of its question and the time in milliseconds since 1970-01-01 UTC.
    func answer<Value: Sendable>(
        _ questions: [SQLCommand], _ start: Value,
        _ read: @escaping @Sendable (_ value: inout Value, _ question: Int, _ row: Session.Row, _ now: Int64) -> Void
    ) async throws -> Value

    func writing<Value: Sendable>(
        isDurable: Bool, _ lock: LedgerLock?, _ body: @escaping @Sendable (Session) throws -> Value
    ) async throws -> Value

    /// On PostgreSQL it is durable, because other replicas rely on leases. On SQLite it becomes durable with the next group.
    func writingInTurn<Value>(_ lock: LedgerLock?, _ body: (Session) throws -> Value) throws -> Value

    func settledEnd() async throws -> Int64

    /// Returns the counts of events that this process has written after a marker, and forgets them; nil if the events must be read.
    func drainRecent(_ checkpoint: ReportCheckpoint) async throws -> EventTail?

    /// Writes the waiting counts, so that readers find all of them.
    func flushCounts() async throws

    func removeSettledEvents(before moment: Int64) async throws -> Int
}
