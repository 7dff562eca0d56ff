internal import IntertwineFeed
import IntertwineStorageCore

/// If the announced reads are complete, the server ends the transaction after their results, so a page takes one round trip.
final class PostgresSnapshot: StoreSnapshot, SQLSession {
    static var dialect: SQLDialect { .postgres }

    private static let columns = "kind, id, variant, position, body"
    private static let begin = SQLCommand("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    private static let end = SQLCommand("COMMIT")

    private enum Stage {
        case new
        case open
        case ended
        case exceeded
    }

    private struct Exceeded: Error {}

    let age: Duration?
    private let connection: PostgresConnection
    private var stage: Stage
    private let trustsAnnouncements: Bool
    private var announced: (reads: [RowQuery], isAll: Bool) = ([], false)
    private var brought: [(read: RowQuery, rows: PostgresRows)] = []

    private init(_ connection: PostgresConnection, _ stage: Stage, age: Duration? = nil, trustsAnnouncements: Bool = true) {
        (self.connection, self.age) = (connection, age)
        self.stage = stage
        self.trustsAnnouncements = trustsAnnouncements
    }

    convenience init(inside connection: PostgresConnection) {
        self.init(connection, .open)
    }

    /// The final `COMMIT` is sent without waiting for its result, because it cannot fail.
    static func read<Value>(
        _ connection: PostgresConnection, age: Duration? = nil, _ body: (PostgresSnapshot) throws -> Value
    ) throws -> Value {
        let snapshot = PostgresSnapshot(connection, .new, age: age)
        let result = Result { try snapshot.reading(body) }
        guard snapshot.stage == .exceeded else { return try result.get() }
        return try PostgresSnapshot(connection, .new, age: age, trustsAnnouncements: false).reading(body)
    }

    private func reading<Value>(_ body: (PostgresSnapshot) throws -> Value) throws -> Value {
        defer {
            if stage == .open { _ = try? connection.post([Self.end]) }
        }
        return try body(self)
    }

    func prefetch(_ queries: [RowQuery], isComplete: Bool) {
        guard stage == .new, queries.allSatisfy({ Self.stream(of: $0) != nil }) else { return }
        announced = (queries, isComplete && trustsAnnouncements)
    }

    func rows(_ text: String, _ values: SQLValue...) throws -> PostgresRows { try rows(SQLCommand(text, values)) }

    @discardableResult
    func run(_ commands: [SQLCommand], _ read: (_ command: Int, _ row: PostgresRow) throws -> Void) throws -> [Int] {
        for (index, command) in commands.enumerated() { try rows(command).forEach { try read(index, $0) } }
        return commands.map { _ in 0 }
    }

    private func rows(_ command: SQLCommand) throws -> PostgresRows {
        var answers: [PostgresRows]
        switch stage {
        case .new:
            let commands = [command] + announced.reads.compactMap(Self.command)
            answers = try connection.run(announced.isAll ? commands : [Self.begin] + commands)
            stage = announced.isAll ? .ended : .open
            brought = zip(announced.reads, answers.suffix(announced.reads.count)).map { ($0, $1) }
            answers.removeLast(brought.count)
        case .open: answers = try connection.run([command])
        case .ended, .exceeded:
            stage = .exceeded
            throw Exceeded()
        }
        guard let rows = answers.last else { throw PostgresError(message: "the server sent no response", isConnectionLost: true) }
        return rows
    }

    private static func stream(of query: RowQuery) -> StreamID? { if case .stream(let stream) = query.rows { stream } else { nil } }

    private static func command(_ query: RowQuery) -> SQLCommand? { stream(of: query).map { command(query, of: $0) } }

    private static func command(_ query: RowQuery, of stream: StreamID) -> SQLCommand {
        let (comparison, order) = query.direction.words
        return SQLCommand(
            "SELECT \(columns) FROM item WHERE lane = $1 AND position \(comparison) $2 ORDER BY position\(order) LIMIT $3",
            [
                .integer(stream.rawValue), .integer(query.anchor?.position ?? query.direction.outermost),
                .integer(Int64(max(query.limit, 0))),
            ])
    }

    // MARK: StoreSnapshot

    func visit(_ query: RowQuery, _ body: (ItemRow) throws -> Void) throws {
        let (direction, limit, anchor) = (query.direction, query.limit, query.anchor)
        switch query.rows {
        case .stream(let stream):
            let known = brought.first { other, rows in
                (other.rows, other.direction, other.anchor?.position) == (query.rows, direction, anchor?.position)
                    && (limit <= other.limit || rows.count < other.limit)
            }
            try visit(known?.rows ?? rows(Self.command(query, of: stream)), limit: max(limit, 0), body)
        case .type(let type): try visit(type, direction, of: anchor?.position, limit: limit, body)
        case .sorted(let stream, let field): try visit(stream, by: field, direction, of: anchor, limit: limit, body)
        }
    }

    private func visit(
        _ form: ItemType, _ direction: PageDirection, of position: Int64?, limit: Int, _ body: (ItemRow) throws -> Void
    ) throws {
        // All items of a kind are in one stream. Reads by form are nearly always of ads.
        let found = try rows(form, in: StreamID.advertisements.rawValue, direction, of: position, limit: limit)
        guard found.isEmpty else { return try visit(found, body) }
        let stream = try rows("SELECT lane FROM item WHERE kind = $1 ORDER BY kind, id LIMIT 1", .text(form.kind))
        guard !stream.isEmpty, stream.integer(0, 0) != StreamID.advertisements.rawValue else { return }
        try visit(rows(form, in: stream.integer(0, 0), direction, of: position, limit: limit), body)
    }

    /// With the lane as a literal: it is what lets PostgreSQL use the index of forms.
    private func rows(
        _ form: ItemType, in stream: Int64, _ direction: PageDirection, of position: Int64?, limit: Int
    ) throws -> PostgresRows {
        let (comparison, order) = direction.words
        return try rows(
            """
            SELECT \(Self.columns) FROM item WHERE lane = \(stream) AND kind = $1 AND variant = $2 AND position \(comparison) $3
            ORDER BY position\(order) LIMIT $4
            """, .text(form.kind), .text(form.variant), .integer(position ?? direction.outermost), .integer(Int64(max(limit, 0))))
    }

    private func visit(
        _ stream: StreamID, by field: SortField, _ direction: PageDirection, of anchor: SortPosition?, limit: Int,
        _ body: (ItemRow) throws -> Void
    ) throws {
        let key = SectionKey(stream: stream, field: field)
        let (comparison, order) = direction.words
        let selection = "SELECT \(Self.columns), \(key.expression) FROM item WHERE lane = \(stream.rawValue)"
        let arrangement = "ORDER BY \(key.expression)\(order), position\(order) LIMIT $1"
        let limit = SQLValue.integer(Int64(max(limit, 0)))
        let found =
            if let anchor {
                try rows(
                    "\(selection) AND (\(key.expression), position) \(comparison) ($2, $3) \(arrangement)", limit,
                    SectionKey.value(anchor.key ?? field.leastKey), .integer(anchor.position))
            } else {
                try rows("\(selection) \(arrangement)", limit)
            }
        try visit(found, keyedBy: key, body)
    }

    func item(kind: String, id: String) throws -> FeedItem? {
        let rows = try rows("SELECT \(Self.columns) FROM item WHERE kind = $1 AND id = $2", .text(kind), .text(id))
        return try items(of: rows).first
    }

    func count(in stream: StreamID) throws -> Int {
        Int(try rows("SELECT count(*) FROM item WHERE lane = $1", .integer(stream.rawValue)).integer(0, 0))
    }

    func counts() throws -> [ItemType: Int] {
        let rows = try rows("SELECT kind, variant, count(*) FROM item GROUP BY kind, variant")
        var counts: [ItemType: Int] = [:]
        for row in 0..<rows.count {
            counts[ItemType(kind: rows.text(row, 0), variant: rows.text(row, 1))] = Int(rows.integer(row, 2))
        }
        return counts
    }

    func blockedItems(kind: String, limit: Int) throws -> [BlockedItem] {
        try TakedownTable(self).blockedItems(kind: kind, limit: limit)
    }

    func memberships() throws -> [CampaignMembership] { try TakedownTable(self).memberships() }

    func listings(in stream: StreamID, between positions: Range<Int64>, limit: Int) throws -> [PinnedAd] {
        let rows = try rows(
            """
            SELECT a.kind, a.id, a.variant, a.position, a.body, l.position FROM ad_listing AS l
            JOIN item AS a ON a.kind = l.kind AND a.id = l.id
            WHERE l.lane = $1 AND l.position >= $2 AND l.position < $3 AND a.lane = \(StreamID.advertisements.rawValue)
            ORDER BY l.position, l.number LIMIT $4
            """, .integer(stream.rawValue), .integer(positions.lowerBound), .integer(positions.upperBound), .integer(Int64(max(limit, 0))))
        let ads = try items(of: rows)
        return ads.enumerated().map { PinnedAd(position: rows.integer($0.offset, 5), item: $0.element) }
    }

    // MARK: Rows

    private func visit(
        _ rows: PostgresRows, limit: Int = .max, keyedBy key: SectionKey? = nil, _ body: (ItemRow) throws -> Void
    ) throws {
        for row in 0..<min(rows.count, limit) {
            let (position, sortKey) = (rows.integer(row, 3), key.map { $0.key(rows, row, 5) })
            try withDecoded(rows.view(row, 0)) { kind in
                try withDecoded(rows.view(row, 1)) { id in
                    try withDecoded(rows.view(row, 2)) { variant in
                        try body(
                            ItemRow(
                                kind: kind, id: id, variant: variant, position: position, sortKey: sortKey,
                                body: rows.view(row, 4)))
                    }
                }
            }
        }
    }

    private func withDecoded(_ text: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard text.contains(1) else { return try body(text) }
        try PostgresText.decoded(text).withUnsafeBytes { try body($0) }
    }

    private func items(of rows: PostgresRows) throws -> [FeedItem] {
        var items: [FeedItem] = []
        try visit(rows) { items.append($0.item) }
        return items
    }
}

extension PageDirection {
    fileprivate var outermost: Int64 {
        switch self {
        case .forward: .min
        case .backward: .max
        }
    }

    fileprivate var words: (comparison: String, order: String) {
        switch self {
        case .forward: (">", "")
        case .backward: ("<", " DESC")
        }
    }
}
