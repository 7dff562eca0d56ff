import GRDB
import IntertwineFeed

/// A writer of groups of units: each group is one durable transaction, and the writer decides the verdict of each unit's events.
///
/// Confined to the ledger's writing connection.
final class LedgerWriter {
    private let database: Database
    private let beginning: SQLStatement
    private let committing: SQLStatement
    private let rollback: SQLStatement
    private let insertEvent: SQLStatement
    private let eventTexts: BoundTextCache
    private let insertExposure: SQLStatement
    private let advanceSequence: SQLStatement
    private let insertSelection: SQLStatement
    private let insertStep: SQLStatement
    private let findSelection: SQLStatement
    private let markUndone: SQLStatement
    private let idempotency: IdempotencyStore
    private let insertKey: SQLStatement
    private let listings: ListEntryTable
    // The exclusivity of accesses is not checked at run time, which would happen several times per click. No two accesses overlap: the
    // writer is confined to its connection, and no member calls the writer.
    @exclusivity(unchecked) private var allowances: RateCounterTable
    @exclusivity(unchecked) private var rollups: Rollups
    @exclusivity(unchecked) private var uncounted = PendingRollup()
    /// The number of rows with an expiry time that the last group wrote.
    @exclusivity(unchecked) private(set) var perishable = 0
    /// The markers of the events of the group; nil if there are none.
    @exclusivity(unchecked) private var appended: ClosedRange<Int64>?
    /// The counts of events written after the marker of each rollup.
    private var recent: [ReportTables.RollupCheckpoint: EventTail] = [.totals: EventTail(), .trackers: EventTail()]

