public import Feed
import GRDB

extension SQLiteStore {
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
            let (table, names) = try pool.read { (try SectionTable($0), try SectionIndex.names(in: $0)) }
            if table.isArranged(sections), Set(Self.indices(sections, table).map(\.name)) == names { return table.lanes }
            willWrite()
            return try pool.write { database in
                var table = try SectionTable(database)
                try table.arrange(sections, in: database)
                let wanted = Self.indices(sections, table)
                let names = try SectionIndex.names(in: database)
                for name in names.subtracting(wanted.map(\.name)) { try SectionIndex.drop(name, in: database) }
                for index in wanted where !names.contains(index.name) { try index.make(in: database) }
                return table.lanes
            }
        } catch let error as DatabaseError {
            throw StoreError(error)
        } catch let error as StoreError {
            throw error
        } catch {
            throw .unavailable("\(error)")
        }
    }

    private static func indices(_ sections: [SectionPlan], _ table: SectionTable) -> Set<SectionIndex> {
        var indices: Set<SectionIndex> = []
        for section in sections {
            guard let lane = table.lanes[section.name] else { continue }
            for field in section.fields { indices.insert(SectionIndex(lane: lane, field: field)) }
        }
        return indices
    }
}
