/// The layout of the advertisements of one page, with the ad state that the cursors of the adjacent pages carry.
///
/// Each section of the page gets advertisements among its content as if it were a page of its own. In a feed without sections, the page's
/// content is one block. Rotating advertisements and those of campaigns keep the distances of ``AdSpacing``, also to adjacent pages.
struct AdLayout {
    /// A range of the page's content with its advertisements.
    struct Block {
        /// The section's index in the data source; nil if the feed has only advertisements.
        let section: Int?
        /// The indices of the content cells.
        let content: Range<Int>
        let placement: any AdPlacement
        /// The number of content items of the section before this block, if the placement counts content.
        let start: Int64
        /// The advertisements in order, each with the index within the block in front of which it is shown.
        fileprivate(set) var advertisements: [(index: Int, cell: CellRenderer.PlacedCell)] = []
        /// The indices of the ad slots that rotating advertisements can fill.
        fileprivate var slotIndexes: [Int] = []

        /// Returns the indices within the block at which a number of advertisements are shown.
        func indices(for advertisements: Int, midpoint: Int? = nil) -> [Int] {
            placement.indices(for: advertisements, in: ContentRange(count: content.count, midpoint: midpoint, start: start))
        }

        /// - Parameter indices: The indices at which the cells are shown.
        fileprivate mutating func put(_ cells: ArraySlice<CellRenderer.PlacedCell>, at indices: [Int]) {
            advertisements = Array(zip(indices, cells))
        }

        /// - Parameter slots: All ad slots of the block, in order.
        fileprivate mutating func fill(_ slots: ArraySlice<Slot>) {
            advertisements = zip(slotIndexes, slots).compactMap { index, slot in slot.cell.map { (index, $0) } }
        }
    }

    /// An ad slot that rotating advertisements can fill.
    fileprivate struct Slot {
        /// The section's index in the data source; nil if the feed has only advertisements.
        let section: Int?
        /// The number of content items on the page before the slot.
        let coordinate: Int
        /// The advertisement in the slot; nil if the slot is empty.
        var cell: CellRenderer.PlacedCell?
    }

    /// The maximum number of pinned advertisements of one page. Advertisements beyond it are shown on no page.
    private static let pinnedLimit = 1_000

    private(set) var blocks: [Block]
    private(set) var omissions: [FeedPage.SkippedItem] = []
    private let source: any DataSource
    private let feedPlacement: any AdPlacement
    private let counts: PageOffsets?
    private var rotation: (before: Int64?, after: Int64?) = (nil, nil)
    private var distances: AdDistances
    private var midpoint: FeedPosition?
    private var hasMetAdvertisements = false
    /// The range of positions whose pinned advertisements the page shows; nil if no section has pinned advertisements.
    private var pinnedRange: (low: FeedPosition, high: FeedPosition)?

    /// Creates the blocks of a page, without advertisements yet.
    init(of content: PageContent, in source: any DataSource, placement: any AdPlacement, spacing: AdSpacing, cursor: PageCursor?) {
        self.source = source
        feedPlacement = placement
        distances = AdDistances(
            spacing, count: content.cells.count, isBackward: cursor?.direction == .backward, around: cursor?.shown)
        let isCounting = (0..<max(0, source.sectionCount)).contains { (source.placement(in: $0) ?? placement).countsContent }
        let counts = isCounting ? PageOffsets(of: content.ranges, cursor: cursor) : nil
        self.counts = counts
        var blocks: [Block] = []
        content.forEachRange { section, range in
            blocks.append(
                Block(
                    section: section, content: range, placement: source.placement(in: section) ?? placement,
                    start: counts?.start(of: section) ?? 0))
        }
        // An empty page at the end of a feed with sections belongs to no section. Without sections it belongs to the feed.
        let isEmptyFeed = !content.hasBefore && !content.hasAfter && source.showsAdsAlone
        if blocks.isEmpty, isEmptyFeed || source.name(of: 0) == nil {
            let placements = (0..<max(0, source.sectionCount)).map { source.placement(in: $0) ?? placement }
            let wanting = placements.first { $0.supply != .rotating(perPage: 0) }
            let start = cursor.flatMap { counts?.after($0.position.section).here } ?? 0
            blocks = [Block(section: nil, content: 0..<0, placement: wanting ?? placements.first ?? placement, start: start)]
        }
        self.blocks = blocks
    }

