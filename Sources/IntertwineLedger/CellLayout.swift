/// The layout of a client: cells of a collection view, or rows of a table view.
public enum CellLayout: String, Sendable, Hashable, CaseIterable {
    case collection, table
}
