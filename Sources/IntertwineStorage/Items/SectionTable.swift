import GRDB
public import IntertwineFeed
import Synchronization

/// What the file knows of sections: their numbers, which are the lanes of their items, and which kinds stand in which.
///
/// The file decides where an item goes, not whoever puts it: import, admin API and sources name no section, and cannot disagree.
struct SectionTable: Equatable {
    /// Lanes below it are the content's and the advertisements'.
    private static let firstNumber: Int64 = 2

    /// By name. A name keeps its number for good.
    var lanes: [String: Lane] = [:]
    /// By kind. A kind that is not here stands in the lane of its own.
    var kinds: [String: Lane] = [:]

    init(_ database: any SQLConnection) throws {
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
    func isLaid(_ sections: [SectionPlan], in database: any SQLConnection) throws -> Bool {
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
        try AdListingTable.move(kind, from: old, to: new, by: step, in: database)
        try SQLStatement.run(
            database, "UPDATE item INDEXED BY item_identity SET lane = ?, position = position + ? WHERE kind = ? AND lane = ?",
            .integer(new.rawValue), .integer(step), .text(kind), .integer(old.rawValue))
    }

    private static func outermost(_ end: String, of lane: Lane, in database: any SQLConnection) throws -> Int64? {
        try SQLStatement.integer(database, "SELECT \(end)(position) FROM item WHERE lane = ?", .integer(lane.rawValue))
    }
}

/// Where the items of each kind stand, as the file has it.
struct SectionKinds: Equatable {
    /// By kind. A kind that is not here stands in the lane of its own.
    var lanes: [String: Lane] = [:]

    init(_ database: any SQLConnection) throws {
        let statement = try SQLStatement(database, "SELECT kind, section FROM section_kind")
        defer { statement.reset() }
        while try statement.step() { lanes[statement.text(0)] = Lane(rawValue: statement.integer(1)) }
    }

    /// Advertisements stand in no section.
    func lane(of item: ValidItem) -> Lane {
        lanes.isEmpty || item.lane != .content ? item.lane : lanes[item.kind] ?? .content
    }
}

extension SQLiteStore {
    /// The lane that each section has, or will have once ``arrange(_:willWrite:)`` has been called. Writes nothing.
    ///
    /// - Throws: `StoreError.unavailable`
    public func lanes(_ sections: [SectionPlan]) throws(StoreError) -> [String: Lane] {
        do {
            return try connections.read { try SectionTable($0).lanes(with: sections) }
        } catch {
            throw (error as? DatabaseError).map(StoreError.init) ?? .unavailable("\(error)")
        }
    }

    /// Lays the items out in sections, all in one transaction: those of a kind that stood in another section until now move to the end
    /// of their new one, in their order; those of a kind that no section takes any more go to the end of the main one.
    ///
    /// Writes nothing where the file is laid out so already. Otherwise the cost depends on the number of items that move, and, for a field
    /// that a section is newly ordered by, on the number of its items.
    /// - Parameters:
    ///   - sections: all there are; a kind stands in one of them at most.
    ///   - willWrite: called before anything is written.
    /// - Returns: the lane of each section, the main one's included.
    /// - Throws: `StoreError.unavailable`, for example while an import keeps the store locked for more than 5 s.
    public func arrange(_ sections: [SectionPlan], willWrite: () -> Void = {}) throws(StoreError) -> [String: Lane] {
        do {
            let (table, isLaid) = try connections.read { database in
                let table = try SectionTable(database)
                return (table, try table.isLaid(sections, in: database))
            }
            if !isLaid { willWrite() }
            let lanes = isLaid ? table.lanes : try pool.write { try SectionTable.lay(sections, in: $0).lanes }
            let known = sections.compactMap { section in lanes[section.name].map { ($0, section.order) } }
            orders.withLock { $0 = Dictionary(known, uniquingKeysWith: { first, _ in first }) }
            return lanes
        } catch let error as DatabaseError {
            throw StoreError(error)
        } catch let error as StoreError {
            throw error
        } catch {
            throw .unavailable("\(error)")
        }
    }
}
