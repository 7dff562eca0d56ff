/// Makes cells of items as they come, or finds them finished, and notes the items that it had to leave out.
struct CellRenderer {
    /// A cell with the place of its item.
    struct PlacedCell {
        var position: FeedPosition
        /// How many items had been left out before it.
        var omissionsBefore: Int
        var rendered: RenderedCell
        /// They stand behind it.
        var companions: [RenderedCell]
        /// How often the item has stood on the page with it; more than once, its ids tell which this is.
        var repetition = 1
        /// The campaign that it is shown for; nil for content and what the house shows.
        var served: AdServer.ServedAd?
    }

    /// No single question to the store asks for more, so a long run of broken or dismissed items is read in bounded pieces.
    private static let maximumBatch = 256
    /// Items that the client cannot show and that one reading passes over: beyond them it ends, and the next page goes on from there.
    private static let unknownLimit = 2_000

    private let factories: CellFactories
    private let cache: RenderedCellCache
    private var context: CellContext
    private var circumstances: RenderedCell.RenderKey
    private let hour: UInt32
    /// What is known of pictures, as ``ImageMetadataStore/revision`` counts.
    private let revision: UInt64
    /// Nil where they hide nothing: no cell's id is then looked at.
    private let viewerState: ViewerState?
    private let book: CampaignIndex?
    private(set) var omissions: [FeedPage.SkippedItem] = []
    /// Takes the JSON of one new cell after the other.
    private var writer = JSONWriter(capacity: 0)
    /// Cells that lay ready, and are not counted yet.
    private var found = 0
    /// The forms whose cells have been compared with what the client knows, with those that it does not know.
    private var compared: [ItemType: [CellIdentifier]?] = [:]
    private let unknownLimit: Int
    private var unknown = 0
    /// How many items were passed over because the viewer does not want to see them.
    private var hidden = 0
    /// Where reading ended before its time; nil where it did not.
    private(set) var stop: FeedPosition?

    /// - Parameters:
    ///   - marks: say which cells are to be left out.
    ///   - book: its advertisements are left out, too.
    init(
        factories: CellFactories, cache: RenderedCellCache, context: CellContext, viewerState: ViewerState?,
        without book: CampaignIndex? = nil,
        unknownLimit: Int = CellRenderer.unknownLimit
    ) {
        self.factories = factories
        self.cache = cache
        self.context = context
        self.viewerState = viewerState.flatMap { $0.hidesCells ? $0 : nil }
        self.book = book
        self.unknownLimit = unknownLimit
        circumstances = RenderedCell.RenderKey(context)
        hour = CellTokens.bucket(of: context.now)
        revision = context.links.known?.revision ?? 0
    }

    /// The item's cell, or nil where it has to be left out.
    ///
    /// - Throws: what keeps from finding out whether it is hidden.
    private mutating func cell(of row: ItemRow, in section: Int = 0) throws -> PlacedCell? {
        if let book, book.hasCreative(row) { return nil }
        if context.lacking != nil, isUnknown(row) { return nil }
        let known = cached(row, circumstances)
        if known != nil { found += 1 }
        if let viewerState, let id = known?.id ?? shownID(of: row), try viewerState.hides(id) {
            hidden += 1
            return nil
        }
        guard let finished = known ?? make(row) else { return nil }
        var companions = finished.companions
        if let viewerState, !companions.isEmpty { companions = try companions.filter { try !viewerState.hides($0.id) } }
        return PlacedCell(
            position: FeedPosition(section: section, item: row.sortPosition), omissionsBefore: omissions.count, rendered: finished,
            companions: companions)
    }

    mutating func cell(of item: FeedItem, in section: Int = 0) throws -> PlacedCell? {
        defer { countFound() }
        return try item.withRow { try cell(of: $0, in: section) }
    }

    /// Whether the item has a cell that is shown. What keeps it away is not noted.
    func shows(_ row: ItemRow, in section: Int) throws -> Bool {
        var peek = self
        peek.found = 0
        defer { peek.countFound() }
        return try peek.cell(of: row, in: section) != nil
    }

    private mutating func countFound() {
        if found > 0 { cache.countHits(found) }
        found = 0
    }

    /// The same cell as an advertisement of another slot; as it was where its factory cannot make it there.
    func cell(_ cell: PlacedCell, inSlot slot: Int) -> PlacedCell {
        guard slot != cell.rendered.circumstances.slot else { return cell }
        var reader = self
        reader.context.slot = slot
        let disclosure = cell.rendered.circumstances.disclosure
        if disclosure != context.disclosure { reader.context.disclosure = disclosure }
        reader.circumstances = RenderedCell.RenderKey(reader.context)
        let moved = cell.rendered.withRow { row in
            let known = cached(row, reader.circumstances)
            if known != nil { cache.countHits(1) }
            return known ?? reader.make(row)
        }
        guard let moved else { return cell }
        var result = cell
        result.rendered = moved
        result.companions = moved.companions.filter { one in cell.companions.contains { $0.id == one.id } }
        return result
    }

