/// The content of one page, read from its cursor in either direction.
struct PageContent {
    /// In feed order.
    var cells: [CellReader.Cell]
    /// The position of the nearest cell before the page; known going backward, nil where there is none.
    private(set) var before: Int64?
    /// Whether there is a cell before the page, and after it.
    private(set) var hasBefore: Bool
    private(set) var hasAfter: Bool
    private(set) var omissions: [FeedPage.Omission]

    /// Reads one cell more than the page holds: it tells whether the page is the last one, and clients never have to guess that.
    init(snapshot: any FeedSnapshot, cursor: PageCursor?, limit: Int, reader: CellReader) throws {
        let direction = cursor?.direction ?? .forward
        var reading = reader
        var found = try reading.cells(limit + 1, from: cursor?.position) { position, limit in
            try snapshot.items(in: .content, direction, of: position, limit: limit)
        }
        let extra = found.count > limit ? found.removeLast() : nil
        // What was left out beyond the last cell of this page belongs to the page after it.
        omissions = reading.omissions
        if extra != nil, let edge = found.last?.position {
            omissions.removeAll { direction == .forward ? $0.position > edge : $0.position < edge }
        }

        /// Whether there is a cell on the side that the page was not read towards. The one that the cursor came from may be gone.
        func isFollowed(_ direction: PageDirection, of position: Int64) throws -> Bool {
            var peek = reader
            return try !peek.cells(1, from: position) { try snapshot.items(in: .content, direction, of: $0, limit: $1) }.isEmpty
        }
        switch direction {
        case .forward:
            cells = found
            hasAfter = extra != nil
            hasBefore = false
            if let cursor {
                hasBefore = try isFollowed(.backward, of: found.first?.position ?? Self.saturating(cursor.position, plus: 1))
            }
        case .backward:
            cells = found.reversed()
            before = extra?.position
            hasBefore = extra != nil
            hasAfter = false
            if let cursor {
                hasAfter = try isFollowed(.forward, of: cells.last?.position ?? Self.saturating(cursor.position, plus: -1))
            }
        }
    }

    static func saturating(_ position: Int64, plus step: Int64) -> Int64 {
        let (sum, overflow) = position.addingReportingOverflow(step)
        return overflow ? position : sum
    }
}
