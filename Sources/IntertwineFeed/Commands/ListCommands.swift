// The commands that change what a viewer has dismissed and saved.

/// Hides the cell from the viewer's feed.
package struct DismissCommand: UndoableCommand {
    package let name = "dismiss"
    package let needs: CommandRequirements = .viewer

    package init() {}

    package func perform(in context: inout CommandContext) throws {
        try context.put(on: .dismissed, for: self)
        context.record(.dismissal)
    }

    /// Brings the cell back to its place.
    package func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        try context.revert(record, from: .dismissed, for: self)
    }
}

/// Puts the cell on the viewer's list of saved cells.
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

/// Takes the cell off the viewer's list of dismissed cells, however long ago it was dismissed: it comes back to its place in the feed.
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

/// Takes the cell off the viewer's list of saved cells, however long ago it was saved.
package struct UnsaveCommand: UndoableCommand {
    package let name = "unsave"
    package let needs: CommandRequirements = .viewer

    package init() {}

    package func perform(in context: inout CommandContext) throws {
        try context.remove(from: .saved, for: self)
        context.record(.undo)
    }

    /// Puts the cell back to its place on the list.
    package func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        try context.revert(record, from: .saved, for: self)
    }
}
