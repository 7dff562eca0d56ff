package import IntertwineFeed

/// A merge of a source's complete list into the store, inside a write transaction of the caller.
package struct SourceMerge<Session: SQLSession> {
    private static var batch: Int64 { 1_000 }

    private struct ListedItem {
        var place: Int64
        var item: ValidatedItem
        var digest: Int64
        var isKnown: Bool
        var isStored: Bool
        var isAsListed: Bool
        var isTakenDown: Bool
    }

    private let session: Session
    private let source: SQLValue
    private let kind: any ItemKind
    private let items: StoredItemTable<Session>
    private var changes = SourceChanges()
    private var hasRecorded = false

    package var hasWritten: Bool { hasRecorded || !changes.isEmpty }

    package init(_ session: Session, source name: String, kind: any ItemKind) throws {
        self.session = session
        self.kind = kind
        try session.write("INSERT INTO source (name) VALUES (?1) ON CONFLICT (name) DO NOTHING", .text(name))
        guard let number = try session.integer("SELECT number FROM source WHERE name = ?1", .text(name)) else {
            throw StoreError.unavailable("the source \(name) has no number")
        }
        source = .integer(number)
        items = try StoredItemTable(session)
    }

    package mutating func run(removing share: Double, step: (Int) throws -> Void) throws -> SourceChanges {
        try findRemoved(share)
        try put(step)
        try deleteRemoved()
        try PublicItems.settle(session)
        if kind.name == Campaign.kind {
            let count = Int(try session.integer("SELECT count(*) FROM item WHERE kind = ?1", .text(kind.name)) ?? 0)
            guard count <= CampaignIndex.limit else { throw SnapshotRejection.tooManyCampaigns(count, limit: CampaignIndex.limit) }
        }
        return changes
    }

    // MARK: Removed items

    private func findRemoved(_ share: Double) throws {
        var last = (kind: "", id: "")
        var removable = 0
        while true {
            let gone = try session.rows(
                """
                SELECT s.kind, s.id, s.digest, s.adopted, i.variant, i.body, \(Self.areListedElsewhere)
                FROM source_item AS s LEFT JOIN item AS i ON i.kind = s.kind AND i.id = s.id
                WHERE s.source = ?1 AND (s.kind, s.id) > (?2, ?3)
                AND NOT (s.kind = ?4 AND EXISTS (SELECT 1 FROM staged WHERE staged.id = s.id)) ORDER BY s.kind, s.id LIMIT ?5
                """, source, .text(last.kind), .text(last.id), .text(kind.name), .integer(Self.batch)
            ) { row in
                let leaves =
                    !row.flag(3) && !row.flag(6) && !row.isNull(4)
                    && ItemDigest(variant: row.text(4), body: row.bytes(5)).stored == row.integer(2)
                return (kind: row.text(0), id: row.text(1), adopted: row.flag(3), leaves: leaves)
            }
            guard let end = gone.last else { break }
            removable += gone.count(where: \.leaves)
            try session.write(
                "INSERT INTO gone (kind, id, adopted, leaves) \(Session.dialect.values(4))", .texts(gone.map(\.kind)),
                .texts(gone.map(\.id)), .flags(gone.map(\.adopted)), .flags(gone.map(\.leaves)))
            last = (end.kind, end.id)
        }
        guard removable > 0 else { return }
        let all = Int(try session.integer("SELECT count(*) FROM source_item WHERE source = ?1", source) ?? 0)
        guard Double(removable) <= Double(all) * share else { throw SnapshotRejection.tooManyRemovals(removable, of: all, share: share) }
    }

    private mutating func deleteRemoved() throws {
        let forgotten = try session.write(
            "DELETE FROM source_item WHERE source = ?1 AND (kind, id) IN (SELECT kind, id FROM gone)", source)
        guard forgotten > 0 else { return }
        // If another source still lists the item, the item belongs to that source.
        try session.write(
            """
            UPDATE source_item SET adopted = source_item.adopted AND gone.adopted FROM gone
            WHERE source_item.source IN (SELECT number FROM source WHERE number <> ?1)
            AND source_item.kind = gone.kind AND source_item.id = gone.id
            """, source)
        let removed = try session.write("DELETE FROM item WHERE (kind, id) IN (SELECT kind, id FROM gone WHERE leaves)")
        changes.removed += removed
        changes.released += forgotten - removed
    }

    // MARK: Listed items

    private mutating func put(_ step: (Int) throws -> Void) throws {
        var (last, done): (Int64, Int) = (0, 0)
        while true {
            let listed = try session.rows(
                """
                SELECT t.place, t.id, t.variant, t.body, t.digest, s.digest, i.id IS NOT NULL, i.variant = t.variant AND i.body = t.body,
                    i.variant, i.body, w.kind IS NOT NULL, \(Self.digestsElsewhere(of: "?1", "t.id", besides: "?2", Session.dialect))
                FROM staged AS t LEFT JOIN source_item AS s ON s.source = ?2 AND s.kind = ?1 AND s.id = t.id
                LEFT JOIN item AS i ON i.kind = ?1 AND i.id = t.id LEFT JOIN takedown AS w ON w.kind = ?1 AND w.id = t.id
                WHERE t.place > ?3 ORDER BY t.place LIMIT ?4
                """, .text(kind.name), source, .integer(last), .integer(Self.batch), make: listed)
            guard let end = listed.last else { break }
            try put(listed)
            done += listed.count
            try step(done)
            last = end.place
        }
    }

    private func listed(_ row: Session.Row) -> ListedItem {
        let isStored = row.flag(6)
        var item = ValidatedItem(kind: kind.name, stream: kind.stream, id: row.text(1), variant: row.text(2), body: row.bytes(3))
        var (digest, isEqual) = (row.integer(4), isStored && row.flag(7))
        if isStored, !isEqual, kind.stream == .advertisements {
            item.body = HouseField.kept(in: item.body, from: row.bytes(9))
            digest = ItemDigest(variant: item.variant, body: item.body).stored
            isEqual = row.text(8) == item.variant && row.bytes(9) == item.body
        }
        return ListedItem(
            place: row.integer(0), item: item, digest: digest, isKnown: !row.isNull(5) && row.integer(5) == digest, isStored: isStored,
            isAsListed: isStored && (isEqual || Self.contains(row.text(11), variant: row.text(8), body: row.bytes(9))),
            isTakenDown: row.flag(10))
    }

    private mutating func put(_ listed: [ListedItem]) throws {
        var new: [ValidatedItem] = []
        var remembered: [ListedItem] = []
        for row in listed {
            // An item that was changed locally is replaced again, unless another source changed it: if two sources list one id, the last change
            // remains.
            if row.isKnown, row.isAsListed {
                changes.unchanged += 1
                continue
            }
            if row.isTakenDown {
                // The digest of a withheld item is stored too. After the release, the missing item shows that the source must be read again.
                changes.withheld.record(ItemKey(row.item))
                if row.isKnown { continue }
                hasRecorded = true
            } else if row.isStored {
                try replace(row.item)
                changes.changed += 1
            } else {
                new.append(row.item)
            }
            remembered.append(row)
        }
        try items.append(new, to: items.stream(of: ValidatedItem(kind: kind.name, stream: kind.stream, id: "", variant: "", body: [])))
        changes.added += new.count
        try session.write(
            """
            INSERT INTO source_item (id, digest, adopted, source, kind) \(Session.dialect.values(3, and: 2))
            ON CONFLICT (source, kind, id) DO UPDATE SET digest = excluded.digest
            """, .texts(remembered.map(\.item.id)), .integers(remembered.map(\.digest)), .flags(remembered.map(\.isStored)), source,
            .text(kind.name))
    }

    private func replace(_ item: ValidatedItem) throws {
        let stream = items.stream(of: item)
        if try !items.update(item, in: stream) {
            // The kind may belong to another stream now, in which the item has no position yet.
            _ = try items.delete(ItemKey(item))
            try items.append([item], to: stream)
        }
    }

    // MARK: Other sources

    private static var areListedElsewhere: String {
        """
        EXISTS (SELECT 1 FROM source_item AS o
            WHERE o.source IN (SELECT number FROM source WHERE number <> ?1) AND o.kind = s.kind AND o.id = s.id)
        """
    }

    private static func digestsElsewhere(of kind: String, _ id: String, besides source: String, _ dialect: SQLDialect) -> String {
        """
        (SELECT \(dialect.joined)(CAST(o.digest AS text), ',') FROM source_item AS o
            WHERE o.source IN (SELECT number FROM source WHERE number <> \(source)) AND o.kind = \(kind) AND o.id = \(id))
        """
    }

    private static func contains(_ digests: String, variant: String, body: [UInt8]) -> Bool {
        guard !digests.isEmpty else { return false }
        let digest = ItemDigest(variant: variant, body: body).stored
        return digests.split(separator: ",").contains { Int64($0) == digest }
    }

    package static func isInStep(_ name: String, _ session: Session) throws -> Bool {
        // Without a number no list was applied before, or only empty lists.
        guard let source = try session.integer("SELECT number FROM source WHERE name = ?1", .text(name)) else { return true }
        var last = (kind: "", id: "")
        while true {
            var isInStep = true
            var end: (kind: String, id: String)?
            try session.run([
                SQLCommand(
                    """
                    SELECT s.kind, s.id, s.digest, i.variant, i.body,
                        \(digestsElsewhere(of: "s.kind", "s.id", besides: "?1", Session.dialect))
                    FROM source_item AS s LEFT JOIN item AS i ON i.kind = s.kind AND i.id = s.id
                    WHERE s.source = ?1 AND (s.kind, s.id) > (?2, ?3)
                    AND NOT EXISTS (SELECT 1 FROM takedown AS t WHERE t.kind = s.kind AND t.id = s.id)
                    ORDER BY s.kind, s.id LIMIT 1000
                    """, [.integer(source), .text(last.kind), .text(last.id)])
            ]) { _, row in
                end = (row.text(0), row.text(1))
                guard isInStep else { return }
                let isUnchanged = !row.isNull(3) && ItemDigest(variant: row.text(3), body: row.bytes(4)).stored == row.integer(2)
                isInStep = isUnchanged || !row.isNull(3) && contains(row.text(5), variant: row.text(3), body: row.bytes(4))
            }
            guard isInStep, let end else { return isInStep }
            last = end
        }
    }
}
