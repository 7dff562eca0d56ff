/// The ad slots of one page, which ad sources fill, with the ad state that the cursors of the adjacent pages carry.
struct AdSlots {
    struct Block {
        let section: Int?
        let content: Range<Int>
        let placement: any AdPlacement
        let start: Int64

        func indices(for advertisements: Int) -> [Int] {
            placement.indices(for: advertisements, in: ContentRange(count: content.count, start: start))
        }
    }

    struct Slot {
        let block: Int
        let index: Int
        var cell: CellRenderer.PlacedCell?
    }

    let content: PageContent
    let identity: UInt32
    let context: CellContext
    private(set) var blocks: [Block] = []
    private(set) var slots: [Slot] = []
    var omissions: [FeedPage.SkippedItem] = []
    var decision: CampaignAds.Decision?
    var distances: AdDistances
    var rotation: (before: Int64?, after: Int64?) = (nil, nil)
    var pinnedRange: (low: FeedPosition, high: FeedPosition)?
    private let sections: FeedSections
    private let offsets: PageOffsets?

    init(
        in content: PageContent, of sections: FeedSections, showsAdsAlone: Bool, spacing: AdSpacing, feed: UInt64, for session: PageSession
    ) {
        (self.content, self.sections) = (content, sections)
        identity = PageCursor.identity(of: content.cells.first?.position, inFeed: feed)
        var context = session.context
        // A page of campaigns that is requested again later counts as another impression.
        context.page = session.targeting?.page(identity) ?? identity
        self.context = context
        let cursor = session.cursor
        distances = AdDistances(
            spacing, count: content.cells.count, isBackward: session.direction == .backward, around: cursor?.shown)
        offsets = sections.indices.contains { sections.placement(in: $0).countsContent } ? PageOffsets(of: content, cursor: cursor) : nil
        content.forEachRange { section, range in
            blocks.append(
                Block(section: section, content: range, placement: sections.placement(in: section), start: offsets?.start(of: section) ?? 0)
            )
        }
        // An empty page at the end of a feed with sections belongs to no section. Without sections it belongs to the feed.
        let isEmptyFeed = !content.hasBefore && !content.hasAfter && showsAdsAlone
        if blocks.isEmpty, isEmptyFeed || !sections.isNamed {
            let wanting = sections.members { $0 != .rotating(perPage: 0) }.first ?? sections.indices.first
            let start = cursor.flatMap { offsets?.after($0.position.section).here } ?? 0
            blocks = [
                Block(section: nil, content: 0..<0, placement: wanting.map(sections.placement(in:)) ?? sections.placement, start: start)
            ]
        }
        for number in blocks.indices {
            switch blocks[number].placement.supply {
            case .rotating(let perPage): append(blocks[number].indices(for: max(0, perPage)), to: number)
            case .perSlot: append(blocks[number].indices(for: .max), to: number)
            case .pinned: break
            }
        }
    }

    private mutating func append(_ indices: [Int], to block: Int) {
        slots.reserveCapacity(slots.count + indices.count)
        for index in indices { slots.append(Slot(block: block, index: index)) }
    }

    var emptyCount: Int { slots.count { $0.cell == nil } }

    func section(of slot: Slot) -> String? { blocks[slot.block].section.flatMap(sections.name(of:)) }

    func coordinate(of slot: Slot) -> Int { blocks[slot.block].content.lowerBound + slot.index }

    mutating func fill(_ slot: Int, with cell: CellRenderer.PlacedCell) { slots[slot].cell = cell }

    /// Fills each empty slot with the next advertisement, unless it was shown too close.
    mutating func fillEmpty(with cells: [CellRenderer.PlacedCell]) -> (first: Int64, last: Int64)? {
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
        for slot in order where slots[slot].cell == nil {
            guard let cell = isBackward ? rest.last : rest.first else { break }
            let (key, coordinate) = (cell.rendered.withRow { AdKey($0) }, coordinate(of: slots[slot]))
            guard distances.permits(key, at: coordinate) else { continue }
            distances.note(key, at: coordinate)
            rest = isBackward ? rest.dropLast() : rest.dropFirst()
            let position = cell.position.item.position
            shown = isBackward ? (position, shown?.last ?? position) : (shown?.first ?? position, position)
            slots[slot].cell = cell
        }
        return shown
    }

