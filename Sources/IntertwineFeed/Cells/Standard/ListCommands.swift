// The built-in commands of the viewer's lists. A program adds cells to further lists with `CommandContext.put(on:)`.

/// Adds the cell to the saved cells of the viewer.
public struct Save: UndoableCommand {
    /// The name `save` of the command in configuration and in the ledger.
    public let name = "save"
    /// The requirements: a viewer, who owns the list.
    public let needs: CommandRequirements = .viewer

    /// Creates the command, which has no settings.
    public init() {}

    /// Adds the cell to the list `ViewerList.saved` and records the event `save`.
    ///
    /// - Throws: An error if the request has no viewer.
    public func perform(in context: inout CommandContext) throws {
        try context.put(on: .saved)
        context.record(.save)
    }

    /// Restores the cell's position on the list.
    public func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        try context.revert(record, from: .saved)
    }
}

/// Hides the cell from the viewer's feed. An undo returns it to its position.
public struct Dismiss: UndoableCommand {
    /// The name `dismiss` of the command in configuration and in the ledger.
    public let name = "dismiss"
    /// The requirements: a viewer, who owns the list.
    public let needs: CommandRequirements = .viewer

    /// Creates the command, which has no settings.
    public init() {}

    /// Adds the cell to the list `ViewerList.dismissed` and records the event `dismissal`.
    ///
    /// - Throws: An error if the request has no viewer.
    public func perform(in context: inout CommandContext) throws {
        try context.put(on: .dismissed)
        context.record(.dismissal)
    }

    /// Restores the cell's position on the list.
    public func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        try context.revert(record, from: .dismissed)
    }
}

package struct ListAddition: UndoableCommand {
    package let name: String
    package let needs: CommandRequirements = .viewer
    private let list: ViewerList

    package init(list: ViewerList) { (name, self.list) = ("list:\(list.rawValue)", list) }

    package func perform(in context: inout CommandContext) throws {
        try context.put(on: list)
        context.record(context.occurrence)
    }

    package func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        try context.revert(record, from: list)
        context.record(.undo)
    }
}

/// Adds the author of the cell, or the cell itself if its item has none, to the viewer's followed or muted authors.
package struct AuthorCommand: UndoableCommand {
    package static let follow = AuthorCommand(name: "follow", list: .following)
    package static let mute = AuthorCommand(name: "mute", list: .muted)

    package let name: String
    package let needs: CommandRequirements = .viewer
    private let list: ViewerList

    package func perform(in context: inout CommandContext) throws { try context.putAuthor(on: list) }

    package func undo(_ record: [UInt8], in context: inout CommandContext) async throws { try context.revertAuthor(record, from: list) }
}

/// Removes the cell, or its author, from a list of the viewer, at any time after it was added.
package struct ListRemoval: UndoableCommand {
    package static let unsave = ListRemoval(name: "unsave", list: .saved)
    package static let restore = ListRemoval(name: "restore", list: .dismissed)

    package static let unfollow = ListRemoval(name: "unfollow", list: .following)
    package static let unmute = ListRemoval(name: "unmute", list: .muted)

    package static func from(_ list: ViewerList) -> ListRemoval {
        [unfollow, unmute].first { $0.list == list } ?? ListRemoval(name: "unlist:\(list.rawValue)", list: list)
    }

    package let name: String
    package let needs: CommandRequirements = .viewer
    private let list: ViewerList

    private var isOfAuthor: Bool { list == .following || list == .muted }

    package func perform(in context: inout CommandContext) throws {
        if isOfAuthor { try context.removeAuthor(from: list) } else { try context.remove(from: list) }
        context.record(.undo)
    }

    package func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        if isOfAuthor { try context.revertAuthor(record, from: list) } else { try context.revert(record, from: list) }
    }
}
