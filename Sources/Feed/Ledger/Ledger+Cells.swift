/// Walks the list: right for every ledger, and slower than one that has an answer at once.
extension Ledger {
    public func allCells(on list: ViewerList, of viewer: String) async throws -> Set<ExactText> {
        let batch = 500
        var cells: Set<ExactText> = []
        var mark: Int64?
        while true {
            let listed = try await self.cells(on: list, of: viewer, after: mark, limit: batch)
            for listed in listed { cells.insert(ExactText(listed.cell)) }
            guard listed.count == batch, let last = listed.last else { return cells }
            mark = last.mark
        }
    }
}
