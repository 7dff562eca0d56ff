import IntertwineTesting
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineService

@Suite("Commands with typed input", .timeLimit(.untilStuck))
struct InputCommandTests {
    struct Card: ItemContent {
        static let kind = "card"

        var text: String

        func cell(in context: CellContext) -> Cell {
            Cell("CardCell", size: CellSize(width: 300, height: 80)) { Bind("text", text) }
        }
    }

    struct Rate: InputCommand, UndoableCommand {
        enum Reason: String, Codable, CaseIterable {
            case taste, price
        }

        struct Input: Codable {
            var stars: Int
            var comment: String?
            var reason: Reason?
        }

        let name = "rate"
        let needs: CommandRequirements = .viewer
        let inputFields = [FieldDeclaration("stars", .number, minimum: 1, maximum: 5, label: "Stars")]

        func validate(_ input: Input) throws {
            guard input.stars > 1 || input.comment != nil else { throw ItemError(field: "comment", reason: "is missing", code: .required) }
        }

        func perform(_ input: Input, in context: inout CommandContext) async throws {
            if input.comment == "spam" { throw Refusal(.forbidden, "No spam.") }
            context.recordUndo(try context.put(on: input.reason == .price ? "cheap" : "good"))
        }

        func undo(_ record: [UInt8], in context: inout CommandContext) async throws { try context.revert(record, from: "good") }
    }

    struct Pin: UndoableCommand {
        let name = "pin"
        let needs: CommandRequirements = .viewer

        func perform(in context: inout CommandContext) async throws { try context.put(on: "pinned") }
        func undo(_ record: [UInt8], in context: inout CommandContext) async throws { try context.revert(record, from: "pinned") }
    }

    private static let actions: CellActions = .on("rate", Analytics(), Rate(), label: "Rate")
        .on(.selection, MacroCommand(Analytics(), Save(), Pin()))
    private static let extensions = {
        var extensions = ServiceExtensions()
        extensions.add(Card.self, actions: actions)
        extensions.lists = ["good", "cheap", "pinned"]
        return extensions
    }()
    private static let item = #"{"kind":"card","id":"1","text":"Hello"}"#
    private static let viewer = ["X-Viewer-ID": "v"]

    @Test("Valid input reaches the command as its type", arguments: TestService.Transport.allCases)
    func valid(way: TestService.Transport) async throws {
        try await TestService.run(way, items: Self.item, extensions: Self.extensions) { service async throws in
            let input = Rate.Input(stars: 4, comment: nil, reason: .price)
            #expect(try await service.client.post("/cells/card:1/rate", fields: Self.viewer, json: input).status == 200)
            #expect(try await service.client.get("/lists/cheap", fields: Self.viewer).text.contains("card:1"))
            #expect(try await !service.client.get("/lists/good", fields: Self.viewer).text.contains("card:1"))
        }
    }

    @Test("Invalid input gets 422 with the name of the field, before any command runs")
    func invalid() async throws {
        let inputs = [
            (#"{"stars":6}"#, "/stars", "stars: must be at most 5"), (#"{"stars":2.5}"#, "/stars", "stars: must be a whole number"),
            ("{}", "/stars", "stars: is missing"), (#"{"stars":"4"}"#, "/stars", "stars: must be a number"),
            (#"{"stars":4,"reason":"odd"}"#, "/reason", "reason: must be one of taste, price"),
            (#"{"stars":1}"#, "/comment", "comment: is missing"),
            (#"{"stars":4,"colour":"red"}"#, "/colour", "colour: is not declared"),
        ]
        struct Problem: Decodable {
            struct Value: Decodable { let pointer: String? }
            let status: Int, detail: String, errors: [Value]
        }
        try await TestService.run(items: Self.item, extensions: Self.extensions) { service async throws in
            for (body, pointer, reason) in inputs {
                for query in ["", "?dryRun=true"] {
                    let answer = try await service.client.post("/cells/card:1/rate" + query, fields: Self.viewer, body: body)
                    let problem = try answer.decoded(as: Problem.self)
                    #expect(answer.status == 422 && problem.detail.contains(reason), "\(problem.detail)")
                    #expect(problem.errors.map(\.pointer) == [pointer])
                }
            }
            let wrong = #"{"stars":2.5,"reason":"odd","colour":1}"#
            let all = try await service.client.post("/cells/card:1/rate", fields: Self.viewer, body: wrong)
            #expect(try all.decoded(as: Problem.self).errors.map(\.pointer) == ["/stars", "/reason", "/colour"])
            #expect(try await service.client.post("/cells/card:1/rate", fields: Self.viewer, body: "[").status == 400)
            #expect(try await !service.operators.get("/admin/reports").text.contains("\"rate\""))
        }
    }

    @Test("The action and the API description have the schema of the input")
    func schema() async throws {
        try await TestService.run(items: Self.item, extensions: Self.extensions) { service async throws in
            let page = try await service.client.get("/feed", fields: Self.viewer)
            for text in [#""title":"Stars""#, #""type":"integer""#, #""enum":["taste","price"]"#, #""Rate""#] {
                #expect(page.text.contains(text), "\(text)")
            }
            struct Document: Decodable { let components: Components }
            struct Components: Decodable { let schemas: [String: Schema] }
            struct Schema: Decodable { let required: [String]?, properties: [String: Property]? }
            struct Property: Decodable { let maximum: Int? }
            let description = try await service.client.get("/openapi.json")
            let input = try #require(description.decoded(as: Document.self).components.schemas["Input-rate"])
            #expect(input.required == ["stars"] && input.properties?["stars"]?.maximum == 5)
            #expect(description.text.contains("#/components/schemas/Input-rate"))
        }
    }

    @Test("The product's commands are values beside those of the program")
    func macro() async throws {
        try await TestService.run(items: Self.item, extensions: Self.extensions) { service async throws in
            struct Answer: Decodable { let undo: Undo }
            struct Undo: Decodable { let href: String }
            let answer = try await service.client.post("/cells/card:1/selection", fields: Self.viewer)
            #expect(answer.status == 200)
            let lists = ["/saved", "/lists/pinned"]
            for list in lists { #expect(try await service.client.get(list, fields: Self.viewer).text.contains("card:1")) }
            #expect(try await service.client.delete(answer.decoded(as: Answer.self).undo.href, fields: Self.viewer).status == 200)
            for list in lists { #expect(try await !service.client.get(list, fields: Self.viewer).text.contains("card:1")) }
        }
    }

    @Test("An input that cannot be described, and two types with one name, end the start")
    func faults() async throws {
        struct Wrong: InputCommand {
            struct Input: Codable { var values: [Int] }

            let name = "wrong"

            func perform(_ input: Input, in context: inout CommandContext) async throws {}
        }
        struct Other: Command { let name = "pin" }
        let cases: [(command: any Command, reason: String)] = [
            (Wrong(), "the input of the command 'wrong': values: is an array"), (Other(), "two commands are named 'pin'"),
        ]
        for (command, reason) in cases {
            var extended = ServiceExtensions(commands: [command])
            extended.add(Card.self, actions: Self.actions)
            let extensions = extended
            let error = await #expect(throws: ConfigurationError.self) { _ = try await TestService(extensions: extensions) }
            #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
        }
    }
}
