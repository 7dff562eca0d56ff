package import IntertwineFeed

/// A document that an item had before a write of an operator.
package struct ItemRevision: Sendable, Hashable {
    package enum Action: String, Sendable, CaseIterable {
        case edit
        case takeDown = "take-down"
    }

    package static let limit = 20

    /// The name of the operator whose request or command is being performed.
    @TaskLocal package static var author = ""

    package var number: Int
    package var at: Int64
    package var who: String
    package var action: Action
    /// The position that the item had when it was taken down.
    package var position: Int64? = nil
    package var variant: String
    package var body: [UInt8]
}

/// Imports and sources keep no revisions. Why: each run would replace those of operators.
package struct RevisionTable<Session: SQLSession> {
    private static var columns: String { "number, at, who, action, variant, body" }

    private let session: Session
    private let author: String

    package init(_ session: Session, by author: String) { (self.session, self.author) = (session, author) }

    /// Keeps the stored document of an item. Call it before the write.
    ///
    /// - Parameter new: The document that follows; nil if the item is removed. Nothing is kept if both are equal.
    package func keep(_ key: ItemKey, before new: ValidatedItem?, _ action: ItemRevision.Action, at moment: Int64) throws {
        let (kind, id) = (SQLValue.text(key.kind), SQLValue.text(key.id))
        // The position follows a takedown, so that a release can bring the item back to its place.
        let what = action == .takeDown ? "CAST(?5 AS text) || ' ' || position" : "?5"
        var (differs, values) = ("", [kind, id, .integer(moment), .text(author), .text(action.rawValue)])
        if let new {
            differs = " AND (variant <> ?6 OR body <> ?7)"
            values += [.text(new.variant), .utf8(new.body)]
        }
        let kept = try session.run([
            SQLCommand(
                """
                INSERT INTO item_revision (kind, id, \(Self.columns)) SELECT kind, id,
                    (SELECT coalesce(max(number), 0) + 1 FROM item_revision WHERE kind = ?1 AND id = ?2), ?3, ?4, \(what), variant, body
                FROM item WHERE kind = ?1 AND id = ?2\(differs)
                """, values)
        ]) { _, _ in }[0]
        guard kept > 0 else { return }
        try session.write(
            """
            DELETE FROM item_revision WHERE kind = ?1 AND id = ?2
            AND number <= (SELECT max(number) FROM item_revision WHERE kind = ?1 AND id = ?2) - \(ItemRevision.limit)
            """, kind, id)
    }

    /// Why: a release restores the document of the present takedown, never that of an earlier one.
    func endTakedown(of key: ItemKey) throws {
        try session.write(
            "UPDATE item_revision SET action = ?3 WHERE kind = ?1 AND id = ?2 AND action LIKE ?4", .text(key.kind), .text(key.id),
            .text(ItemRevision.Action.edit.rawValue), .text(ItemRevision.Action.takeDown.rawValue + "%"))
    }

    func removed(_ key: ItemKey) throws -> ItemRevision? {
        try list(key, limit: 1).first.flatMap { $0.action == .takeDown ? $0 : nil }
    }

    /// The newest is first.
    package func list(_ key: ItemKey, limit: Int = ItemRevision.limit) throws -> [ItemRevision] {
        try session.rows(
            "SELECT \(Self.columns) FROM item_revision WHERE kind = ?1 AND id = ?2 ORDER BY number DESC LIMIT ?3", .text(key.kind),
            .text(key.id), .integer(Int64(limit))
        ) {
            let action = $0.text(3).split(separator: " ").map(String.init)
            return ItemRevision(
                number: Int($0.integer(0)), at: $0.integer(1), who: $0.text(2),
                action: action.first.flatMap { .init(rawValue: $0) } ?? .edit, position: action.dropFirst().first.flatMap { Int64($0) },
                variant: $0.text(4), body: $0.bytes(5))
        }
    }
}
