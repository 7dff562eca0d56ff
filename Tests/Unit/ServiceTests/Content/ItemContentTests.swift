import Foundation
import IntertwineTesting
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineService

@Suite("Kinds that are Codable types", .timeLimit(.untilStuck))
struct ItemContentTests {
    /// A kind with a property of each type.
    struct Recipe: ItemContent {
        enum Variant: String, Codable, CaseIterable {
            case quick, slow
        }

        enum Course: String, Codable, CaseIterable {
            case starter, main
        }

        static let kind = "recipe"
        static let fields = [FieldDeclaration("title", .text, maximum: 20, languages: ["en", "de"])]

        let id: String
        var type: Variant
        var title: String
        var portions: Int
        var weight: Double?
        var isVegan: Bool
        var course: Course?
        var published: Date
        var source: URL
        var picture: URL?

        func validate() throws {
            guard portions != 13 else { throw ItemError(field: "portions", reason: "must not be 13") }
            guard title != "forbidden" else { throw ItemError(field: "title", reason: "is forbidden") }
        }

        func cell(in context: CellContext) throws -> Cell {
            guard title != "broken" else { throw Refusal(.gone, "The oven is cold.") }
            return Cell(type == .quick ? "QuickCell" : "SlowCell", version: 2, size: CellSize(width: 300, height: 200)) {
                Bind("title", title)
                Bind("portions", portions)
                Bind("weight", weight)
                if isVegan { Bind("note", "vegan") }
                Bind("date", date: published)
                Bind("source", link: source)
                Bind("picture", image: picture)
            }
            .presenting(Presentation(screen: "Recipe", arguments: [.init("id", id)]))
        }
    }

    struct Like: UndoableCommand {
        let name = "like"
        let needs: CommandRequirements = .viewer
        let refusals = [Refusal(.conflict, "Already liked.")]

        func perform(in context: inout CommandContext) async throws {
            guard try context.subject?.item.decoded(as: Recipe.self).portions != 12 else { throw refusals[0] }
            try context.put(on: "liked")
        }

        func undo(_ record: [UInt8], in context: inout CommandContext) async throws { try context.revert(record, from: "liked") }
    }

    static let extensions = {
        var extensions = ServiceExtensions()
        extensions.add(
            Recipe.self, actions: .on(.selection, Analytics(), Present()).on("like", Like(), label: ["en": "Like", "de": "Gefällt mir"]))
        extensions.lists = ["liked"]
        return extensions
    }()

    static func item(_ id: String, _ changes: String...) -> String {
        let members = [
            #""kind":"recipe""#, #""id":"\#(id)""#, #""type":"quick""#, #""title":{"en":"Soup","de":"Suppe"}"#, #""portions":4"#,
            #""isVegan":true"#, #""published":"2026-05-01""#, #""source":"https://example.com/soup""#,
        ]
        let names = changes.map { $0.split(separator: ":")[0] }
        return "{" + (members.filter { member in !names.contains { member.hasPrefix($0) } } + changes).joined(separator: ",") + "}"
    }

    struct Page: Decodable {
        struct Cell: Decodable { let id: String, identifier: String }

        let cells: [Cell]
    }

