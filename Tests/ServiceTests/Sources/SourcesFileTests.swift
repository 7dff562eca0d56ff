import Foundation
import HTTPTypes
import IntertwineFetch
import IntertwineItems
import IntertwineJSON
import IntertwineStorage
import IntertwineSync
import Testing

@testable import IntertwineDeclarations
@testable import IntertwineService

@Suite("Sources in a file")
struct SourcesFileTests {
    private static let environment = ["PEOPLE_AUTHORIZATION": "Bearer abc"]

    private static func settings() async throws -> SourceSettings {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID()).yaml").path
        try "".write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try ServiceConfiguration(try SettingSources(environment: [:], file: path)).sources
    }

    private static func sources(_ text: String) async throws -> [RemoteSource] {
        try SourcesFile(
            YAMLFile.root(of: text, from: "sources.yaml"), kinds: .standard, settings: try await settings(), environment: environment
        ).sources
    }

    @Test("A source in a file may set every property")
    func reads() async throws {
        let text = """
            sources:
              people:
                url: https://api.example.com/people?key=1
                kind: user
                every: 30s
                items: /data/people
                next: {cursor: /meta/next, parameter: after}
                fields: {id: key, username: /profile/name, avatarUrl: avatar, type: {value: featured}}
                headers: {Authorization: {env: PEOPLE_AUTHORIZATION}, Accept-Language: en}
                on-error: skip
                removable: 0.25
                max-pages: 7
                max-items: 8
                max-bytes: 9KiB
                deadline: 10s
              ads:
                url: http://ads.example.com/
                kind: ad
            """
        let sources = try await Self.sources(text)
        let people = try #require(sources.first)
        #expect(sources.map(\.name) == ["people", "ads"])
        #expect(people.shownURL == "https://api.example.com/people?…")
        #expect(people.kind.name == "user" && people.interval == .seconds(30) && people.items.description == "/data/people")
        #expect(people.next == .cursor(try #require(JSONPointer("/meta/next")), parameter: "after"))
        #expect(
            people.fields
                == FieldMapping([
                    ("id", .pointer(JSONPointer(member: "key"))), ("username", .pointer(try #require(JSONPointer("/profile/name")))),
                    ("avatarUrl", .pointer(JSONPointer(member: "avatar"))), ("type", .constant("featured")),
                ]))
        #expect(people.headers == [.authorization: "Bearer abc", .acceptLanguage: "en"])
        #expect(people.policy == .skip && people.removable == 0.25)
        #expect(people.pageLimit == 7 && people.itemLimit == 8 && people.byteLimit == 9_216 && people.deadline == .seconds(10))
        #expect(sources[1].items.isRoot && sources[1].next == .none && sources[1].fields == nil)
    }

    @Test("The shipped file shows every key with its default")
    func shipped() async throws {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../../Config/sources.yaml").path
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let source = try #require(try await Self.sources(text).first)
        // The file shows every key; the value of a commented key is its default.
        let shown = try await Self.sources(
            text.replacing("    # every:", with: "    every:").replacing("    # on-error", with: "    on-error")
                .replacing("    # removable", with: "    removable")
                .replacing("    # max-", with: "    max-").replacing("    # deadline", with: "    deadline")
        ).first
        #expect(shown?.interval == source.interval && shown?.policy == source.policy && shown?.removable == source.removable)
        #expect(shown?.pageLimit == source.pageLimit && shown?.itemLimit == source.itemLimit)
        #expect(shown?.byteLimit == source.byteLimit && shown?.deadline == source.deadline)
    }

    @Test(
        "The first fault prevents the start and is reported with line and allowed values",
        arguments: [
            ("url: https://a.example", "sources.yaml:2: kind is missing; allowed: ad, user"),
            ("kind: user", "sources.yaml:2: url is missing"),
            (
                "url: ftp://a.example\n    kind: user",
                "sources.yaml:3: 'ftp://a.example' is not allowed; allowed: an absolute http or https URL"
            ),
            (
                "url: http://127.0.0.1/\n    kind: user",
                "sources.yaml:3: http://127.0.0.1/: the address 127.0.0.1 is private or local, and denied; if it is intended, allow"
            ),
            (
                "url: http://a.example:99/\n    kind: user",
                "http://a.example:99/: the port 99 is not among sources.allowed-ports (port-denied)"
            ),
            ("url: https://a.example\n    kind: dog", "sources.yaml:4: 'dog' is not allowed; allowed: ad, user"),
            (
                "url: https://a.example\n    kind: user\n    evry: 1s",
                "sources.yaml:5: unknown key 'evry' in source 'people'; allowed: url, kind"
            ),
            (
                "url: https://a.example\n    kind: user\n    every: 10",
                "sources.yaml:5: '10' is not allowed; allowed: a number with its unit"
            ),
            ("url: https://a.example\n    kind: user\n    items: data", "'data' is not allowed; allowed: a JSON Pointer"),
            ("url: https://a.example\n    kind: user\n    next: page", "allowed: link, {url: pointer}, {cursor: pointer, parameter: name}"),
            ("url: https://a.example\n    kind: user\n    next: {cursor: /a}", "next is one of link"),
            ("url: https://a.example\n    kind: user\n    fields: {}", "fields is empty"),
            ("url: https://a.example\n    kind: user\n    fields: {id: /a~}", "'/a~' is not allowed"),
            (
                "url: https://a.example\n    kind: user\n    fields:\n      username: a\n      avatarUrl: b\n      tpye: {value: regular}",
                "sources.yaml:8: unknown field 'tpye' of the kind user; allowed: kind, id, type, username, avatarUrl, backgroundUrl"
            ),
            (
                "url: https://a.example\n    kind: user\n    fields:\n      username: a\n      avatarUrl: b\n      type: {value: regulr}",
                "sources.yaml:8: no item can have this value: type: must be one of regular, featured, is \"regulr\""
            ),
            (
                "url: https://a.example\n    kind: user\n    fields:\n      username: a\n      avatarUrl: {value: b}\n      type: c",
                "sources.yaml:7: no item can have this value: avatarUrl: "
            ),
            (
                "url: https://a.example\n    kind: user\n    fields:\n      username: a\n      type: {value: regular}",
                "sources.yaml:5: field 'avatarUrl' is missing: every item of the kind user has one"
            ),
            (
                "url: https://a.example\n    kind: ad\n    fields: {contentUrl: a, clickthroughUrl: b, type: c}",
                "sources.yaml:5: field 'id' is missing"
            ),
            ("url: https://a.example\n    kind: user\n    headers: {A b: x}", "'A b' is not allowed; allowed: a header field's name"),
            ("url: https://a.example\n    kind: user\n    headers: {Host: x}", "Host is set by the service itself"),
            (
                "url: https://a.example\n    kind: user\n    headers: {X: {env: NOPE}}",
                "sources.yaml:5: the environment variable NOPE is not set"
            ),
            ("url: https://a.example\n    kind: user\n    headers: {X: {env: INTERTWINE_X}}", "must not begin with INTERTWINE_"),
            ("url: https://a.example\n    kind: user\n    headers: {X: {file: /nonexistent/key}}", "/nonexistent/key cannot be read"),
            ("url: https://a.example\n    kind: user\n    headers: {X: \"a\\r\\nb\"}", "the value of X must be 1 to 8192 visible ASCII"),
            ("url: https://a.example\n    kind: user\n    removable: 2", "allowed: a share from 0 to 1"),
            ("url: https://a.example\n    kind: user\n    max-pages: 0", "allowed: a whole number from 1 to 100000"),
            ("url: https://a.example\n    kind: user\n    on-error: ignore", "allowed: stop, skip"),
        ])
    func faults(declaration: String, expected: String) async throws {
        do {
            _ = try await Self.sources("sources:\n  people:\n    \(declaration)\n")
            Issue.record("accepted: \(declaration)")
        } catch {
            #expect("\(error)".contains(expected) && !"\(error)".contains("\n"), "\(error)")
        }
    }

    @Test("Source fields are validated against the kind, including declared kinds and kinds without fields")
    func kinds() async throws {
        let declared = try #require(try KindsFileTests.file(KindsFileTests.event).kinds.first)
        let kinds = ItemKinds.standard.adding([declared, Untold()])
        let settings = try await Self.settings()
        func fault(_ kind: String, _ fields: String) -> String? {
            let text = "sources:\n  s:\n    url: https://a.example\n    kind: \(kind)\n    fields: \(fields)\n"
            do {
                _ = try SourcesFile(YAMLFile.root(of: text, from: "f"), kinds: kinds, settings: settings, environment: [:])
                return nil
            } catch {
                return "\(error)"
            }
        }
        #expect(fault("event", "{kind: k, id: a, type: {value: talk}, title: b, signup: c, price: d}") == nil)
        #expect(
            fault("event", "{id: a, type: b, title: b, signup: c, prize: d}")?.contains(
                "unknown field 'prize' of the kind event; allowed: kind, id") == true
        )
        #expect(fault("event", "{id: a, type: {value: tlak}, title: b, signup: c}")?.contains("party, talk") == true)
        #expect(fault("event", "{id: a, type: b, title: b, signup: c, price: {value: 3}}")?.contains("price: must be a number") == true)
        #expect(fault("event", "{id: a, type: b, title: b}") == "f:5: field 'signup' is missing: every item of the kind event has one")
        #expect(fault("untold", "{anything: {value: goes}}") == nil)
    }

    private struct Untold: ItemKind {
        let name = "untold"
        let stream = StreamID.content

        func validate(_ fields: ItemFields) throws(ItemError) -> ValidatedItem { throw ItemError(reason: "never") }
    }

    @Test(
        "Invalid source names are refused", arguments: ["People", "a b", "-a", "ä", "a/b", String(repeating: "a", count: 65)])
    func names(name: String) async throws {
        await #expect(throws: ConfigurationError.self) {
            try await Self.sources("sources:\n  \"\(name)\":\n    url: https://a.example\n    kind: user\n")
        }
    }
}