    /// Fills the ad slots with campaigns and with the next advertisements of the rotation.
    ///
    /// Only as many rotating advertisements are read as there are free slots, so that the rotation continues after the last one shown.
    ///
    /// - Parameter offset: The position that the advertisements adjoin; nil for the first one.
    mutating func fillSlots(
        cursor: PageCursor?, offset: Int64?, advertisements: AdCandidates, campaigns: inout PageCampaigns?
    ) throws {
        var canRepeat = false
        for index in blocks.indices {
            switch blocks[index].placement.supply {
            case .rotating(let perPage): blocks[index].slotIndexes = blocks[index].indices(for: max(0, perPage))
            case .perSlot:
                canRepeat = true
                blocks[index].slotIndexes = blocks[index].indices(for: .max)
            case .onceAtMidpoint, .pinned: break
            }
        }
        // Campaigns fill ad slots first; house ads fill the rest.
        let slotCount = blocks.reduce(0) { $0 + $1.slotIndexes.count }
        var slots = campaigns == nil && advertisements.isEmpty ? [] : emptySlots(slotCount)
        distances.placeCount = slotCount
        if let campaigns { distances.begin(campaigns.chance) }
        if campaigns != nil { try fill(&slots, from: &campaigns) }
        let count = slots.count { $0.cell == nil }
        var advertisements = advertisements
        var offset = offset
        // Later pages may have a slot for the first house ad, which comes after the last one.
        if cursor == nil, offset == nil, count == 0, Self.rotates(in: source, feedPlacement) {
            offset = try advertisements.next(1, .backward, of: nil).first?.position.item.position
        }
        let direction = cursor?.direction ?? .forward
        let cells = try advertisements.next(count, direction, of: offset, repeating: canRepeat)
        // Advertisements that the client cannot show are skipped. One is reported as skipped only if a slot stays empty because of it.
        var empty = count - cells.count
        omissions += advertisements.omissions.filter { omission in
            guard omission.reason.lack != nil else { return true }
            empty -= 1
            return empty >= 0
        }
        if let shown = rotate(cells, into: &slots) {
            rotation = (shown.first, shown.last)
        } else if let offset {
            // A page without house ads lies between two of the rotation. The mark is the one already passed in reading direction:
            // forward it stays the mark, backward the one on the other side becomes the mark.
            let other = try advertisements.next(1, direction, of: offset).first?.position.item.position ?? offset
            rotation = direction == .forward ? (other, offset) : (offset, other)
        }
        var rest = slots[...]
        for index in blocks.indices where !blocks[index].slotIndexes.isEmpty {
            let here = rest.prefix(blocks[index].slotIndexes.count)
            rest = rest.dropFirst(here.count)
            let shown = here.count { $0.cell != nil }
            // The placement may choose other indices for fewer advertisements.
            if case .rotating = blocks[index].placement.supply, campaigns == nil, shown < here.count {
                blocks[index].put(here.compactMap(\.cell)[...], at: blocks[index].indices(for: shown))
            } else {
                blocks[index].fill(here)
            }
        }
    }

    /// Returns the ad slots of all blocks, in order.
    private func emptySlots(_ count: Int) -> [Slot] {
        var slots: [Slot] = []
        slots.reserveCapacity(count)
        for block in blocks {
            for index in block.slotIndexes { slots.append(Slot(section: block.section, coordinate: block.content.lowerBound + index)) }
        }
        return slots
    }

    /// Fills slots with the ads of campaigns.
    private mutating func fill(_ slots: inout [Slot], from campaigns: inout PageCampaigns?) throws {
        let places = slots.map { (section: $0.section.flatMap(source.name(of:)), coordinate: $0.coordinate) }
        guard let cells = try campaigns?.cells(in: places, apart: distances) else { return }
        for (index, cell) in zip(slots.indices, cells) {
            slots[index].cell = cell
            guard let given = cell?.served else { continue }
            distances.note(AdKey(given.creative), labels: campaigns?.labels(of: given.campaign) ?? [], at: slots[index].coordinate)
        }
    }

    /// Fills each empty slot with the next advertisement of the rotation.
    ///
    /// An advertisement that was shown too close is kept for the next slot.
    ///
    /// - Parameter cells: The advertisements in feed order, also if the page is read backward.
    /// - Returns: The positions of the first and the last advertisement shown; nil if none is shown.
    private mutating func rotate(_ cells: [CellRenderer.PlacedCell], into slots: inout [Slot]) -> (first: Int64, last: Int64)? {
        var shown: (first: Int64, last: Int64)?
        var rest = cells[...]
        let isBackward = distances.isBackward
        // If there are fewer advertisements than slots, the first slots are filled in either reading direction.
        var (end, count) = (0, 0)
        while end < slots.count, count < cells.count {
            if slots[end].cell == nil { count += 1 }
            end += 1
        }
        let order = isBackward ? stride(from: end - 1, through: 0, by: -1) : stride(from: 0, through: end - 1, by: 1)
        for place in order where slots[place].cell == nil {
            guard let cell = isBackward ? rest.last : rest.first else { break }
            let key = cell.rendered.withRow { AdKey($0) }
            guard distances.permits(key, at: slots[place].coordinate) else { continue }
            distances.note(key, at: slots[place].coordinate)
            rest = isBackward ? rest.dropLast() : rest.dropFirst()
            let position = cell.position.item.position
            shown = isBackward ? (position, shown?.last ?? position) : (shown?.first ?? position, position)
            slots[place].cell = cell
        }
        return shown
    }

