package import IntertwineFeed

package struct StoredItemTable<Session: SQLSession> {
    private let session: Session
    private let takedowns: TakedownTable<Session>
    private let layout: SectionLayout
    private let releasing: Bool

    package init(_ session: Session, releasing: Bool = true) throws {
        (self.session, self.releasing) = (session, releasing)
        takedowns = TakedownTable(session)
        layout = try SectionLayout(session)
    }

    package func rows(of stream: StreamID) -> StoredStream<Session> { StoredStream(session: session, stream: stream) }

    package func location(of key: ItemKey) throws -> (stream: StreamID, position: Int64)? {
        try session.first("SELECT lane, position FROM item WHERE kind = ?1 AND id = ?2", .text(key.kind), .text(key.id)) {
            (StreamID(rawValue: $0.integer(0)), $0.integer(1))
        }
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
        try append([item], to: stream)
        return (isKnown ? .replaced : .added, nil)
    }

    /// `stream`: The stream in which the item must be; nil for any.
    package func update(_ item: ValidatedItem, in stream: StreamID? = nil) throws -> Bool {
        var text = "UPDATE item SET variant = ?3, body = ?4 WHERE kind = ?1 AND id = ?2"
        var values: [SQLValue] = [.text(item.kind), .text(item.id), .text(item.variant), .utf8(item.body)]
        if let stream {
            text += " AND lane = ?5"
            values.append(.integer(stream.rawValue))
        }
        return try session.run([SQLCommand(text, values)]) { _, _ in }[0] > 0
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
        var last = try session.integer("SELECT max(position) FROM item WHERE lane = ?1", .integer(stream.rawValue)) ?? 0
        let positions = try items.map { _ throws(StoreError) in
            last = try ItemPosition.next(after: last)
            return last
        }
        try insert(items, in: stream, at: positions)
    }

    private func insert(_ items: [ValidatedItem], in stream: StreamID, at positions: [Int64]) throws {
        try session.run([
            SQLCommand(
                "INSERT INTO item (position, kind, id, variant, body, lane) \(Session.dialect.values(5, and: 1))",
                [
                    .integers(positions), .texts(items.map(\.kind)), .texts(items.map(\.id)), .texts(items.map(\.variant)),
                    .texts(items.map { String(decoding: $0.body, as: UTF8.self) }), .integer(stream.rawValue),
                ])
        ]) { _, _ in }
        for item in items { try list(item) }
    }

    /// Lists an ad after all content, unless it has a listing.
    private func list(_ item: ValidatedItem) throws {
        guard item.stream == .advertisements else { return }
        try session.write(
            """
            INSERT INTO ad_listing (lane, position, kind, id, session)
            SELECT 0, coalesce((SELECT max(position) FROM item WHERE lane = 0), ?4), ?1, ?2, ?3
            WHERE NOT EXISTS (SELECT 1 FROM ad_listing WHERE kind = ?1 AND id = ?2)
            """, .text(item.kind), .text(item.id), .integer(.random(in: 1 ... .max)), .integer(.min))
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
            "SELECT kind, id FROM item WHERE lane = ?1 ORDER BY position LIMIT ?2", .integer(stream.rawValue), .integer(Int64(limit))
        ) { ItemKey(kind: $0.text(0), id: $0.text(1)) }
        return (try session.write("DELETE FROM item WHERE lane = ?1", .integer(stream.rawValue)), first)
    }

    /// Call it before the item is removed.
    package func takeDown(_ takedown: Takedown) throws { try takedowns.add(takedown) }

    func takeDownAll(in stream: StreamID, at moment: Int64, reason: String?) throws {
        try takedowns.addAll(in: stream, at: moment, reason: reason)
    }
}

package struct StoredStream<Session: SQLSession> {
    let session: Session
    let stream: StreamID

    package func nearest(_ direction: PageDirection, of position: Int64) throws -> Int64? {
        let text =
            switch direction {
            case .forward: "SELECT min(position) FROM item WHERE lane = ?1 AND position > ?2"
            case .backward: "SELECT max(position) FROM item WHERE lane = ?1 AND position < ?2"
            }
        return try session.integer(text, .integer(stream.rawValue), .integer(position))
    }

    package func positions(after position: Int64, limit: Int) throws -> [Int64] {
        try session.rows(
            "SELECT position FROM item WHERE lane = ?1 AND position > ?2 ORDER BY position LIMIT ?3", .integer(stream.rawValue),
            .integer(position), .integer(Int64(limit))
        ) { $0.integer(0) }
    }

    /// Rows move by way of an unused stream number, so that no row takes a position that another row still has.
    package func move(_ moves: [StreamMove]) throws {
        // The last is moved first, so that its ads are not among those of the item before it.
        let moves = moves.reversed()
        let stream = SQLValue.integer(stream.rawValue)
        let (old, target) = (SQLValue.integers(moves.map(\.old)), SQLValue.integers(moves.map(\.target)))
        try session.run([
            SQLCommand(
                """
                UPDATE ad_listing SET position = moved.target FROM \(Session.dialect.table("moved", ["old", "beyond", "target"]))
                WHERE lane = ?4 AND position >= moved.old AND position < moved.beyond
                """, [old, .integers(moves.map(\.end)), target, stream]),
            SQLCommand(
                """
                UPDATE item SET lane = -1 - lane, position = moved.target FROM \(Session.dialect.table("moved", ["old", "target"]))
                WHERE lane = ?3 AND position = moved.old
                """, [old, target, stream]),
            SQLCommand("UPDATE item SET lane = -1 - lane WHERE lane = -1 - ?1", [stream]),
        ]) { _, _ in }
    }
}
