import Testing

@testable import IntertwineFeed

/// The pattern in one place: an item, a factory that makes its view model, and the line that performs its commands.
@Suite("The pattern of cells and commands")
struct PatternTests {
    /// A factory for items of the kind `note`.
    private struct NoteCellFactory: CellViewModelFactory {
        let identifier = "NoteCell"
        let commands: CellCommands

        func makeViewModel(for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel {
            let text = String(decoding: try ItemFields(item.body).text("text", limit: 100), as: UTF8.self)
            return CellViewModel(
                identifier: identifier, size: CellSize(width: 300, height: 80),
                commands: commands.filled(by: BindCommand([CellBinding("text", .text(text))])),
                subject: CommandSubject(cell: cell, item: item, context: context))
        }
    }

    /// A command that records an event of its own and can be undone.
    private struct LikeCommand: UndoableCommand {
        let name = "like"

        func perform(in context: inout CommandContext) {
            context.record(LedgerEvent.Kind(rawValue: "like"))
            context.recordUndo(Array("a like".utf8))
        }

        func undo(_ record: [UInt8], in context: inout CommandContext) { context.record(.undo) }
    }

    private func viewModel(_ slots: [CommandKey: SlotCommands]) throws -> CellViewModel {
        var registry = CommandRegistry.standard
        try registry.register(LikeCommand())
        let commands = try CellCommands(kind: "note", slots: slots, registry: registry, offers: .viewer)
        var factories = CellFactories()
        try factories.register(NoteCellFactory(commands: commands), for: ItemType(kind: "note", variant: ""), prefix: "note")
        let item = FeedItem(kind: "note", id: "1", variant: "", position: 1, body: Array(#"{"text":"Hello"}"#.utf8))
        let tokens = CellTokens(keys: SigningKeys(current: .random()))
        return try factories.makeViewModel(for: item, in: CellContext(links: Links(), tokens: tokens, now: Fixture.now))
    }

    private func context(of viewModel: CellViewModel) -> CommandContext {
        CommandContext(
            cell: viewModel.id, subject: viewModel.subject, occurrence: .selection, client: ClientFingerprint(viewer: "ann"),
            now: Fixture.now)
    }

    @Test("One line performs the commands of any slot; an empty slot performs nothing")
    func line() async throws {
        let viewModel = try viewModel([.selection: ["analytics", "like"]])
        #expect(viewModel.id == "note:1" && viewModel.action(in: .configuration) == .bind([CellBinding("text", .text("Hello"))]))
        for slot in [CommandKey.selection, .dismissal] {
            var context = context(of: viewModel)
            try await viewModel.commands[slot]?.perform(in: &context)
            #expect(context.steps.map(\.command) == (slot == .selection ? ["analytics", "like"] : []))
            #expect(context.events.map(\.kind.rawValue) == (slot == .selection ? ["selection", "like"] : []))
        }
    }

    @Test("A single command records its step and undo record like a command of a macro")
    func single() async throws {
        var viewModel = try viewModel([:])
        viewModel.commands[.selection] = LikeCommand()
        var context = context(of: viewModel)
        try await viewModel.commands[.selection]?.perform(in: &context)
        #expect(context.steps.map(\.outcome) == [.performed] && context.steps[0].undo == Array("a like".utf8))
    }
}
