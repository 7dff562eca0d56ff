import Foundation
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwinePrimitives

@Suite("JSON Schemas of kinds")
struct ItemSchemaTests {
    static let kinds: [any ItemKind] = {
        let declared = [KindFixture.person, KindFixture.event].compactMap { try? DeclaredKind($0) }
        return [UserKind(), AdvertisementKind()] + declared
    }()

    static let strings = [
        "", "a", ".", "..", "...", "regular", "featured", "image", "user", "event", "é", "🏳️‍🌈", String(repeating: "x", count: 80),
        String(repeating: "é", count: 81),
        String(repeating: "x", count: 513), "a\u{0}b", "line\nbreak", "a\u{1F}", "\u{7F}", "\u{80}", "1", "https://a.example/b.png",
        "http://a", "HTTPS://A:65535?x#y",
        "https://a:/", "https://a:00080/", "https://[::1]/", "https://u@a/",
        "https://a/@u",
        "https://a/\"", "https://a/é", "https:///x", "ftp://a/", "//a/", "https://a\\b/", "https://a/\n", "/a", "a/b", " https://ä.example",
        "https://a/" + String(repeating: "p", count: 2_040), "https://a/" + String(repeating: "p", count: 7_991), "https://a/[x]{y}|z^`~",
        "2026-05-01", "2026-02-29", "2024-02-29",
        "2000-02-29",
        "1900-02-29", "0000-02-29", "2026-04-31", "2026-13-01", "2026-5-1", "2026-05-01T19:00:00Z", "2026-05-01T24:00:00Z",
        "2026-05-01T19:00:60Z", "2026-05-01T19:00:00.123+23:59", "2026-05-01T19:00:00.-01:00", "2026-05-01t19:00:00z", "2026-05-01T19:00Z",
        "2026-05-01T19:00:00", "2026-05-01T19:00:00+24:00", "2026-05-01\n",
    ]
    static let literals = [
        "null", "true", "false", "0", "-0", "1.0", "1", "7", "999.5", "1000", "1000.01", "-1", "1e2", "1e999", "[]", "{}", #"["a"]"#,
    ]

    /// An item with mostly valid fields; the other fields come from the lists above.
    static func item(_ names: [String], _ good: [String: String], _ random: inout SeededRandom) -> String {
        var members: [String] = []
        for name in names {
            var value = good[name] ?? "null"
            switch Int.random(in: 0..<20, using: &random) {
            case 0: value = literals.randomElement(using: &random) ?? value
            case 1:
                var bytes: [UInt8] = []
                bytes.append(jsonString: (strings.randomElement(using: &random) ?? "").utf8)
                value = String(decoding: bytes, as: UTF8.self)
            case 2 where Int.random(in: 0..<2, using: &random) == 0: continue
            default: break
            }
            members.append("\"\(name)\":\(value)")
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    static let good = [
        "username": #""Ann""#, "avatarUrl": #""https://a.example/1""#, "backgroundUrl": "null", "contentUrl": #""https://a.example/2""#,
        "clickthroughUrl": #""https://a.example/3""#, "title": #""Swing""#, "starts": #""2026-05-01""#,
        "image": #""https://a.example/4""#,
        "signup": #""https://a.example/5""#, "city": #""Berlin""#, "price": "12.5", "soldOut": "false", "id": "1",
    ]

    @Test("Schemas and import accept the same items", arguments: 0..<4)
    func equivalence(kind index: Int) throws {
        let kind = Self.kinds[index]
        let kinds = ItemKinds([kind])
        let schema = try SchemaValue(kind.schema())
        guard case .object(let properties)? = schema["properties"] else { throw TestFailure() }
        var random = SeededRandom(seed: UInt64(index))
        var good = Self.good
        good["kind"] = "\"\(kind.name)\""
        if case .list(let types)? = properties["type"]?["enum"], case .text(let type)? = types.first { good["type"] = "\"\(type)\"" }
        var counts = [true: 0, false: 0]
        for _ in 0..<3_000 {
            let json = Self.item(properties.keys.sorted(), good, &random)
            // JSON Schema accepts 1e2 as an integer; an id requires decimal digits.
            if json.contains(#""id":1e2"#) { continue }
            // It cannot compare two members, such as the times of a schedule.
            if json.contains("\"publishAt\":\""), json.contains("\"expireAt\":\"") { continue }
            let isValid = (try? kinds.validate(Array(json.utf8))) != nil
            counts[isValid, default: 0] += 1
            // A number beyond the range of a double is valid JSON but not a valid item; the decoder refuses it as well.
            guard let value = try? SchemaValue(json.utf8) else {
                #expect(!isValid)
                continue
            }
            #expect(value.isValid(under: schema) == isValid, "\(json)")
        }
        #expect(counts.values.allSatisfy { $0 > 300 }, "\(counts)")
    }

    @Test("A field that replaces the id must satisfy the rules of ids", arguments: [(0, "username"), (2, "username")])
    func substitutes(kind index: Int, field: String) throws {
        let kind = Self.kinds[index]
        let schema = try SchemaValue(kind.schema())
        var good = Self.good
        good["kind"] = "\"\(kind.name)\""
        if case .list(let types)? = schema["properties"]?["type"]?["enum"], case .text(let type)? = types.first {
            good["type"] = "\"\(type)\""
        }
        for (id, text, isValid) in [
            (nil, #""a\tb""#, false), ("null", #""\u007f""#, false), (#""7""#, #""a\tb""#, true), ("7", #""a\tb""#, true),
            (nil, #""a b""#, true),
        ] {
            (good["id"], good[field]) = (id, text)
            let json = "{" + good.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
            #expect(((try? ItemKinds([kind]).validate(Array(json.utf8))) != nil) == isValid, "\(json)")
            #expect(try SchemaValue(json.utf8).isValid(under: schema) == isValid, "\(json)")
        }
    }

    @Test("Every kind has a schema, including custom kinds")
    func others() throws {
        struct Plain: ItemKind {
            let name = "plain"
            let stream = StreamID.content
            func validate(_ fields: ItemFields) throws(ItemError) -> ValidatedItem { throw ItemError(reason: "never") }
        }
        for kind in Self.kinds + [Plain()] {
            let schema = try SchemaValue(kind.schema())
            #expect(schema["$schema"] == .text("https://json-schema.org/draft/2020-12/schema"))
            #expect(schema["properties"]?["kind"]?["const"] == .text(kind.name))
        }
    }

    @Test("Equal items have equal bodies, including numbers", arguments: [("12.50", "12.5"), ("1e2", "100"), ("-0", "0"), ("7.0", "7")])
    func bodies(written: String, stored: String) throws {
        let kind = try DeclaredKind(KindFixture.event)
        func body(_ price: String) throws -> [UInt8] {
            let json =
                #"{"price":\#(price),"soldOut":true,"id":1,"title":"Sw\u0069ng","starts":"2026-05-01","image":"https://a.example/","#
                + #""signup":"https://a.example/"}"#
            return try kind.validate(ItemFields(Array(json.utf8))).body
        }
        #expect(try body(written) == body(stored))
        #expect(
            try String(decoding: body(written), as: UTF8.self)
                == #"{"title":"Swing","starts":"2026-05-01","image":"https://a.example/","signup":"https://a.example/","price":\#(stored),"soldOut":true}"#
        )
    }
}
