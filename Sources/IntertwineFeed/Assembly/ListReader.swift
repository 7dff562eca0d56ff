/// Reads the cells of a viewer's list next to a mark, without those whose item is gone.
struct ListReader {
    /// A cell with its mark in the list.
    struct Cell {
        var mark: Int64
        var viewModel: CellViewModel
    }

    let list: ViewerList
    let viewer: String
    let store: any FeedStore
    let ledger: any Ledger
    let factories: CellFactories
    let context: CellContext

    /// As many cells as asked for, fewer only where the list ends; the nearest first.
    ///
    /// - Parameter mark: nil for the start of the list, which is its newest cell.
    func cells(_ count: Int, _ direction: PageDirection, of mark: Int64?) async throws -> [Cell] {
        var cells: [Cell] = []
        var mark = mark
        while cells.count < count {
            let listed = try await listed(count, direction, of: mark)
            let viewModels = try await store.read { [factories, context] snapshot in
                try factories.viewModels(of: listed.map { ExactText($0.cell) }, in: snapshot, context: context)
            }
            for listed in listed where cells.count < count {
                if let viewModel = viewModels[ExactText(listed.cell)] { cells.append(Cell(mark: listed.mark, viewModel: viewModel)) }
            }
            guard listed.count == count, let last = listed.last else { break }
            mark = last.mark
        }
        return cells
    }

    private func listed(_ count: Int, _ direction: PageDirection, of mark: Int64?) async throws -> [ListedCell] {
        switch direction {
        case .forward: try await ledger.cells(on: list, of: viewer, after: mark, limit: count)
        case .backward: try await ledger.cells(on: list, of: viewer, before: mark ?? .min, limit: count)
        }
    }
}
