extension CellFactories {
    /// The view models of cells by their ids, in the context's layout; those that are unknown, gone or broken are missing.
    ///
    /// - Throws: what the snapshot throws.
    func viewModels(
        of cells: some Sequence<ExactText>, in snapshot: any FeedSnapshot, context: CellContext
    ) throws -> [ExactText: CellViewModel] {
        try viewModels(of: cells, in: snapshot) { try makeViewModel(for: $0, in: context) }
    }

    /// The same for performing what people do with the cells, whichever layout they see.
    ///
    /// - Throws: what the snapshot throws.
    func actingViewModels(
        of cells: some Sequence<ExactText>, in snapshot: any FeedSnapshot, context: CellContext
    ) throws -> [ExactText: CellViewModel] {
        try viewModels(of: cells, in: snapshot) { try makeActingViewModel(for: $0, in: context) }
    }

    /// The view model by which an item's actions are performed: a cell of the collection, or where it has none there, a row of the table.
    ///
    /// - Throws: as ``makeViewModel(for:in:)`` does.
    func makeActingViewModel(for item: FeedItem, in context: CellContext) throws -> CellViewModel {
        var context = context
        do {
            context.layout = .collection
            return try makeViewModel(for: item, in: context)
        } catch CellFactoryError.noFactory {
            context.layout = .table
            return try makeViewModel(for: item, in: context)
        }
    }

    private func viewModels(
        of cells: some Sequence<ExactText>, in snapshot: any FeedSnapshot, make: (FeedItem) throws -> CellViewModel
    ) throws -> [ExactText: CellViewModel] {
        var viewModels: [ExactText: CellViewModel] = [:]
        for cell in cells {
            guard let name = item(ofCell: cell.text), let item = try snapshot.item(kind: name.kind, id: name.id) else { continue }
            viewModels[cell] = try? make(item)
        }
        return viewModels
    }
}
