package import IntertwineFeed

/// A database with tables of this session alone, `staged` and others, which imports and sources fill before they change the items.
/// Used by one thread at a time; its calls block.
package protocol StagingDatabase: AnyObject {
    associatedtype Session: SQLSession

    func stage<Value>(_ body: (Session) throws -> Value) throws -> Value

    func merge<Value>(_ count: Int64, _ body: (Session) throws -> (Value, commits: Bool)) throws -> Value

    func close()
}

/// An import into a store that is in use: items are staged while the input arrives, and merged in one transaction at the end.
package struct StagedImport<Database: StagingDatabase>: ImportDestination {
    private static var staged: TableSchema {
        TableSchema(
            "staged", .items, key: 1,
            "number integer,neighbour integer,lane integer,kind text,id text,variant text,body text")
    }

    private let database: Database
    private let sections: [SectionConfiguration]
    private let isRehearsal: Bool
    private var count: Int64 = 0
    private var neighbour: Int64 = 0
    private var kinds: [String: StreamID] = [:]
    private var hasAds = false

    private var dialect: SQLDialect { Database.Session.dialect }

    package init(_ database: Database, sections: [SectionConfiguration], isRehearsal: Bool) throws {
        (self.database, self.sections, self.isRehearsal) = (database, sections, isRehearsal)
        _ = try database.stage { try $0.write(Self.staged.creation(Database.Session.dialect, isStaging: true)) }
    }

    package mutating func write(_ batch: [ValidatedItem]) throws -> ImportCounts {
        guard !batch.isEmpty else { return ImportCounts() }
        var neighbours: [Int64] = []
        let first = count + 1
        for item in batch {
            neighbours.append(neighbour)
            count += 1
            if item.stream == .advertisements { hasAds = true } else { neighbour = count }
            if kinds[item.kind] == nil { kinds[item.kind] = item.stream }
        }
        let numbers = Array(first...count)
        _ = try database.stage { session in
            try session.write(
                "INSERT INTO staged (number, neighbour, lane, kind, id, variant, body) \(dialect.values(7))", .integers(numbers),
                .integers(neighbours), .integers(batch.map(\.stream.rawValue)), .texts(batch.map(\.kind)), .texts(batch.map(\.id)),
                .texts(batch.map(\.variant)), .documents(batch.map(\.body)))
        }
        return ImportCounts(added: batch.count)
    }

    package func find(_ keys: [ItemKey]) throws -> FoundItems {
        try database.stage { session in
            try session.write("CREATE INDEX IF NOT EXISTS \(dialect.isPostgreSQL ? "" : "staging.")staged_key ON staged (kind, id)")
            let missing = try session.rows(
                """
                SELECT kind, id FROM \(dialect.table("wanted", ["kind", "id"]))
                WHERE NOT EXISTS (SELECT 1 FROM item WHERE item.kind = wanted.kind AND item.id = wanted.id)
                    AND NOT EXISTS (SELECT 1 FROM staged WHERE staged.kind = wanted.kind AND staged.id = wanted.id)
                    AND NOT EXISTS (SELECT 1 FROM takedown WHERE takedown.kind = wanted.kind AND takedown.id = wanted.id)
                """, .texts(keys.map(\.kind)), .texts(keys.map(\.id))
            ) { ItemKey(kind: $0.text(0), id: $0.text(1)) }
            let campaigns = try session.integer("SELECT count(*) FROM item WHERE kind = ?1", .text(Campaign.kind))
            // What is staged replaces what is stored.
            let bodies = try session.rows(
                """
                SELECT wanted.kind, wanted.id, staged.body, item.body FROM \(dialect.table("wanted", ["kind", "id"]))
                LEFT JOIN item ON item.kind = wanted.kind AND item.id = wanted.id
                LEFT JOIN staged ON staged.kind = wanted.kind AND staged.id = wanted.id
                WHERE wanted.kind <> '\(Campaign.kind)'
                """, .texts(keys.map(\.kind)), .texts(keys.map(\.id))
            ) { row in
                let (staged, stored) = (row.optionalBytes(2), row.optionalBytes(3))
                let body = staged.map { new in stored.map { HouseField.kept(in: new, from: $0) } ?? new } ?? stored
                return (ItemKey(kind: row.text(0), id: row.text(1)), body.map(HouseField.isTrue(in:)) ?? false)
            }
            return FoundItems(missing: Set(missing), houseAds: Set(bodies.filter(\.1).map(\.0)), campaigns: Int(campaigns ?? 0))
        }
    }

    package func commit() throws -> ImportCounts {
        defer { database.close() }
        if isRehearsal {
            return try database.stage { session in
                let withheld = try removeBlocked(session)
                let added = try session.integer(
                    """
                    SELECT count(*) FROM (SELECT DISTINCT kind, id FROM staged) AS new
                    WHERE NOT EXISTS (SELECT 1 FROM item WHERE item.kind = new.kind AND item.id = new.id)
                    """)
                return counts(added: added ?? 0, withheld)
            }
        }
        return try database.merge(count) { session in
            if !sections.isEmpty, try !SectionLayout(session).isArranged(by: sections, session) {
                _ = try SectionLayout.arrange(by: sections, session)
            }
            let withheld = try removeBlocked(session)
            let added = try store(session)
            try PublicItems.settle(session)
            if hasAds { try pin(session) }
            return (counts(added: added, withheld), true)
        }
    }

    package func rollback() { database.close() }

    private func counts(added: Int64, _ withheld: BlockedItems) -> ImportCounts {
        ImportCounts(added: Int(added - count), replaced: Int(count - added) - withheld.count, withheld: withheld)
    }

    /// Removes items that are taken down from the import, so that they are neither stored nor pinned.
    private func removeBlocked(_ session: Database.Session) throws -> BlockedItems {
        var withheld = BlockedItems()
        guard try session.integer("SELECT 1 FROM takedown WHERE kind >= '' LIMIT 1") != nil else { return withheld }
        let first = try session.rows(
            """
            SELECT staged.kind, staged.id FROM staged CROSS JOIN takedown AS t WHERE t.kind = staged.kind AND t.id = staged.id
            ORDER BY number LIMIT \(BlockedItems.namedLimit)
            """
        ) { ItemKey(kind: $0.text(0), id: $0.text(1)) }
        guard !first.isEmpty else { return withheld }
        for key in first { withheld.record(key) }
        let all = try session.write(
            "DELETE FROM staged WHERE EXISTS (SELECT 1 FROM takedown AS t WHERE t.kind = staged.kind AND t.id = staged.id)")
        withheld.record(more: all - first.count)
        try session.write(
            """
            UPDATE staged SET neighbour = coalesce(
                (SELECT n.number FROM staged AS n WHERE n.lane <> 1 AND n.number < staged.number ORDER BY n.number DESC LIMIT 1), 0)
            WHERE lane = 1
            """)
        return withheld
    }

    private func store(_ session: Database.Session) throws -> Int64 {
        try moveKinds(session)
        if hasAds { try session.write(HouseField.keeping) }
        let last = try session.integer(
            """
            SELECT max((\(PublicItems.outermost("max", of: "known.number"))))
            FROM (SELECT 0 AS number UNION ALL SELECT 1 UNION ALL SELECT number FROM section) AS known
            """)
        let start = max(0, last ?? 0)
        let (distance, isTooFar) = count.multipliedReportingOverflow(by: ItemPosition.step)
        guard !isTooFar, !start.addingReportingOverflow(distance).overflow else {
            throw StoreError.unavailable("no position is free after \(start)")
        }
        var (source, conflict) = ("staged", "")
        if try dialect.isPostgreSQL ? !isAllNew(session) : true {
            // One statement of PostgreSQL writes a row once. SQLite writes the rows one after another.
            if dialect.isPostgreSQL {
                source = """
                    (SELECT DISTINCT ON (kind, id) min(number) OVER (PARTITION BY kind, id) AS number, lane, kind, id, variant, body
                    FROM staged ORDER BY kind, id, staged.number DESC)
                    """
            }
            conflict = """
                WHERE true ORDER BY new.number
                ON CONFLICT (kind, id) DO UPDATE SET variant = excluded.variant, body = excluded.body,
                    due = CASE WHEN excluded.due IS NOT NULL OR item.due IS NOT NULL OR item.lane < 0 THEN 0 END
                WHERE (item.variant, item.body) <> (excluded.variant, excluded.body)
                """
        }
        let insertion = """
            INSERT INTO item (lane, position, kind, id, variant, body, due)
            SELECT coalesce(k.section, new.lane), ?1 + \(ItemPosition.step) * new.number, new.kind, new.id, new.variant, new.body,
                CASE WHEN \(ItemSchedule.isIn(column: "new.body")) THEN 0 END
            FROM \(source) AS new LEFT JOIN section_kind AS k ON new.lane = 0 AND k.kind = new.kind
            \(conflict)
            """
        var added: Int64 = 0
        try session.run([SQLCommand(dialect.counting("position > ?1", in: insertion), [.integer(start)])]) { added += $1.integer(0) }
        return added
    }

    /// A hash collision between two ids returns false, which selects the slower path. Why: conflict handling doubles the cost of each row.
    private func isAllNew(_ session: Database.Session) throws -> Bool {
        try session.integer(
            """
            SELECT 1 WHERE (SELECT count(*) = count(DISTINCT hashtextextended(id, hashtextextended(kind, 0))) FROM staged)
                AND NOT EXISTS (SELECT 1 FROM staged JOIN item USING (kind, id))
            """) != nil
    }

    private func moveKinds(_ session: Database.Session) throws {
        let layout = try SectionLayout(session)
        for (kind, stream) in kinds {
            let new = stream == .content ? layout.kinds[kind] ?? .content : stream
            let old = try session.integer(
                "SELECT \(PublicItems.stream) FROM item\(dialect.index("item_identity")) WHERE kind = ?1 LIMIT 1", .text(kind))
            guard let old = old.map(StreamID.init(rawValue:)), old != new else { continue }
            try SectionLayout.move(kind, from: old, to: new, session)
        }
    }

    private func pin(_ session: Database.Session) throws {
        try session.write("DELETE FROM ad_listing WHERE (kind, id) IN (SELECT kind, id FROM staged WHERE lane = 1)")
        try session.write(
            """
            INSERT INTO ad_listing (lane, position, kind, id)
            SELECT coalesce(i.lane, 0), coalesce(i.position, ?1), pinned.kind, pinned.id
            FROM staged AS pinned LEFT JOIN staged AS n ON n.number = pinned.neighbour LEFT JOIN item AS i ON i.kind = n.kind AND i.id = n.id
            WHERE pinned.lane = 1 ORDER BY pinned.number
            """, .integer(.min))
    }
}

extension SQLDialect {
    fileprivate func counting(_ condition: String, in insertion: String) -> String {
        isPostgreSQL
            ? "WITH written AS (\(insertion) RETURNING \(condition) AS isnew) SELECT count(*) FILTER (WHERE isnew) FROM written"
            : "\(insertion) RETURNING \(condition)"
    }
}