    /// The cell that lies ready, unless something else is known of its pictures by now.
    private func cached(_ row: ItemRow, _ circumstances: RenderedCell.RenderKey) -> RenderedCell? {
        guard let cell = cache.cell(of: row, in: circumstances, hour: hour, page: context.page) else { return nil }
        return cell.isOvertaken(by: context.links.known, revision) ? nil : cell
    }

    /// The cell's id, where one is made of the row at all.
    private func shownID(of row: ItemRow) -> String? {
        let kind = String(decoding: row.kind, as: UTF8.self)
        let form = ItemType(kind: kind, variant: String(decoding: row.variant, as: UTF8.self))
        guard factories[form, context.layout] != nil else { return nil }
        return factories.cellID(kind: kind, id: String(decoding: row.id, as: UTF8.self))
    }

    /// Whether the client knows none of the cells that the item's form can have; it is then noted.
    private mutating func isUnknown(_ row: ItemRow) -> Bool {
        let form = ItemType(kind: String(decoding: row.kind, as: UTF8.self), variant: String(decoding: row.variant, as: UTF8.self))
        let cells: [CellIdentifier]?
        if let known = compared[form] {
            cells = known
        } else {
            cells = factories.unknownCells(of: form, in: context)
            compared[form] = .some(cells)
        }
        guard let cells else { return false }
        // Several versions of one cell have one name.
        let names = cells.map(\.name).reduce(into: [String]()) { names, name in if !names.contains(name) { names.append(name) } }
        skip(form, id: String(decoding: row.id, as: UTF8.self), position: row.position, .unknownToClient(names))
        return true
    }

    private mutating func skip(_ form: ItemType, id: String, position: Int64, _ reason: FeedPage.SkippedItem.Reason) {
        unknown += 1
        omissions.append(FeedPage.SkippedItem(form: form, id: id, position: position, reason: reason))
    }

    private mutating func make(_ row: ItemRow) -> RenderedCell? {
        let item = row.item
        do {
            let cell = try RenderedCell(of: item, by: factories, in: context, with: &writer)
            cache.store(cell)
            return cell
        } catch CellFactoryError.noFactory {
            omit(item, .noFactory)
        } catch CellFactoryError.unknownToClient(let identifier) {
            skip(
                ItemType(kind: item.kind, variant: item.variant), id: item.id, position: item.position, .unknownToClient([identifier]))
        } catch CellFactoryError.unknownTypes(let types, let identifier) {
            skip(
                ItemType(kind: item.kind, variant: item.variant), id: item.id, position: item.position,
                .unknownTypes(types, in: identifier))
        } catch {
            omit(item, .broken(String(describing: error)))
        }
        return nil
    }

    private mutating func omit(_ item: FeedItem, _ reason: FeedPage.SkippedItem.Reason) {
        omissions.append(
            FeedPage.SkippedItem(
                form: ItemType(kind: item.kind, variant: item.variant), id: item.id, position: item.position, reason: reason))
    }

    /// Reads on until so many cells are found, or the items end.
    ///
    /// - Parameters:
    ///   - runs: what the viewer is known to want to see nothing of, and is told of; nil where the items are not those of a section.
    ///   - visit: the items next to a place, as many as asked for, fewer only at the end.
    mutating func cells(
        _ count: Int, in section: Int = 0, _ direction: PageDirection = .forward, from start: SortPosition?,
        over runs: DismissedRanges? = nil,
        visit: (_ place: SortPosition?, _ limit: Int, _ body: (ItemRow) throws -> Void) throws -> Void
    ) throws -> [PlacedCell] {
        var cells: [PlacedCell] = []
        defer { countFound() }
        var place = start
        var batch = min(count, Self.maximumBatch)
        var run = DismissedRange()
        while cells.count < count {
            run.begin(at: place)
            // Beside the cursor's own place every item is looked at.
            if let runs, place == nil || place != start, let end = try runs.end(in: section, direction, from: place) {
                run.step(to: end)
                place = end
            }
            var met = 0
            try visit(place, batch) { row in
                met += 1
                place = row.sortPosition
                guard cells.count < count else { return }
                let before = hidden
                let found = try cell(of: row, in: section)
                if hidden > before { run.pass(row.sortPosition) } else { run.close() }
                guard let cell = found else { return }
                // Often there is none, as there is no advertisement.
                if cells.isEmpty { cells.reserveCapacity(min(count, FeedRequest.limits.upperBound + 1)) }
                cells.append(cell)
            }
            if met < batch { run.close() }
            try run.store(in: runs, section, direction)
            guard met == batch else { break }
            if unknown >= unknownLimit, cells.count < count, let place {
                stop = FeedPosition(section: section, item: place)
                break
            }
            batch = min(max(batch * 2, 32), Self.maximumBatch)
        }
        return cells
    }
}
