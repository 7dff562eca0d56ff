extension Ledger {
    /// All cells on one of a viewer's lists, read in batches.
    ///
    /// - Throws: ``StoreError``.
    public func allCells(on list: ViewerList, of viewer: String) async throws -> Set<String> {
        let batch = 500
        var cells: Set<String> = []
        var mark: Int64?
        while true {
            let listed = try await self.cells(on: list, of: viewer, after: mark, limit: batch)
            for listed in listed { cells.insert(listed.cell) }
            guard listed.count == batch, let last = listed.last else { return cells }
            mark = last.mark
        }
    }
}
