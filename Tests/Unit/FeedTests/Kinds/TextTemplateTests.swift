import TestSupport
import Testing

@testable import IntertwineFeed

@Suite("Templates of declared kinds")
struct TextTemplateTests {
    static let known: [(name: String, reference: FieldReference)] = [
        ("id", .id), ("a", .field(FieldDeclaration("a", .text))), ("b", .field(FieldDeclaration("b", .boolean))),
        ("counts.n", .field(FieldDeclaration("counts.n", .number))),
    ]

    static func values() throws -> FieldValues {
        try FieldValues(FeedItem(kind: "k", id: "i<1>", variant: "", position: 1, body: Array(#"{"a":"x & y","b":false}"#.utf8)))
    }

    @Test(
        "Templates combine fields",
        arguments: [
            ("{{a}}-{{id}}", "x & y-i<1>"), ("{{{a}}} {{& id }}", "x & y i<1>"), ("{{#a}}[{{.}}]{{/a}}", "[x & y]"),
            ("{{^a}}none{{/a}}", ""),
            ("{{^b}}not{{/b}}{{#b}}yes{{/b}}", "not"), ("{{! a comment }}{{a}}", "x & y"), ("plain", "plain"),
            ("{{#a}}{{id}}{{/a}}", "i<1>"),
            ("a { b } {{id}} }}", "a { b } i<1> }}"),
            ("{{counts.n}}{{#counts.n}} of {{.}}{{/counts.n}}{{^counts.n}} none{{/counts.n}}", "0 none"),
        ])
    func renders(template: String, text: String) throws {
        #expect(try TextTemplate(template, for: .text, reading: Self.known).text(of: Self.values()) == text)
    }

    @Test(
        "Templates with unsupported tags or unknown fields are refused",
        arguments: [
            ("{{name}}", "unknown field 'name'"), ("{{a", "not closed"), ("{{{a}}", "not closed"), ("{{#a}}", "not closed"),
            ("{{/a}}", "closes no"),
            ("{{#a}}{{/b}}", "closes no"), ("{{>partial}}", "not a field"), ("{{<p}}{{/p}}", "not a field"), ("{{=<% %>=}}", "not a field"),
            ("{{%CONTENT_TYPE:HTML}}", "not a field"), ("{{$a}}{{/a}}", "not a field"), ("{{.}}", "unknown field '.'"),
            ("{{}}", "not a field"),
            ("{{uppercased(a)}}", "not a field"), ("{{a b}}", "not a field"), ("{{a.b}}", "unknown field 'a.b'"),
            (String(repeating: "{{#a}}", count: 17) + String(repeating: "{{/a}}", count: 17), "nested"),
        ])
    func refuses(template: String, words: String) {
        let fault = #expect(throws: KindError.self) { try TextTemplate(template, for: .text, reading: Self.known) }
        #expect(fault?.reason.contains(words) == true, "\(fault?.reason ?? "")")
    }

    @Test("Templates render every combination of missing and Boolean fields")
    func cases() throws {
        let known: [(name: String, reference: FieldReference)] = [
            ("a", .field(FieldDeclaration("a", .text))), ("b", .field(FieldDeclaration("b", .boolean))),
            ("c", .field(FieldDeclaration("c", .text, isRequired: true))),
        ]
        let template = try TextTemplate(
            "{{#a}}a={{a}} {{/a}}{{^a}}no a {{/a}}{{#b}}b{{/b}}{{^b}}not b{{/b}} {{b}} {{#c}}{{#a}}{{c}}{{/a}}{{/c}}", for: .text,
            reading: known)
        for a in [nil, "{{c}}"] {
            for b in [nil, true, false] {
                let members = [a.map { #""a":"\#($0)""# }, b.map { #""b":\#($0)"# }, #""c":"x""#].compactMap { $0 }.joined(separator: ",")
                let values = try FieldValues(FeedItem(kind: "k", id: "i", variant: "", position: 1, body: Array("{\(members)}".utf8)))
                let expected =
                    (a.map { "a=\($0) " } ?? "no a ") + (b == true ? "b" : "not b") + " \(b.map { "\($0)" } ?? "") \(a == nil ? "" : "x")"
                #expect(try template.text(of: values) == expected)
            }
        }
    }

    @Test("Templates have a limit of cases and refuse internal markers")
    func bounds() throws {
        func known(_ count: Int) -> [(name: String, reference: FieldReference)] {
            (0..<count).map { ("f\($0)", .field(FieldDeclaration("f\($0)", .text))) }
        }
        func text(_ count: Int) -> String { (0..<count).map { "{{f\($0)}}" }.joined() }
        _ = try TextTemplate(text(8), for: .text, reading: known(8))
        #expect(throws: KindError.self) { try TextTemplate(text(9), for: .text, reading: known(9)) }
        #expect(throws: KindError.self) { try TextTemplate("\u{F0000}", for: .text, reading: known(1)) }
    }

    @Test(
        "A link template requires a complete fixed host",
        arguments: [
            ("{{a}}", false), ("https://{{a}}/", false), ("https://host{{a}}/", false), ("https://host/{{a}}", true),
            ("javascript:{{a}}", false),
            ("http://host?{{a}}", true), ("https://host.example", false), ("https://u@host/{{a}}", false), ("HTTPS://host#{{id}}", true),
            ("https://host/{{a}} é", true), ("https://host/{{a}}<", true), ("https://hö.example/{{#b}} {{/b}}{{a}}", true),
            ("https://host/{{a}}" + String(repeating: "x", count: ItemURL.limit), false), ("https://host/{{a}}?b=%20", true),
            ("https:///{{a}}", false), ("https://host:99999/{{a}}", false), ("//host/{{a}}", false), ("{{! c }}https://host/{{a}}", false),
        ])
    func links(template: String, isAllowed: Bool) throws {
        if isAllowed {
            let href = try LinkTemplate(template, reading: Self.known).href(of: Self.values())
            #expect(ItemURL.error(in: Array(href.utf8)[...]) == nil)
        } else {
            #expect(throws: KindError.self) { try LinkTemplate(template, reading: Self.known) }
        }
    }

    @Test("Arbitrary template text never causes a trap", arguments: 0..<4)
    func fuzz(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let pieces = [
            "{{", "}}", "{", "}", "#", "^", "/", "!", "&", ">", "<", "$", "=", "%", "a", "b", "id", ".", " ", "\n", "\r\n", "\t", "{{a}}",
            "{{#a}}",
            "{{/a}}", "{{^b}}", "{{/b}}", "{{!", "é", "🏳️‍🌈", "\u{0}", "(", ")", "*", "{{{id}}}",
        ]
        var accepted = 0
        for _ in 0..<5_000 {
            let template = (0..<Int.random(in: 0...12, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            guard let compiled = try? TextTemplate(template, for: .text, reading: Self.known) else { continue }
            accepted += 1
            _ = try compiled.text(of: Self.values())
        }
        #expect(accepted > 100)
    }
}
