// The commands that change the dismissed and saved cells of a viewer.

/// Hides the cell from the viewer's feed.
package struct DismissCommand: UndoableCommand {
    package let name = "dismiss"
    package let needs: CommandRequirements = .viewer

    package init() {}

    package func perform(in context: inout CommandContext) throws {
        try context.put(on: .dismissed, for: self)
        context.record(.dismissal)
    }

    /// Returns the cell to its position in the feed.
    package func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        try context.revert(record, from: .dismissed, for: self)
    }
}

/// Adds the cell to the viewer's list of saved cells.
package struct SaveCommand: UndoableCommand {
    package let name = "save"
    package let needs: CommandRequirements = .viewer

    package init() {}

    package func perform(in context: inout CommandContext) throws {
        try context.put(on: .saved, for: self)
        context.record(.save)
    }

    package func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        try context.revert(record, from: .saved, for: self)
    }
}

/// Removes the cell from the viewer's list of dismissed cells, at any time after its dismissal. The cell returns to its position in the feed.
package struct RestoreCommand: UndoableCommand {
    package let name = "restore"
    package let needs: CommandRequirements = .viewer

    package init() {}

    package func perform(in context: inout CommandContext) throws {
        try context.remove(from: .dismissed, for: self)
        context.record(.undo)
    }

    /// Hides the cell again.
    package func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        try context.revert(record, from: .dismissed, for: self)
    }
}

/// Removes the cell from the viewer's list of saved cells, at any time after it was saved.
package struct UnsaveCommand: UndoableCommand {
    package let name = "unsave"
    package let needs: CommandRequirements = .viewer

    package init() {}

    package func perform(in context: inout CommandContext) throws {
        try context.remove(from: .saved, for: self)
        context.record(.undo)
    }

    /// Returns the cell to its position on the list.
    package func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        try context.revert(record, from: .saved, for: self)
    }
}
