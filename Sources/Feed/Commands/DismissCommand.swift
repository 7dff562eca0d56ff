/// Hides the cell from the viewer's feed.
public struct DismissCommand: BriefCommand, UndoableCommand {
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
