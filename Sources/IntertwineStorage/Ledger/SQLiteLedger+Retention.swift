import GRDB
internal import IntertwineFeed

extension SQLiteLedger {
    package func removeSettledEvents(before moment: Int64) async throws -> Int {
        var total = 0
        var walked: Int64 = 0
        var units = statistics.units
        while true {
            let (window, now) = (EventWindow(after: walked), now())
            guard let swept = try await StoreError.wrapping({ try await commits.sweep { try window.remove(before: moment, now: now, $0) } })
            else { return total }
            total += swept.removed
            walked = swept.last
            guard swept.removed > 0 || swept.isClockAhead else { return total }
            // The rate beside clicks is about 10,000 rows a second: millions of rows take minutes, and few clicks wait for a checkpoint.
            let written = statistics.units
            try await Task.sleep(for: written == units ? .milliseconds(1) : .milliseconds(20))
            units = written
        }
    }
}

private struct EventWindow {
    private static let length = 250

    let after: Int64

    struct Swept {
        var removed: Int
        var last: Int64
        var isClockAhead: Bool
    }

    func remove(before moment: Int64, now: Int64, _ database: Database) throws -> Swept? {
        let find = try SQLStatement(
            database, "SELECT max(id), max(at) FROM (SELECT id, at FROM event WHERE id > ?1 ORDER BY id LIMIT ?2)")
        try find.bind(1, after)
        try find.bind(2, Int64(Self.length))
        let found = try find.step() && !find.isNull(0) ? (last: find.integer(0), newest: find.integer(1)) : nil
        find.reset()
        guard let found else { return nil }
        try SQLStatement(database, LedgerSchema.saveSequence).run()
        let remove = try SQLStatement(database, "DELETE FROM event WHERE id > ?1 AND id <= ?2 AND at < ?3")
        try remove.bind(1, after)
        try remove.bind(2, found.last)
        try remove.bind(3, moment)
        try remove.run()
        return Swept(removed: database.changesCount, last: found.last, isClockAhead: found.newest > now)
    }
}
