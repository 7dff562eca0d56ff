import Testing

@testable import IntertwineFeed
@testable import IntertwinePrimitives

@Suite("Custom actions as JSON")
struct ActionJSONTests {
    struct Sign: Command {
        let name = "sign"

        func action(for subject: CommandSubject) -> Action? {
            .custom(
                type: "sign",
                members: [
                    .init("n", .integer(.min)), .init("x", .number(1.5)), .init("whole", .number(2)), .init("nan", .number(.nan)),
                    .init("huge", .number(1e300)), .init("on", .flag(true)), .init("off", .flag(false)), .init("nothing", .null),
                    .init("list", .list([.text("a\"b"), .list([]), .object([])])),
                ])
        }
    }

    /// Provides no action, which is known only after a call.
    struct Quiet: Command {
        let name = "quiet"
    }

    @Test("Prepared and computed slot actions have identical JSON", arguments: ["", "https://feed.example/a\"b"])
    func prepared(base: String) async throws {
        func pages(_ first: [String]) async throws -> [String] {
            var registry = CommandRegistry.standard
            try registry.register(Quiet())
            var configuration = CellConfiguration()
            configuration.labels = [.dismissal: LocalizedText("Not \"this\""), .selection: LocalizedText("More")]
            for (slot, commands) in configuration.userCommands {
                configuration.userCommands[slot] = SlotCommands(first + commands.commands, policy: commands.policy)
            }
            configuration.userCommands[CommandKey("keep")] = SlotCommands(first + ["save"])
            configuration.userCommands[CommandKey("note")] = SlotCommands(
                first + ["analytics"], input: [FieldDeclaration("text", .text, maximum: 9)])
            let fixture = try Fixture(advertisements: 2, configuration: configuration, registry: registry, links: Links(base: base))
            for (index, id) in ["a", "a b/c", #"q"uo\te"#, "100%", "é:#", ".."].enumerated() {
                let body = Array(#"{"username":"somebody","avatarUrl":"https://img.example/a.png"}"#.utf8)
                fixture.store.put(FeedItem(kind: "user", id: id, variant: "regular", position: Int64(index + 1), body: body))
            }
            let assembler = fixture.assembler()
            var pages: [String] = []
            for client in [PageClient(), .viewer()] {
                let page = try await assembler.page(FeedRequest(now: Fixture.now), for: client)
                #expect(page.contentIDs.count == 6)
                pages.append(String(decoding: page.json(), as: UTF8.self))
            }
            return pages
        }
        let prepared = try await pages([])
        #expect(try await prepared == pages(["quiet"]))
        #expect(prepared[0] != prepared[1] && prepared[1].contains(#"/cells/user:a%20b%2Fc/selection","label":"More"}"#))
    }

    @Test("Custom actions preserve member order and all value types")
    func custom() async throws {
        var registry = CommandRegistry.standard
        try registry.register(Sign())
        var configuration = CellConfiguration()
        configuration.userCommands[.selection] = ["analytics", "sign"]
        let fixture = try Fixture(users: 1, configuration: configuration, registry: registry)
        let text = String(decoding: try await fixture.page().json(), as: UTF8.self)
        #expect(
            text.contains(
                #""selection":{"type":"sign","n":-9223372036854775808,"x":1.5,"whole":2,"nan":null,"huge":1e+300,"on":true,"off":false,"#
                    + #""nothing":null,"list":["a\"b",[],{}]}"#))
    }
}
