import IntertwineService

/// Adds a recipe to the viewer's list of cooked ones. The viewer can undo it.
struct CookCommand: UndoableCommand {
    static let cooked: ViewerList = "cooked"

    let name = "cook"
    let needs: CommandRequirements = .viewer

    func perform(in context: inout CommandContext) async throws {
        try context.put(on: Self.cooked)
    }

    func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        try context.revert(record, from: Self.cooked)
    }
}