    /// Prepares statements and reads the state of the connection's file.
    ///
    /// - Parameter recentSlots: the limit of slots in memory for ``RecentRateCounters``.
    init(_ database: Database, recentSlots: Int = RecentRateCounters.defaultSlots) throws {
        self.database = database
        beginning = try SQLStatement(database, "BEGIN IMMEDIATE")
        committing = try SQLStatement(database, "COMMIT")
        rollback = try SQLStatement(database, "ROLLBACK")
        insertEvent = try SQLStatement(
            database,
            """
            INSERT INTO event (
                at, kind, cell, viewer, address, user_agent, verdict, campaign, feed, section, position, layout, creative, advertiser,
                input)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        eventTexts = BoundTextCache(insertEvent, parameters: 15)
        insertExposure = try SQLStatement(
            database,
            """
            INSERT INTO exposure (viewer, campaign, at, count, until) VALUES (?1, ?2, ?3, 1, ?4)
            ON CONFLICT (viewer, campaign, at) DO UPDATE SET count = count + 1, until = max(until, ?4)
            """)
        advanceSequence = try SQLStatement(database, LedgerSchema.advanceSequence)
        insertSelection = try SQLStatement(
            database, "INSERT INTO selection (id, cell, viewer, expires, undone_at) VALUES (?, ?, ?, ?, NULL)")
        insertStep = try SQLStatement(database, "INSERT INTO selection_step (selection, number, command, undo) VALUES (?, ?, ?, ?)")
        findSelection = try SQLStatement(database, "SELECT expires, undone_at FROM selection WHERE id = ?")
        markUndone = try SQLStatement(database, "UPDATE selection SET undone_at = ?2 WHERE id = ?1")
        idempotency = try IdempotencyStore(database)
        insertKey = try SQLStatement(
            database, "INSERT OR REPLACE INTO idempotency (scope, key, fingerprint, answer, expires, owner) VALUES (?, ?, ?, ?, ?, ?)")
        listings = try ListEntryTable(database)
        allowances = try RateCounterTable(database, recentSlots: recentSlots)
        rollups = try Rollups(database)
    }

    /// Returns the counts after the marker of a rollup, and forgets them; nil if they are unknown or there are none.
    func drainRecent(_ tally: ReportTables.RollupCheckpoint) -> EventTail? { recent[tally]?.drain() }

    /// A Boolean value indicating whether counts wait to be written.
    var hasWaitingCounts: Bool { !rollups.isEmpty }

    /// The longest window of the events so far, in milliseconds.
    var longestWindow: Int64 { allowances.longestWindow }

    /// Writes all units in one transaction, or throws and writes none.
    ///
    /// - Parameter flushes: true if waiting counts must be written.
    func commit(_ count: Int, now: Int64, flushes: Bool = true, entry: (Int) -> LedgerEntry) throws -> [LedgerReceipt] {
        // Repeats a rollback that failed because of a disk error.
        if database.isInsideTransaction { try rollback.run() }
        try beginning.run()
        let changes = database.totalChangesCount
        perishable = 0
        defer { appended = nil }
        do {
            try allowances.begin()
            let receipts = try (0..<count).map { try write(entry($0), now: now) }
            if try finish(since: changes, flushes: flushes) {
                try committing.run()
                if let appended { for tally in recent.keys { recent[tally]?.add(rollups.counts, appended) } }
                allowances.hasCommitted()
                rollups.hasCommitted()
            } else {
                // The group has only counts that can wait, so there is nothing to commit.
                try rollback.run()
                allowances.discard()
                rollups.postpone()
            }
            return receipts
        } catch {
            allowances.discard()
            rollups.discard()
            // SQLite has already rolled back after severe errors.
            if database.isInsideTransaction { try? rollback.run() }
            throw error
        }
    }

    /// Writes all rows of a unit, or none if its receipt says so. ``finish(since:flushes:)`` writes the rollups.
    private func write(_ entry: LedgerEntry, now: Int64) throws -> LedgerReceipt {
        if let key = entry.idempotency?.key, let receipt = try idempotency.receipt(of: key, delay: entry.delay(until: now), now: now) {
            return receipt
        }
        if let id = entry.undoes, let receipt = try undo(id, now: now) { return receipt }
        if let selection = entry.selection { try insert(selection) }
        perishable += entry.changes.count
        for change in entry.changes { try listings.apply(change, until: entry.selection?.expires ?? now, now: now) }
        var verdicts: [Verdict] = []
        for event in entry.events {
            let verdict = event.verdict == .counted ? try allowances.verdict(on: event, committedAt: now) : event.verdict
            rollups.count(event, as: verdict, mayDefer: PendingRollup.mayDefer(event, as: verdict))
            verdicts.append(verdict)
            guard verdict == .counted || uncounted.accepts(event, as: verdict) else { continue }
            try append(event, as: verdict)
            if verdict == .counted { try remember(event) }
        }
        for (refused, count) in entry.refused { rollups.count(refused.event(at: now), as: refused.reason, Int64(count), mayDefer: true) }
        if let (key, makeResponse) = entry.idempotency, let stored = makeResponse(verdicts) { try insert(key, response: stored) }
        return .committed(verdicts)
    }

    /// Writes rate counters and rollups. Call it last, before the group is committed.
    ///
    /// - Parameters:
    ///   - changes: the connection's count of changes when the group began.
    ///   - flushes: true if counts must be written.
    /// - Returns: true if there is anything to commit. A group of repeated impressions and forgeries has only counts that may be deferred to
    ///   the next group or flush.
    ///
    /// Why: writing these counts each time would cost the disk more than all clicks do.
    private func finish(since changes: Int, flushes: Bool) throws -> Bool {
        // A row that was inserted and deleted again is no change.
        let rows = try allowances.write()
        perishable += rows.written
        let unchanged = changes + 2 * rows.removed
        guard flushes || rollups.isDue || database.totalChangesCount != unchanged else { return false }
        try rollups.write()
        return database.totalChangesCount != unchanged
    }

    private func insert(_ key: IdempotencyKey, response: [UInt8]) throws {
        perishable += 1
        try insertKey.bind(1, key.scope)
        try insertKey.bind(2, key.key)
        try insertKey.bind(3, key.fingerprint)
        try insertKey.bind(4, blob: response)
        try insertKey.bind(5, key.expires)
        try insertKey.bind(6, key.owner)
        try insertKey.run()
    }

    /// Marks a selection as undone, or returns the receipt that says why it cannot be. A selection that was removed has expired.
    private func undo(_ id: String, now: Int64) throws -> LedgerReceipt? {
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

    private func insert(_ selection: CommandRecord) throws {
        perishable += 1
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
        try eventTexts.bind(2, event.kind.rawValue)
        try eventTexts.bind(3, event.cell)
        try eventTexts.bind(4, event.viewer)
        try eventTexts.bind(5, event.address)
        try eventTexts.bind(6, event.userAgent)
        try eventTexts.bind(7, verdict.rawValue)
        try eventTexts.bind(8, event.showing?.campaign)
        try eventTexts.bind(9, event.page?.feed)
        try eventTexts.bind(10, event.page?.section)
        try insertEvent.bind(11, (event.page?.position).map(Int64.init))
        try eventTexts.bind(12, event.page?.layout.rawValue)
        try eventTexts.bind(13, event.creative?.form)
        try eventTexts.bind(14, event.creative?.advertiser)
        try eventTexts.bind(15, event.input?.json)
        try insertEvent.run()
        var marker = database.lastInsertedRowID
        if marker == 1 {
            // The table of events was empty, so the first event needs the next marker.
            try advanceSequence.run()
            marker = try SQLStatement.integer(database, "SELECT max(id) FROM event") ?? marker
        }
        appended = (appended?.lowerBound ?? marker)...marker
    }

    /// Records that a viewer saw a campaign, for the longest window of its frequency caps.
    private func remember(_ event: LedgerEvent) throws {
        guard event.kind == .impression, let showing = event.showing, let campaign = showing.campaign, showing.frequencyCapTTL > 0,
            let viewer = event.viewer
        else { return }
        perishable += 1
        try insertExposure.bind(1, viewer)
        try insertExposure.bind(2, campaign)
        try insertExposure.bind(3, event.at)
        try insertExposure.bind(
            4,
            LedgerTime.latestEnd(at: event.at, window: Int64(showing.frequencyCapTTL).multipliedReportingOverflow(by: 1_000).partialValue)
        )
        try insertExposure.run()
    }
}

/// A store of responses under idempotency keys.
struct IdempotencyStore {
    private let find: SQLStatement

    init(_ database: any SQLConnection) throws {
        find = try SQLStatement(
            database, "SELECT fingerprint, answer FROM idempotency WHERE scope IN (?1, ?2) AND key = ?3 AND expires > ?4 AND expires <= ?5")
    }

    /// Returns the receipt of a stored response, or nil if the key is new.
    ///
    /// - Parameter delay: milliseconds since the request.
    func receipt(of key: IdempotencyKey, delay: Int64 = 0, now: Int64) throws -> LedgerReceipt? {
        defer { find.reset() }
        try find.bind(1, key.scope)
        try find.bind(2, key.formerScope)
        try find.bind(3, key.key)
        try find.bind(4, now)
        // A row with a later end than a new row would have was written by a clock that was ahead.
        try find.bind(5, LedgerTime.latestEnd(at: key.expires, window: delay))
        guard try find.step() else { return nil }
        return find.text(0) == key.fingerprint ? .replayed(find.bytes(1)) : .keyReused
    }
}
