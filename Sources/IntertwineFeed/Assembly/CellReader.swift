/// Makes cells of items as they come, or finds them finished, and notes the items that it had to leave out.
struct CellReader {
    /// A cell with the place of its item.
    struct Cell {
        var place: FeedPlace
        /// How many items had been left out before it.
        var omissionsBefore: Int
        var finished: FinishedCell
        /// They stand behind it.
        var companions: [FinishedCell]
        /// How often the item has stood on the page with it; more than once, its ids tell which this is.
        var repetition = 1
        /// The campaign that it is shown for; nil for content and what the house shows.
        var given: CampaignDelivery.Given?
    }

    /// No single question to the store asks for more, so a long run of broken or dismissed items is read in bounded pieces.
    private static let maximumBatch = 256
    /// Items that the client cannot show and that one reading passes over: beyond them it ends, and the next page goes on from there.
    private static let unknownLimit = 2_000

    private let factories: CellFactories
    private let kept: FinishedCells
    private var context: CellContext
    private var circumstances: FinishedCell.Circumstances
    private let hour: UInt32
    /// What is known of pictures, as ``PictureMemory/revision`` counts.
    private let revision: UInt64
    /// Nil where they hide nothing: no cell's id is then looked at.
    private let marks: ViewerMarks?
    private let book: CampaignBook?
    private(set) var omissions: [FeedPage.Omission] = []
    /// Takes the JSON of one new cell after the other.
    private var writer = JSONWriter(capacity: 0)
    /// Cells that lay ready, and are not counted yet.
    private var found = 0
    /// The forms whose cells have been compared with what the client knows, with those that it does not know.
    private var compared: [ItemForm: [CellIdentifier]?] = [:]
    private let unknownLimit: Int
    private var unknown = 0
    /// How many items were passed over because the viewer does not want to see them.
    private var hidden = 0
    /// Where reading ended before its time; nil where it did not.
    private(set) var stop: FeedPlace?

    /// - Parameters:
    ///   - marks: say which cells are to be left out.
    ///   - book: its advertisements are left out, too.
    init(
        factories: CellFactories, kept: FinishedCells, context: CellContext, marks: ViewerMarks?, without book: CampaignBook? = nil,
        unknownLimit: Int = CellReader.unknownLimit
    ) {
        self.factories = factories
        self.kept = kept
        self.context = context
        self.marks = marks.flatMap { $0.hidesCells ? $0 : nil }
        self.book = book
        self.unknownLimit = unknownLimit
        circumstances = FinishedCell.Circumstances(context)
        hour = CellTokens.bucket(of: context.now)
        revision = context.links.known?.revision ?? 0
    }

    /// The item's cell, or nil where it has to be left out.
    ///
    /// - Throws: what keeps from finding out whether it is hidden.
    private mutating func cell(of row: ItemRow, in section: Int = 0) throws -> Cell? {
        if let book, book.hasCreative(row) { return nil }
        if context.lacking != nil, isUnknown(row) { return nil }
        let known = kept(row, circumstances)
        if known != nil { found += 1 }
        if let marks, let id = known?.id ?? shownID(of: row), try marks.hides(id) {
            hidden += 1
            return nil
        }
        guard let finished = known ?? make(row) else { return nil }
        var companions = finished.companions
        if let marks, !companions.isEmpty { companions = try companions.filter { try !marks.hides($0.id) } }
        return Cell(
            place: FeedPlace(section: section, item: row.place), omissionsBefore: omissions.count, finished: finished,
            companions: companions)
    }

    mutating func cell(of item: FeedItem, in section: Int = 0) throws -> Cell? {
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
        if found > 0 { kept.countHits(found) }
        found = 0
    }

    /// The same cell as an advertisement of another slot; as it was where its factory cannot make it there.
    func cell(_ cell: Cell, inSlot slot: Int) -> Cell {
        guard slot != cell.finished.circumstances.slot else { return cell }
        var reader = self
        reader.context.slot = slot
        let disclosure = cell.finished.circumstances.disclosure
        if disclosure != context.disclosure { reader.context.disclosure = disclosure }
        reader.circumstances = FinishedCell.Circumstances(reader.context)
        let moved = cell.finished.withRow { row in
            let known = kept(row, reader.circumstances)
            if known != nil { kept.countHits(1) }
            return known ?? reader.make(row)
        }
        guard let moved else { return cell }
        var result = cell
        result.finished = moved
        result.companions = moved.companions.filter { one in cell.companions.contains { $0.id == one.id } }
        return result
    }

