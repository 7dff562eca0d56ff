/// A list of a viewer: saved, dismissed or selected cells, or a list of a custom command.
public struct ViewerList: Sendable, Hashable, RawRepresentable, ExpressibleByStringLiteral {
    public var rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public init(stringLiteral name: String) {
        self.init(rawValue: name)
    }

    public static let dismissed = ViewerList(rawValue: "dismissed")
    public static let saved = ViewerList(rawValue: "saved")
    /// The list of selected cells. A selection adds a cell and a deselection removes it.
    public static let selected = ViewerList(rawValue: "selected")
}

/// A change of a viewer's list.
///
/// Performances add a cell to a list and remove it, and each performance can be undone. Any sequence of performances and undos ends as if
/// only the performances that were not undone had run, in their order. Undoing the second of two saves therefore leaves the cell saved, and
/// undoing a removal returns the cell to its position.
public enum ListMutation: Sendable, Hashable {
    /// A performance adds the cell to the list.
    case add(list: ViewerList, viewer: String, cell: String, performance: String, at: Int64)
    /// A performance removes the cell from the list, regardless of how and when it was added. It has no effect if the cell is not on the list.
    case remove(list: ViewerList, viewer: String, cell: String, performance: String, at: Int64)
    /// A performance that added or removed the cell is undone.
    case revert(list: ViewerList, viewer: String, cell: String, performance: String)
}

/// A cell on a viewer's list.
public struct ListEntry: Sendable, Hashable {
    public var cell: String
    /// The position on the list, after which ``Ledger/cells(on:of:after:limit:)`` continues.
    public var entryID: Int64

    public init(cell: String, entryID: Int64) {
        self.cell = cell
        self.entryID = entryID
    }
}
