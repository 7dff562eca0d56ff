import IntertwineFeed
import Testing

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

    @Test("keep the order of their members and every type of value")
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
