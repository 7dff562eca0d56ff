import GRDB
import IntertwineFeed

/// Counts by day, cell, kind and verdict, and campaign deliveries by quarters of an hour.
///
/// The counts of a group of units are accumulated and written once before its commit. Counts of repeated impressions and forgeries,
/// which have no row, are written within a second.
struct Rollups {
    private struct Key: Hashable {
        var day: Int64
        /// The cell; empty for the total of a day.
        var cell: ByteString
        var kind: LedgerEvent.Kind
        var verdict: Verdict
    }

    private struct DeliveryTotal: Hashable {
        var campaign: ByteString
        var kind: LedgerEvent.Kind
        var span: Int64
    }

    private struct Chosen: Hashable {
        var day: Int64
        var field: ByteString
        var value: ByteString
        var kind: LedgerEvent.Kind
    }

    /// The value of the span column for the total of all time.
    private static let everySpan: Int64 = -1

    /// The events of the group that is being written.
    private(set) var counts: [EventGroupKey: Int64] = [:]
    /// Counts of earlier groups that had nothing else to write, see ``postpone()``. Events with the verdict `counted` have rows and never wait.
    private var waiting: [EventGroupKey: Int64] = [:]
    /// Choices in the input of the group's events. Their events have rows, so the choices never wait for another group.
    private var choices: [Chosen: Int64] = [:]
    /// A Boolean value indicating whether the group has counts that must be committed with it.
    private(set) var isDue = false
    private let addToDelivery: SQLStatement
    private let addToCell: SQLStatement
    private let addToDay: SQLStatement
    private let addToChoice: SQLStatement

    init(_ database: Database) throws {
        addToCell = try SQLStatement(
            database,
            """
            INSERT INTO rollup_cell (day, kind, verdict, count, cell) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (day, verdict, cell, kind) DO UPDATE SET count = count + ?4
            """)
        addToDelivery = try SQLStatement(
            database,
            """
            INSERT INTO delivery (campaign, kind, span, count) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (campaign, kind, span) DO UPDATE SET count = count + ?4
            """)
        addToDay = try SQLStatement(
            database,
            """
            INSERT INTO rollup_day (day, kind, verdict, count) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (day, kind, verdict) DO UPDATE SET count = count + ?4
            """)
        addToChoice = try SQLStatement(
            database,
            """
            INSERT INTO rollup_choice (day, field, value, kind, count) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (day, field, value, kind) DO UPDATE SET count = count + ?5
            """)
    }

    /// Adds events to the counts of the group.
    ///
    /// - Parameter mayDefer: true if the count may be written after the group's response.
    mutating func count(_ event: LedgerEvent, as verdict: Verdict, _ count: Int64 = 1, mayDefer: Bool) {
        if !mayDefer { isDue = true }
        counts[EventGroupKey(event, as: verdict), default: 0] += count
        guard verdict == .counted, let input = event.input else { return }
        for choice in input.choices {
            let chosen = Chosen(
                day: LedgerTime.day(of: event.at), field: ByteString(choice.field), value: ByteString(choice.value), kind: event.kind)
            choices[chosen, default: 0] += count
        }
    }

    /// A Boolean value indicating whether there is nothing to write.
    var isEmpty: Bool { counts.isEmpty && waiting.isEmpty }

    /// Writes all counts. They are kept until ``hasCommitted()`` or, for the counts of the group, ``discard()``.
    func write() throws {
        var (cells, days) = ([Key: Int64](), [Key: Int64]())
        var delivered: [DeliveryTotal: Int64] = [:]
        for (likeness, count) in counts.merging(waiting, uniquingKeysWith: +) {
            var key = Key(day: likeness.day, cell: likeness.cell, kind: likeness.kind, verdict: likeness.verdict)
            cells[key, default: 0] += count
            key.cell = ""
            days[key, default: 0] += count
            guard likeness.verdict == .counted, let campaign = likeness.campaign else { continue }
            for span in [Self.everySpan, likeness.deliverySpan] {
                delivered[DeliveryTotal(campaign: ByteString(campaign), kind: likeness.kind, span: span), default: 0] += count
            }
        }
        for (key, count) in cells {
            try addToCell.bind(5, key.cell.text)
            try Self.add(count, under: key, by: addToCell)
        }
        for (key, count) in days { try Self.add(count, under: key, by: addToDay) }
        for (key, count) in delivered {
            try addToDelivery.bind(1, key.campaign.text)
            try addToDelivery.bind(2, key.kind.rawValue)
            try addToDelivery.bind(3, key.span)
            try addToDelivery.bind(4, count)
            try addToDelivery.run()
        }
        for (chosen, count) in choices {
            try addToChoice.bind(1, chosen.day)
            try addToChoice.bind(2, chosen.field.text)
            try addToChoice.bind(3, chosen.value.text)
            try addToChoice.bind(4, chosen.kind.rawValue)
            try addToChoice.bind(5, count)
            try addToChoice.run()
        }
    }

    mutating func hasCommitted() {
        discard()
        waiting.removeAll(keepingCapacity: true)
    }

    /// Defers the counts of the group to the next group that writes.
    mutating func postpone() {
        waiting.merge(counts, uniquingKeysWith: +)
        discard()
    }

    /// Discards the counts of a group that was rolled back.
    mutating func discard() {
        counts.removeAll(keepingCapacity: true)
        choices.removeAll(keepingCapacity: true)
        isDue = false
    }

    private static func add(_ count: Int64, under key: Key, by statement: SQLStatement) throws {
        try statement.bind(1, key.day)
        try statement.bind(2, key.kind.rawValue)
        try statement.bind(3, key.verdict.rawValue)
        try statement.bind(4, count)
        try statement.run()
    }
}
