import Foundation
import HTTPTypes
import Testing

@testable import IntertwineFeed
@testable import IntertwineImages
@testable import IntertwinePrimitives
@testable import IntertwineService
@testable import IntertwineStorage

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

    @Test("A source in a file may convert, choose, join and fill in values, leave out objects, and count pages")
    func mappings() async throws {
        let text = """
            sources:
              people:
                url: https://api.example.com/people
                kind: user
                key: id
                next: {page: p, first: 0, pages: /total}
                where: {status: [active, new], /tags: {not: robot}, /image/src: {present: true}}
                fields:
                  id: {from: [key, /meta/id]}
                  username: {from: /names, each: /full, join: " ", as: text}
                  avatarUrl: {template: "https://cdn.example.com/{{/image/src}}"}
                  backgroundUrl: [cover, /image/large]
                  backgroundAlt: {from: taken, as: date, zone: Europe/Berlin}
                  type: {from: price, as: number, decimal: ","}
            """
        let source = try #require(try await Self.sources(text).first)
        #expect(source.key == "id")
        #expect(source.next == .page(parameter: "p", first: 0, last: nil, pages: JSONPointer("/total")))
        #expect(
            source.conditions == [
                SourceCondition(JSONPointer(member: "status"), .anyOf(["active", "new"])),
                SourceCondition(try #require(JSONPointer("/tags")), .noneOf(["robot"])),
                SourceCondition(try #require(JSONPointer("/image/src")), .present(true)),
            ])
        var names = FieldMapping.Origin(.first([try #require(JSONPointer("/names"))]), as: .text)
        names.parts = .joined(each: JSONPointer("/full"), by: " ")
        #expect(
            source.fields
                == FieldMapping([
                    ("id", FieldMapping.Origin(.first([JSONPointer(member: "key"), try #require(JSONPointer("/meta/id"))]))),
                    ("username", names),
                    ("avatarUrl", FieldMapping.Origin(.template(try #require(SourceTemplate("https://cdn.example.com/{{/image/src}}"))))),
                    (
                        "backgroundUrl",
                        FieldMapping.Origin(.first([JSONPointer(member: "cover"), try #require(JSONPointer("/image/large"))]))
                    ),
                    ("backgroundAlt", FieldMapping.Origin(.first([JSONPointer(member: "taken")]), as: .date(zone: .init("Europe/Berlin")))),
                    ("type", FieldMapping.Origin(.first([JSONPointer(member: "price")]), as: .number(decimal: ","))),
                ]))
    }

    @Test(
        "A mapping or a pagination that says nothing is an error",
        arguments: [
            ("fields", "{username: {as: text}}", "one of from, value and template"),
            ("fields", "{username: {from: a, value: b}}", "one of from, value and template"),
            ("fields", "{username: {from: a, as: html}}", "text, number, date"),
            ("fields", "{username: {from: a, as: text, zone: UTC}}", "zone belongs to as: date"),
            ("fields", "{username: {from: a, as: date, zone: Mars/Base}}", "Europe/Berlin"),
            ("fields", "{username: {from: a, as: text, decimal: '.'}}", "decimal belongs to as: number"),
            ("fields", "{username: {from: a, decimal: '.'}}", "decimal belongs to as: number"),
            ("fields", "{username: {from: a, as: number, decimal: ';'}}", "a comma or a full stop"),
            ("fields", "{username: {value: a, decimal: '.'}}", "belong to from"), ("key", "[a]", "the member of an item"),
            ("key", "''", "the member of an item"),
            ("fields", "{username: {from: a, join: b, split: c}}", "join is for a list"),
            ("fields", "{username: {from: a, split: b, each: c}}", "split is for a text"),
            ("fields", "{avatarUrl: {template: \"https://{{host}}/\"}}", "a URL has its host"),
            ("fields", "{username: {value: a, join: b}}", "belong to from"),
            ("where", "{a: {}}", "a condition is"), ("where", "{a: {not: b, present: true}}", "a condition is"),
            ("where", "{/a~3: b}", "JSON Pointer"),
            ("next", "{page: p, first: -1}", "a whole number"), ("next", "{page: p, total: /t}", "next is one of"),
            ("next", "{page: p, last: /l, pages: /p}", "next is one of"),
            ("next", "{offset: o, last: /l}", "next is one of"), ("next", "{first: 1}", "next is one of"),
        ])
    func invalidMappings(key: String, value: String, reason: String) async throws {
        let text = "sources: {people: {url: https://api.example.com/, kind: user, \(key): \(value)}}"
        do {
            _ = try await Self.sources(text)
            Issue.record("\(text)")
        } catch let error as ConfigurationError {
            #expect("\(error)".contains(reason), "\(error)")
        }
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
              more:
                url: http://ads.example.com/more
                kind: ad
                next: {after: /id, parameter: starting_after}
            """
        let sources = try await Self.sources(text)
        let people = try #require(sources.first)
        #expect(sources.map(\.name) == ["people", "ads", "more"])
        #expect(people.shownURL == "https://api.example.com/people?…")
        #expect(people.kind.name == "user" && people.interval == .seconds(30) && people.items.description == "/data/people")
        #expect(sources.last?.next == .after(try #require(JSONPointer("/id")), parameter: "starting_after"))
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
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../../../Config/sources.yaml")
            .path
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

    @Test("The first fault prevents the start, and its message has one line with the place, the key and what is allowed")
    func sentence() async throws {
        let error = await #expect(throws: ConfigurationError.self) {
            try await Self.sources("sources:\n  people:\n    url: https://a.example\n    kind: dog\n")
        }
        #expect(error?.description == "sources.yaml:4:5: 'dog' is not allowed; allowed: ad, user")
    }

    @Test("Each fault is reported with its line and name")
    func faults() async throws {
        let url = "url: https://a.example"
        let user = "\(url)\n    kind: user"
        let fields = "\(user)\n    fields:\n      username: a\n      "
        for (declaration, line, name) in [
            (url, 2, "kind"), ("kind: user", 2, "url"), ("url: ftp://a.example\n    kind: user", 3, "'ftp://a.example'"),
            ("url: http://127.0.0.1/\n    kind: user", 3, "127.0.0.1"), ("url: http://a.example:99/\n    kind: user", 3, "99"),
            ("\(user)\n    evry: 1s", 5, "'evry'"), ("\(user)\n    every: 10", 5, "'10'"), ("\(user)\n    items: data", 5, "'data'"),
            ("\(user)\n    next: page", 5, "link"), ("\(user)\n    next: {cursor: /a}", 5, "next"),
            ("\(user)\n    next: {after: /a}", 5, "next"), ("\(user)\n    next: {after: /a, cursor: /b, parameter: c}", 5, "next"),
            ("\(user)\n    fields: {}", 5, "fields"), ("\(user)\n    fields: {id: /a~}", 5, "'/a~'"),
            ("\(fields)avatarUrl: b\n      tpye: {value: regular}", 8, "'tpye'"),
            ("\(fields)avatarUrl: b\n      type: {value: regulr}", 8, "\"regulr\""),
            ("\(fields)avatarUrl: {value: b}\n      type: c", 7, "avatarUrl"), ("\(fields)type: {value: regular}", 5, "'avatarUrl'"),
            ("\(url)\n    kind: ad\n    fields: {contentUrl: a, clickthroughUrl: b, type: c}", 5, "'id'"),
            ("\(user)\n    headers: {A b: x}", 5, "'A b'"), ("\(user)\n    headers: {Host: x}", 5, "Host"),
            ("\(user)\n    headers: {X: {env: NOPE}}", 5, "NOPE"), ("\(user)\n    headers: {X: {env: INTERTWINE_X}}", 5, "INTERTWINE_"),
            ("\(user)\n    headers: {X: {file: /nonexistent/key}}", 5, "/nonexistent/key"),
            ("\(user)\n    headers: {X: \"a\\r\\nb\"}", 5, "X"), ("\(user)\n    removable: 2", 5, "0 to 1"),
            ("\(user)\n    max-pages: 0", 5, "'0'"), ("\(user)\n    on-error: ignore", 5, "'ignore'"),
        ] {
            do {
                _ = try await Self.sources("sources:\n  people:\n    \(declaration)\n")
                Issue.record("accepted: \(declaration)")
            } catch {
                let text = "\(error)"
                #expect(text.hasPrefix("sources.yaml:\(line):") && text.contains(name) && !text.contains("\n"), "\(text)")
            }
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
        #expect(fault("event", "{id: a, type: b, title: b}") == "f:5:5: field 'signup' is missing: every item of the kind event has one")
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
