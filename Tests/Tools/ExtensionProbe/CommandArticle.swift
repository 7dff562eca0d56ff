// article: CommandOfYourOwn
import IntertwineService

/// Remembers that a viewer has followed somebody. It can be taken back.
struct FollowCommand: UndoableCommand {
    let name = "follow"
    let needs: CommandRequirements = .viewer

    func perform(in context: inout CommandContext) async throws {
        guard context.cell != "user:blocked" else { throw Refusal(.conflict, "Nobody can follow this user.") }
        try context.put(on: "followed")
    }

    func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        try context.revert(record, from: "followed")
    }
}

/// `GET /lists/followed` shows the list.
let following = {
    var extensions = ServiceExtensions(commands: [FollowCommand()])
    extensions.lists = ["followed"]
    return extensions
}()
// article: end
