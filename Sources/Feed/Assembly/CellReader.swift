/// Makes cells of items as they come, each with its companions, and notes the items that it had to leave out.
struct CellReader {
    /// A cell with the place of its item.
    struct Cell {
        var place: FeedPlace
        /// How many items had been left out before it.
        var omissionsBefore: Int
        var viewModel: CellViewModel
        /// They stand behind it.
        var companions: [CellViewModel] = []
    }

    /// No single question to the store asks for more, so a long run of broken or dismissed items is read in bounded pieces.
    static let maximumBatch = 256

    let factories: CellFactories
    let context: CellContext
    let hidden: Set<ExactText>
    private(set) var omissions: [FeedPage.Omission] = []

    init(factories: CellFactories, context: CellContext, hidden: Set<ExactText>) {
        self.factories = factories
        self.context = context
        self.hidden = hidden
    }

    /// The item's cell, or nil where it has to be left out.
    mutating func cell(of item: FeedItem, in section: Int = 0) -> Cell? {
        do {
            let viewModel = try factories.makeViewModel(for: item, in: context)
            guard hidden.isEmpty || !hidden.contains(ExactText(viewModel.id)) else {
                omit(item, .dismissed)
                return nil
            }
            var companions = try factories.makeCompanions(for: item, in: context)
            if !hidden.isEmpty { companions.removeAll { hidden.contains(ExactText($0.id)) } }
            return Cell(
                place: FeedPlace(section: section, item: item.place), omissionsBefore: omissions.count, viewModel: viewModel,
                companions: companions)
        } catch CellFactoryError.noFactory {
            omit(item, .noFactory)
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
    /// - Parameter read: the items next to a place, as many as asked for, fewer only at the end.
    mutating func cells(
        _ count: Int, in section: Int = 0, from start: ItemPlace?, read: (_ place: ItemPlace?, _ limit: Int) throws -> [FeedItem]
    ) rethrows -> [Cell] {
        var cells: [Cell] = []
        var place = start
        var batch = min(count, Self.maximumBatch)
        while cells.count < count {
            let items = try read(place, batch)
            for item in items where cells.count < count {
                if let cell = cell(of: item, in: section) { cells.append(cell) }
            }
            guard items.count == batch, let last = items.last else { break }
            place = last.place
            batch = min(max(batch * 2, 32), Self.maximumBatch)
        }
        return cells
    }
}
