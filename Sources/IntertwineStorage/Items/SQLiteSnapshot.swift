package import IntertwineFeed
package import IntertwineStorageCore

package struct SQLiteSnapshot: StoreSnapshot, SQLSession {
    package static var dialect: SQLDialect { .sqlite }

    let database: any SQLConnection

    static let columns = "kind, id, variant, position, \(CountedItem.body)"

    /// SQL texts that are built once, because building them costs a page as much as looking up their statements.
    /// The plus sign keeps SQLite from comparing the value with the conditions of partial indices. With such a comparison, SQLite would
    /// prepare the statement again each time that a value is bound.
    private static let streamCondition = texts("lane = +?")
    /// The SQL texts with the lane as a literal, which lets SQLite use the index of forms.
    private static let ofAdvertisements = texts(ofFormsIn: StreamID.advertisements.rawValue)

    private typealias Texts = (forward: String, backward: String)

    private static func texts(_ condition: String) -> Texts {
        (
            "SELECT \(columns) FROM item WHERE \(condition) AND position > ? ORDER BY position LIMIT ?",
            "SELECT \(columns) FROM item WHERE \(condition) AND position < ? ORDER BY position DESC LIMIT ?"
        )
    }

    private static func texts(ofFormsIn stream: Int64) -> Texts { texts("lane = \(stream) AND kind = ? AND variant = ?") }

    @discardableResult
    package func run(_ commands: [SQLCommand], _ read: (_ command: Int, _ row: SQLStatement) throws -> Void) throws -> [Int] {
        try database.session.run(commands, read)
    }

    package func visit(_ query: RowQuery, _ body: (ItemRow) throws -> Void) throws {
        if let filter = query.filter { return try visit(query, by: filter, body) }
        let (direction, limit, anchor) = (query.direction, query.limit, query.anchor)
        switch query.rows {
        case .stream(let stream): try visit(stream, direction, of: anchor?.position, limit: limit, body)
        case .type(let type): try visit(type, direction, of: anchor?.position, limit: limit, body)
        case .sorted(let stream, let field): try visit(stream, by: field, direction, of: anchor, limit: limit, body)
        }
    }

    private func visit(
        _ stream: StreamID, _ direction: PageDirection, of position: Int64?, limit: Int, _ body: (ItemRow) throws -> Void
    ) throws {
        let statement = try SQLStatement(database, direction == .forward ? Self.streamCondition.forward : Self.streamCondition.backward)
        try statement.bind(1, stream.rawValue)
        try statement.bind(2, position ?? direction.outermost)
        try statement.bind(3, Int64(max(limit, 0)))
        try visit(statement, body)
    }

    private func visit(
        _ form: ItemType, _ direction: PageDirection, of position: Int64?, limit: Int, _ body: (ItemRow) throws -> Void
    ) throws {
        // All items of a kind are in one stream. Forms are almost always requested for ads.
        if try visit(form, Self.ofAdvertisements, direction, of: position, limit: limit, body) { return }
        guard let stream = try stream(of: form.kind), stream != StreamID.advertisements.rawValue else { return }
        _ = try visit(form, Self.texts(ofFormsIn: stream), direction, of: position, limit: limit, body)
    }

    private func visit(
        _ form: ItemType, _ texts: Texts, _ direction: PageDirection, of position: Int64?, limit: Int, _ body: (ItemRow) throws -> Void
    ) throws -> Bool {
        let statement = try SQLStatement(database, direction == .forward ? texts.forward : texts.backward)
        try statement.bind(1, form.kind)
        try statement.bind(2, form.variant)
        try statement.bind(3, position ?? direction.outermost)
        try statement.bind(4, Int64(max(limit, 0)))
        var isAny = false
        try visit(statement) {
            isAny = true
            try body($0)
        }
        return isAny
    }

    private func stream(of kind: String) throws -> Int64? {
        let statement = try SQLStatement(database, "SELECT lane FROM item INDEXED BY item_identity WHERE kind = ? AND +lane >= 0 LIMIT 1")
        defer { statement.reset() }
        try statement.bind(1, kind)
        return try statement.step() ? statement.integer(0) : nil
    }

    func visit(_ statement: SQLStatement, keyedBy field: SortField? = nil, _ body: (ItemRow) throws -> Void) throws {
        defer { statement.reset() }
        while try statement.step() {
            try body(
                ItemRow(
                    kind: statement.view(0), id: statement.view(1), variant: statement.view(2),
                    position: statement.integer(3), sortKey: field.map { statement.key(5, $0) }, body: statement.view(4)))
        }
    }
}