    @Test("An item is validated, stored and shown as its type says", arguments: TestService.Transport.allCases)
    func cell(way: TestService.Transport) async throws {
        let items = [Self.item("1"), Self.item("2", #""type":"slow""#, #""title":"Stew""#, #""picture":"https://example.com/p.png""#)]
        let languages = "languages: [en, de]\nkinds: {}\n"
        let file = NSTemporaryDirectory() + "kinds-\(UUID()).yaml"
        try Data(languages.utf8).write(to: URL(fileURLWithPath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        try await TestService.run(
            way, items: items.joined(separator: "\n"), settings: ["kinds.file": file], extensions: Self.extensions
        ) { service async throws in
            let page = try await service.client.get("/feed", fields: ["Accept-Language": "de", "X-Viewer-ID": "v"])
            let cells = try page.decoded(as: Page.self).cells
            #expect(cells.map(\.identifier) == ["QuickCell", "SlowCell"] && cells.map(\.id) == ["recipe:1", "recipe:2"])
            for text in [
                #""Suppe""#, #""Stew""#, #""number":4"#, #""vegan""#, #""date":"2026-05-01T00:00:00.000Z""#, #""https://example.com/soup""#,
                #""alt":"Stew""#, #""Gefällt mir""#, #""version":2"#,
            ] { #expect(page.text.contains(text), "\(text)") }
            #expect(try await service.client.get("/feed", fields: ["Accept-Language": "en"]).text.contains(#""Soup""#))
            #expect(try await service.client.get("/feed?layout=table").decoded(as: Page.self).cells.count == 2)
            let selection = try await service.client.post("/cells/recipe:1/selection")
            #expect(selection.status == 200 && selection.text.contains(#""screen":"Recipe""#))
        }
    }

    @Test("A slot with a command as a value is performed, refused and undone")
    func command() async throws {
        try await TestService.run(
            .socket, items: Self.item("1") + "\n" + Self.item("2", #""portions":12"#), extensions: Self.extensions
        ) { service async throws in
            struct Answer: Decodable { let undo: Undo }
            struct Undo: Decodable { let href: String }
            let viewer = ["X-Viewer-ID": "v"]
            let answer = try await service.client.post("/cells/recipe:1/like", fields: viewer)
            #expect(try await service.client.get("/lists/liked", fields: viewer).text.contains("recipe:1"))
            #expect(try await service.client.delete(answer.decoded(as: Answer.self).undo.href, fields: viewer).status == 200)
            #expect(try await !service.client.get("/lists/liked", fields: viewer).text.contains("recipe:1"))
            let refused = try await service.client.post("/cells/recipe:2/like", fields: viewer)
            #expect(refused.status == 409 && refused.text.contains("Already liked."))
            #expect(try await service.client.get("/openapi.json").text.contains("Already liked."))
            let simulated = try await service.client.post("/cells/recipe:1/like?dryRun=true", fields: viewer)
            #expect(simulated.status == 200 && simulated.text.contains(#""simulated""#))
        }
    }

    @Test("An invalid item is refused with the name of its property, in an import and in the admin API")
    func invalid() async throws {
        let changes = [
            (#""title":5"#, "title: must be a string"), (#""title":"A title of 21 letters""#, "title: is longer than 20 characters"),
            (#""portions":"4""#, "portions: must be a number"), (#""portions":4.5"#, "portions: must be a whole number"),
            (#""portions":13"#, "portions: must not be 13"), (#""portions":null"#, "portions: is missing"),
            (#""course":"dessert""#, "course: must be one of starter, main"), (#""type":"odd""#, "type: must be one of quick, slow"),
            (#""published":"May""#, "published: must be a date"), (#""source":"ftp://a/""#, "source:"),
            (#""isVegan":1"#, "isVegan: must be"),
            (#""title":{"en":"Soup","de":"forbidden"}"#, "title: is forbidden"),
            (#""title":{"fr":"Soupe"}"#, "'fr' is not a declared language"), (#""picture":"x""#, "picture:"),
        ]
        let error = await #expect(throws: InvalidItem.self) {
            _ = try await TestService(items: Self.item("1", changes[0].0), extensions: Self.extensions)
        }
        #expect("\(String(describing: error))".contains(changes[0].1), "\(String(describing: error))")
        try await TestService.run(extensions: Self.extensions) { service async throws in
            for (change, reason) in changes {
                let answer = try await service.operators.put("/admin/items/recipe/1", body: Self.item("1", change))
                #expect(answer.status == 422 && answer.text.contains(reason), "\(answer.text)")
            }
            #expect(try await service.operators.put("/admin/items/recipe/1", body: Self.item("1")).status == 201)
            #expect(try await service.client.get("/feed").text.contains("QuickCell"))
        }
    }

    @Test("The schema has the properties, as the descriptions of the API do")
    func schemas() async throws {
        let schema = try #require(ServiceConfiguration().itemKinds(Self.extensions)["recipe"]).schema()
        let text = String(decoding: schema, as: UTF8.self)
        #expect(text.contains(#""required":["kind","id","type","title","portions","isVegan","published","source"]"#))
        #expect(text.contains(#""course":{"anyOf":[{"enum":["starter","main"]},{"type":"null"},{"const":""}]}"#))
        #expect(text.contains(#""maxLength":20"#))
        try await TestService.run(extensions: Self.extensions) { service async throws in
            let cell = try await service.client.get("/schemas/cells/QuickCell.json")
            #expect(cell.status == 200 && cell.text.contains(#""required":["title","portions","note","date","source"]"#))
            let admin = try await service.operators.get("/openapi.json").text
            #expect(admin.contains(#""Item-recipe""#) && admin.contains(#""portions""#))
        }
    }

    @Test("A cell that cannot be made is logged with its reason, and the items beside it are shown")
    func broken() async throws {
        let items = Self.item("1", #""title":"broken""#) + "\n" + Self.item("2")
        try await TestService.run(items: items, extensions: Self.extensions) { service async throws in
            #expect(try await service.client.get("/feed").decoded(as: Page.self).cells.map(\.id) == ["recipe:2"])
            let lines = service.log.lines.filter { $0.level == .warning }.map(\.text)
            #expect(lines.contains { $0.contains("id=1") && $0.contains("The oven is cold.") }, "\(lines)")
        }
    }

    @Test("A client that does not support the cell gets no items with it")
    func capabilities() async throws {
        let items = Self.item("1") + "\n" + Self.item("2", #""type":"slow""#)
        try await TestService.run(items: items, extensions: Self.extensions) { service async throws in
            let page = try await service.client.get("/feed", fields: ["Accept-Cells": #""SlowCell";v=2"#])
            #expect(try page.decoded(as: Page.self).cells.map(\.id) == ["recipe:2"])
        }
    }

    /// A source of recipes that are not in the store.
    private struct Recipes: DataSource {
        let all: [FeedItem]
        let isNewestFirst = false

        func items(after position: Int64?, limit: Int, for context: FeedContext) async throws -> [FeedItem] {
            Array(all.filter { $0.position > position ?? 0 }.prefix(limit))
        }

        func item(id: String, for context: FeedContext) async throws -> FeedItem? { all.first { $0.id == id } }
    }

    @Test("Values are items of a data source")
    func dataSource() async throws {
        let value = Recipe(
            id: "r", type: .slow, title: "Ragù", portions: 6, weight: 1.5, isVegan: false, course: .main,
            published: Date(timeIntervalSince1970: 1), source: try #require(URL(string: "https://example.com/r")), picture: nil)
        let item = try FeedItem(value, id: "r", position: 1)
        #expect(item.kind == "recipe" && item.variant == "slow")
        let decoded: Recipe = try item.decoded()
        #expect(decoded.weight == 1.5 && decoded.published == value.published)
        #expect(throws: ItemError.self) { _ = try FeedItem(value, id: "", position: 1) }
        var extensions = Self.extensions
        extensions.dataSources["main"] = Recipes(all: [item])
        try await TestService.run(extensions: extensions) { service async throws in
            #expect(try await service.client.get("/feed").text.contains("Ragù"))
            #expect(try await service.client.post("/cells/recipe:r/selection").status == 200)
        }
    }
}

@Suite("Types that cannot be kinds", .timeLimit(.untilStuck))
struct UndescribedContentTests {
    private struct Tagged: ItemContent {
        static let kind = "tagged"
        var tags: [String]
        func cell(in context: CellContext) -> Cell { Cell("Cell", size: CellSize(width: 1, height: 1)) }
    }

    private struct Nested: ItemContent {
        struct Author: Codable { var name: String }

        static let kind = "nested"
        var author: Author?
        func cell(in context: CellContext) -> Cell { Cell("Cell", size: CellSize(width: 1, height: 1)) }
    }

    private struct Sized: ItemContent {
        enum Size: String, Codable { case small }

        static let kind = "sized"
        var size: Size
        func cell(in context: CellContext) -> Cell { Cell("Cell", size: CellSize(width: 1, height: 1)) }
    }

    private struct Limited: ItemContent {
        static let kind = "limited"
        static let fields = [FieldDeclaration("titel", .text)]
        var title: String
        func cell(in context: CellContext) -> Cell { Cell("Cell", size: CellSize(width: 1, height: 1)) }
    }

    private struct Mistyped: ItemContent {
        static let kind = "mistyped"
        static let fields = [FieldDeclaration("count", .text)]
        var count: Int
        func cell(in context: CellContext) -> Cell { Cell("Cell", size: CellSize(width: 1, height: 1)) }
    }

    private struct Reserved: ItemContent {
        static let kind = "a b"
        var title: String
        func cell(in context: CellContext) -> Cell { Cell("Cell", size: CellSize(width: 1, height: 1)) }
    }

    private struct Failing: ItemContent {
        static let kind = "failing"
        var title: String
        func cell(in context: CellContext) throws -> Cell { throw Refusal(.gone, "The oven is cold.") }
    }

    private struct Presenting: ItemContent {
        static let kind = "presenting"
        var title: String
        func cell(in context: CellContext) -> Cell { Cell("Cell", size: CellSize(width: 1, height: 1)) }
    }

    @Test(
        "The start and imports fail with the type and the property",
        arguments: [
            (Tagged.self, "Tagged: tags: is an array"), (Nested.self, "Nested: author: is an object with members"),
            (Sized.self, "Sized: size: the type Size cannot be described: an enum is CaseIterable"),
            (Limited.self, "Limited: titel: is declared, but Limited has no such field; it has title"),
            (Mistyped.self, "Mistyped: count: is declared as text, but is read as number"), (Reserved.self, "Reserved: 'a b' must be"),
            (Failing.self, "Failing: cell(in:) throws for sample values"), (Presenting.self, "needs a presentation, which is missing"),
        ] as [(any ItemContent.Type, String)])
    func refused(type: any ItemContent.Type, reason: String) async throws {
        var extended = ServiceExtensions()
        extended.add(type, actions: type == Presenting.self ? .on(.selection, Present()) : CellActions())
        let extensions = extended
        let startError = await #expect(throws: ConfigurationError.self) { _ = try await TestService(extensions: extensions) }
        let importError = #expect(throws: ConfigurationError.self) { _ = try ServiceConfiguration().itemKinds(extensions) }
        for error in [startError, importError] { #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")") }
    }
}
