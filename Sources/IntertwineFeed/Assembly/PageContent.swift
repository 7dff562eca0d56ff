/// The content of one page, read from its cursor in either direction, across section boundaries.
struct PageContent {
    /// The cells in feed order.
    private(set) var cells: [CellRenderer.PlacedCell]
    /// The position of the nearest cell before the page, read only if `backward`; nil if no cell precedes the page.
    private(set) var before: FeedPosition?
    /// The position of the nearest cell after the page, read only if `forward`.
    private(set) var after: FeedPosition?
    /// Boolean values indicating whether a cell precedes or follows the page.
    private(set) var hasBefore: Bool
    private(set) var hasAfter: Bool
    /// The position at which reading stopped before the page was full. The next page in that direction continues there.
    private(set) var stop: FeedPosition?
    private(set) var omissions: [FeedPage.SkippedItem]
    /// True if the page continues a section that the page before began.
    private(set) var continuesSection: Bool

    /// Reads the page with one additional cell, which shows whether the page is the last one.
    ///
    /// - Parameter runs: The known ranges of dismissed items.
    init(
        source: any DataSource, snapshot: any FeedSnapshot, cursor: PageCursor?, limit: Int, reader: CellRenderer,
        over runs: DismissedRanges? = nil
    ) throws {
        let direction = cursor?.direction ?? .forward
        var walk = SectionIterator(source: source, snapshot: snapshot, runs: runs)
        var reading = reader
        // Reading forward includes the cell of the cursor again: it usually still exists, which proves that the page has a predecessor.
        if direction == .forward { walk.edge = cursor?.position }
        var found = try walk.cells(limit + 1, direction, of: cursor?.position, reader: &reading)
        walk.edge = nil
        let extra = found.count > limit ? found.removeLast() : nil
        omissions = reading.omissions
        stop = extra == nil ? reading.stop : nil
        if extra != nil, let last = found.last {
            // Items skipped beyond the last cell of this page belong to the next page.
            omissions.removeLast(omissions.count - last.omissionsBefore)
        }

        /// Returns true if a cell exists on the side opposite to the reading direction. The cell of the cursor may be deleted.
        func isFollowed(_ side: PageDirection, of place: FeedPosition) throws -> Bool {
            var peek = reader
            return try !walk.cells(1, side, of: place, reader: &peek).isEmpty || peek.stop != nil
        }
        switch direction {
        case .forward:
            cells = found
            after = extra?.position
            hasAfter = extra != nil || stop != nil
            hasBefore = false
            continuesSection = false
            if let cursor {
                let edge = found.first?.position ?? source.beside(cursor.position, towards: .backward)
                hasBefore = try walk.isEdgeShown || isFollowed(.backward, of: edge)
                continuesSection = found.first?.position.section == cursor.position.section
            }
        case .backward:
            cells = found.reversed()
            before = extra?.position
            hasBefore = extra != nil || stop != nil
            hasAfter = false
            continuesSection = extra != nil && extra?.position.section == cells.first?.position.section
            if let cursor {
                hasAfter = try isFollowed(.forward, of: cells.last?.position ?? source.beside(cursor.position, towards: .forward))
            }
        }
    }

    /// The index range of each section's cells, in order.
    var ranges: [(section: Int, range: Range<Int>)] {
        var sectionRanges: [(section: Int, range: Range<Int>)] = []
        forEachRange { sectionRanges.append(($0, $1)) }
        return sectionRanges
    }

    /// Calls `body` with the index range of each section's cells, in order.
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

/// An iterator over the cells of consecutive sections.
private struct SectionIterator {
    let source: any DataSource
    let snapshot: any FeedSnapshot
    let runs: DismissedRanges?
    /// The position of the cursor in forward direction, whose item is read again.
    var edge: FeedPosition?
    /// True if the item at the edge has a cell that is shown.
    private(set) var isEdgeShown = false

    init(source: any DataSource, snapshot: any FeedSnapshot, runs: DismissedRanges?) {
        (self.source, self.snapshot, self.runs) = (source, snapshot, runs)
    }

    /// Returns `count` cells, or fewer if the feed ends.
    ///
    /// - Parameter place: The position next to which the cells begin; nil for the feed's start or, if `backward`, its end.
    mutating func cells(
        _ count: Int, _ direction: PageDirection, of place: FeedPosition?, reader: inout CellRenderer
    ) throws -> [CellRenderer.PlacedCell] {
        let end = source.sectionCount
        var section = place?.section ?? (direction == .forward ? 0 : end - 1)
        var start = place?.item
        var cells: [CellRenderer.PlacedCell] = []
        while cells.count < count, section >= 0, section < end, reader.stop == nil {
            let peek = edge == nil ? nil : reader
            let runs = source.dependsOnPositionsAlone(section) ? runs : nil
            let found = try reader.cells(count - cells.count, in: section, direction, from: start, over: runs) { place, limit, body in
                guard let edge, cells.isEmpty, section == edge.section, place == edge.item else {
                    return try source.visit(section, direction, of: place, limit: limit, from: snapshot, body)
                }
                var (visited, rest, last) = (0, limit, place)
                try source.visit(section, direction, of: source.beside(edge, towards: direction).item, limit: limit + 1, from: snapshot) {
                    visited += 1
                    if $0.sortPosition == edge.item {
                        isEdgeShown = try peek?.shows($0, in: section) ?? false
                    } else if rest > 0 {
                        (rest, last) = (rest - 1, $0.sortPosition)
                        try body($0)
                    }
                }
                // A custom data source may have several items at one position.
                if rest > 0, visited > limit { try source.visit(section, direction, of: last, limit: rest, from: snapshot, body) }
            }
            if cells.isEmpty { cells = found } else { cells += found }
            start = nil
            section += direction == .forward ? 1 : -1
        }
        return cells
    }
}
