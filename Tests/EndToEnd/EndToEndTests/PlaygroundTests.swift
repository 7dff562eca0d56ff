import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("The playground of declarations, from outside")
struct PlaygroundTests {
    private static let declaration = """
        languages: [en, de]
        kinds:
          story:
            fields:
              title: {type: text, required: true, languages: true}
              image: {type: image, required: true}
              target: {type: url, required: true}
            destination: target
            cells:
              collection:
                identifier: StoryCell
                size: {width: 300, height: 200, text-height: 40}
                bind: {title: {text: title}, image: {image: image, size: cell}}
            actions: {selection: [analytics, clickthrough], impression: [analytics]}
        """
    private static let item = """
        {"kind":"story","id":"s","title":{"en":"Story","de":"Geschichte"},"image":"https://pictures.example.com/1.png",\
        "target":"https://shop.example.com/1"}
        """

    private func post(_ declaration: String, _ item: String, to service: RunningService) throws -> RawResponse {
        let body = try JSONSerialization.data(withJSONObject: ["declaration": declaration, "item": item])
        return try service.ask("POST", "/web-client/playground", body: String(decoding: body, as: UTF8.self))
    }

    @Test("The response has the cells that a feed has, in each layout and language, with nothing that is valid elsewhere")
    func cells() async throws {
        try await offPool {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-kinds-\(UUID())").path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Self.declaration.write(toFile: "\(folder)/kinds.yaml", atomically: true, encoding: .utf8)
            let service = try RunningService(settings: ["kinds.file=\(folder)/kinds.yaml"])
            _ = try service.importItems(Self.item + "\n", arguments: ["--set", "kinds.file=\(folder)/kinds.yaml"])
            let response = try post(Self.declaration, Self.item, to: service)
            #expect(response.status == 200 && response["cache-control"] == "no-store")
            let pages = try JSON(response.text)["pages"]?.list ?? []
            #expect(pages.compactMap { $0["language"]?.text } == ["en", "en", "de", "de"])
            #expect(pages.compactMap { $0["layout"]?.text } == ["collection", "table", "collection", "table"])
            #expect(pages.map { $0["cells"]?.list.count } == [1, 0, 1, 0])
            for (page, language) in zip([pages[0], pages[2]], ["en", "de"]) {
                let shown = page["cells"]?[0]
                let served = try JSON(service.get("/feed", fields: ["Accept-Language: \(language)"]).text)["cells"]?[0]
                func facts(_ cell: JSON?) -> [String?] {
                    let size = ["width", "height", "textHeight"].map { cell?["size"]?[$0]?.number.map { "\($0)" } }
                    let title = cell?["actions"]?["configuration"]?["bindings"]?["title"]?["text"]?.text
                    return [cell?["id"]?.text, cell?["identifier"]?.text, title] + size
                }
                #expect(facts(shown) == facts(served))
                #expect(facts(shown) == ["story:s", "StoryCell", language == "en" ? "Story" : "Geschichte", "300", "200", "40"])
            }
            // The tokens have another key, and no image of another host is signed.
            let link = try #require(pages[0]["cells"]?[0]?["actions"]?["selection"]?["href"]?.text)
            #expect(try service.get(link).status == 404)
            #expect(!response.text.contains("/images/A") && response.text.contains("/web-client/icon.svg"))
            // Nothing is stored: the feed has one item.
            #expect(try JSON(service.get("/feed").text)["cells"]?.list.count == 1)
        }
    }

