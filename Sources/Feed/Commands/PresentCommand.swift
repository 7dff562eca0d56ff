/// Has the client show the screen that the cell opens, such as the image zoom of a user.
public struct PresentCommand: BriefCommand, UndoableCommand {
    public let name = "present"
    public let needs: CommandNeeds = .presentation

    public init() {}

    public func perform(in context: inout CommandContext) throws {
        guard let presentation = context.subject?.presentation else { throw CommandError.missing(.presentation, command: name) }
        context.presentation = presentation
    }

    /// Nothing stays behind on the server; the client goes back.
    public func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        context.presentation = nil
    }
}
