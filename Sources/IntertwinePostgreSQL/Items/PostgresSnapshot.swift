package import IntertwineFeed
package import IntertwineStorageCore

/// If the announced reads are complete, the server ends the transaction after their results, so a page takes one round trip.
package final class PostgresSnapshot: StoreSnapshot, SQLSession {
    package static var dialect: SQLDialect { .postgres }

    private static let columns = "kind, id, variant, position, \(CountedItem.body)"
    private static let begin = SQLCommand("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    private static let end = SQLCommand("COMMIT")

    private enum Stage {
        case new
        case open
        case ended
        case exceeded
    }

    private struct Exceeded: Error {}

    package let age: Duration?
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

    package func prefetch(_ queries: [RowQuery], isComplete: Bool) {
        guard stage == .new, queries.allSatisfy({ Self.stream(of: $0) != nil }) else { return }
        announced = (queries, isComplete && trustsAnnouncements)
    }

    func rows(_ text: String, _ values: SQLValue...) throws -> PostgresRows { try rows(SQLCommand(text, values)) }

    @discardableResult
    package func run(_ commands: [SQLCommand], _ read: (_ command: Int, _ row: PostgresRow) throws -> Void) throws -> [Int] {
        if stage == .open { return try connection.run(commands, read) }
        return try commands.enumerated().map { index, command in
            let rows = try rows(command)
            try rows.forEach { try read(index, $0) }
            return rows.affected
        }
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

    package func visit(_ query: RowQuery, _ body: (ItemRow) throws -> Void) throws {
        if let filter = query.filter { return try visit(query, by: filter, body) }
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
        let stream = try rows("SELECT lane FROM item WHERE kind = $1 AND lane >= 0 ORDER BY kind, id LIMIT 1", .text(form.kind))
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
        let expression = SectionIndex(stream: stream, field: field).expression(.postgres)
        let (comparison, order) = direction.words
        let selection = "SELECT \(Self.columns), \(expression) FROM item WHERE lane = \(stream.rawValue)"
        let arrangement = "ORDER BY \(expression)\(order), position\(order) LIMIT $1"
        let limit = SQLValue.integer(Int64(max(limit, 0)))
        let found =
            if let anchor {
                try rows(
                    "\(selection) AND (\(expression), position) \(comparison) ($2, $3) \(arrangement)", limit,
                    Self.value(anchor.key ?? field.leastKey), .integer(anchor.position))
            } else {
                try rows("\(selection) \(arrangement)", limit)
            }
        try visit(found, keyedBy: field, body)
    }

    package func count(in stream: StreamID) throws -> Int {
        Int(try rows("SELECT count(*) FROM item WHERE lane = $1", .integer(stream.rawValue)).integer(0, 0))
    }

    // MARK: Rows

    private func visit(
        _ rows: PostgresRows, limit: Int = .max, keyedBy field: SortField? = nil, _ body: (ItemRow) throws -> Void
    ) throws {
        for row in 0..<min(rows.count, limit) {
            try body(
                ItemRow(
                    kind: rows.view(row, 0), id: rows.view(row, 1), variant: rows.view(row, 2), position: rows.integer(row, 3),
                    sortKey: field.map { Self.key($0, rows, row) }, body: rows.view(row, 4)))
        }
    }

    private static func value(_ key: SortKey) -> SQLValue {
        switch key {
        case .number(let number): .number(number)
        case .text(let bytes): .utf8(bytes)
        }
    }

    private static func key(_ field: SortField, _ rows: PostgresRows, _ row: Int) -> SortKey {
        switch field.comparison {
        case .text, .date: .text(rows.bytes(row, 5))
        case .number: .number(rows.number(row, 5))
        }
    }
}
