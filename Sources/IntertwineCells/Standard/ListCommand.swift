internal import IntertwineLedger

/// A command that adds the cell to one of the viewer's lists, or removes it at any time after it was added.
package struct ListCommand: UndoableCommand {
    /// Hides the cell from the viewer's feed. An undo returns it to its position.
    package static let dismiss = ListCommand(name: "dismiss", list: .dismissed, adds: true, event: .dismissal)
    /// Returns a dismissed cell to its position in the feed.
    package static let restore = ListCommand(name: "restore", list: .dismissed, adds: false, event: .undo)
    package static let save = ListCommand(name: "save", list: .saved, adds: true, event: .save)
    package static let unsave = ListCommand(name: "unsave", list: .saved, adds: false, event: .undo)

    package let name: String
    package let needs: CommandRequirements = .viewer
    private let list: ViewerList
    private let adds: Bool
    private let event: LedgerEvent.Kind

    private init(name: String, list: ViewerList, adds: Bool, event: LedgerEvent.Kind) {
        (self.name, self.list, self.adds, self.event) = (name, list, adds, event)
    }

    package func perform(in context: inout CommandContext) throws {
        if adds { try context.put(on: list) } else { try context.remove(from: list) }
        context.record(event)
    }

    /// Restores the cell's position on the list.
    package func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        try context.revert(record, from: list)
    }
}
