package import IntertwineFeed

extension SectionLayout {
    package init(_ session: some SQLSession) throws {
        var (streams, kinds) = ([String: StreamID](), [String: StreamID]())
        try session.run([SQLCommand("SELECT name, number FROM section"), SQLCommand("SELECT kind, section FROM section_kind")]) {
            if $0 == 0 {
                streams[$1.text(0)] = StreamID(rawValue: $1.integer(1))
            } else {
                kinds[$1.text(0)] = StreamID(rawValue: $1.integer(1))
            }
        }
        self.init(streams: streams, kinds: kinds)
    }

    /// Ads are never in a section.
    package func stream(of item: ValidatedItem) -> StreamID {
        kinds.isEmpty || item.stream != .content ? item.stream : kinds[item.kind] ?? .content
    }

    package static func arrange<Session: SQLSession>(by sections: [SectionConfiguration], _ session: Session) throws -> SectionLayout {
        let old = try SectionLayout(session)
        let new = old.arranged(by: sections)
        for (name, stream) in new.names(besides: old) {
            try session.write("INSERT INTO section (number, name) VALUES (?1, ?2)", .integer(stream.rawValue), .text(name))
        }
        for (kind, stream, next) in old.moves(to: new) {
            try move(kind, from: stream, to: next ?? .content, session)
            if let next {
                try session.write(
                    "INSERT INTO section_kind (kind, section) VALUES (?1, ?2) ON CONFLICT (kind) DO UPDATE SET section = excluded.section",
                    .text(kind), .integer(next.rawValue))
            } else {
                try session.write("DELETE FROM section_kind WHERE kind = ?1", .text(kind))
            }
        }
        let (wanted, names) = (new.indices(sections), try SectionIndex.names(session))
        for index in wanted where !names.contains(index.name) {
            for text in index.creations(Session.dialect) { try session.write(text) }
        }
        // Last, because PostgreSQL locks the items for readers until the end of the transaction.
        for name in names.subtracting(wanted.map(\.name)) {
            for text in SectionIndex.removals(name, Session.dialect) { try session.write(text) }
        }
        return new
    }

    /// Returns true if ``arrange(by:_:)`` would change nothing.
    package func isArranged(by sections: [SectionConfiguration], _ session: some SQLSession) throws -> Bool {
        try arranged(by: sections) == self && Set(indices(sections).map(\.name)) == SectionIndex.names(session)
    }

    private func indices(_ sections: [SectionConfiguration]) -> Set<SectionIndex> {
        var indices: Set<SectionIndex> = []
        for section in sections {
            guard let stream = streams[section.name] else { continue }
            for field in section.fields { indices.insert(SectionIndex(stream: stream, field: field)) }
            for (filters, field) in section.filters.map({ ($0, section.order.field) }) + section.followed.map({ ($0, nil) }) {
                for filter in filters { indices.insert(SectionIndex(stream: stream, field: field, filter: filter, among: filters)) }
            }
            for filters in section.followed { indices.insert(SectionIndex(stream: stream, authors: section.authors, among: filters)) }
        }
        return indices
    }

    static func move<Session: SQLSession>(_ kind: String, from old: StreamID, to new: StreamID, _ session: Session) throws {
        func outermost(_ end: String, of stream: StreamID) throws -> Int64? {
            try session.integer(PublicItems.outermost(end, of: "?1"), .integer(stream.rawValue))
        }
        let step = try step(of: kind, (outermost("min", of: old), outermost("max", of: old)), after: outermost("max", of: new))
        let values: [SQLValue] = [.integer(old.rawValue), .integer(new.rawValue), .integer(step), .text(kind)]
        try session.run([
            SQLCommand(
                """
                UPDATE ad_listing SET lane = ?2, position = position + ?3 WHERE lane = ?1 AND EXISTS (
                    SELECT 1 FROM item WHERE item.lane IN (ad_listing.lane, -1 - ad_listing.lane)
                        AND item.position = ad_listing.position AND item.kind = ?4)
                """, values),
            SQLCommand(
                """
                UPDATE item\(Session.dialect.index("item_identity")) 
                SET lane = CASE WHEN lane < 0 THEN -1 - ?2 ELSE ?2 END, position = position + ?3
                WHERE kind = ?4 AND \(PublicItems.condition("?1"))
                """, values),
        ]) { _, _ in }
    }
}
