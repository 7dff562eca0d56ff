extension CellFactories {
    /// The view models of cells by their ids; those that are unknown, gone or broken are missing.
    ///
    /// - Throws: what the snapshot throws.
    func viewModels(
        of cells: some Sequence<String>, in snapshot: any FeedSnapshot, context: CellContext
    ) throws -> [String: CellViewModel] {
        var viewModels: [String: CellViewModel] = [:]
        for cell in cells {
            guard let name = item(ofCell: cell), let item = try snapshot.item(kind: name.kind, id: name.id) else { continue }
            viewModels[cell] = try? makeViewModel(for: item, in: context)
        }
        return viewModels
    }
}
