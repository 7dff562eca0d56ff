package import IntertwineFeed

extension PersistentLedger {
    package func cells(on list: ViewerList, of viewer: String, after mark: Int64?, limit: Int) async throws -> [ListEntry] {
        try await cells(on: list, of: viewer, .forward, of: mark ?? .max, limit: limit)
    }

    package func cells(on list: ViewerList, of viewer: String, before mark: Int64, limit: Int) async throws -> [ListEntry] {
        try await cells(on: list, of: viewer, .backward, of: mark, limit: limit)
    }

    private func cells(
        on list: ViewerList, of viewer: String, _ direction: PageDirection, of mark: Int64, limit: Int
    ) async throws -> [ListEntry] {
        let (comparison, order) = direction == .forward ? ("<", " DESC") : (">", "")
        let dialect = Session.dialect
        return try await reading(for: .request) { session in
            try session.rows(
                """
                SELECT cell, mark FROM listing\(dialect.index("listing_place"))
                WHERE viewer = ?1 AND list = ?2 AND \(dialect.isTrue("leads")) AND mark \(comparison) ?3 ORDER BY mark\(order) LIMIT ?4
                """, .text(viewer), .text(list.rawValue), .integer(mark), .integer(Int64(max(limit, 0)))
            ) { ListEntry(cell: $0.text(0), entryID: $0.integer(1)) }
        }
    }
}
