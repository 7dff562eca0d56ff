import GRDB
package import IntertwineFeed
import Synchronization

extension SectionLayout {
    static func arrange(by sections: [SectionConfiguration], in database: Database) throws -> SectionLayout {
        let new = try SectionLayout(database.session).arrange(by: sections, database.session)
        let wanted = new.indices(sections)
        let names = try SectionIndex.names(in: database)
        for name in names.subtracting(wanted.map(\.name)) { try SectionIndex.drop(name, in: database) }
        for index in wanted where !names.contains(index.name) { try index.make(in: database) }
        return new
    }

    /// Returns true if ``arrange(by:in:)`` would change nothing.
    func isArranged(by sections: [SectionConfiguration], in database: any SQLConnection) throws -> Bool {
        try arranged(by: sections) == self && Set(indices(sections).map(\.name)) == SectionIndex.names(in: database)
    }

    private func indices(_ sections: [SectionConfiguration]) -> Set<SectionIndex> {
        Set(fields(of: sections).map { SectionIndex(stream: $0.stream, field: $0.field) })
    }
}

extension SQLiteStore {
    package func streams(_ sections: [SectionConfiguration]) throws(StoreError) -> [String: StreamID] {
        do {
            return try connections.read { try SectionLayout($0.session).arranged(by: sections).streams }
        } catch {
            throw (error as? DatabaseError).map(StoreError.init) ?? .unavailable("\(error)")
        }
    }

    package func arrange(_ sections: [SectionConfiguration], willWrite: () -> Void = {}) throws(StoreError) -> [String: StreamID] {
        do {
            let (layout, isArranged) = try connections.read { database in
                let layout = try SectionLayout(database.session)
                return (layout, try layout.isArranged(by: sections, in: database))
            }
            if !isArranged { willWrite() }
            let streams = isArranged ? layout.streams : try writeBlocking { try SectionLayout.arrange(by: sections, in: $0).streams }
            let known = sections.compactMap { section in streams[section.name].map { ($0, section.order) } }
            orders.withLock { $0 = Dictionary(known, uniquingKeysWith: { first, _ in first }) }
            return streams
        } catch let error as DatabaseError {
            throw StoreError(error)
        } catch let error as StoreError {
            throw error
        } catch {
            throw .unavailable("\(error)")
        }
    }
}
