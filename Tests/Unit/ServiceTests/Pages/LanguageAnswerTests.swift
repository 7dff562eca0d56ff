import Foundation
import IntertwineTesting
import TestSupport
import Testing

@testable import IntertwineService

@Suite("Responses in the viewer's language")
struct LanguageAnswerTests {
    private static let kinds = """
        languages: [en, de, pt-BR]
        labels: {dismissal: {en: Hide, de: Ausblenden}, like: Like}
        alt: {advertisement: {en: An advertisement, de: Anzeige}}
        kinds:
          story:
            fields:
              title: {type: text, required: true, languages: true}
              starts: date
            cells:
              collection:
                identifier: StoryCell
                size: 300x50
                bind: {title: {text: title}, line: {text: {en: "Read {{title}}", de: "Lies {{title}}"}}, starts: {date: starts}}
            presentation: {screen: Story, type: push, arguments: {title: {text: title}}}
            actions:
              selection: [analytics, save, present]
              dismissal: [analytics, dismiss]
              like: [analytics]
              share: {commands: [analytics], label: {en: Share, de: Teilen}}
        sections:
          stories: {title: {en: Stories, de: Geschichten}, kinds: [story]}
        feeds:
          main: {title: {en: Home, de: Start}, sections: [stories, main]}
        """
    private static let items = """
        {"kind":"story","id":"1","title":{"en":"Swing","de":"Schwung"},"starts":"2026-05-01"}
        {"kind":"story","id":"2","title":"Jazz"}

        """

