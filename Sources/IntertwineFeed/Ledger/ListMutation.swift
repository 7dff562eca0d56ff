/// A list of a viewer: saved, dismissed or selected cells, or a list of a custom command.
///
/// ```swift
/// let followed: ViewerList = "followed"
/// let entries = try await ledger.cells(on: followed, of: "ann", after: nil, limit: 20)
/// ```
public struct ViewerList: Sendable, Hashable, RawRepresentable, ExpressibleByStringLiteral {
    /// The name of the list.
    public var rawValue: String

    /// Creates a list from its name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates a list from a literal with its name.
    public init(stringLiteral name: String) {
        self.init(rawValue: name)
    }

    /// The list of dismissed cells, which the viewer's feeds omit.
    public static let dismissed = ViewerList(rawValue: "dismissed")
    /// The list of saved cells.
    public static let saved = ViewerList(rawValue: "saved")
    /// The list of selected cells. A selection adds a cell and a deselection removes it.
    public static let selected = ViewerList(rawValue: "selected")
}

/// A change of a viewer's list.
///
/// Performances add a cell to a list and remove it, and each performance can be undone. Any sequence of performances and undos ends as if
/// only the performances that were not undone had run, in their order. Undoing the second of two saves therefore leaves the cell saved, and
/// undoing a removal returns the cell to its position.
///
/// ```swift
/// let save = ListMutation.add(list: .saved, viewer: "ann", cell: "user:1", performance: "p1", at: now)
/// let undo = ListMutation.revert(list: .saved, viewer: "ann", cell: "user:1", performance: "p1")
/// ```
package enum ListMutation: Sendable, Hashable {
    /// A performance adds the cell to the list.
    case add(list: ViewerList, viewer: String, cell: String, performance: String, at: Int64)
    /// A performance removes the cell from the list, regardless of how and when it was added. It has no effect if the cell is not on the list.
    case remove(list: ViewerList, viewer: String, cell: String, performance: String, at: Int64)
    /// A performance that added or removed the cell is undone.
    case revert(list: ViewerList, viewer: String, cell: String, performance: String)
}

/// A cell on a viewer's list.
package struct ListEntry: Sendable, Hashable {
    /// The id of the cell, such as `user:1`.
    package var cell: String
    /// The position on the list, after which ``Ledger/cells(on:of:after:limit:)`` continues.
    package var entryID: Int64

    /// Creates an entry from the id of a cell and its position on the list.
    package init(cell: String, entryID: Int64) {
        self.cell = cell
        self.entryID = entryID
    }
}
