import GRDB
package import IntertwineFeed
import Synchronization

extension SectionLayout {
    /// Arranges the items of a file, and creates or drops the indices of sections.
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
    /// Returns the stream of each section, as it is or will be after ``arrange(_:willWrite:)``. Writes nothing.
    ///
    /// - Throws: `StoreError.unavailable`
    package func streams(_ sections: [SectionConfiguration]) throws(StoreError) -> [String: StreamID] {
        do {
            return try connections.read { try SectionLayout($0.session).arranged(by: sections).streams }
        } catch {
            throw (error as? DatabaseError).map(StoreError.init) ?? .unavailable("\(error)")
        }
    }

    /// Arranges the items in sections, in one transaction.
    ///
    /// Items of a kind that was in another section move to the end of their new section, in their order. Items of a kind without a section move
    /// to the end of the main section.
    ///
    /// Nothing is written if the file already has this layout. Otherwise the cost depends on the number of items that move. A new order by a
    /// field costs in proportion to the items in the section.
    ///
    /// ```swift
    /// let news = SectionConfiguration("news", kinds: ["article"], order: .newest)
    /// let streams = try store.arrange([news])
    /// let latest = FeedSection("news", title: "News", stream: streams["news"], order: .newest)
    /// ```
    ///
    /// - Parameters:
    ///   - sections: all sections; a kind is in at most one of them.
    ///   - willWrite: called before anything is written.
    /// - Returns: the stream of each section, including the main one.
    /// - Throws: `StoreError.unavailable`, for example while an import keeps the store locked for more than 5 s.
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
