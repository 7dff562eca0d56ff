import Foundation
import HTTPTypes
import IntertwineTesting
import TestSupport
import Testing

@Suite("Patches of many items", .timeLimit(.untilStuck))
struct PatchTests {
    private struct Page: Decodable {
        struct Cell: Decodable { let id: String }

        let cells: [Cell]
    }

    private static let declared = """
        kinds:
          story:
            fields: {title: {type: text, required: true}, score: {type: number, required: true}, note: text}
            cells: {collection: {identifier: StoryCell, size: {width: 300, height: 80}, bind: {title: {text: title}}}}
        sections: {stories: {kinds: [story], order: field score descending}}
        feeds: {main: [stories]}
        """

    private static func story(_ id: Int) -> String { #"{"kind":"story","id":"\#(id)","title":"Story \#(id)","score":0,"note":"n"}"# }

    private func run(_ count: Int, _ body: @escaping @Sendable (TestService) async throws -> Void) async throws {
        let file = NSTemporaryDirectory() + "scores-\(UUID()).yaml"
        try Data(Self.declared.utf8).write(to: URL(fileURLWithPath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        let items = (0..<count).map(Self.story).joined(separator: "\n")
        try await TestService.run(.socket, items: items, settings: ["kinds.file": file]) { try await body($0) }
    }

    private func patch(_ service: TestService, _ body: String) async throws -> TestResponse {
        try await service.operators.send(.patch, "/admin/items", body: Array(body.utf8))
    }

    private func ids(_ service: TestService, _ limit: Int = 20) async throws -> [String] {
        try await service.client.get("/feed?limit=\(limit)").decoded(as: Page.self).cells.map(\.id)
    }

    @Test("Scores order the section at once, and other members stay")
    func scores() async throws {
        try await run(5) { service in
            let lines = [(3, "9"), (1, "2.5"), (77, "1"), (3, "0.5"), (0, "0")].map { #"{"kind":"story","id":"\#($0)","score":\#($1)}"# }
            let answer = try await patch(service, lines.joined(separator: "\n"))
            #expect(answer.text == #"{"unchanged":1,"unknown":1,"updated":3}"#, "\(answer.text)")
            #expect(try await ids(service, 2) == ["story:1", "story:3"])
            let array = try await patch(
                service, #" [{"kind":"story","id":"4","score":7,"note":null} , {"id":"2","kind":"story","title":"T"}]"#)
            #expect(array.text == #"{"unchanged":0,"unknown":0,"updated":2}"#, "\(array.text)")
            #expect(try await ids(service, 1) == ["story:4"])
            let item = try await service.operators.get("/admin/items/story/4").text
            #expect(item.contains("Story 4") && !item.contains("note"), "\(item)")
        }
    }

    @Test(
        "An invalid patch changes nothing and is named",
        arguments: [
            (#"[{"kind":"story","id":"1","score":1},{"kind":"story","id":"2","score":"x"}]"#, 422, "/1/score"),
            (#"[{"kind":"story","id":"1","score":1},{"kind":"story","id":"2","title":null}]"#, 422, "/1/title"),
            (#"{"kind":"story","id":"1","score":1}{"kind":"campaign","id":"2"}"#, 422, "campaigns"),
            (#"[{"kind":"story","id":"1","score":1},3]"#, 400, "/1"), (#"[{"kind":"story","id":"1","score":1}"#, 400, "must be"),
            (#"[{"id":"1","score":1}]"#, 400, "/0"), ("score", 400, "must be"),
        ])
    func invalid(body: String, status: Int, words: String) async throws {
        try await run(3) { service in
            let answer = try await patch(service, body)
            #expect(answer.status == status && answer.text.contains(words), "\(answer.text)")
            #expect(try await service.operators.get("/admin/items/story/1").text.contains(#""score":0"#))
        }
    }

    @Test("One request changes many scores")
    func many() async throws {
        let count = ProcessInfo.processInfo.environment["TEST_ALL"] == nil ? 5_000 : 100_000
        try await run(count) { service in
            let body = (0..<count).map { #"{"kind":"story","id":"\#($0)","score":\#($0 + 1)}"# }.joined(separator: "\n")
            let answer = try await patch(service, body)
            #expect(answer.text == #"{"unchanged":0,"unknown":0,"updated":\#(count)}"#, "\(answer.text)")
            #expect(try await ids(service, 1) == ["story:\(count - 1)"])
            let tooMany = try await patch(service, String(repeating: #"{"kind":"story","id":"1","score":7}"#, count: 100_001))
            #expect(tooMany.status == 400 && tooMany.text.contains("at most 100000 patches"), "\(tooMany.text)")
        }
    }
}
