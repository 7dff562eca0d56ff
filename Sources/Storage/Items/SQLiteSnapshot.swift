import Feed
import GRDB

/// The items of one read transaction.
struct SQLiteSnapshot: FeedSnapshot {
    let database: Database

    static let columns = "kind, id, variant, position, body"

    func items(in lane: Lane, _ direction: PageDirection, of position: Int64?, limit: Int) throws -> [FeedItem] {
        let statement =
            switch direction {
            case .forward:
                try SQLStatement(database, "SELECT \(Self.columns) FROM item WHERE lane = ? AND position > ? ORDER BY position LIMIT ?")
            case .backward:
                try SQLStatement(
                    database, "SELECT \(Self.columns) FROM item WHERE lane = ? AND position < ? ORDER BY position DESC LIMIT ?")
            }
        try statement.bind(1, lane.rawValue)
        try statement.bind(2, position ?? direction.outermost)
        try statement.bind(3, Int64(max(limit, 0)))
        return try items(statement)
    }

    func items(of form: ItemForm, _ direction: PageDirection, of position: Int64?, limit: Int) throws -> [FeedItem] {
        guard let lane = try lane(of: form.kind) else { return [] }
        // The lane as a literal: it is what lets SQLite use the index of forms.
        let which = "lane = \(lane) AND kind = ? AND variant = ?"
        let statement =
            switch direction {
            case .forward:
                try SQLStatement(database, "SELECT \(Self.columns) FROM item WHERE \(which) AND position > ? ORDER BY position LIMIT ?")
            case .backward:
                try SQLStatement(
                    database, "SELECT \(Self.columns) FROM item WHERE \(which) AND position < ? ORDER BY position DESC LIMIT ?")
            }
        try statement.bind(1, form.kind)
        try statement.bind(2, form.variant)
        try statement.bind(3, position ?? direction.outermost)
        try statement.bind(4, Int64(max(limit, 0)))
        return try items(statement)
    }

    /// The lane of the items of a kind, which all stand in one; nil where there are none.
    private func lane(of kind: String) throws -> Int64? {
        let statement = try SQLStatement(database, "SELECT lane FROM item INDEXED BY item_identity WHERE kind = ? LIMIT 1")
        defer { statement.reset() }
        try statement.bind(1, kind)
        return try statement.step() ? statement.integer(0) : nil
    }

    func item(kind: String, id: String) throws -> FeedItem? {
        let statement = try SQLStatement(database, "SELECT \(Self.columns) FROM item WHERE kind = ? AND id = ?")
        try statement.bind(1, kind)
        try statement.bind(2, id)
        return try items(statement).first
    }

    func counts() throws -> [ItemForm: Int] {
        let statement = try SQLStatement(database, "SELECT kind, variant, count(*) FROM item GROUP BY kind, variant")
        defer { statement.reset() }
        var counts: [ItemForm: Int] = [:]
        while try statement.step() {
            counts[ItemForm(kind: statement.text(0), variant: statement.text(1))] = Int(statement.integer(2))
        }
        return counts
    }

    func items(_ statement: SQLStatement, keyedBy field: SortField? = nil) throws -> [FeedItem] {
        defer { statement.reset() }
        var items: [FeedItem] = []
        while try statement.step() {
            items.append(
                FeedItem(
                    kind: statement.text(0), id: statement.text(1), variant: statement.text(2), position: statement.integer(3),
                    sortKey: field.map { statement.key(5, $0) }, body: statement.bytes(4)))
        }
        return items
    }
}

extension PageDirection {
    /// A position before the first item, or behind the last.
    fileprivate var outermost: Int64 {
        switch self {
        case .forward: .min
        case .backward: .max
        }
    }
}
