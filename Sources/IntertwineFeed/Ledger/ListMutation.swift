/// A list that a viewer keeps: saved cells, dismissed cells, those that are selected, or one that a custom command brings.
public struct ViewerList: Sendable, Hashable, RawRepresentable {
    public var rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public static let dismissed = ViewerList(rawValue: "dismissed")
    public static let saved = ViewerList(rawValue: "saved")
    /// A selection puts a cell on it, and a deselection takes it off.
    public static let selected = ViewerList(rawValue: "selected")
}

/// A change of a viewer's list.
///
/// Performances put a cell on a list and take it off again, and each of them can be taken back: any sequence of performances and undo ends
/// as if only those that were not undone had run, in their order. So undoing the second of two saves leaves the cell saved, and undoing a
/// removal brings the cell back to its place.
public enum ListMutation: Sendable, Hashable {
    /// A performance puts the cell on the list.
    case add(list: ViewerList, viewer: String, cell: String, performance: String, at: Int64)
    /// A performance takes the cell off the list, whatever put it there and however long ago. Does nothing where it is not there.
    case remove(list: ViewerList, viewer: String, cell: String, performance: String, at: Int64)
    /// A performance, of either sort, is undone.
    case revert(list: ViewerList, viewer: String, cell: String, performance: String)
}

/// A cell on a viewer's list.
public struct ListEntry: Sendable, Hashable {
    public var cell: String
    /// Where it stands on the list; ``Ledger/cells(on:of:after:limit:)`` goes on after it.
    public var entryID: Int64

    public init(cell: String, entryID: Int64) {
        self.cell = cell
        self.entryID = entryID
    }
}
