import IntertwineFeed
import IntertwineStorageCore

/// The sections in the database, and their indices.
struct SectionTable {
    private(set) var layout: SectionLayout
    private var indices: Set<String>

    init(_ snapshot: PostgresSnapshot) throws {
        func streams(_ text: String) throws -> [String: StreamID] {
            let rows = try snapshot.rows(text)
            return Dictionary(uniqueKeysWithValues: (0..<rows.count).map { (rows.text($0, 0), StreamID(rawValue: rows.integer($0, 1))) })
        }
        let kinds = try streams("SELECT kind, section FROM section_kind").map { (StoredKind.kind(named: $0), $1) }
        layout = SectionLayout(
            streams: try streams("SELECT name, number FROM section"), kinds: Dictionary(uniqueKeysWithValues: kinds))
        let indices = try snapshot.rows(
            """
            SELECT indexname::text FROM pg_indexes
            WHERE schemaname = (SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = 'item'::regclass) AND tablename = 'item'
            AND starts_with(indexname::text, '\(SectionKey.prefix)')
            """)
        self.indices = Set((0..<indices.count).map { indices.text($0, 0) })
    }

    /// Lays the items out, with the indices that go with it, inside a transaction that has the writers' lock.
    mutating func lay(_ sections: [SectionConfiguration], in connection: PostgresConnection) throws {
        let new = layout.arranged(by: sections)
        for (name, stream) in new.names(besides: layout) {
            try connection.query("INSERT INTO section (number, name) VALUES ($1, $2)", .integer(stream.rawValue), .text(name))
        }
        for (kind, stream, next) in layout.moves(to: new) {
            try Self.move(kind, from: stream, to: next ?? .content, in: connection)
            if let next {
                try connection.query(
                    "INSERT INTO section_kind (kind, section) VALUES ($1, $2) ON CONFLICT (kind) DO UPDATE SET section = excluded.section",
                    .kind(kind), .integer(next.rawValue))
            } else {
                try connection.query("DELETE FROM section_kind WHERE kind = $1", .kind(kind))
            }
        }
        layout = new
        let keys = keys(sections)
        for name in indices.subtracting(keys.map(\.name)) { try connection.execute("DROP INDEX \"\(name)\"") }
        for key in keys where !indices.contains(key.name) { try connection.execute(key.creation) }
        indices = Set(keys.map(\.name))
    }

    /// Returns true if ``lay(_:in:)`` would change nothing.
    func isLaid(_ sections: [SectionConfiguration]) -> Bool {
        layout.arranged(by: sections) == layout && Set(keys(sections).map(\.name)) == indices
    }

    private func keys(_ sections: [SectionConfiguration]) -> Set<SectionKey> {
        Set(layout.fields(of: sections).map { SectionKey(stream: $0.stream, field: $0.field) })
    }

    /// Moves the items of a kind to the end of another stream, in order. Each position moves by the same step.
    private static func move(_ kind: String, from old: StreamID, to new: StreamID, in connection: PostgresConnection) throws {
        let ends = try connection.query(
            """
            SELECT (SELECT max(position) FROM item WHERE lane = $2), (SELECT min(position) FROM item WHERE lane = $1),
                (SELECT max(position) FROM item WHERE lane = $1)
            """, .integer(old.rawValue), .integer(new.rawValue))
        let step = try SectionLayout.step(
            of: kind, (ends.optionalInteger(0, 1), ends.optionalInteger(0, 2)), after: ends.optionalInteger(0, 0))
        try connection.run([
            SQLCommand(
                """
                UPDATE ad_listing SET lane = $2, position = ad_listing.position + $3 FROM item
                WHERE ad_listing.lane = $1 AND item.lane = ad_listing.lane AND item.position = ad_listing.position AND item.kind = $4
                """, [.integer(old.rawValue), .integer(new.rawValue), .integer(step), .kind(kind)]),
            SQLCommand(
                "UPDATE item SET lane = $2, position = position + $3 WHERE lane = $1 AND kind = $4",
                [.integer(old.rawValue), .integer(new.rawValue), .integer(step), .kind(kind)]),
        ])
    }
}
