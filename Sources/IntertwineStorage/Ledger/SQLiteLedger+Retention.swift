internal import IntertwineFeed
internal import IntertwineStorageCore

extension SQLiteLedger {
    package func removeSettledEvents(before moment: Int64) async throws -> Int {
        var total = 0
        var walked: Int64 = 0
        var units = statistics.units
        while true {
            let (start, now) = (walked, now())
            // A range of events that is short enough not to delay clicks.
            let swept = try await writing(isDurable: false, nil) { session -> (removed: Int, last: Int64, newest: Int64)? in
                let found = try session.first(
                    "SELECT max(id), max(at) FROM (SELECT id, at FROM event WHERE id > ?1 ORDER BY id LIMIT 250)", .integer(start)
                ) { $0.isNull(0) ? nil : (last: $0.integer(0), newest: $0.integer(1)) }
                guard let (last, newest) = found ?? nil else { return nil }
                let old = "FROM event WHERE id > ?1 AND id <= ?2 AND at < ?3"
                let range: [SQLValue] = [.integer(start), .integer(last), .integer(moment)]
                guard let end = try session.integer("SELECT max(id) \(old)", range[0], range[1], range[2]) else { return (0, last, newest) }
                let removed = try session.write("DELETE \(old)", range[0], range[1], range[2])
                try ReportTables.setMarker(of: .removed, to: end, session)
                return (removed, last, newest)
            }
            guard let swept else { return total }
            total += swept.removed
            walked = swept.last
            // An event in the future shows that the clock was ahead, and older events may follow.
            guard swept.removed > 0 || swept.newest > now else { return total }
            // The rate beside clicks is about 10,000 rows a second: millions of rows take minutes, and few clicks wait for a checkpoint.
            let written = statistics.units
            try await Task.sleep(for: written == units ? .milliseconds(1) : .milliseconds(20))
            units = written
        }
    }
}
