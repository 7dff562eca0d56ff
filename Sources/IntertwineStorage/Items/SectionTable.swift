import GRDB
import IntertwineFeed

/// What the file knows of sections: their numbers, which are the lanes of their items, and which kinds stand in which.
///
/// The file decides where an item goes, not whoever puts it: import, admin API and sources name no section, and cannot disagree.
struct SectionTable: Equatable {
    /// Lanes below it are the content's and the advertisements'.
    static let firstNumber: Int64 = 2

    /// By name. A name keeps its number for good.
    var lanes: [String: Lane] = [:]
    /// By kind. A kind that is not here stands in the lane of its own.
    var kinds: [String: Lane] = [:]

    init(_ database: Database) throws {
        let sections = try SQLStatement(database, "SELECT name, number FROM section")
        defer { sections.reset() }
        while try sections.step() { lanes[sections.text(0)] = Lane(rawValue: sections.integer(1)) }
        lanes[SectionPlan.mainName] = .content
        kinds = try SectionKinds(database).lanes
    }

    /// Lays a file out, with the indices that go with it.
    static func lay(_ sections: [SectionPlan], in database: Database) throws -> SectionTable {
        var table = try SectionTable(database)
        try table.arrange(sections, in: database)
        let wanted = table.indices(sections)
        let names = try SectionIndex.names(in: database)
        for name in names.subtracting(wanted.map(\.name)) { try SectionIndex.drop(name, in: database) }
        for index in wanted where !names.contains(index.name) { try index.make(in: database) }
        return table
    }

    /// Whether ``lay(_:in:)`` would change anything.
    func isLaid(_ sections: [SectionPlan], in database: Database) throws -> Bool {
        try isArranged(sections) && Set(indices(sections).map(\.name)) == SectionIndex.names(in: database)
    }

    /// The lane that each section has, or gets when the file is laid out.
    func lanes(with sections: [SectionPlan]) -> [String: Lane] {
        var table = self
        for section in sections { table.lanes[section.name] = table.lanes[section.name] ?? table.nextLane }
        return table.lanes
    }

    private var nextLane: Lane {
        Lane(rawValue: max(Self.firstNumber, (lanes.values.map(\.rawValue).max() ?? 0) + 1))
    }

    private func indices(_ sections: [SectionPlan]) -> Set<SectionIndex> {
        var indices: Set<SectionIndex> = []
        for section in sections {
            guard let lane = lanes[section.name] else { continue }
            for field in section.fields { indices.insert(SectionIndex(lane: lane, field: field)) }
        }
        return indices
    }

    /// Writes down names that are new and the kinds of each section, and moves the items of kinds that stand elsewhere from now on.
    private mutating func arrange(_ sections: [SectionPlan], in database: Database) throws {
        var wanted: [String: Lane] = [:]
        for section in sections {
            let lane = try lane(of: section.name, in: database)
            if lane != .content { for kind in section.kinds { wanted[kind] = lane } }
        }
        for kind in Set(kinds.keys).union(wanted.keys).sorted() where kinds[kind] != wanted[kind] {
            try Self.move(kind, from: kinds[kind] ?? .content, to: wanted[kind] ?? .content, in: database)
            if let lane = wanted[kind] {
                try SQLStatement.run(
                    database, "INSERT OR REPLACE INTO section_kind (kind, section) VALUES (?, ?)", .text(kind), .integer(lane.rawValue))
            } else {
                try SQLStatement.run(database, "DELETE FROM section_kind WHERE kind = ?", .text(kind))
            }
        }
        kinds = wanted
    }

    private func isArranged(_ sections: [SectionPlan]) -> Bool {
        var wanted: [String: Lane] = [:]
        for section in sections {
            guard let lane = lanes[section.name] else { return false }
            if lane != .content { for kind in section.kinds { wanted[kind] = lane } }
        }
        return wanted == kinds
    }

    private mutating func lane(of name: String, in database: Database) throws -> Lane {
        if let lane = lanes[name] { return lane }
        let lane = nextLane
        try SQLStatement.run(database, "INSERT INTO section (number, name) VALUES (?, ?)", .integer(lane.rawValue), .text(name))
        lanes[name] = lane
        return lane
    }

    /// Behind what stands there, in their order: each position moves by the same step.
    private static func move(_ kind: String, from old: Lane, to new: Lane, in database: Database) throws {
        var step: Int64 = 0
        if let last = try outermost("max", of: new, in: database), let first = try outermost("min", of: old, in: database),
            let end = try outermost("max", of: old, in: database)
        {
            let (distance, isTooFar) = last.subtractingReportingOverflow(first)
            let (wanted, isFull) = distance.addingReportingOverflow(ItemSchema.step)
            guard !isTooFar, !isFull, !end.addingReportingOverflow(wanted).overflow else {
                throw StoreError.unavailable("no positions are left for the items of \(kind) in their section")
            }
            step = wanted
        }
        try SQLStatement.run(
            database, "UPDATE item INDEXED BY item_identity SET lane = ?, position = position + ? WHERE kind = ? AND lane = ?",
            .integer(new.rawValue), .integer(step), .text(kind), .integer(old.rawValue))
    }

    private static func outermost(_ end: String, of lane: Lane, in database: Database) throws -> Int64? {
        try SQLStatement.integer(database, "SELECT \(end)(position) FROM item WHERE lane = ?", .integer(lane.rawValue))
    }
}
