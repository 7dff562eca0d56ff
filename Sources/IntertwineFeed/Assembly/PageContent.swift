/// The content of one page, read from its cursor in either direction, across as many sections as it takes.
struct PageContent {
    /// In feed order.
    private(set) var cells: [CellRenderer.PlacedCell]
    /// The place of the nearest cell before the page; known going backward, nil where there is none.
    private(set) var before: FeedPosition?
    /// That of the nearest cell after it; known going forward.
    private(set) var after: FeedPosition?
    /// Whether there is a cell before the page, and after it.
    private(set) var hasBefore: Bool
    private(set) var hasAfter: Bool
    /// Where reading ended before the page was full: the next one in that direction goes on from there.
    private(set) var stop: FeedPosition?
    private(set) var omissions: [FeedPage.SkippedItem]
    /// Whether the page goes on with a section that the page before began.
    private(set) var continuesSection: Bool

    /// Reads one cell more than the page holds: it tells whether the page is the last one, and clients never have to guess that.
    ///
    /// - Parameter runs: what the viewer is known to want to see nothing of.
    init(
        source: any DataSource, snapshot: any FeedSnapshot, cursor: PageCursor?, limit: Int, reader: CellRenderer,
        over runs: DismissedRanges? = nil
    ) throws {
        let direction = cursor?.direction ?? .forward
        var walk = SectionIterator(source: source, snapshot: snapshot, runs: runs)
        var reading = reader
        // The cell that a walk forward comes from is met again: mostly it is there, and tells that there is a page before.
        if direction == .forward { walk.edge = cursor?.position }
        var found = try walk.cells(limit + 1, direction, of: cursor?.position, reader: &reading)
        walk.edge = nil
        let extra = found.count > limit ? found.removeLast() : nil
        omissions = reading.omissions
        stop = extra == nil ? reading.stop : nil
        if extra != nil, let last = found.last {
            // What was left out beyond the last cell of this page belongs to the page after it.
            omissions.removeLast(omissions.count - last.omissionsBefore)
        }

        /// Whether there is a cell on the side that the page was not read towards. The one that the cursor came from may be gone.
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

    /// The indices of each section's cells, in order.
    var ranges: [(section: Int, range: Range<Int>)] {
        var stretches: [(section: Int, range: Range<Int>)] = []
        forEachRange { stretches.append(($0, $1)) }
        return stretches
    }

    /// The same, one after the other.
    func forEachRange(_ body: (_ section: Int, _ range: Range<Int>) -> Void) {
        guard let first = cells.first?.position.section, let last = cells.last?.position.section else { return }
        // Sections ascend, so that is all of a page within one.
        if first == last { return body(first, cells.indices) }
        var start = 0
        for index in cells.indices where index + 1 == cells.count || cells[index + 1].position.section != cells[index].position.section {
            body(cells[index].position.section, start..<index + 1)
            start = index + 1
        }
    }
}

/// Reads cells from section after section, as if they were one.
private struct SectionIterator {
    let source: any DataSource
    let snapshot: any FeedSnapshot
    let runs: DismissedRanges?
    /// Where a walk forward may begin, to look at the item that stands there on the way.
    var edge: FeedPosition?
    /// Whether that has a cell that is shown.
    private(set) var isEdgeShown = false

    init(source: any DataSource, snapshot: any FeedSnapshot, runs: DismissedRanges?) {
        (self.source, self.snapshot, self.runs) = (source, snapshot, runs)
    }

    /// As many cells as asked for, fewer only where the feed ends.
    ///
    /// - Parameter place: beside which they begin; nil for the feed's start or, going `backward`, its end.
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
                // A source of somebody else's may have several items in one place.
                if rest > 0, visited > limit { try source.visit(section, direction, of: last, limit: rest, from: snapshot, body) }
            }
            if cells.isEmpty { cells = found } else { cells += found }
            start = nil
            section += direction == .forward ? 1 : -1
        }
        return cells
    }
}
