import GRDB
internal import IntertwineFeed

final class LedgerWriter {
    private let database: Database
    private let session: SQLiteSession
    private let beginning: SQLStatement
    private let committing: SQLStatement
    private let rollback: SQLStatement
    private let insertEvent: SQLStatement
    private let eventTexts: BoundTextCache
    private let advanceSequence: SQLStatement
    private let rollupTables: RollupTables
    // The exclusivity of accesses is not checked at run time, which would happen several times per click. No two accesses overlap: the
    // writer is confined to its connection, and no member calls the writer.
    @exclusivity(unchecked) private var counters: RateCounterTable
    @exclusivity(unchecked) private var rollups = Rollups()
    @exclusivity(unchecked) private var limiter = PendingRollup()
    @exclusivity(unchecked) private(set) var perishable = 0
    private var recent: [ReportCheckpoint: EventTail] = [.totals: EventTail(), .trackers: EventTail()]

    init(_ database: Database, recentSlots: Int = RecentRateCounters.defaultSlots) throws {
        self.database = database
        session = SQLiteSession(connection: database)
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
        advanceSequence = try SQLStatement(database, LedgerSchema.advanceSequence)
        counters = try RateCounterTable(database, recentSlots: recentSlots)
        rollupTables = try RollupTables(database)
    }

    func drainRecent(_ tally: ReportCheckpoint) -> EventTail? { recent[tally]?.drain() }

    var hasWaitingCounts: Bool { !rollups.isEmpty }

    var rateCounters: (count: Int, bytes: Int) { counters.memory }

    /// The longest window of the events so far, in milliseconds.
    var longestWindow: Int64 { counters.longestWindow }

    /// `flushes`: true if waiting counts must be written.
    func commit(
        _ count: Int, now: Int64, flushes: Bool = true, entry: (Int) -> LedgerEntry
    ) throws -> [Result<LedgerReceipt, any Error>] {
        // Repeats a rollback that failed because of a disk error.
        if database.isInsideTransaction { try rollback.run() }
        try beginning.run()
        let changes = database.totalChangesCount
        perishable = 0
        do {
            try counters.begin()
            var group = LedgerGroup()
            for index in 0..<count { group.ask(for: entry(index)) }
            try session.run(group.questions(.sqlite)) { group.apply($1, of: $0) }
            let receipts = try (0..<count).map { try group.decide(entry($0), at: now, &counters, &rollups, &limiter) }
            let markers = try write(group, now: now)
            if try finish(since: changes, flushes: flushes) {
                try committing.run()
                if let markers { for tally in recent.keys { recent[tally]?.add(rollups.counts, markers) } }
                counters.hasCommitted()
                rollups.hasCommitted()
            } else {
                // The group has only counts that can wait, so there is nothing to commit.
                try rollback.run()
                counters.discard()
                rollups.postpone()
            }
            return receipts
        } catch {
            counters.discard()
            rollups.discard()
            // SQLite has already rolled back after severe errors.
            if database.isInsideTransaction { try? rollback.run() }
            throw error
        }
    }

    private func write(_ group: LedgerGroup, now: Int64) throws -> ClosedRange<Int64>? {
        perishable += group.perishableRows
        try session.run(group.statements(.sqlite)) { _, _ in }
        for (mutation, until) in group.changes {
            try session.run(mutation.statements(until: until, now: now, .sqlite)) { _, _ in }
        }
        var markers: ClosedRange<Int64>?
        for (event, verdict) in group.events {
            let marker = try append(event, as: verdict)
            markers = (markers?.lowerBound ?? marker)...marker
        }
        return markers
    }

    /// Call it last, before the group is committed.
    /// `flushes`: true if counts must be written.
    /// Why: writing these counts each time would cost the disk more than all clicks do.
    private func finish(since changes: Int, flushes: Bool) throws -> Bool {
        // A row that was inserted and deleted again is no change.
        let rows = try counters.write()
        perishable += rows.written
        let unchanged = changes + 2 * rows.removed
        guard flushes || rollups.isDue || database.totalChangesCount != unchanged else { return false }
        try rollupTables.add(rollups.sums)
        return database.totalChangesCount != unchanged
    }

    private func append(_ event: LedgerEvent, as verdict: Verdict) throws -> Int64 {
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
        return marker
    }
}

private struct RollupTables {
    private let addToCell: SQLStatement
    private let addToDay: SQLStatement
    private let addToDelivery: SQLStatement
    private let addToChoice: SQLStatement

    init(_ database: Database) throws {
        func addition(to table: String, _ key: String, _ values: String) throws -> SQLStatement {
            try SQLStatement(
                database,
                """
                INSERT INTO \(table) (\(key), count) VALUES (\(values), ?1) ON CONFLICT (\(key)) DO UPDATE SET count = count + ?1
                """)
        }
        addToCell = try addition(to: "rollup_cell", "day, verdict, cell, kind", "?2, ?3, ?4, ?5")
        addToDay = try addition(to: "rollup_day", "day, kind, verdict", "?2, ?3, ?4")
        addToDelivery = try addition(to: "delivery", "campaign, kind, span", "?2, ?3, ?4")
        addToChoice = try addition(to: "rollup_choice", "day, field, value, kind", "?2, ?3, ?4, ?5")
    }

    func add(_ sums: Rollups.Sums) throws {
        for (key, count) in sums.cells {
            try addToCell.bind(2, key.day)
            try addToCell.bind(3, key.verdict.rawValue)
            try addToCell.bind(4, key.cell.text)
            try addToCell.bind(5, key.kind.rawValue)
            try Self.add(count, addToCell)
        }
        for (key, count) in sums.days {
            try addToDay.bind(2, key.day)
            try addToDay.bind(3, key.kind.rawValue)
            try addToDay.bind(4, key.verdict.rawValue)
            try Self.add(count, addToDay)
        }
        for (key, count) in sums.deliveries {
            try addToDelivery.bind(2, key.campaign.text)
            try addToDelivery.bind(3, key.kind.rawValue)
            try addToDelivery.bind(4, key.span)
            try Self.add(count, addToDelivery)
        }
        for (key, count) in sums.choices {
            try addToChoice.bind(2, key.day)
            try addToChoice.bind(3, key.field.text)
            try addToChoice.bind(4, key.value.text)
            try addToChoice.bind(5, key.kind.rawValue)
            try Self.add(count, addToChoice)
        }
    }

    private static func add(_ count: Int64, _ statement: SQLStatement) throws {
        try statement.bind(1, count)
        try statement.run()
    }
}
