extension CellFactories {
    func viewModels(
        of cells: some Sequence<ByteString>, in snapshot: any StoreSnapshot, besides others: [ByteString: FeedItem], context: CellContext
    ) throws -> [ByteString: CellViewModel] {
        try viewModels(of: cells, in: snapshot, besides: others) { try makeViewModel(of: $1, for: $0, in: context) }
    }

    func actingViewModels(
        of cells: some Sequence<ByteString>, in snapshot: any StoreSnapshot, besides others: [ByteString: FeedItem], context: CellContext
    ) throws -> [ByteString: CellViewModel] {
        try viewModels(of: cells, in: snapshot, besides: others) { try makeActingViewModel(of: $1, for: $0, in: context) }
    }

    func makeActingViewModel(of cell: String, for item: FeedItem, in context: CellContext) throws -> CellViewModel {
        var context = context
        context.rendersContent = false
        var viewModel: CellViewModel
        do {
            context.layout = .collection
            viewModel = try makeViewModel(of: cell, for: item, in: context)
        } catch CellFactoryError.noFactory {
            context.layout = .table
            viewModel = try makeViewModel(of: cell, for: item, in: context)
        }
        if advertisementForms(in: context.layout).contains(ItemType(kind: item.kind, variant: item.variant)) {
            viewModel.subject.creative = CreativeInfo(item)
        }
        return viewModel
    }

    private func makeViewModel(of cell: String, for item: FeedItem, in context: CellContext) throws -> CellViewModel {
        let first = try makeViewModel(for: item, in: context)
        if first.id.utf8.elementsEqual(cell.utf8) { return first }
        guard let companion = try makeCompanions(for: item, in: context).first(where: { $0.id.utf8.elementsEqual(cell.utf8) }) else {
            throw CellFactoryError.noFactory(ItemType(kind: item.kind, variant: item.variant))
        }
        return companion
    }

    private func viewModels(
        of cells: some Sequence<ByteString>, in snapshot: any StoreSnapshot, besides others: [ByteString: FeedItem],
        make: (FeedItem, String) throws -> CellViewModel
    ) throws -> [ByteString: CellViewModel] {
        var viewModels: [ByteString: CellViewModel] = [:]
        for cell in cells {
            guard let name = item(ofCell: cell.text), let item = try others[cell] ?? snapshot.item(kind: name.kind, id: name.id) else {
                continue
            }
            viewModels[cell] = try? make(item, cell.text)
        }
        return viewModels
    }
}
