// The imports of the article follow.
// swift-format-ignore-file: OrderedImports
@testable import ExtensionProbe

// article: CommandInput
import IntertwineService

/// Votes for a cell with one to five stars.
struct Rate: InputCommand, UndoableCommand {
    struct Input: Codable {
        var stars: Int
        var comment: String?
    }

    let name = "rate"
    let needs: CommandRequirements = .viewer
    let inputFields = [FieldDeclaration("stars", .number, minimum: 1, maximum: 5, label: "Stars")]
    let refusals = [Refusal(.conflict, "The vote is over.")]
    let isOpen: @Sendable () async -> Bool

    func validate(_ input: Input) throws {
        guard input.stars > 1 || input.comment != nil else {
            throw ItemError(field: "comment", reason: "is required with one star", code: .required)
        }
    }

    func perform(_ input: Input, in context: inout CommandContext) async throws {
        guard await isOpen() else { throw refusals[0] }
        try context.put(on: "rated")
    }

    func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        try context.revert(record, from: "rated")
    }
}

/// `POST /cells/card:1/rate` with `{"stars": 4}`.
func ratedCards(isOpen: @escaping @Sendable () async -> Bool) -> ServiceExtensions {
    var extensions = ServiceExtensions()
    extensions.add(Card.self, actions: .on("rate", Analytics(), Rate(isOpen: isOpen), label: "Rate"))
    extensions.lists = ["rated"]
    return extensions
}
// article: end