    /// Returns true if pages of a feed may have ad slots for the rotation.
    static func rotates(in source: any DataSource, _ placement: any AdPlacement) -> Bool {
        (0..<max(0, source.sectionCount)).contains { section in
            switch (source.placement(in: section) ?? placement).supply {
            case .rotating(let perPage): perPage > 0
            case .perSlot: true
            case .onceAtMidpoint, .pinned: false
            }
        }
    }

    /// Adds the advertisements that are pinned among the page's content.
    ///
    /// Pages partition the positions of a feed. Each page covers the range from the end of the page before to its own last item. If no content of
    /// the section follows, the range extends to the section's end.
    /// Cursors carry these edges, so each pinned ad is shown once, also if content is written meanwhile.
    mutating func list(
        among content: PageContent, cursor: PageCursor?, in snapshot: any FeedSnapshot, advertisements: AdCandidates
    ) throws {
        let sections = (0..<max(0, source.sectionCount)).filter { (source.placement(in: $0) ?? feedPlacement).supply == .pinned }
        guard !sections.isEmpty else { return }
        let (low, high) = edges(of: content, cursor: cursor)
        pinnedRange = (low, high)
        var advertisements = advertisements
        var left = Self.pinnedLimit
        for section in sections where section >= low.section && section <= high.section && left > 0 {
            let from = section == low.section ? low : source.start(of: section)
            let to = section == high.section ? high : source.end(of: section)
            let (lower, upper) = (from.item.position, to.item.position)
            guard lower != upper else { continue }
            let found = try source.listings(in: section, between: min(lower, upper)..<max(lower, upper), limit: left, from: snapshot)
            left -= found.count
            for listing in source.isDescending(section) ? found.reversed() : found {
                guard let cell = try advertisements.cell(of: listing.item) else { continue }
                insert(
                    cell, pinnedAt: FeedPosition(section: section, item: SortPosition(position: listing.position)), among: content, cursor)
            }
        }
        omissions += advertisements.omissions
    }

    private func edges(of content: PageContent, cursor: PageCursor?) -> (low: FeedPosition, high: FeedPosition) {
        /// Returns the edge between a page and the adjacent item: the last item on the near side or, if a section ends there, the section's end.
        func edge(_ last: FeedPosition, _ next: FeedPosition) -> FeedPosition {
            last.section == next.section ? last : source.end(of: last.section)
        }
        let (start, end) = (source.start(of: 0), source.end(of: max(0, source.sectionCount - 1)))
        switch cursor?.direction ?? .forward {
        case .forward:
            let high = content.stop ?? content.after.flatMap { after in content.cells.last.map { edge($0.position, after) } } ?? end
            return (cursor.map { $0.pinned ?? $0.position } ?? start, high)
        case .backward:
            let low = content.stop ?? content.before.flatMap { before in content.cells.first.map { edge(before, $0.position) } } ?? start
            return (low, cursor.map { $0.pinned ?? $0.position } ?? end)
        }
    }

    private mutating func insert(
        _ cell: CellRenderer.PlacedCell, pinnedAt anchor: FeedPosition, among content: PageContent, _ cursor: PageCursor?
    ) {
        if blocks.isEmpty, cursor != nil { blocks = [Block(section: nil, content: 0..<0, placement: feedPlacement, start: 0)] }
        guard !blocks.isEmpty else { return }
        let isDescending = source.isDescending(anchor.section)
        let index = blocks.firstIndex { $0.section ?? anchor.section >= anchor.section } ?? blocks.count - 1
        let block = blocks[index]
        var position = block.section ?? anchor.section < anchor.section ? block.content.count : 0
        if block.section == anchor.section {
            let cells = content.cells[block.content]
            position =
                cells.firstIndex { cell in
                    isDescending ? cell.position.item.position <= anchor.item.position : cell.position.item.position > anchor.item.position
                }.map { $0 - block.content.lowerBound } ?? block.content.count
        }
        let before = block.advertisements.firstIndex { $0.index > position } ?? block.advertisements.count
        blocks[index].advertisements.insert((position, cell), at: before)
    }

