import Foundation
import Testing

@testable import IntertwineFeed
@testable import IntertwinePrimitives

@Suite("Cells of a declared kind")
struct DeclaredCellTests {
    static let full =
        #"{"id":1,"title":"Swing","starts":"2026-05-01T19:00:00+02:00","image":"https://i.example/e.png","#
        + #""signup":"https://sign.example/up?e=1","city":"São & <Paulo>","price":12.50,"soldOut":true}"#
    static let sparse =
        #"{"id":"b/2","title":"Jazz","starts":"2026-05-02","image":"https://i.example/f.png","signup":"https://sign.example/2"}"#

    @Test("Cells bind text, images, dates, numbers and links, and omit absent fields")
    func bindings() async throws {
        let fixture = try KindFixture.fixture(KindFixture.event, items: [Self.full, Self.sparse])
        let page = try await fixture.page()
        let text = String(decoding: page.json(), as: UTF8.self)
        #expect(
            text.contains(
                #""bindings":{"title":{"type":"text","text":"Swing in São & <Paulo> (sold out)"},"starts":{"type":"date","date":"2026-05-01T19:00:00+02:00"},"#
                    + #""image":{"type":"image","href":"https://i.example/e.png","alt":"Swing in São & <Paulo> (sold out)"},"price":{"type":"number","number":12.5},"signup":{"type":"link","href":"https://sign.example/up?e=1"},"#
                    + #""map":{"type":"link","href":"https://maps.example/1?q=S%C3%A3o%20%26%20%3CPaulo%3E"}}"#))
        #expect(
            text.contains(
                #""bindings":{"title":{"type":"text","text":"Jazz"},"starts":{"type":"date","date":"2026-05-02"},"image":{"type":"image","href":"https://i.example/f.png","alt":"Jazz"},"#
                    + #""signup":{"type":"link","href":"https://sign.example/2"},"map":{"type":"link","href":"https://maps.example/b%2F2?q="}}"#
            ))
        #expect(page.ids == ["event:1", "event:b/2"])
    }

    @Test("A selection token leads to the item's stored link")
    func clickthrough() async throws {
        let fixture = try KindFixture.fixture(KindFixture.event, items: [Self.full])
        let viewModel = try fixture.viewModel(of: try await fixture.page().entries.first)
        guard case .link(let href) = viewModel.action(in: .selection) else { throw TestFailure() }
        let token = try #require(href.split(separator: "/").last)
        let click = try await fixture.performer().click(token: String(token), for: ClientFingerprint(viewer: "ann"), now: Fixture.now)
        #expect(click.location == "https://sign.example/up?e=1" && click.cell == "event:1")
    }

    static let hostile = [
        #"{{id}}"#, "{{{title}}}", #"</script><b onclick="x">"#, #"\",\"evil\":\""#, "a\u{2028}b", "../../etc", "javascript:alert(1)",
        "%2F%00",
        "?x=1#y", "//evil.example/", "@evil.example", "{{#title}}", "}}", "{{!", "\t\r\n",
    ]

