/// A list that a viewer keeps: saved cells, dismissed cells, or one that a custom command brings.
public struct ViewerList: Sendable, Hashable, RawRepresentable {
    public var rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public static let dismissed = ViewerList(rawValue: "dismissed")
    public static let saved = ViewerList(rawValue: "saved")
}

/// A change of a viewer's list.
///
/// A cell is on a list as long as one performance that put it there has not been taken back. So undoing the second of two saves leaves
/// the cell saved, and any sequence of actions and undo ends as if only the commands that were not undone had run.
public enum ViewerChange: Sendable, Hashable {
    case add(list: ViewerList, viewer: String, cell: String, performance: String, at: Int64)
    case remove(list: ViewerList, viewer: String, cell: String, performance: String)
}

/// A cell on a viewer's list.
public struct ListedCell: Sendable, Hashable {
    public var cell: String
    /// Where it stands on the list; ``Ledger/cells(on:of:after:limit:)`` goes on after it.
    public var mark: Int64

    public init(cell: String, mark: Int64) {
        self.cell = cell
        self.mark = mark
    }
}
