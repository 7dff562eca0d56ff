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

    package func arrange<Session: SQLSession>(by sections: [SectionConfiguration], _ session: Session) throws -> SectionLayout {
        let new = arranged(by: sections)
        for (name, stream) in new.names(besides: self) {
            try session.write("INSERT INTO section (number, name) VALUES (?1, ?2)", .integer(stream.rawValue), .text(name))
        }
        for (kind, stream, next) in moves(to: new) {
            try Self.move(kind, from: stream, to: next ?? .content, session)
            if let next {
                try session.write(
                    "INSERT INTO section_kind (kind, section) VALUES (?1, ?2) ON CONFLICT (kind) DO UPDATE SET section = excluded.section",
                    .text(kind), .integer(next.rawValue))
            } else {
                try session.write("DELETE FROM section_kind WHERE kind = ?1", .text(kind))
            }
        }
        return new
    }

    private static func move<Session: SQLSession>(_ kind: String, from old: StreamID, to new: StreamID, _ session: Session) throws {
        func outermost(_ end: String, of stream: StreamID) throws -> Int64? {
            try session.integer("SELECT \(end)(position) FROM item WHERE lane = ?1", .integer(stream.rawValue))
        }
        let step = try step(of: kind, (outermost("min", of: old), outermost("max", of: old)), after: outermost("max", of: new))
        let values: [SQLValue] = [.integer(old.rawValue), .integer(new.rawValue), .integer(step), .text(kind)]
        try session.run([
            SQLCommand(
                """
                UPDATE ad_listing SET lane = ?2, position = position + ?3 WHERE lane = ?1 AND EXISTS (
                    SELECT 1 FROM item WHERE item.lane = ad_listing.lane AND item.position = ad_listing.position AND item.kind = ?4)
                """, values),
            SQLCommand(
                """
                UPDATE item\(Session.dialect.index("item_identity")) SET lane = ?2, position = position + ?3
                WHERE kind = ?4 AND lane = ?1
                """, values),
        ]) { _, _ in }
    }
}