    @Test("Hostile field values remain inside their template position", arguments: hostile)
    func escaping(value: String) async throws {
        var writer: [UInt8] = []
        writer.append(jsonString: value.utf8)
        let city = String(decoding: writer, as: UTF8.self)
        let json = Self.full.replacing(#""São & <Paulo>""#, with: city)
        let fixture = try KindFixture.fixture(KindFixture.event, items: [json])
        let page = try await fixture.page()
        let cell = try #require(try KindFixture.json(page).first)
        let bindings = KindFixture.bindings(cell)
        #expect(bindings["title"]?["text"] as? String == "Swing in \(value) (sold out)")
        let link = try #require(bindings["map"]?["href"] as? String)
        #expect(link.hasPrefix("https://maps.example/1?q="))
        let query = link.dropFirst("https://maps.example/1?q=".count)
        #expect(query.removingPercentEncoding == value)
        #expect(query.allSatisfy { $0.isLetter || $0.isNumber || "%-._~:".contains($0) })
    }

    struct Choice: Sendable, CustomTestStringConvertible {
        var conditions: [FieldCondition]
        var holds: [String]
        var testDescription: String { "\(conditions)" }
    }

    @Test(
        "Field conditions select the cell",
        arguments: [
            Choice(conditions: [FieldCondition("soldOut", .anyOf(["true"]))], holds: ["event:1"]),
            Choice(conditions: [FieldCondition("soldOut", .present(false))], holds: ["event:b/2"]),
            Choice(conditions: [FieldCondition("price", .between(minimum: 12.5, maximum: nil))], holds: ["event:1"]),
            Choice(conditions: [FieldCondition("price", .between(minimum: nil, maximum: 12))], holds: []),
            Choice(conditions: [FieldCondition("price", .anyOf(["3", "12.50"]))], holds: ["event:1"]),
            Choice(conditions: [FieldCondition("title", .anyOf(["Jazz", "Swing"]))], holds: ["event:1", "event:b/2"]),
            Choice(conditions: [FieldCondition("id", .anyOf(["b/2"]))], holds: ["event:b/2"]),
            Choice(
                conditions: [FieldCondition("title", .anyOf(["Jazz", "Swing"])), FieldCondition("city", .present(true))], holds: ["event:1"]
            ),
        ])
    func conditions(choice: Choice) async throws {
        var declaration = KindFixture.event
        let size = SizeRule(CellSize(width: 10, height: 10))
        declaration.cells[.collection]?.insert(
            CellDeclaration("ChosenCell", size: size, conditions: choice.conditions, bindings: []), at: 0)
        let fixture = try KindFixture.fixture(declaration, items: [Self.full, Self.sparse])
        let chosen = try await fixture.page().entries.map(\.cell).filter { $0.identifier == "ChosenCell" }.map(\.id)
        #expect(chosen == choice.holds)
    }

    @Test("An item without a matching cell is omitted but performed in another layout's cell")
    func noCell() async throws {
        var declaration = KindFixture.event
        declaration.cells[.collection]?[0].conditions = [FieldCondition("soldOut", .anyOf(["true"]))]
        let fixture = try KindFixture.fixture(declaration, items: [Self.full, Self.sparse])
        let page = try await fixture.page()
        #expect(page.ids == ["event:1"])
        #expect(page.omissions.map(\.reason) == [.noFactory])
        let table = try await fixture.assembler().page(FeedRequest(now: Fixture.now, layout: .table))
        #expect(table.ids == ["event:1", "event:b/2"])
        let performance = try await fixture.performer().simulate(.selection, of: "event:b/2", for: ClientFingerprint(), now: Fixture.now)
        #expect(performance.steps.map(\.command) == ["analytics", "clickthrough"])
    }

    @Test("An item stored under an incompatible declaration is omitted")
    func changedDeclaration() async throws {
        let fixture = try KindFixture.fixture(KindFixture.event, items: [Self.full])
        for (id, body) in [("x", #"{"title":3}"#), ("y", "{"), ("z", #"{"title":"T","starts":"soon","image":"https://i.example/"}"#)] {
            fixture.store.put(FeedItem(kind: "event", id: id, variant: "", position: 9000, body: Array(body.utf8)))
        }
        let page = try await fixture.page()
        #expect(page.ids == ["event:1"])
        #expect(page.omissions.count == 3)
    }

    @Test("Declared kinds can be advertisements")
    func advertisements() async throws {
        var declaration = KindFixture.event
        declaration.stream = .advertisements
        let fixture = try KindFixture.fixture(declaration, items: [Self.full])
        fixture.store.put(Fixture.user("u", at: 1))
        fixture.store.put(Fixture.user("v", at: 2))
        let page = try await fixture.page()
        #expect(page.ids == ["user:u", "event:1", "user:v"])
        #expect(try KindFixture.json(page).map { $0["advertisement"] as? Bool } == [nil, true, nil])
    }
}
