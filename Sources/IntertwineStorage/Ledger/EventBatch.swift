import GRDB
import IntertwineFeed

/// A range of events after a marker that is read at once for reports.
struct EventBatch: Sendable {
    private let after: Int64
    /// The marker of the last event.
    let last: Int64
    /// The earliest time of the events in milliseconds since 1970-01-01 UTC.
    let earliest: Int64

    /// Finds the range of events after a marker; nil if there is no event.
    ///
    /// - Parameter end: the highest marker of the range.
    init?(after marker: Int64, through end: Int64 = .max, limit: Int, _ database: any SQLConnection) throws {
        let statement = try SQLStatement(
            database, "SELECT max(id), min(at) FROM (SELECT id, at FROM event WHERE id > ?1 AND id <= ?3 ORDER BY id LIMIT ?2)")
        defer { statement.reset() }
        try statement.bind(1, marker)
        try statement.bind(2, Int64(limit))
        try statement.bind(3, end)
        guard try statement.step(), !statement.isNull(0) else { return nil }
        (after, last, earliest) = (marker, statement.integer(0), statement.integer(1))
    }

    /// Returns the totals of the events that count.
    ///
    /// Why: most events are equal in all columns of the totals. Rows are compared by their bytes in SQLite's memory, and an event is
    /// decoded only for the first row of each group.
    func totals(_ database: any SQLConnection) throws -> ReportTotals {
        let statement = try SQLStatement(
            database,
            """
            SELECT at, kind, cell, campaign, feed, section, position, layout, creative, advertiser
            FROM event WHERE id > ?1 AND id <= ?2 AND verdict = 'counted' ORDER BY id
            """)
        defer { statement.reset() }
        try statement.bind(1, after)
        try statement.bind(2, last)
        var alike: [(event: LedgerEvent, count: Int64)] = []
        var numbers: [GroupKey: Int] = [:]
        var key = GroupKey()
        while try statement.step() {
            key.begin(at: LedgerTime.spans(of: 3_600_000, in: statement.integer(0)))
            for column in 1...9 { key.append(statement.view(column)) }
            if let number = numbers[key] {
                alike[number].count += 1
            } else {
                numbers[key] = alike.count
                var event = LedgerEvent(
                    at: statement.integer(0), kind: LedgerEvent.Kind(rawValue: statement.text(1)), cell: statement.text(2))
                event.readPlacement(from: statement, 3)
                alike.append((event, 1))
            }
        }
        var totals = ReportTotals()
        for (event, count) in alike { totals.add(event, count: count) }
        return totals
    }

    /// Returns the impressions that count and have a viewer.
    func seen(_ database: any SQLConnection) throws -> [LedgerEvent] {
        let statement = try SQLStatement(
            database,
            """
            SELECT at, cell, viewer, campaign, feed, section, position, layout, creative, advertiser FROM event
            WHERE id > ?1 AND id <= ?2 AND verdict = 'counted' AND kind = 'impression' AND viewer IS NOT NULL ORDER BY id
            """)
        defer { statement.reset() }
        try statement.bind(1, after)
        try statement.bind(2, last)
        var events: [LedgerEvent] = []
        while try statement.step() {
            var event = LedgerEvent(at: statement.integer(0), kind: .impression, cell: statement.text(1), viewer: statement.text(2))
            event.readPlacement(from: statement, 3)
            events.append(event)
        }
        return events
    }

    /// A key of the columns that totals distinguish, as bytes: the hour and the columns in sequence.
    private struct GroupKey: Hashable {
        private var bytes: [UInt8] = []

        mutating func begin(at hour: Int64) {
            bytes.removeAll(keepingCapacity: true)
            append(hour)
        }

        mutating func append(_ column: UnsafeRawBufferPointer) {
            append(Int64(column.count))
            bytes.append(contentsOf: column)
        }

        private mutating func append(_ number: Int64) {
            withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
        }

        /// Hashes all bytes in one call, and not byte by byte as arrays do.
        func hash(into hasher: inout Hasher) {
            bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }
}
