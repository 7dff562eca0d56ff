import GRDB
internal import IntertwineFeed
internal import IntertwineStorageCore

final class LedgerWriter {
    private let database: Database
    private let session: SQLiteSession
    private let counters: RateCounters
    private var lastLogRow: Int64 = 0
    private var rollups = Rollups()
    private var limiter = PendingRollup()
    private(set) var perishable = 0

    init(_ database: Database, recentSlots: Int = RecentRateCounters.defaultSlots) {
        self.database = database
        session = database.session
        counters = RateCounters(slots: recentSlots)
    }

    var hasWaitingCounts: Bool { !rollups.isEmpty }

    var rateCounters: (count: Int, bytes: Int) { counters.memory }

    /// The longest window of the events so far, in milliseconds.
    var longestWindow: Int64 { counters.longestWindow }

    /// `flushes`: true if waiting counts must be written.
    func commit(_ entries: [LedgerEntry], now: Int64, flushes: Bool = true) throws -> [Result<LedgerReceipt, any Error>] {
        // Repeats a rollback that failed because of a disk error.
        if database.isInsideTransaction { try session.write("ROLLBACK") }
        let keys = entries.map { $0.events.map { $0.verdict == .counted ? RateCounterKeys($0) : .none } }
        try session.write("BEGIN IMMEDIATE")
        do {
            try readLog()
            counters.begin(at: now, keys: keys.reduce(0) { $1.reduce($0) { $0 + $1.storedCount } })
            var group = LedgerGroup()
            for (entry, keys) in zip(entries, keys) {
                group.ask(for: entry)
                for (event, keys) in zip(entry.events, keys) { counters.ask(for: event, keys) }
            }
            try session.run(counters.questions(.sqlite)) { counters.apply($1) }
            try session.run(group.questions(.sqlite)) { group.apply($1, of: $0) }
            let receipts = zip(entries, keys).map { group.decide($0, $1, at: now, counters, &rollups, &limiter) }
            var commands = group.statements(.sqlite)
            for (mutation, until) in group.changes { commands += mutation.statements(until: until, now: now, .sqlite) }
            if let events = group.eventInsertion(.sqlite) { commands.append(events) }
            let counterCommands = counters.commands(.sqlite)
            commands += counterCommands
            perishable = group.perishableRows + counterCommands.reduce(0) { $0 + $1.rowCount }
            let logRow = try writeLog()
            guard flushes && !rollups.isEmpty || rollups.isDue || !commands.isEmpty || logRow != nil else {
                // The group has only counts that can wait, so there is nothing to commit. Why: writing these counts each time would cost the disk
                // more than all clicks do.
                try session.write("ROLLBACK")
                counters.discard()
                rollups.postpone()
                return receipts
            }
            try session.run(commands + rollups.sums.commands(.sqlite)) { _, _ in }
            try session.write("COMMIT")
            if let logRow { lastLogRow = logRow }
            counters.hasCommitted()
            rollups.hasCommitted()
            return receipts
        } catch {
            counters.discard()
            rollups.discard()
            // SQLite has already rolled back after severe errors.
            if database.isInsideTransaction { _ = try? session.write("ROLLBACK") }
            throw error
        }
    }

    private func readLog() throws {
        let newRows = SQLCommand(
            "SELECT id, until, spilled, entries FROM recent_allowance WHERE id > ?1 ORDER BY id", [.integer(lastLogRow)])
        try session.run([newRows]) { _, row in
            counters.readLog(until: row.integer(1), isSpilled: row.flag(2), row.view(3))
            lastLogRow = row.integer(0)
        }
    }

    private func writeLog() throws -> Int64? {
        guard let row = counters.logRow else { return nil }
        perishable += 1
        try session.write(
            "INSERT INTO recent_allowance (until, spilled, entries) VALUES (?1, ?2, ?3)", .integer(row.until), .flag(row.isSpilled),
            .bytes(row.entries))
        return database.lastInsertedRowID
    }
}
