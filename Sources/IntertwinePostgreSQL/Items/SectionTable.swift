internal import IntertwineFeed
import IntertwineStorageCore

struct SectionTable {
    private(set) var layout: SectionLayout
    private var indices: Set<String>

    init(_ snapshot: PostgresSnapshot) throws {
        layout = try SectionLayout(snapshot)
        let indices = try snapshot.rows(
            """
            SELECT indexname::text FROM pg_indexes
            WHERE schemaname = (SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = 'item'::regclass) AND tablename = 'item'
            AND starts_with(indexname::text, '\(SectionKey.prefix)')
            """)
        self.indices = Set((0..<indices.count).map { indices.text($0, 0) })
    }

    mutating func lay(_ sections: [SectionConfiguration], in connection: PostgresConnection) throws {
        layout = try layout.arrange(by: sections, connection)
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
}
