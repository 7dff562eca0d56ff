/// Which form of cells a client shows: those of a collection view, or the rows of a table view.
public enum CellLayout: String, Sendable, Hashable, CaseIterable {
    case collection, table
}
