package import IntertwineFeed

/// A lock that one writer at a time has, in all processes. SQLite needs none: one transaction writes at a time.
package enum LedgerLock: Sendable {
    case clients, retention
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

    func addingCounts(_ body: (Session, _ slot: Int64?) throws -> Void) throws

    func processes(in session: Session) throws -> Int

    func settledEnd() async throws -> Int64

    /// Writes the waiting counts, so that readers find all of them.
    func flushCounts() async throws

    func removeSettledEvents(before moment: Int64) async throws -> Int
}
