import IntertwineFeed
import IntertwineStorage

/// What the database knows of sections: their numbers, which are the lanes of their items, and which kinds stand in which.
struct SectionTable {
    /// Lanes below it are the content's and the advertisements'.
    private static let firstNumber: Int64 = 2

    /// By name. A name keeps its number for good.
    private(set) var lanes: [String: Lane] = [:]
    /// By kind. A kind that is not here stands in the lane of its own.
    private var kinds: [String: Lane] = [:]
    private var indices: Set<String> = []

    init(_ snapshot: PostgresSnapshot) throws {
        let sections = try snapshot.rows("SELECT name, number FROM section")
        for row in 0..<sections.count { lanes[sections.text(row, 0)] = Lane(rawValue: sections.integer(row, 1)) }
        lanes[SectionPlan.mainName] = .content
        let kinds = try snapshot.rows("SELECT kind, section FROM section_kind")
        for row in 0..<kinds.count { self.kinds[kinds.text(row, 0)] = Lane(rawValue: kinds.integer(row, 1)) }
        let indices = try snapshot.rows(
            """
            SELECT indexname::text FROM pg_indexes
            WHERE schemaname = (SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = 'item'::regclass) AND tablename = 'item'
            AND starts_with(indexname::text, '\(SectionKey.prefix)')
            """)
        self.indices = Set((0..<indices.count).map { indices.text($0, 0) })
    }

    /// Lays the items out, with the indices that go with it, inside a transaction that has the writers' lock.
    mutating func lay(_ sections: [SectionPlan], in connection: PostgresConnection) throws {
        var wanted: [String: Lane] = [:]
        for section in sections {
            let lane = lanes[section.name] ?? nextLane
            if lanes[section.name] == nil {
                try connection.query("INSERT INTO section (number, name) VALUES ($1, $2)", .integer(lane.rawValue), .text(section.name))
                lanes[section.name] = lane
            }
            if lane != .content { for kind in section.kinds { wanted[kind] = lane } }
        }
        for kind in Set(kinds.keys).union(wanted.keys).sorted() where kinds[kind] != wanted[kind] {
            try Self.move(kind, from: kinds[kind] ?? .content, to: wanted[kind] ?? .content, in: connection)
            if let lane = wanted[kind] {
                try connection.query(
                    "INSERT INTO section_kind (kind, section) VALUES ($1, $2) ON CONFLICT (kind) DO UPDATE SET section = excluded.section",
                    .text(kind), .integer(lane.rawValue))
            } else {
                try connection.query("DELETE FROM section_kind WHERE kind = $1", .text(kind))
            }
        }
        kinds = wanted
        let keys = keys(sections)
        for name in indices.subtracting(keys.map(\.name)) { try connection.execute("DROP INDEX \"\(name)\"") }
        for key in keys where !indices.contains(key.name) { try connection.execute(key.creation) }
        indices = Set(keys.map(\.name))
    }

    /// Whether ``lay(_:in:)`` would change anything.
    func isLaid(_ sections: [SectionPlan]) -> Bool {
        var wanted: [String: Lane] = [:]
        for section in sections {
            guard let lane = lanes[section.name] else { return false }
            if lane != .content { for kind in section.kinds { wanted[kind] = lane } }
        }
        return wanted == kinds && Set(keys(sections).map(\.name)) == indices
    }

    /// The lane that each section has, or gets when the items are laid out.
    func lanes(with sections: [SectionPlan]) -> [String: Lane] {
        var table = self
        for section in sections { table.lanes[section.name] = table.lanes[section.name] ?? table.nextLane }
        return table.lanes
    }

    private var nextLane: Lane {
        Lane(rawValue: max(Self.firstNumber, (lanes.values.map(\.rawValue).max() ?? 0) + 1))
    }

    private func keys(_ sections: [SectionPlan]) -> Set<SectionKey> {
        var keys: Set<SectionKey> = []
        for section in sections {
            guard let lane = lanes[section.name] else { continue }
            for field in section.fields { keys.insert(SectionKey(lane: lane, field: field)) }
        }
        return keys
    }

    /// Behind what stands there, in their order: each position moves by the same step.
    private static func move(_ kind: String, from old: Lane, to new: Lane, in connection: PostgresConnection) throws {
        let ends = try connection.query(
            """
            SELECT (SELECT max(position) FROM item WHERE lane = $2), (SELECT min(position) FROM item WHERE lane = $1),
                (SELECT max(position) FROM item WHERE lane = $1)
            """, .integer(old.rawValue), .integer(new.rawValue))
        var step: Int64 = 0
        if let last = ends.optionalInteger(0, 0), let first = ends.optionalInteger(0, 1), let end = ends.optionalInteger(0, 2) {
            let (distance, isTooFar) = last.subtractingReportingOverflow(first)
            let (wanted, isFull) = distance.addingReportingOverflow(ItemSchema.step)
            guard !isTooFar, !isFull, !end.addingReportingOverflow(wanted).overflow else {
                throw StoreError.unavailable("no positions are left for the items of \(kind) in their section")
            }
            step = wanted
        }
        try connection.run([
            PostgresCommand(
                """
                UPDATE ad_listing SET lane = $2, position = ad_listing.position + $3 FROM item
                WHERE ad_listing.lane = $1 AND item.lane = ad_listing.lane AND item.position = ad_listing.position AND item.kind = $4
                """, [.integer(old.rawValue), .integer(new.rawValue), .integer(step), .text(kind)]),
            PostgresCommand(
                "UPDATE item SET lane = $2, position = position + $3 WHERE lane = $1 AND kind = $4",
                [.integer(old.rawValue), .integer(new.rawValue), .integer(step), .text(kind)]),
        ])
    }
}
