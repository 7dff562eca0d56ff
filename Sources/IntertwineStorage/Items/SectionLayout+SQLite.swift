import GRDB
public import IntertwineFeed
import Synchronization

extension SectionLayout {
    /// Reads the layout of a file.
    init(_ database: any SQLConnection) throws {
        let sections = try SQLStatement(database, "SELECT name, number FROM section")
        defer { sections.reset() }
        var streams: [String: StreamID] = [:]
        while try sections.step() { streams[sections.text(0)] = StreamID(rawValue: sections.integer(1)) }
        self.init(streams: streams, kinds: try SectionKinds(database).streams)
    }

    /// Applies the sections to a file, and creates or drops their indices.
    static func lay(_ sections: [SectionConfiguration], in database: Database) throws -> SectionLayout {
        let old = try SectionLayout(database)
        let new = old.arranged(by: sections)
        for (name, stream) in new.names(besides: old) {
            try SQLStatement.run(database, "INSERT INTO section (number, name) VALUES (?, ?)", .integer(stream.rawValue), .text(name))
        }
        for (kind, stream, next) in old.moves(to: new) {
            try move(kind, from: stream, to: next ?? .content, in: database)
            if let next {
                try SQLStatement.run(
                    database, "INSERT OR REPLACE INTO section_kind (kind, section) VALUES (?, ?)", .kind(kind), .integer(next.rawValue))
            } else {
                try SQLStatement.run(database, "DELETE FROM section_kind WHERE kind = ?", .kind(kind))
            }
        }
        let wanted = new.indices(sections)
        let names = try SectionIndex.names(in: database)
        for name in names.subtracting(wanted.map(\.name)) { try SectionIndex.drop(name, in: database) }
        for index in wanted where !names.contains(index.name) { try index.make(in: database) }
        return new
    }

    /// Returns true if ``lay(_:in:)`` would change nothing.
    func isLaid(_ sections: [SectionConfiguration], in database: any SQLConnection) throws -> Bool {
        try arranged(by: sections) == self && Set(indices(sections).map(\.name)) == SectionIndex.names(in: database)
    }

    private func indices(_ sections: [SectionConfiguration]) -> Set<SectionIndex> {
        Set(fields(of: sections).map { SectionIndex(stream: $0.stream, field: $0.field) })
    }

    /// Moves the items of a kind after those of another stream, in their order: each position moves by an equal step.
    private static func move(_ kind: String, from old: StreamID, to new: StreamID, in database: Database) throws {
        func outermost(_ end: String, of stream: StreamID) throws -> Int64? {
            try SQLStatement.integer(database, "SELECT \(end)(position) FROM item WHERE lane = ?", .integer(stream.rawValue))
        }
        let step = try Self.step(of: kind, (outermost("min", of: old), outermost("max", of: old)), after: outermost("max", of: new))
        try PinnedAdTable.move(kind, from: old, to: new, by: step, in: database)
        try SQLStatement.run(
            database, "UPDATE item INDEXED BY item_identity SET lane = ?, position = position + ? WHERE kind = ? AND lane = ?",
            .integer(new.rawValue), .integer(step), .kind(kind), .integer(old.rawValue))
    }
}

/// The streams of the kinds that a file assigns to sections.
struct SectionKinds: Equatable {
    /// The stream by kind. A kind without an entry is in its default stream.
    var streams: [String: StreamID] = [:]

    init(_ database: any SQLConnection) throws {
        let statement = try SQLStatement(database, "SELECT kind, section FROM section_kind")
        defer { statement.reset() }
        while try statement.step() { streams[statement.kind(0)] = StreamID(rawValue: statement.integer(1)) }
    }

    /// Returns the stream of an item. Ads are never in a section.
    func stream(of item: ValidatedItem) -> StreamID {
        streams.isEmpty || item.stream != .content ? item.stream : streams[item.kind] ?? .content
    }
}

extension SQLiteStore {
    /// Returns the stream of each section, as it is or will be after ``arrange(_:willWrite:)``. Writes nothing.
    ///
    /// - Throws: `StoreError.unavailable`
    public func streams(_ sections: [SectionConfiguration]) throws(StoreError) -> [String: StreamID] {
        do {
            return try connections.read { try SectionLayout($0).arranged(by: sections).streams }
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
    /// - Parameters:
    ///   - sections: all sections; a kind is in at most one of them.
    ///   - willWrite: called before anything is written.
    /// - Returns: the stream of each section, including the main one.
    /// - Throws: `StoreError.unavailable`, for example while an import keeps the store locked for more than 5 s.
    public func arrange(_ sections: [SectionConfiguration], willWrite: () -> Void = {}) throws(StoreError) -> [String: StreamID] {
        do {
            let (layout, isLaid) = try connections.read { database in
                let layout = try SectionLayout(database)
                return (layout, try layout.isLaid(sections, in: database))
            }
            if !isLaid { willWrite() }
            let streams = isLaid ? layout.streams : try pool.write { try SectionLayout.lay(sections, in: $0).streams }
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
