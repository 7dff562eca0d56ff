internal import IntertwineFeed

/// A range of events after a marker that is read at once for reports.
struct EventBatch: Sendable {
    private let after: Int64
    let last: Int64

    init?(after marker: Int64, through end: Int64, limit: Int, _ session: some SQLSession) throws {
        let last = try session.integer(
            "SELECT max(id) FROM (SELECT id FROM event WHERE id > ?1 AND id <= ?3 ORDER BY id LIMIT ?2) AS batch", .integer(marker),
            .integer(Int64(limit)), .integer(end))
        guard let last else { return nil }
        (after, self.last) = (marker, last)
    }

    /// Why: most events are equal in all columns of the totals. Rows are compared by their bytes in the database's memory, and an event is
    /// decoded only for the first row of each group.
    func totals(_ session: some SQLSession) throws -> ReportTotals {
        var alike: [(event: LedgerEvent, count: Int64)] = []
        var numbers: [GroupKey: Int] = [:]
        var key = GroupKey()
        try session.run([
            SQLCommand(
                """
                SELECT at, kind, cell, campaign, feed, section, position, layout, creative, advertiser
                FROM event WHERE id > ?1 AND id <= ?2 AND verdict = 'counted' ORDER BY id
                """, [.integer(after), .integer(last)])
        ]) { _, row in
            key.begin(at: LedgerTime.spans(of: 3_600_000, in: row.integer(0)))
            for column in 1...9 { key.append(row.view(column)) }
            if let number = numbers[key] {
                alike[number].count += 1
            } else {
                numbers[key] = alike.count
                var event = LedgerEvent(at: row.integer(0), kind: LedgerEvent.Kind(rawValue: row.text(1)), cell: row.text(2))
                event.readPlacement(from: row, 3)
                alike.append((event, 1))
            }
        }
        var totals = ReportTotals()
        for (event, count) in alike { totals.add(event, count: count) }
        return totals
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

        func hash(into hasher: inout Hasher) {
            bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }
}

extension LedgerEvent {
    mutating func readPlacement(from row: some SQLRow, _ first: Int) {
        showing = row.optionalText(first + 4).flatMap(CellLayout.init).map { layout in
            ImpressionContext(
                campaign: row.optionalText(first), feed: row.text(first + 1), section: row.optionalText(first + 2),
                position: Int(clamping: row.integer(first + 3)), layout: layout)
        }
        if showing == nil { showing = row.optionalText(first).map { ImpressionContext(withoutPage: $0) } }
        creative = row.optionalText(first + 5).map { CreativeInfo(form: $0, advertiser: row.optionalText(first + 6)) }
    }
}
