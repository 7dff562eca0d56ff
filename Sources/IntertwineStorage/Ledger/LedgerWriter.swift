import GRDB
import IntertwineFeed

/// Writes units of work inside a transaction that is someone else's, and decides what they come to.
///
/// Confined to the ledger's writing connection.
final class LedgerWriter {
    let database: Database
    private let insertEvent: SQLStatement
    private let goOnFromMarker: SQLStatement
    private let insertSelection: SQLStatement
    private let insertStep: SQLStatement
    private let findSelection: SQLStatement
    private let markUndone: SQLStatement
    private let answers: KeptAnswers
    private let insertKey: SQLStatement
    private let listings: ListingTable
    private var allowances: AllowanceTable
    private var rollups: Rollups
    private var uncounted = UncountedRows()

    init(_ database: Database) throws {
        self.database = database
        insertEvent = try SQLStatement(
            database, "INSERT INTO event (at, kind, cell, viewer, address, user_agent, verdict) VALUES (?, ?, ?, ?, ?, ?, ?)")
        goOnFromMarker = try SQLStatement(database, LedgerSchema.goOnFromMarker)
        insertSelection = try SQLStatement(
            database, "INSERT INTO selection (id, cell, viewer, expires, undone_at) VALUES (?, ?, ?, ?, NULL)")
        insertStep = try SQLStatement(database, "INSERT INTO selection_step (selection, number, command, undo) VALUES (?, ?, ?, ?)")
        findSelection = try SQLStatement(database, "SELECT expires, undone_at FROM selection WHERE id = ?")
        markUndone = try SQLStatement(database, "UPDATE selection SET undone_at = ?2 WHERE id = ?1")
        answers = try KeptAnswers(database)
        insertKey = try SQLStatement(
            database, "INSERT OR REPLACE INTO idempotency (scope, key, fingerprint, answer, expires) VALUES (?, ?, ?, ?, ?)")
        listings = try ListingTable(database)
        allowances = try AllowanceTable(database)
        rollups = try Rollups(database)
    }

    /// Writes all of a unit, or nothing where its receipt says so. The rollups follow with ``finishGroup()``.
    func write(_ entry: LedgerEntry, now: Int64) throws -> LedgerReceipt {
        if let key = entry.idempotency?.key, let outcome = try answers.outcome(of: key, now: now) { return LedgerReceipt(outcome: outcome) }
        if let id = entry.undoes, let outcome = try undo(id, now: now) { return LedgerReceipt(outcome: outcome) }
        if let selection = entry.selection { try insert(selection) }
        for change in entry.changes { try listings.apply(change, until: entry.selection?.expires ?? now, now: now) }
        var verdicts: [Verdict] = []
        for event in entry.events {
            let verdict = event.verdict == .counted ? try allowances.verdict(on: event) : event.verdict
            rollups.count(event, as: verdict)
            verdicts.append(verdict)
            guard verdict == .counted || uncounted.takes(event, as: verdict) else { continue }
            try append(event, as: verdict)
        }
        if let (key, answer) = entry.idempotency, let kept = answer(verdicts) { try insert(key, answer: kept) }
        return LedgerReceipt(outcome: .committed, verdicts: verdicts)
    }

    /// The last thing before the group is committed.
    ///
    /// - Parameters:
    ///   - changes: the connection's count of changes when the group began.
    ///   - flushes: whether counts are to be written in any case.
    /// - Returns: whether there is anything to commit. A group of repetitions has only counts to tell, and those wait for the next group or
    ///   for the next flush: to write them each time costs the disk more than all clicks do.
    func finishGroup(since changes: Int, flushes: Bool) throws -> Bool {
        try allowances.write()
        guard flushes || database.totalChangesCount != changes else { return false }
        try rollups.write()
        return database.totalChangesCount != changes
    }

    func groupHasCommitted() {
        rollups.hasCommitted()
    }

    /// Nothing was committed, because there was nothing to commit but counts.
    func postponeGroup() {
        rollups.postpone()
    }

    /// Whether counts wait to be written.
    var hasWaitingCounts: Bool { !rollups.isEmpty }

    /// The longest window of the events so far, in milliseconds.
    var longestWindow: Int64 { allowances.longestWindow }

    /// The group was rolled back.
    func discardGroup() {
        allowances.discard()
        rollups.discard()
    }

    private func insert(_ key: IdempotencyKey, answer: [UInt8]) throws {
        try insertKey.bind(1, key.scope)
        try insertKey.bind(2, key.key)
        try insertKey.bind(3, key.fingerprint)
        try insertKey.bind(4, blob: answer)
        try insertKey.bind(5, key.expires)
        try insertKey.run()
    }

    /// Takes note that a selection is undone, or tells why it cannot be. One that is long forgotten has expired.
    private func undo(_ id: String, now: Int64) throws -> LedgerReceipt.Outcome? {
        try findSelection.bind(1, id)
        defer { findSelection.reset() }
        guard try findSelection.step() else { return .expired }
        guard findSelection.isNull(1) else { return .alreadyUndone }
        guard findSelection.integer(0) > now else { return .expired }
        try markUndone.bind(1, id)
        try markUndone.bind(2, now)
        try markUndone.run()
        return nil
    }

    private func insert(_ selection: SelectionRecord) throws {
        try insertSelection.bind(1, selection.id)
        try insertSelection.bind(2, selection.cell)
        try insertSelection.bind(3, selection.viewer)
        try insertSelection.bind(4, selection.expires)
        try insertSelection.run()
        for (number, step) in selection.steps.enumerated() {
            try insertStep.bind(1, selection.id)
            try insertStep.bind(2, Int64(number))
            try insertStep.bind(3, step.command)
            try insertStep.bind(4, blob: step.undo)
            try insertStep.run()
        }
    }

    private func append(_ event: LedgerEvent, as verdict: Verdict) throws {
        try insertEvent.bind(1, event.at)
        try insertEvent.bind(2, event.kind.rawValue)
        try insertEvent.bind(3, event.cell)
        try insertEvent.bind(4, event.viewer)
        try insertEvent.bind(5, event.address)
        try insertEvent.bind(6, event.userAgent)
        try insertEvent.bind(7, verdict.rawValue)
        try insertEvent.run()
        // No event was left.
        if database.lastInsertedRowID == 1 { try goOnFromMarker.run() }
    }
}
