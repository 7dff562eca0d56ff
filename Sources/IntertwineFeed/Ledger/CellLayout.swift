/// The layout of a client: cells of a collection view, or rows of a table view.
///
/// ```swift
/// CellLayout(rawValue: "table")  // .table
/// CellLayout.allCases.map(\.rawValue)  // ["collection", "table"]
/// ```
public enum CellLayout: String, Sendable, Hashable, CaseIterable {
    /// The layout: cells of a collection view, or rows of a table view. Clients send it as `layout`.
    case collection, table
}