    /// Adds all advertisements if the midpoint of the feed lies on this page.
    ///
    /// The midpoint is a position that stays fixed for the whole pagination session. The page with it is therefore shown once, whatever is
    /// inserted or deleted meanwhile. If the item at the midpoint is deleted, the ads are shown before the next item.
    /// - Parameter midpoint: The position before which the ads are shown; nil if the feed was empty at the start of the session.
    mutating func put(
        at midpoint: FeedPosition?, among content: PageContent, cursor: PageCursor?, advertisements: AdCandidates
    ) throws {
        self.midpoint = midpoint
        let isHere: Bool
        switch cursor?.direction ?? .forward {
        case .forward:
            let isAhead = lies(midpoint, after: cursor?.position)
            isHere = isAhead && (!content.hasAfter || !lies(midpoint, after: content.cells.last?.position))
            hasMetAdvertisements = isAhead
        case .backward:
            let hasMet = cursor?.isPastMidpoint ?? false
            isHere = !hasMet && lies(midpoint, after: content.before)
            hasMetAdvertisements = hasMet || isHere
        }
        let candidates = blocks.indices.filter { blocks[$0].placement.supply == .onceAtMidpoint }
        guard isHere, let last = candidates.last else { return }
        let index =
            midpoint.map { midpoint in
                content.cells.firstIndex { !source.precedes($0.position, midpoint) } ?? content.cells.count
            } ?? content.cells.count / 2
        // If the item at the midpoint is deleted, the next item may belong to a section without midpoint ads.
        let anchor = candidates.first { blocks[$0].content.upperBound > index } ?? last
        var advertisements = advertisements
        let cells = try advertisements.all()
        let midpointIndex = min(max(index - blocks[anchor].content.lowerBound, 0), blocks[anchor].content.count)
        blocks[anchor].put(cells[...], at: blocks[anchor].indices(for: cells.count, midpoint: midpointIndex))
        omissions += advertisements.omissions
    }

    /// Assigns each advertisement its slot in page order, and gives repetitions of one advertisement ids of their own.
    mutating func number(_ advertisements: AdCandidates) {
        let count = blocks.reduce(0) { $0 + $1.advertisements.count }
        guard count > 1 else { return }
        var shown: [Int64: Int] = [:]
        var slot = 0
        for block in blocks.indices {
            for index in blocks[block].advertisements.indices {
                var cell = advertisements.cell(blocks[block].advertisements[index].cell, inSlot: slot)
                cell.repetition = shown[cell.position.item.position, default: 0] + 1
                shown[cell.position.item.position] = cell.repetition
                blocks[block].advertisements[index].cell = cell
                slot += 1
            }
        }
    }

    /// Returns true if the midpoint lies after a position. A nil position is the start; the midpoint of an empty feed is at its start.
    private func lies(_ midpoint: FeedPosition?, after anchor: FeedPosition?) -> Bool {
        guard let anchor else { return true }
        return midpoint.map { source.precedes(anchor, $0) } ?? false
    }

    /// Returns the cursor of the page after this one, or nil on the last page.
    func next(_ content: PageContent, after cursor: PageCursor?) -> PageCursor? {
        guard content.hasAfter else { return nil }
        let stop = cursor?.direction == .backward ? nil : content.stop
        let anchor = stop ?? content.cells.last?.position ?? cursor.map { source.beside($0.position, towards: .forward) }
        return anchor.map { anchor in
            PageCursor(
                direction: .forward, position: anchor, rotation: rotation.after, midpoint: midpoint, offsets: counts?.after(anchor.section),
                pinned: pinnedRange.flatMap { $0.high == anchor ? nil : $0.high }, shown: distances.beside(.forward))
        }
    }

    /// Returns the cursor of the page before this one, or nil on the first page.
    func previous(_ content: PageContent, before cursor: PageCursor?) -> PageCursor? {
        guard content.hasBefore else { return nil }
        let stop = cursor?.direction == .backward ? content.stop : nil
        let anchor = stop ?? content.cells.first?.position ?? cursor.map { source.beside($0.position, towards: .backward) }
        return anchor.map { anchor in
            PageCursor(
                direction: .backward, position: anchor, rotation: rotation.before, midpoint: midpoint,
                isPastMidpoint: hasMetAdvertisements,
                offsets: counts?.before(anchor.section), pinned: pinnedRange?.low, shown: distances.beside(.backward))
        }
    }
}
