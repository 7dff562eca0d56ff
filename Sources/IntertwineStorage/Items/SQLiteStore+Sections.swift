import GRDB
public import IntertwineFeed
import Synchronization

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