    /// The cell that lies ready, unless something else is known of its pictures by now.
    private func kept(_ row: ItemRow, _ circumstances: FinishedCell.Circumstances) -> FinishedCell? {
        guard let cell = kept.cell(of: row, in: circumstances, hour: hour, page: context.page) else { return nil }
        return cell.isOvertaken(by: context.links.known, revision) ? nil : cell
    }

    /// The cell's id, where one is made of the row at all.
    private func shownID(of row: ItemRow) -> String? {
        let kind = String(decoding: row.kind, as: UTF8.self)
        let form = ItemForm(kind: kind, variant: String(decoding: row.variant, as: UTF8.self))
        guard factories[form, context.layout] != nil else { return nil }
        return factories.cellID(kind: kind, id: String(decoding: row.id, as: UTF8.self))
    }

    /// Whether the client knows none of the cells that the item's form can have; it is then noted.
    private mutating func isUnknown(_ row: ItemRow) -> Bool {
        let form = ItemForm(kind: String(decoding: row.kind, as: UTF8.self), variant: String(decoding: row.variant, as: UTF8.self))
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
        note(form, id: String(decoding: row.id, as: UTF8.self), position: row.position, .unknownToClient(names))
        return true
    }

    private mutating func note(_ form: ItemForm, id: String, position: Int64, _ reason: FeedPage.Omission.Reason) {
        unknown += 1
        omissions.append(FeedPage.Omission(form: form, id: id, position: position, reason: reason))
    }

    private mutating func make(_ row: ItemRow) -> FinishedCell? {
        let item = row.item
        do {
            let cell = try FinishedCell(of: item, by: factories, in: context, with: &writer)
            kept.keep(cell)
            return cell
        } catch CellFactoryError.noFactory {
            omit(item, .noFactory)
        } catch CellFactoryError.unknownToClient(let identifier) {
            note(
                ItemForm(kind: item.kind, variant: item.variant), id: item.id, position: item.position, .unknownToClient([identifier]))
        } catch CellFactoryError.unknownTypes(let types, let identifier) {
            note(
                ItemForm(kind: item.kind, variant: item.variant), id: item.id, position: item.position,
                .unknownTypes(types, in: identifier))
        } catch {
            omit(item, .broken(String(describing: error)))
        }
        return nil
    }

    private mutating func omit(_ item: FeedItem, _ reason: FeedPage.Omission.Reason) {
        omissions.append(
            FeedPage.Omission(
                form: ItemForm(kind: item.kind, variant: item.variant), id: item.id, position: item.position, reason: reason))
    }

    /// Reads on until so many cells are found, or the items end.
    ///
    /// - Parameters:
    ///   - runs: what the viewer is known to want to see nothing of, and is told of; nil where the items are not those of a section.
    ///   - visit: the items next to a place, as many as asked for, fewer only at the end.
    mutating func cells(
        _ count: Int, in section: Int = 0, _ direction: PageDirection = .forward, from start: ItemPlace?, over runs: PageRuns? = nil,
        visit: (_ place: ItemPlace?, _ limit: Int, _ body: (ItemRow) throws -> Void) throws -> Void
    ) throws -> [Cell] {
        var cells: [Cell] = []
        defer { countFound() }
        var place = start
        var batch = min(count, Self.maximumBatch)
        var run = PassedRun()
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
                place = row.place
                guard cells.count < count else { return }
                let before = hidden
                let found = try cell(of: row, in: section)
                if hidden > before { run.pass(row.place) } else { run.close() }
                guard let cell = found else { return }
                // Often there is none, as there is no advertisement.
                if cells.isEmpty { cells.reserveCapacity(min(count, FeedRequest.limits.upperBound + 1)) }
                cells.append(cell)
            }
            if met < batch { run.close() }
            try run.keep(in: runs, section, direction)
            guard met == batch else { break }
            if unknown >= unknownLimit, cells.count < count, let place {
                stop = FeedPlace(section: section, item: place)
                break
            }
            batch = min(max(batch * 2, 32), Self.maximumBatch)
        }
        return cells
    }
}
