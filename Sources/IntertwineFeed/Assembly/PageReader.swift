struct PageContent {
    fileprivate(set) var cells: [CellRenderer.PlacedCell] = []
    fileprivate(set) var before: FeedPosition?
    fileprivate(set) var after: FeedPosition?
    fileprivate(set) var hasBefore = false
    fileprivate(set) var hasAfter = false
    fileprivate(set) var stop: FeedPosition?
    fileprivate(set) var omissions: [FeedPage.SkippedItem] = []
    fileprivate(set) var continuesSection = false

    init() {}

    /// A ranker has no earlier page, and its items have no header.
    init(ranked cells: [CellRenderer.PlacedCell], omissions: [FeedPage.SkippedItem], continues: Bool) {
        (self.cells, self.omissions, hasAfter, continuesSection) = (cells, omissions, continues, true)
    }

    func forEachRange(_ body: (_ section: Int, _ range: Range<Int>) -> Void) {
        guard let first = cells.first?.position.section, let last = cells.last?.position.section else { return }
        // Sections ascend, so the whole page is in one section.
        if first == last { return body(first, cells.indices) }
        var start = 0
        for index in cells.indices where index + 1 == cells.count || cells[index + 1].position.section != cells[index].position.section {
            body(cells[index].position.section, start..<index + 1)
            start = index + 1
        }
    }
}

struct PageReader {
    private let source: any DataSource
    private let sections: FeedSections
    private let snapshot: any StoreSnapshot
    private let rows: SourceRows
    private let context: FeedContext
    private let cursor: PageCursor?
    private let limit: Int
    private let renderer: CellRenderer
    /// All reads of a page share what is known of the authors.
    private let authors: AuthorSet?
    private var edge: FeedPosition?
    private var isEdgeShown = false

    init(of source: any DataSource, _ sections: FeedSections, for session: PageSession) {
        (self.source, self.sections, rows, context) = (source, sections, session.rows, session.sourceContext)
        (snapshot, cursor, limit, renderer) = (session.content, session.cursor, session.request.limit, session.renderer())
        authors = session.viewerState?.following.map {
            AuthorSet($0, filters: session.filters, newest: session.newest.map { ($0, session.version) })
        }
    }

    consuming func read() throws -> PageContent {
        let direction = cursor?.direction ?? .forward
        var content = PageContent()
        var reading = renderer
        // Reading forward includes the cell of the cursor again: it usually still exists, which proves that the page has a predecessor.
        if direction == .forward { edge = cursor?.position }
        var found = try cells(limit + 1, direction, of: cursor?.position, by: &reading)
        edge = nil
        let extra = found.count > limit ? found.removeLast() : nil
        content.omissions = reading.omissions
        content.stop = extra == nil ? reading.stop : nil
        if extra != nil, let last = found.last {
            // Items skipped beyond the last cell of this page belong to the next page.
            content.omissions.removeLast(content.omissions.count - last.omissionsBefore)
        }
        switch direction {
        case .forward:
            content.cells = found
            content.after = extra?.position
            content.hasAfter = extra != nil || content.stop != nil
            guard let cursor else { break }
            let edge = found.first?.position ?? sections.beside(cursor.position, towards: .backward)
            content.hasBefore = try isEdgeShown || hasCell(.backward, of: edge)
            content.continuesSection = found.first?.position.section == cursor.position.section
        case .backward:
            content.cells = found.reversed()
            content.before = extra?.position
            content.hasBefore = extra != nil || content.stop != nil
            content.continuesSection = extra != nil && extra?.position.section == content.cells.first?.position.section
            guard let cursor else { break }
            content.hasAfter = try hasCell(
                .forward, of: content.cells.last?.position ?? sections.beside(cursor.position, towards: .forward))
        }
        return content
    }

    private mutating func hasCell(_ side: PageDirection, of position: FeedPosition) throws -> Bool {
        var peek = renderer
        return try !cells(1, side, of: position, by: &peek).isEmpty || peek.stop != nil
    }

    private mutating func cells(
        _ count: Int, _ direction: PageDirection, of position: FeedPosition?, by renderer: inout CellRenderer
    ) throws -> [CellRenderer.PlacedCell] {
        var section = position?.section ?? (direction == .forward ? 0 : sections.indices.upperBound - 1)
        var start = position?.item
        var cells: [CellRenderer.PlacedCell] = []
        while cells.count < count, sections.indices.contains(section), renderer.stop == nil {
            let peek = edge == nil ? nil : renderer
            let found = try renderer.cells(count - cells.count, in: section, from: start) { anchor, limit, body in
                let query = SectionQuery(section: section, direction, of: anchor, limit: limit)
                guard let edge, cells.isEmpty, section == edge.section, anchor == edge.item else {
                    return try visit(query, body)
                }
                try visit(query, andEdge: edge, by: peek, body)
            }
            if cells.isEmpty { cells = found } else { cells += found }
            start = nil
            section += direction == .forward ? 1 : -1
        }
        return cells
    }

    private mutating func visit(
        _ query: SectionQuery, andEdge edge: FeedPosition, by peek: CellRenderer?, _ body: (ItemRow) throws -> Void
    ) throws {
        var (visited, rest) = (0, query)
        var extended = query
        (extended.anchor, extended.limit) = (sections.beside(edge, towards: query.direction).item, query.limit + 1)
        try visit(extended) {
            visited += 1
            if $0.sortPosition == edge.item {
                isEdgeShown = try peek?.shows($0, in: query.section) ?? false
            } else if rest.limit > 0 {
                (rest.limit, rest.anchor) = (rest.limit - 1, $0.sortPosition)
                try body($0)
            }
        }
        if rest.limit > 0, visited > query.limit { try visit(rest, body) }
    }

    private func visit(_ query: SectionQuery, _ body: (ItemRow) throws -> Void) throws {
        guard sections.reader(of: query.section) == nil else { return try rows.visit(query, in: snapshot, body) }
        guard let described = try source.query(of: query.section, for: context) else { return }
        guard described.order == sections.order(of: query.section) else {
            throw StoreError.unavailable("the data source \(type(of: source)) orders a section differently from its sections")
        }
        guard let fields = described.followed else { return try snapshot.visit(described.rows(query), body) }
        guard let authors else { return }
        authors.fields = fields
        try snapshot.visit(described.rows(query), of: authors, body)
    }
}