    mutating func respaceRotation() {
        for number in blocks.indices {
            guard case .rotating = blocks[number].placement.supply, let start = slots.firstIndex(where: { $0.block == number }) else {
                continue
            }
            let here = slots[start...].prefix { $0.block == number }
            guard here.contains(where: { $0.cell == nil }) else { continue }
            let cells = here.compactMap(\.cell)
            put(cells, in: number, at: blocks[number].indices(for: cells.count))
        }
    }

    mutating func put(_ cells: [CellRenderer.PlacedCell], in block: Int, at indices: [Int]) {
        slots.removeAll { $0.block == block }
        let start = slots.firstIndex { $0.block > block } ?? slots.count
        slots.insert(contentsOf: zip(indices, cells).map { Slot(block: block, index: $0, cell: $1) }, at: start)
    }

    mutating func insert(_ cell: CellRenderer.PlacedCell, after anchor: FeedPosition, isFirstPage: Bool) {
        if blocks.isEmpty, !isFirstPage { blocks = [Block(section: nil, content: 0..<0, placement: sections.placement, start: 0)] }
        guard !blocks.isEmpty else { return }
        let number = blocks.firstIndex { $0.section ?? anchor.section >= anchor.section } ?? blocks.count - 1
        let block = blocks[number]
        var index = block.section ?? anchor.section < anchor.section ? block.content.count : 0
        if block.section == anchor.section {
            let isDescending = sections.isDescending(anchor.section)
            let next = content.cells[block.content].firstIndex { cell in
                isDescending ? cell.position.item.position <= anchor.item.position : cell.position.item.position > anchor.item.position
            }
            index = (next ?? block.content.upperBound) - block.content.lowerBound
        }
        let next = slots.firstIndex { ($0.block, $0.index) > (number, index) } ?? slots.count
        slots.insert(Slot(block: number, index: index, cell: cell), at: next)
    }

    mutating func number(for session: PageSession) {
        guard slots.count - emptyCount > 1 else { return }
        let renderer = session.renderer(in: context)
        var shown: [Int64: Int] = [:]
        // An item may have the id that a repetition would get.
        var ids: Set<ByteString> = []
        var number = 0
        for index in slots.indices {
            guard let cell = slots[index].cell else { continue }
            var numbered = renderer.cell(cell, inSlot: number)
            numbered.repetition = shown[cell.position.item.position, default: 0] + 1
            if numbered.repetition > 1 {
                if ids.isEmpty { ids = Set((content.cells + slots.compactMap(\.cell)).map { ByteString($0.rendered.id) }) }
                while ids.contains(ByteString("\(cell.rendered.id)#\(numbered.repetition)")) { numbered.repetition += 1 }
            }
            shown[cell.position.item.position] = numbered.repetition
            slots[index].cell = numbered
            number += 1
        }
    }

    // MARK: Cursors

    func next(after cursor: PageCursor?) -> PageCursor? {
        guard content.hasAfter else { return nil }
        let stop = cursor?.direction == .backward ? nil : content.stop
        let anchor = stop ?? content.cells.last?.position ?? cursor.map { sections.beside($0.position, towards: .forward) }
        return anchor.map { anchor in
            PageCursor(
                direction: .forward, position: anchor, rotation: rotation.after, offsets: offsets?.after(anchor.section),
                pinned: pinnedRange.flatMap { $0.high == anchor ? nil : $0.high }, shown: distances.beside(.forward))
        }
    }

    func previous(before cursor: PageCursor?) -> PageCursor? {
        guard content.hasBefore else { return nil }
        let stop = cursor?.direction == .backward ? content.stop : nil
        let anchor = stop ?? content.cells.first?.position ?? cursor.map { sections.beside($0.position, towards: .backward) }
        return anchor.map { anchor in
            PageCursor(
                direction: .backward, position: anchor, rotation: rotation.before, offsets: offsets?.before(anchor.section),
                pinned: pinnedRange?.low, shown: distances.beside(.backward))
        }
    }
}
