// The commands that change what a viewer has dismissed and saved.

/// Hides the cell from the viewer's feed.
public struct DismissCommand: UndoableCommand {
    public let name = "dismiss"
    public let needs: CommandNeeds = .viewer

    public init() {}

    public func perform(in context: inout CommandContext) throws {
        try context.put(on: .dismissed, for: self)
        context.record(.dismissal)
    }

    /// Brings the cell back to its place.
    public func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        try context.takeBack(record, from: .dismissed, for: self)
    }
}

/// Puts the cell on the viewer's list of saved cells.
public struct SaveCommand: UndoableCommand {
    public let name = "save"
    public let needs: CommandNeeds = .viewer

    public init() {}

    public func perform(in context: inout CommandContext) throws {
        try context.put(on: .saved, for: self)
        context.record(.save)
    }

    public func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        try context.takeBack(record, from: .saved, for: self)
    }
}

/// Takes the cell off the viewer's list of dismissed cells, however long ago it was dismissed: it comes back to its place in the feed.
public struct RestoreCommand: UndoableCommand {
    public let name = "restore"
    public let needs: CommandNeeds = .viewer

    public init() {}

    public func perform(in context: inout CommandContext) throws {
        try context.remove(from: .dismissed, for: self)
        context.record(.undo)
    }

    /// Hides the cell again.
    public func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        try context.takeBack(record, from: .dismissed, for: self)
    }
}

/// Takes the cell off the viewer's list of saved cells, however long ago it was saved.
public struct UnsaveCommand: UndoableCommand {
    public let name = "unsave"
    public let needs: CommandNeeds = .viewer

    public init() {}

    public func perform(in context: inout CommandContext) throws {
        try context.remove(from: .saved, for: self)
        context.record(.undo)
    }

    /// Puts the cell back to its place on the list.
    public func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        try context.takeBack(record, from: .saved, for: self)
    }
}
