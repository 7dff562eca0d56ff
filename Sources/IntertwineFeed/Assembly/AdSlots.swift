/// The ad slots of one page, which the sources of ads fill.
///
/// ```swift
/// func fill(_ slots: inout AdSlots) throws {
///     for slot in slots.empty.prefix(1) { try slots.fill(slot, with: "ad:7") }
/// }
/// ```
public struct AdSlots {
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

    private(set) var content = PageContent()
    let session: PageSession
    /// It is set by campaigns if the page may have ads of theirs. The page is one viewer's then.
    var targeting: TargetingContext?
    var campaignIndex: CampaignIndex?
    var houseAds: (inventory: HouseAdInventory?, mark: Int64?) = (nil, nil)
    /// The decisions of an embedding program's sources; nil without such sources.
    private let decisions: AdDecisions?
    /// An error of the store or of a decision that a source has got, which ends the assembly.
    private(set) var failure: (any Error)?
    private(set) var identity: UInt32 = 0
    private(set) var context: CellContext
    private(set) var blocks: [Block] = []
    private(set) var slots: [Slot] = []
    var omissions: [FeedPage.SkippedItem] = []
    var decision: CampaignAds.Decision?
    var distances = AdDistances()
    private let sections: FeedSections
    private var offsets: PageOffsets?
    /// The source that is asked, and what the sources leave in the cursors of the adjacent pages.
    var source = ""
    private var left: (before: [PageCursor.AdState], after: [PageCursor.AdState]) = ([], [])

    init(for session: PageSession, of sections: FeedSections, _ decisions: AdDecisions?) {
        (self.session, self.sections, self.decisions, context) = (session, sections, decisions, session.context)
    }

    /// It is not nil if the page is one viewer's, so that its impressions count once for the viewer.
    var viewed: TargetingContext? { decisions == nil ? targeting : session.client.targeting }

    /// Finds the slots of a page whose content is read.
    mutating func place(in content: PageContent, showsAdsAlone: Bool, spacing: AdSpacing, feed: UInt64) {
        self.content = content
        identity = PageCursor.identity(of: content.cells.first?.position, inFeed: feed)
        // A page of one viewer that is requested again later counts as another impression.
        context.page = viewed?.page(identity) ?? identity
        let cursor = session.cursor
        distances = AdDistances(
            spacing, count: content.cells.count, isBackward: session.direction == .backward, around: cursor?.shown)
        offsets = sections.indices.contains { sections.placement(in: $0).countsContent } ? PageOffsets(of: content, cursor: cursor) : nil
        let offsets = offsets
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

    mutating func number() {
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

    // MARK: Sources

    /// The numbers of the slots that no source has filled, in the order of the page; none before the content is read.
    public var empty: [Int] { slots.indices.filter { slots[$0].cell == nil } }

    /// Puts an ad of the store into a slot, unless it does not exist, has no cell in the layout, or is too near to itself.
    @discardableResult
    public mutating func fill(_ slot: Int, with cell: String) throws -> Bool {
        try fill(slot, with: cell, at: session.request.now)
    }

    @discardableResult
    mutating func fill(_ slot: Int, with cell: String, at time: Int64) throws -> Bool {
        do { return try put(cell, in: slot, at: time) } catch {
            failure = error
            throw error
        }
    }

    private mutating func put(_ cell: String, in slot: Int, at time: Int64) throws -> Bool {
        guard slots.indices.contains(slot), slots[slot].cell == nil, let name = session.factories.item(ofCell: cell),
            session.factories.isAdvertisement(name.kind),
            let item = try session.snapshot.item(kind: name.kind, id: name.id)
        else { return false }
        let (key, coordinate) = (AdKey(CreativeID(item)), coordinate(of: slots[slot]))
        var renderer = session.renderer(in: context)
        guard distances.permits(key, at: coordinate), var found = try renderer.cell(of: item) else { return false }
        distances.note(key, at: coordinate)
        found.served = AdServer.ServedAd(campaign: source, creative: CreativeID(item), frequencyCapTTL: 0, at: time)
        slots[slot].cell = found
        return true
    }

    /// The bytes that the source left in the cursor of this page; empty for the first page.
    public var state: [UInt8] { session.cursor?.ads.first { $0.source == source }?.bytes ?? [] }

    /// Leaves bytes for the adjacent page in place of those before, at most 512; more are not kept. Before the content is read, none are.
    public mutating func leave(_ state: [UInt8], towards direction: PageDirection) {
        guard !state.isEmpty, state.count <= PageCursor.AdState.limit, direction == .forward ? content.hasAfter : content.hasBefore else {
            return
        }
        func replace(_ states: inout [PageCursor.AdState], _ source: String) {
            states.removeAll { $0.source == source }
            states.append(PageCursor.AdState(source: source, bytes: state))
        }
        if direction == .forward { replace(&left.after, source) } else { replace(&left.before, source) }
    }

    mutating func decision(of source: any AdSource) throws -> AdDecisions.Decision? {
        guard emptyCount > 0, let decisions, let targeting = session.client.targeting else { return nil }
        let (request, client) = (session.request, session.client)
        let question = AdDecisions.Question(
            source: source.name,
            context: FeedContext(
                viewer: client.viewer?.name, attributes: client.attributes?.values ?? [:], language: request.language,
                filters: request.filters),
            moment: targeting.moment, page: identity, slots: empty, state: state)
        if let known = decisions.known(question, now: request.now) { return known }
        // An explanation, a preview or a HEAD request asks no source.
        guard targeting.allocates else { return nil }
        let undecided = AdDecisions.UndecidedError(source: source, question: question)
        failure = undecided
        throw undecided
    }

    // MARK: Cursors

    /// The position from which the adjacent page continues; nil if there is none.
    func anchor(_ direction: PageDirection) -> FeedPosition? {
        let cursor = session.cursor
        let stop = session.direction == direction ? content.stop : nil
        switch direction {
        case .forward:
            guard content.hasAfter else { return nil }
            return stop ?? content.cells.last?.position ?? cursor.map { sections.beside($0.position, towards: .forward) }
        case .backward:
            guard content.hasBefore else { return nil }
            return stop ?? content.cells.first?.position ?? cursor.map { sections.beside($0.position, towards: .backward) }
        }
    }

    func cursor(_ direction: PageDirection) -> PageCursor? {
        anchor(direction).map { anchor in
            PageCursor(
                direction: direction, position: anchor,
                offsets: direction == .forward ? offsets?.after(anchor.section) : offsets?.before(anchor.section),
                shown: distances.beside(direction), ranked: session.rankedPosition, ads: direction == .forward ? left.after : left.before)
        }
    }
}