    private static func run(_ settings: [String: String] = [:], _ body: @escaping @Sendable (TestService) throws -> Void) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-languages-\(UUID()).yaml").path
        try kinds.write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let settings = settings.merging(["kinds.file": file]) { $1 }
        try await TestService.run(.socket, items: items + sampleItems(users: 3), settings: settings) { service in
            try await offPool { try body(service) }
        }
    }

    @Test("Pages use the preferred language, declare it, and are cached separately per language", arguments: ["0", "32MiB"])
    func pages(cache: String) async throws {
        try await Self.run(["feed.page-cache": cache]) { service in
            let paths = ["/feed", "/feed?limit=3", "/feed?changes=true", "/feeds/main", "/feeds/main/sections/stories", "/cells/story:1"]
            let ways = [[], ["Accept-Encoding: br"], ["X-Viewer-ID: ann"]]
            for _ in 0..<2 {
                for path in paths {
                    for way in ways {
                        let german = try service.get(path, fields: ["Accept-Language: fr, de-AT;q=0.8, en;q=0.2"] + way)
                        let english = try service.get(path, fields: way)
                        #expect(german["content-language"] == "de" && german.text.contains("Lies Schwung"), "\(path) \(way)")
                        #expect(english["content-language"] == "en" && english.text.contains("Read Swing"), "\(path) \(way)")
                        #expect(german.text.contains(#""date":"2026-05-01""#) && german["etag"] != english["etag"])
                        for answer in [german, english] {
                            #expect(answer["vary"]?.contains("X-Viewer-Language, Accept-Language") == true)
                        }
                        // The viewer's language field has priority over Accept-Language.
                        let told = try service.get(path, fields: ["X-Viewer-Language: de", "Accept-Language: en"] + way)
                        #expect(told.text.contains("Lies Schwung"))
                        let unknown = try service.get(path, fields: ["X-Viewer-Language: xx", "Accept-Language: de"] + way)
                        #expect(unknown.text.contains("Lies Schwung"))
                        // A language without texts uses those of the first declared language.
                        let portuguese = try service.get(path, fields: ["Accept-Language: pt-br"] + way)
                        #expect(portuguese["content-language"] == "pt-BR" && portuguese.text.contains("Read Swing"))
                    }
                }
            }
            let page = try service.get("/feed", fields: ["Accept-Language: de"])
            #expect(page.text.contains(#""title":{"type":"text","text":"Geschichten"}"#) && page.text.contains("Lies Jazz"))
            let feeds = try service.get("/feeds", fields: ["Accept-Language: de"])
            #expect(feeds["content-language"] == "de" && feeds["vary"]?.contains("Accept-Language") == true)
            #expect(feeds.text.contains(#""title":"Start""#) && feeds.text.contains(#""title":"Geschichten""#))
            #expect(try service.get("/feeds").text.contains(#""title":"Home""#))
        }
    }

    @Test("The page cache has at most one entry per declared language")
    func bounded() async throws {
        try await Self.run { service in
            for number in 0..<20 {
                _ = try service.get("/feed", fields: ["Accept-Language: x\(number)-en, q\(number);q=0.\(number), en-\(number)"])
                _ = try service.get("/feed", fields: ["X-Viewer-Language: zz-\(number)"])
            }
            #expect(try service.metric("intertwine_feed_page_cache_entries") == 1)
            _ = try service.get("/feed", fields: ["Accept-Language: de"])
            #expect(try service.metric("intertwine_feed_page_cache_entries") == 2)
        }
    }

    @Test("A sync token in another language returns the cells as reconfigured")
    func changes() async throws {
        try await Self.run { service in
            let page = try service.get("/feed?changes=true", fields: ["Accept-Language: de"])
            let match = try #require(page.text.firstMatch(of: try Regex(#""syncToken":"([^"]+)""#)))
            let path = "/feed/changes?syncToken=\(try #require(match.output[1].substring))"
            let same = try service.get(path, fields: ["Accept-Language: de"])
            #expect(same["content-language"] == "de" && same.text.contains(#""reconfigured":[]"#))
            let other = try service.get(path, fields: ["Accept-Language: en"])
            #expect(other["content-language"] == "en" && other.text.contains("Read Swing") && other.text.contains(#""removed":[]"#))
        }
    }

    @Test("Declared action labels are in the viewer's language for all kinds of items")
    func labels() async throws {
        try await Self.run { service in
            let german = try service.get("/feed", fields: ["Accept-Language: de", "X-Viewer-ID: ann"]).text
            for cell in ["story:1", "user:1", "ad:1"] {
                #expect(german.contains(#""href":"/cells/\#(cell)/dismissal","label":"Ausblenden"}"#), "\(cell)")
            }
            #expect(german.contains(#""href":"/cells/story:1/share","label":"Teilen"}"#))
            #expect(german.contains(#""href":"/cells/story:1/like","label":"Like"}"#))
            #expect(german.contains(#""href":"/cells/user:1/selection"}"#))
            let english = try service.get("/feed", fields: ["X-Viewer-ID: ann"]).text
            #expect(english.contains(#""label":"Hide"}"#) && english.contains(#""label":"Share"}"#))
            #expect(german.contains(#""alt":"Anzeige""#) && english.contains(#""alt":"An advertisement""#))
        }
    }

    @Test("Viewer lists, selections and states use the request's language; repeated responses use the first language")
    func lists() async throws {
        try await Self.run { service in
            let (german, english) = (["X-Viewer-ID: ann", "Accept-Language: de"], ["X-Viewer-ID: ann", "Accept-Language: en"])
            let path = "/cells/story:1/selection"
            let simulated = try service.ask("POST", path + "?dryRun=true", fields: english)
            #expect(simulated["content-language"] == nil && simulated.status == 200, "nothing is shown of it")
            let performed = try service.ask("POST", path, fields: german + ["Idempotency-Key: k"])
            let repeated = try service.ask("POST", path, fields: english + ["Idempotency-Key: k"])
            for answer in [performed, repeated] {
                #expect(answer["content-language"] == "de" && answer.text.contains("Schwung"), "\(answer.text)")
            }
            let other = try service.ask("POST", path, fields: english)
            #expect(other["content-language"] == "en" && other.text.contains(#""Swing""#))
            let dismissed = try service.ask("POST", "/cells/story:2/dismissal", fields: german)
            #expect(dismissed.status == 200 && dismissed["content-language"] == nil)

            for (list, texts) in [("/saved", ["Lies Schwung", "Read Swing"]), ("/dismissed", ["Lies Jazz", "Read Jazz"])] {
                let answers = try [german, english].map { try service.get(list, fields: $0) }
                for (answer, (text, tag)) in zip(answers, zip(texts, ["de", "en"])) {
                    #expect(answer["content-language"] == tag && answer.text.contains(text), "\(list) \(answer.text)")
                    #expect(answer["vary"]?.contains("Accept-Language") == true)
                }
                #expect(answers[0]["etag"] != answers[1]["etag"])
            }
            for (fields, text) in [(german, "Lies Schwung"), (english, "Read Swing")] {
                for path in ["/feed", "/saved", "/cells/story:1"] {
                    let shown = try service.get(path, fields: fields).text
                    #expect(shown.contains(text) && shown.contains(#""state":{"saved":true,"selected":true}"#), "\(path) \(shown)")
                }
            }
        }
    }

    @Test("Live changes arrive in the language of each listener's list")
    func live() async throws {
        try await Self.run { service in
            let listeners = try ["de", "en"].map { tag in
                let fields = ["Accept-Language: \(tag)"]
                let page = try service.get("/feed?changes=true", fields: fields)
                let match = try #require(page.text.firstMatch(of: try Regex(#""syncToken":"([^"]+)""#)))
                let path = "/feed/changes?syncToken=\(try #require(match.output[1].substring))"
                let client = try service.begin(path, fields: fields + ["Accept: text/event-stream"])
                let head = try Self.text(of: client, until: "retry:")
                #expect(head.contains("Content-Language: \(tag)\r\n"), "\(head)")
                return client
            }
            let item = #"{"kind":"story","id":"1","title":{"en":"News","de":"Neues"}}"#
            let answer = try service.admin("POST", "/admin/operations", body: #"{"operations": [{"update": \#(item)}]}"#)
            #expect(answer.status == 200, "\(answer.text)")
            for (client, text) in zip(listeners, ["Lies Neues", "Read News"]) {
                let told = try Self.text(of: client, until: text)
                #expect(told.contains(text) && told.contains("event: changes"), "\(told)")
            }
        }
    }

    /// Reads until the text contains the end, for at most half a minute.
    private static func text(of client: RawClient, until end: String) throws -> String {
        let limit = ContinuousClock.now + .seconds(30)
        var text = ""
        while !text.contains(end), ContinuousClock.now < limit, let bytes = try client.bytes(within: 1_000) {
            text += String(decoding: bytes, as: UTF8.self)
        }
        return text
    }

    @Test("Without declared languages, responses ignore the language of the request")
    func none() async throws {
        try await TestService.run(.socket, items: sampleItems(users: 3)) { service in
            try await offPool {
                for path in ["/feed", "/feeds", "/cells/user:1"] {
                    let plain = try service.get(path)
                    let asked = try service.get(path, fields: ["Accept-Language: de", "X-Viewer-Language: de"])
                    #expect(plain.text == asked.text && plain["etag"] == asked["etag"] && plain["vary"] == asked["vary"])
                    #expect(asked["content-language"] == nil && plain["vary"]?.contains("Language") != true)
                }
            }
        }
    }
}
