/// The advertisements of one page, and what the cursors of its neighbours have to say about them.
///
/// They stand among the content of each section that the page meets, as if that were a page of its own; in a feed without sections, among
/// the content of the page. No advertisement stands on a page twice.
struct AdBlocks {
    /// A stretch of the page's content with its advertisements.
    struct Block {
        /// The section's index in the data source; nil where the feed has nothing else to show than advertisements.
        let section: Int?
        /// The indices of the content.
        let content: Range<Int>
        let placement: any AdPlacement
        /// The index of the stretch in front of which the middle of the feed lies, where it lies here.
        fileprivate(set) var midpoint: Int?
        fileprivate(set) var cells: [CellReader.Cell] = []

        /// Where in the stretch so many advertisements would stand.
        func indices(for advertisements: Int) -> [Int] {
            placement.indices(for: advertisements, in: ContentStretch(count: content.count, midpoint: midpoint))
        }
    }

    private(set) var blocks: [Block]
    private(set) var omissions: [FeedPage.Omission] = []
    private let source: any DataSource
    private var rotation: (before: Int64?, after: Int64?) = (nil, nil)
    private var midpoint: FeedPlace?
    private var hasMetAdvertisements = false

    /// The stretches of a page, without advertisements yet.
    init(of content: PageContent, in source: any DataSource, placement: any AdPlacement) {
        self.source = source
        blocks = content.stretches.map { section, range in
            Block(section: section, content: range, placement: source.placement(in: section) ?? placement)
        }
        // An empty page at the end of a feed with sections is no part of any; without sections it is a part of the feed.
        let isEmptyFeed = !content.hasBefore && !content.hasAfter && source.showsAdsAlone
        if blocks.isEmpty, isEmptyFeed || source.name(of: 0) == nil {
            let placements = (0..<max(0, source.sectionCount)).map { source.placement(in: $0) ?? placement }
            let wanting = placements.first { $0.supply != .rotating(perPage: 0) }
            blocks = [Block(section: nil, content: 0..<0, placement: wanting ?? placements.first ?? placement)]
        }
    }

    /// The next ones of the rotation: only as many as have a place, so that it goes on after the last one that was shown.
    ///
    /// - Parameter start: the position behind which a walk begins, looked up where one does; nil for the first one.
    mutating func rotate(cursor: PageCursor?, start: () throws -> Int64?, advertisements: AdvertisementReader) throws {
        let wanted = blocks.map { block in
            if case .rotating(let perPage) = block.placement.supply { block.indices(for: max(0, perPage)).count } else { 0 }
        }
        let count = wanted.reduce(0, +)
        let mark = if let cursor { cursor.rotation } else { count > 0 ? try start() : nil }
        var advertisements = advertisements
        var cells = try advertisements.next(count, cursor?.direction ?? .forward, of: mark)[...]
        omissions += advertisements.omissions
        if let first = cells.first, let last = cells.last {
            rotation = (first.place.item.position, last.place.item.position)
        } else if let mark {
            // A page without any stands between two of the rotation. A mark is the one beside the gap that is met already: going on it stays,
            // going back it is the one at the other side.
            let direction = cursor?.direction ?? .forward
            let other = try advertisements.next(1, direction, of: mark).first?.place.item.position ?? mark
            rotation = direction == .forward ? (other, mark) : (mark, other)
        }
        for (index, count) in zip(blocks.indices, wanted) {
            blocks[index].cells = Array(cells.prefix(count))
            cells = cells.dropFirst(count)
        }
    }

    /// All of them, where the middle of the feed lies on this page.
    ///
    /// The middle is a place that the whole walk keeps, so the page it lies on is met once, whatever is inserted or deleted meanwhile:
    /// even the item at the middle may go, and the block then stands before the next one.
    /// - Parameter midpoint: the place before which they stand; nil where the feed was empty when the walk began.
    mutating func put(
        at midpoint: FeedPlace?, among content: PageContent, cursor: PageCursor?, advertisements: AdvertisementReader
    ) throws {
        self.midpoint = midpoint
        let isHere: Bool
        switch cursor?.direction ?? .forward {
        case .forward:
            let isAhead = lies(midpoint, after: cursor?.place)
            isHere = isAhead && (!content.hasAfter || !lies(midpoint, after: content.cells.last?.place))
            hasMetAdvertisements = isAhead
        case .backward:
            let hasMet = cursor?.hasMetAdvertisements ?? false
            isHere = !hasMet && lies(midpoint, after: content.before)
            hasMetAdvertisements = hasMet || isHere
        }
        let candidates = blocks.indices.filter { blocks[$0].placement.supply == .onceAtMidpoint }
        guard isHere, let last = candidates.last else { return }
        let index =
            midpoint.map { midpoint in
                content.cells.firstIndex { !source.precedes($0.place, midpoint) } ?? content.cells.count
            } ?? content.cells.count / 2
        // Where the item at the middle has gone, the next one may be of a section that has none.
        let place = candidates.first { blocks[$0].content.upperBound > index } ?? last
        var advertisements = advertisements
        blocks[place].cells = try advertisements.all()
        blocks[place].midpoint = min(max(index - blocks[place].content.lowerBound, 0), blocks[place].content.count)
        omissions += advertisements.omissions
    }

    /// Nothing lies before the start, and the middle of an empty feed lies at its start.
    private func lies(_ midpoint: FeedPlace?, after place: FeedPlace?) -> Bool {
        guard let place else { return true }
        return midpoint.map { source.precedes(place, $0) } ?? false
    }

    /// The cursor of the page after, or nil on the last.
    func next(_ content: PageContent, after cursor: PageCursor?) -> PageCursor? {
        guard content.hasAfter else { return nil }
        let stop = cursor?.direction == .backward ? nil : content.stop
        let place = stop ?? content.cells.last?.place ?? cursor.map { source.beside($0.place, towards: .forward) }
        return place.map { PageCursor(direction: .forward, place: $0, rotation: rotation.after, midpoint: midpoint) }
    }

    /// The cursor of the page before, or nil on the first.
    func previous(_ content: PageContent, before cursor: PageCursor?) -> PageCursor? {
        guard content.hasBefore else { return nil }
        let stop = cursor?.direction == .backward ? content.stop : nil
        let place = stop ?? content.cells.first?.place ?? cursor.map { source.beside($0.place, towards: .backward) }
        return place.map {
            PageCursor(
                direction: .backward, place: $0, rotation: rotation.before, midpoint: midpoint, hasMetAdvertisements: hasMetAdvertisements)
        }
    }
}