    @Test("Errors have the line or the field, and the limits of work hold")
    func faults() async throws {
        try await offPool {
            let service = try RunningService()
            func problem(_ declaration: String, _ item: String = Self.item) throws -> (status: Int, pointers: [String?], details: [String])
            {
                let response = try post(declaration, item, to: service)
                let errors = try JSON(response.text)["errors"]?.list ?? []
                return (response.status, errors.map { $0["pointer"]?.text }, errors.compactMap { $0["detail"]?.text })
            }
            let wrong = try problem(
                Self.declaration.replacing("{text: title}", with: "{text: tilte}").replacing("text-height: 40", with: "text-height: 400"))
            #expect(wrong.status == 400 && wrong.pointers == ["/declaration", "/declaration"])
            #expect(wrong.details.first?.hasPrefix("line 12, column ") == true)
            #expect(wrong.details.last?.contains("unknown field 'tilte'") == true)
            let item = try problem(Self.declaration, #"{"kind":"story","id":"s"}"#)
            #expect(item.status == 400 && item.pointers == ["/item"] && item.details.first?.contains("title") == true)
            #expect(try problem(Self.declaration, "[]").pointers == ["/item"])
            #expect(
                try problem(Self.declaration, Self.item.replacing("story", with: "user")).details.first?.contains("must be one of story")
                    == true)
            // Each of these would cost much time or a deep stack.
            let bomb = (1..<12).map { "a\($0): &a\($0) [*a\($0 - 1), *a\($0 - 1), *a\($0 - 1)]\n" }.joined()
            for text in [
                "a0: &a0 [x]\n" + bomb + "? *a11\n: x", String(repeating: "[", count: 16_000), String(repeating: "{a: ", count: 4_000),
                String(repeating: "- ", count: 8_000), (0..<120).map { String(repeating: " ", count: $0) + "a:\n" }.joined(),
                String(repeating: "? ", count: 8_000), String(repeating: "x", count: 17_000),
                // The parser ends lines at these characters, too, and a key can be any value.
                (0..<120).map { String(repeating: " ", count: $0) + "a:\r" }.joined(),
                (0..<120).map { String(repeating: " ", count: $0) + "a:\u{85}" }.joined(),
                (0..<120).map { String(repeating: " ", count: $0) + "a:\u{2028}" }.joined(),
                (0..<120).map { String(repeating: " ", count: $0) + "a:\u{2029}" }.joined(),
                "kinds:\n  ? [a, b]\n  : c", "kinds: {{a: b}: c}", "kinds:\n  [a]: b", "- {{}: {}}",
                "x: \"" + String(repeating: "{{a}}", count: 200) + "\"", "", "kinds: [", "\u{0}",
            ] {
                let refused = try problem(text)
                #expect(refused.status == 400 && refused.pointers.first == "/declaration", "\(text.prefix(40))")
            }
            let many = try problem(String(repeating: "[", count: 400) + String(repeating: "]", count: 400))
            #expect(many.status == 400)
            #expect(try service.ask("POST", "/web-client/playground", body: "{}").status == 400)
            #expect(try service.ask("POST", "/web-client/playground", body: String(repeating: " ", count: 40_000)).status == 413)
            #expect(try service.get("/readyz").status == 200)
        }
    }

    @Test("Beyond the rate of an address, the response is 429; without the web client, the route does not exist")
    func limits() async throws {
        try await offPool {
            let service = try RunningService()
            let statuses = try (0..<140).map { _ in try post("", "", to: service).status }
            #expect(statuses.first == 400 && statuses.last == 429)
            let closed = try RunningService(settings: ["web-client.enabled=false"])
            #expect(try post(Self.declaration, Self.item, to: closed).status == 404)
        }
    }

    @Test("A draft is compiled at a lower priority than pages")
    func priority() async throws {
        try await offPool {
            let service = try RunningService(settings: ["limits.writes-per-address=1000000"])
            let fields = (0..<200).map { "      f\($0): text" }.joined(separator: "\n")
            let draft = """
                kinds:
                  story:
                    fields:
                \(fields)
                    cells: {collection: {identifier: C, size: 300x100, bind: {title: {text: f1}}}}
                """
            let threads = "/proc/\(service.process.identifier)/task"
            let isOver = Atomic(false)
            // The thread reads the service's address, which is constant.
            nonisolated(unsafe) let receiver = service
            let sender = Thread {
                while !isOver.load(ordering: .relaxed) { _ = try? post(draft, #"{"kind":"story","id":"s"}"#, to: receiver) }
            }
            sender.start()
            defer { isOver.store(true, ordering: .relaxed) }
            func nices() throws -> [Int] {
                try FileManager.default.contentsOfDirectory(atPath: threads).compactMap { thread in
                    let stat = try? String(contentsOfFile: "\(threads)/\(thread)/stat", encoding: .utf8)
                    return stat?.split(separator: ")").last?.split(separator: " ").dropFirst(16).first.flatMap { Int($0) }
                }
            }
            let limit = ContinuousClock.now + .seconds(30)
            while try !nices().contains(10), ContinuousClock.now < limit {}
            #expect(ContinuousClock.now < limit)
        }
    }
}
