import IntertwineTesting
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineService

@Suite("Kinds without cells", .timeLimit(.untilStuck))
struct KindWithoutCellTests {
    private struct NoteKind: ItemKind {
        let name = "note"
        let stream = StreamID.content

        func validate(_ fields: ItemFields) throws(ItemError) -> ValidatedItem {
            let id = String(decoding: try fields.text("id", limit: 100), as: UTF8.self)
            let type = try fields.choice("type", among: ["plain", "rich"])
            return ValidatedItem(kind: name, stream: stream, id: id, variant: type, body: Array("{}".utf8))
        }
    }

    /// Throws for all items except the first one.
    private struct BrokenFactory: CellViewModelFactory {
        struct Failure: Error, CustomStringConvertible { let description = "the oven is cold" }

        let identifier = "NoteCell"

        func makeViewModel(for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel {
            throw Failure()
        }
    }

    private static func extensions(factoryOf kind: String?, variant: String = "plain") -> ServiceExtensions {
        ServiceExtensions(kinds: [NoteKind()]) { factories, _ in
            guard let kind else { return }
            try factories.register(BrokenFactory(), for: ItemType(kind: kind, variant: variant), prefix: kind)
        }
    }

    @Test("A kind without a factory, or with a misspelt one, ends import and start", arguments: [nil, "notes"])
    func refusal(kind: String?) async throws {
        let extensions = Self.extensions(factoryOf: kind)
        let importError = #expect(throws: ConfigurationError.self) { _ = try ServiceConfiguration().itemKinds(extensions) }
        let startError = await #expect(throws: ConfigurationError.self) { _ = try await TestService(extensions: extensions) }
        let checkError = #expect(throws: ConfigurationError.self) { try ServiceConfiguration().check(extensions) }
        for error in [importError, startError, checkError] {
            #expect(error?.description.contains("no factory makes cells of the kind 'note'; there are factories of ad") == true)
            #expect(kind == nil || error?.description.contains("notes") == true)
        }
    }

    @Test("An item whose type has no cell is invalid, in an import and in the admin API")
    func type() async throws {
        let extensions = Self.extensions(factoryOf: "note")
        let error = await #expect(throws: InvalidItem.self) {
            _ = try await TestService(items: #"{"kind":"note","id":"1","type":"rich"}"#, extensions: extensions)
        }
        #expect("\(String(describing: error))".contains("no factory makes a cell of the type"))
        try await TestService.run(extensions: extensions) { service in
            let answer = try await service.operators.put("/admin/items/note/1", body: #"{"kind":"note","id":"1","type":"rich"}"#)
            #expect(answer.status == 422 && answer.text.contains("there are 'plain'"))
        }
    }

    @Test("A factory that throws is logged with item and reason, once a minute for each type and reason")
    func failure() async throws {
        let items = (0..<5).map { #"{"kind":"note","id":"n\#($0)","type":"plain"}"# }.joined(separator: "\n")
        try await TestService.run(items: items, extensions: Self.extensions(factoryOf: "note")) { service in
            func lines() -> [String] { service.log.lines.filter { $0.level == .warning }.map(\.text) }
            for limit in 1...3 { _ = try await service.client.get("/feed?limit=\(limit)") }
            #expect(lines() == ["invalid item omitted from the feed id=n0 kind=note reason=the oven is cold"])
            service.clock.advance(by: .seconds(61))
            _ = try await service.client.get("/feed?limit=4")
            let last = try #require(lines().last)
            #expect(lines().count == 2 && last.contains("since-the-last-line="))
        }
    }
}
