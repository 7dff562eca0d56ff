import IntertwineCells
import IntertwineLedger

/// Remembers that a viewer has cooked a recipe. It can be taken back.
struct CookCommand: UndoableCommand {
    static let cooked = ViewerList(rawValue: "cooked")

    let name = "cook"
    let needs: CommandRequirements = .viewer

    func perform(in context: inout CommandContext) async throws {
        try context.put(on: Self.cooked)
    }

    func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        try context.revert(record, from: Self.cooked)
    }
}
