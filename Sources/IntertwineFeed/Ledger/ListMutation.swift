/// A list of a viewer: saved, dismissed or selected cells, or a list of a custom command.
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
    package static let following = ViewerList(rawValue: "following")
    package static let muted = ViewerList(rawValue: "muted")

    /// True if the list has the author of a cell in place of the cell.
    package var isOfAuthors: Bool { self == .following || self == .muted }

    package var path: String {
        switch self {
        case .saved, .dismissed, .following, .muted: "/\(rawValue)"
        default: "/lists/\(rawValue)"
        }
    }
}

/// Any sequence of performances and undos ends as if only the performances that were not undone had run, in their order. Undoing the second
/// of two saves therefore leaves the cell saved, and undoing a removal returns the cell to its position.
package enum ListMutation: Sendable, Hashable {
    case add(list: ViewerList, viewer: String, cell: String, performance: String, at: Int64)
    case remove(list: ViewerList, viewer: String, cell: String, performance: String, at: Int64)
    case revert(list: ViewerList, viewer: String, cell: String, performance: String)
}

package struct ListEntry: Sendable, Hashable {
    package var cell: String
    package var entryID: Int64

    package init(cell: String, entryID: Int64) {
        self.cell = cell
        self.entryID = entryID
    }
}

/// A list of the viewer that a slot adds the cell to, and the name under which the number of its viewers is bound.
package struct DeclaredList: Sendable, Hashable {
    package var list: ViewerList
    package var count: String?

    package init(_ list: ViewerList, count: String?) {
        (self.list, self.count) = (list, count)
    }
}
