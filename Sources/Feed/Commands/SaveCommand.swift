/// Puts the cell on the viewer's list of saved cells.
public struct SaveCommand: BriefCommand, UndoableCommand {
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
