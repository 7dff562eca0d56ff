// Exported, because tools outside of the package, such as DocC, cannot load protocols whose parents are in modules that they do not load.
@_exported public import IntertwineFeed

/// A lock that one writer at a time has, in all processes. SQLite needs none: one transaction writes at a time.
package enum LedgerLock: Sendable {
    case clients, retention
    case viewer(String)
}

package protocol PersistentLedger: Ledger, LedgerArchive, CampaignLedger {
    associatedtype Session: SQLSession
    associatedtype Writer: LedgerGroupWriter

    var commits: GroupCommit<Writer> { get }

    /// Returns the time that this ledger decides by, in milliseconds since 1970-01-01 UTC: of this machine, or of a shared database.
    var now: @Sendable () -> Int64 { get }

    var readStatistics: ReadStatistics { get }

    /// Call it periodically, by one caller at a time; it blocks.
    func storageChange() -> FileChange?

    func complete() async throws

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

    func removeSettledEvents(before moment: Int64) async throws -> Int
}

extension PersistentLedger {
    package var statistics: LedgerStatistics { commits.statistics }

    package func commit(_ entry: LedgerEntry) async throws -> LedgerReceipt {
        try await withCheckedThrowingContinuation { continuation in
            commits.commit(entry) { continuation.resume(with: $0) }
        }
    }

    package func commit(_ entry: LedgerEntry, completion: @escaping @Sendable (Result<LedgerReceipt, any Error>) -> Void) {
        commits.commit(entry, completion: completion)
    }

    /// Writes the waiting counts, so that readers find all of them.
    package func flushCounts() async throws { try await StoreError.wrapping { try await commits.flushCounts() } }
}

package struct LedgerStatistics: Sendable, Hashable {
    package var commits = 0
    package var units = 0
    package var largestGroup = 0
    package var failed = 0
    /// The number of units that were refused because too many waited.
    package var refused = 0
    package var waiting = 0
    package var rateCounters = 0
    package var rateCounterBytes = 0

    package init() {}
}
