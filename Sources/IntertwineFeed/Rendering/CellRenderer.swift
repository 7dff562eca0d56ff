internal import IntertwinePrimitives

/// A renderer that returns cells of items from the cache or renders them, and records the items that it skipped.
struct CellRenderer {
    struct PlacedCell {
        var position: FeedPosition
        var omissionsBefore: Int
        var rendered: RenderedCell
        var companions: [RenderedCell]
        var repetition = 1
        var served: AdServer.ServedAd?
    }

    /// The maximum number of items of one store query. A long run of broken or dismissed items is therefore read in bounded batches.
    private static let maximumBatch = 256
    static let unknownLimit = 2_000

    private let factories: CellFactories
    private let cache: RenderedCellCache
    private var context: CellContext
    private var renderKey: RenderedCell.RenderKey
    private let hour: UInt32
    private let revision: UInt64
    /// The viewer's state; nil if the viewer has dismissed nothing, so that no cell id has to be checked.
    private let viewerState: ViewerState?
    private let isForHouseAds: Bool
    private(set) var omissions: [FeedPage.SkippedItem] = []
    private var writer = JSONWriter(capacity: 0)
    private var found = 0
    private var compared: [ItemType: [CellIdentifier]?] = [:]
    private let unknownLimit: Int
    /// The digests of cells that the session has shown already, which are left out.
    var excluded: Set<UInt32> = []
    /// The reasons for which items were chosen, by cell.
    var reasons: [ByteString: String] = [:]
    private var unknown = 0
    private(set) var stop: FeedPosition?

    init(
        factories: CellFactories, cache: RenderedCellCache, context: CellContext, viewerState: ViewerState?,
        isForHouseAds: Bool = false,
        unknownLimit: Int = CellRenderer.unknownLimit
    ) {
        self.factories = factories
        self.cache = cache
        self.context = context
        self.viewerState = viewerState.flatMap { $0.hidesCells ? $0 : nil }
        self.isForHouseAds = isForHouseAds
        self.unknownLimit = unknownLimit
        renderKey = RenderedCell.RenderKey(context)
        hour = CellTokens.bucket(of: context.now)
        revision = context.links.known?.revision ?? 0
    }

    private mutating func cell(of row: ItemRow, in section: Int = 0) throws -> PlacedCell? {
        guard !reasons.isEmpty, factories.bindsReason(row.type.kind), let id = shownID(of: row), let reason = reasons[ByteString(id)] else {
            return try reasonedCell(of: row, in: section)
        }
        return try row.item.showing(reason).withRow { try reasonedCell(of: $0, in: section) }
    }

    private mutating func reasonedCell(of row: ItemRow, in section: Int) throws -> PlacedCell? {
        // The write that hides an expired item may come later.
        if ItemSchedule.isIn(row.body), let end = ItemSchedule(body: row.body)?.expireAt, end <= context.now { return nil }
        if isForHouseAds, HouseField.isFalse(in: row.body) { return nil }
        if context.unsupportedCells != nil, isUnknown(row) { return nil }
        if !excluded.isEmpty, let id = shownID(of: row), excluded.contains(RankedPosition.digest(of: id.utf8)) { return nil }
        let known = cached(row, renderKey)
        if known != nil { found += 1 }
        if let viewerState, let id = known?.id ?? shownID(of: row), try viewerState.hides(id) { return nil }
        guard let renderedCell = known ?? make(row) else { return nil }
        if let viewerState, try viewerState.mutes(renderedCell.id, by: renderedCell.author) { return nil }
        var companions = renderedCell.companions
        if let viewerState, !companions.isEmpty { companions = try companions.filter { try !viewerState.hides($0.id) } }
        return PlacedCell(
            position: FeedPosition(section: section, item: row.sortPosition), omissionsBefore: omissions.count, rendered: renderedCell,
            companions: companions)
    }

    mutating func cell(of item: FeedItem, in section: Int = 0) throws -> PlacedCell? {
        defer { countFound() }
        return try item.withRow { try cell(of: $0, in: section) }
    }

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

    func cell(_ cell: PlacedCell, inSlot slot: Int) -> PlacedCell {
        guard slot != cell.rendered.renderKey.slot else { return cell }
        var reader = self
        reader.context.slot = slot
        let disclosure = cell.rendered.renderKey.disclosure
        if disclosure != context.disclosure { reader.context.disclosure = disclosure }
        reader.renderKey = RenderedCell.RenderKey(reader.context)
        let moved = cell.rendered.withRow { row in
            let known = cached(row, reader.renderKey)
            if known != nil { cache.countHits(1) }
            return known ?? reader.make(row)
        }
        guard let moved else { return cell }
        var result = cell
        result.rendered = moved
        result.companions = moved.companions.filter { one in cell.companions.contains { $0.id == one.id } }
        return result
    }

    /// Returns the cached cell, unless newer metadata of its images is known.
    private func cached(_ row: ItemRow, _ renderKey: RenderedCell.RenderKey) -> RenderedCell? {
        guard let cell = cache.cell(of: row, in: renderKey, hour: hour, page: context.page) else { return nil }
        return cell.isOvertaken(by: context.links.known, revision) ? nil : cell
    }

    private func shownID(of row: ItemRow) -> String? {
        let type = row.type
        guard factories[type, context.layout] != nil else { return nil }
        return factories.cellID(kind: type.kind, id: String(decoding: row.id, as: UTF8.self))
    }

    private mutating func isUnknown(_ row: ItemRow) -> Bool {
        let form = row.type
        let cells: [CellIdentifier]?
        if let known = compared[form] {
            cells = known
        } else {
            cells = factories.unknownCells(of: form, in: context)
            compared[form] = .some(cells)
        }
        guard let cells else { return false }
        // Several versions of a cell have one name.
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
            skip(item.type, id: item.id, position: item.position, .noFactory)
        } catch CellFactoryError.unknownToClient(let identifier) {
            skip(item.type, id: item.id, position: item.position, .unknownToClient([identifier]))
        } catch {
            skip(item.type, id: item.id, position: item.position, .broken(String(describing: error)))
        }
        return nil
    }

    mutating func cells(
        _ count: Int, in section: Int = 0, from start: SortPosition?,
        visit: (_ place: SortPosition?, _ limit: Int, _ body: (ItemRow) throws -> Void) throws -> Void
    ) throws -> [PlacedCell] {
        var cells: [PlacedCell] = []
        defer { countFound() }
        var place = start
        var batch = min(count, Self.maximumBatch)
        while cells.count < count {
            var met = 0
            try visit(place, batch) { row in
                met += 1
                place = row.sortPosition
                guard cells.count < count, let cell = try cell(of: row, in: section) else { return }
                // The array is often empty, since many pages have no advertisement.
                if cells.isEmpty { cells.reserveCapacity(min(count, FeedRequest.limits.upperBound + 1)) }
                cells.append(cell)
            }
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
