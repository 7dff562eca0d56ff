package import IntertwineFeed

package struct StoredItemTable<Session: SQLSession> {
    private let session: Session
    private let takedowns: TakedownTable<Session>
    private let layout: SectionLayout
    private let releasing: Bool
    private let revisions: RevisionTable<Session>?

    /// `author`: The operator whose write keeps revisions; nil for imports and sources.
    package init(_ session: Session, releasing: Bool = true, author: String? = nil) throws {
        (self.session, self.releasing) = (session, releasing)
        revisions = author.map { RevisionTable(session, by: $0) }
        takedowns = TakedownTable(session)
        layout = try SectionLayout(session)
    }

    func order(of stream: StreamID) -> OrderMaintenance<Session> { OrderMaintenance(session, stream) }

    package func location(of key: ItemKey) throws -> (stream: StreamID, position: Int64)? {
        try session.first(
            "SELECT \(PublicItems.stream), position FROM item WHERE kind = ?1 AND id = ?2", .text(key.kind), .text(key.id)
        ) { (StreamID(rawValue: $0.integer(0)), $0.integer(1)) }
    }

    package func stream(of item: ValidatedItem) -> StreamID { layout.stream(of: item) }

    package func stream(ofSection name: String) -> StreamID? { layout.streams[name] }

    package func put(_ item: ValidatedItem) throws -> (change: ItemChange, inPlace: StreamID?) {
        let wasTakenDown = try release(ItemKey(item))
        let stream = stream(of: item)
        if try update(item, in: stream) {
            try list(item)
            return (.replaced, wasTakenDown || stream == .advertisements ? nil : stream)
        }
        // The kind may belong to another stream now, in which the item has no position yet.
        let isKnown = try delete(ItemKey(item))
        if wasTakenDown, let position = try formerPosition(of: ItemKey(item), in: stream) {
            try insert([item], in: stream, at: [position])
        } else {
            try append([item], to: stream)
        }
        return (isKnown ? .replaced : .added, nil)
    }

    /// Returns the position that the item had when it was taken down, unless another item has it since.
    private func formerPosition(of key: ItemKey, in stream: StreamID) throws -> Int64? {
        guard let position = try RevisionTable(session, by: "").removed(key)?.position else { return nil }
        let others = try session.integer(
            "SELECT count(*) FROM item WHERE \(PublicItems.condition("?1")) AND position = ?2", .integer(stream.rawValue),
            .integer(position))
        return others == 0 ? position : nil
    }

    /// `stream`: The stream in which the item must be; nil for any.
    package func update(_ item: ValidatedItem, in stream: StreamID? = nil) throws -> Bool {
        let due = item.isScheduled ? "0" : "CASE WHEN due IS NOT NULL OR lane < 0 THEN 0 END"
        var text = "UPDATE item SET variant = ?3, body = ?4, due = \(due) WHERE kind = ?1 AND id = ?2"
        var values: [SQLValue] = [.text(item.kind), .text(item.id), .text(item.variant), .utf8(item.body)]
        if let stream {
            text += " AND \(PublicItems.condition("?5"))"
            values.append(.integer(stream.rawValue))
        }
        return try session.run([SQLCommand(text, values)]) { _, _ in }[0] > 0
    }

    func items(_ keys: [ItemKey]) throws -> [ItemKey: FeedItem] {
        var items: [ItemKey: FeedItem] = [:]
        try session.run([
            SQLCommand(
                """
                SELECT i.kind, i.id, i.variant, i.position, i.body FROM \(Session.dialect.table("wanted", ["kind", "id"]))
                CROSS JOIN item AS i WHERE i.kind = wanted.kind AND i.id = wanted.id
                """, [.texts(keys.map(\.kind)), .texts(keys.map(\.id))])
        ]) { _, row in
            let item = FeedItem(kind: row.text(0), id: row.text(1), variant: row.text(2), position: row.integer(3), body: row.bytes(4))
            items[ItemKey(kind: item.kind, id: item.id)] = item
        }
        return items
    }

    func update(_ items: [ValidatedItem]) throws {
        try update(items.filter(\.isScheduled), due: "0")
        try update(items.filter { !$0.isScheduled }, due: "CASE WHEN item.due IS NOT NULL OR item.lane < 0 THEN 0 END")
    }

    private func update(_ items: [ValidatedItem], due: String) throws {
        guard !items.isEmpty else { return }
        try session.run([
            SQLCommand(
                """
                UPDATE item SET variant = new.variant, body = new.body, due = \(due)
                FROM \(Session.dialect.table("new", ["kind", "id", "variant", "body"])) WHERE item.kind = new.kind AND item.id = new.id
                """,
                [.texts(items.map(\.kind)), .texts(items.map(\.id)), .texts(items.map(\.variant)), .documents(items.map(\.body))])
        ]) { _, _ in }
    }

    package func insert(_ item: ValidatedItem, in stream: StreamID, at position: Int64) throws {
        _ = try release(ItemKey(item))
        try insert([item], in: stream, at: [position])
    }

    private func release(_ key: ItemKey) throws -> Bool {
        guard try takedowns.remove(key) else { return false }
        // The transaction is rolled back.
        guard releasing else { throw StoreOperationError.Reason.takenDown(key) }
        return true
    }

    package func append(_ items: [ValidatedItem], to stream: StreamID) throws {
        guard !items.isEmpty else { return }
        var last = try session.integer(PublicItems.outermost("max", of: "?1"), .integer(stream.rawValue)) ?? 0
        let positions = try items.map { _ throws(StoreError) in
            last = try ItemPosition.next(after: last)
            return last
        }
        try insert(items, in: stream, at: positions)
    }

    private func insert(_ items: [ValidatedItem], in stream: StreamID, at positions: [Int64]) throws {
        try session.run([
            SQLCommand(
                "INSERT INTO item (position, kind, id, variant, body, due, lane) \(Session.dialect.values(6, and: 1))",
                [
                    .integers(positions), .texts(items.map(\.kind)), .texts(items.map(\.id)), .texts(items.map(\.variant)),
                    .documents(items.map(\.body)), .integers(items.map { $0.isScheduled ? 0 : nil }), .integer(stream.rawValue),
                ])
        ]) { _, _ in }
        for item in items { try list(item) }
    }

    /// Lists an ad after all content, unless it has a listing.
    private func list(_ item: ValidatedItem) throws {
        guard item.stream == .advertisements else { return }
        try session.write(
            """
            INSERT INTO ad_listing (lane, position, kind, id)
            SELECT 0, coalesce((SELECT max(position) FROM item WHERE lane = 0), ?3), ?1, ?2
            WHERE NOT EXISTS (SELECT 1 FROM ad_listing WHERE kind = ?1 AND id = ?2)
            """, .text(item.kind), .text(item.id), .integer(.min))
    }

    package func move(_ key: ItemKey, to position: Int64) throws {
        try session.write(
            "UPDATE item SET position = ?3 WHERE kind = ?1 AND id = ?2", .text(key.kind), .text(key.id), .integer(position))
    }

    package func delete(_ key: ItemKey) throws -> Bool {
        try session.write("DELETE FROM item WHERE kind = ?1 AND id = ?2", .text(key.kind), .text(key.id)) > 0
    }

    func deleteAll(in stream: StreamID, naming limit: Int) throws -> (count: Int, first: [ItemKey]) {
        let first = try session.rows(
            "SELECT kind, id FROM item WHERE \(PublicItems.condition("?1")) ORDER BY position LIMIT ?2", .integer(stream.rawValue),
            .integer(Int64(limit))
        ) { ItemKey(kind: $0.text(0), id: $0.text(1)) }
        return (try session.write("DELETE FROM item WHERE \(PublicItems.condition("?1"))", .integer(stream.rawValue)), first)
    }

    /// Call it before the item is removed.
    package func takeDown(_ takedown: Takedown) throws {
        try revisions?.keep(takedown.item, before: nil, .takeDown, at: takedown.at)
        try takedowns.add(takedown)
    }

    func keep(before new: ValidatedItem, at moment: Int64) throws {
        try revisions?.keep(ItemKey(new), before: new, .edit, at: moment)
    }

    package func remove(_ takedown: Takedown) throws -> TakedownChange {
        let isNew = try takedowns.takedown(of: takedown.item) == nil
        if isNew { try RevisionTable(session, by: "").endTakedown(of: takedown.item) }
        try takeDown(takedown)
        return TakedownChange(wasStored: try delete(takedown.item), isNew: isNew)
    }

    func takeDownAll(in stream: StreamID, at moment: Int64, reason: String?) throws {
        try takedowns.addAll(in: stream, at: moment, reason: reason)
    }
}
