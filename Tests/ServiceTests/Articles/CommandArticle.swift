// article: CommandOfYourOwn
import IntertwineService

/// Remembers that a viewer has followed somebody. It can be taken back.
struct FollowCommand: UndoableCommand {
    static let followed = ViewerList(rawValue: "followed")

    let name = "follow"
    let needs: CommandRequirements = .viewer

    func perform(in context: inout CommandContext) async throws {
        try context.put(on: Self.followed, for: self)
    }

    func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        try context.revert(record, from: Self.followed, for: self)
    }
}

let following = ServiceExtensions(commands: [FollowCommand()])
// article: end
