import Testing

@testable import IntertwineFeed

@Suite("Numbers of items")
struct NumberTests {
    private let kind = KindDeclaration(
        name: "thing", fields: [FieldDeclaration("n", .number, isRequired: true)],
        cells: [.collection: [CellDeclaration("Thing", size: .row(height: 1), bindings: [BindingDeclaration("n", .number, "n")])]])

    private func item(_ number: String) -> String { #"{"kind":"thing","id":"a","n":\#(number)}"# }

    @Test(
        "Equal numbers have one spelling in the store and in cells",
        arguments: [
            (["0", "-0", "0.0", "-0.0e5"], "0"), (["12", "12.0", "1.2e1", "120e-1", "12E+0"], "12"), (["0", "-0.0", "1e-400"], "0"),
            (["1000", "1e3", "1E3"], "1000"), (["12.5", "125e-1"], "12.5"),
            (["9007199254740992", "9007199254740992.0"], "9007199254740992"), (["1e16", "10000000000000000"], "10000000000000000"),
            (["1e20", "100000000000000000000", "100000000000000000000.0"], "100000000000000000000"),
            (["-1e19", "-10000000000000000000"], "-10000000000000000000"), (["1e21", "1000000000000000000000"], "1e+21"),
        ])
    func canonical(texts: [String], expected: String) async throws {
        for text in texts {
            let stored = try KindFixture.item(DeclaredKind(kind), at: 0, item(text))
            #expect(String(decoding: stored.body, as: UTF8.self) == #"{"n":\#(expected)}"#, "\(text)")
            let page = try await KindFixture.fixture(kind, items: [item(text)]).page()
            #expect(String(decoding: page.json(), as: UTF8.self).contains(#""n":{"type":"number","number":\#(expected)}"#), "\(text)")
        }
    }

    @Test("A number beyond the range of a double is refused")
    func tooLarge() throws {
        let kind = try DeclaredKind(kind)
        #expect(throws: ItemError(field: "n", reason: "is too large", code: .outOfRange)) {
            try KindFixture.item(kind, at: 0, item("1e309"))
        }
    }

    @Test(
        "An id may be any spelling of a whole number without loss",
        arguments: [
            ("11", "11"), ("11.0", "11"), ("1e3", "1000"), ("1.5E1", "15"), ("10e-1", "1"), ("-0", "0"), ("-0.0", "0"), ("-0e0", "0"),
            ("-7.0", "-7"), ("9007199254740993", "9007199254740993"), ("9e15", "9000000000000000"),
            ("1e16", nil), ("1e400", nil), ("1.5", nil), ("15e-1", nil), ("+5", nil), ("0x10", nil), ("1_000", nil), ("007", nil),
            (".5e1", nil),
        ] as [(String, String?)])
    func identifiers(text: String, expected: String?) throws {
        let fields = try ItemFields(Array(#"{"id":\#(text)}"#.utf8), isLenient: true)
        let id = try? fields.optionalIdentifier("id", limit: 64)
        #expect(id.map { String(decoding: $0, as: UTF8.self) } == expected)
    }

    @Test(
        "What is no number costs the field if it is not required and invalid values are left out",
        arguments: [FieldType.number, .text, .date, .url, .image, .boolean, .tags])
    func absent(type: FieldType) throws {
        let kind = try DeclaredKind(
            KindDeclaration(
                name: "thing", fields: [FieldDeclaration("n", type)],
                cells: [.collection: [CellDeclaration("Thing", size: .row(height: 1), bindings: [])]]))
        for number in ["+5", "1e400", "-1e400", "0x1F", "1_000", "007", "1.", ".5", "-", "1e", "--1", "NaN"] {
            let fields = try ItemFields(Array(#"{"kind":"thing","id":1e1,"n":\#(number)}"#.utf8), isLenient: true)
            var omitted: [ItemError] = []
            let item = try kind.validate(fields, leavingOut: { omitted.append($0) })
            #expect(item.id == "10" && omitted.map(\.field) == ["n"], "\(number)")
            #expect(throws: ItemError.self) { try kind.validate(fields) }
        }
    }

    @Test(
        "Texts show a number in its format, with the separators of the language",
        arguments: [
            (NumberFormat(decimals: 2, unit: "€"), "1234.5", "en", "1,234.50\u{A0}€"),
            (NumberFormat(decimals: 2, unit: "€"), "1234.5", "de-AT", "1.234,50\u{A0}€"),
            (NumberFormat(decimals: 0, factor: 1.0 / 60, unit: "min"), "1800", "en", "30\u{A0}min"),
            (NumberFormat(), "1234567.1250", "fr", "1\u{202F}234\u{202F}567,125"), (NumberFormat(), "-0.5", "en", "-0.5"),
            (NumberFormat(decimals: 0), "-0.4", "en", "0"), (NumberFormat(decimals: 1), "0.04", "en", "0.0"),
            (NumberFormat(decimals: 2), "1e20", "en", "1e20"),
        ])
    func formats(format: NumberFormat, value: String, language: String, expected: String) {
        #expect(format.text(of: value, in: FeedLanguages([language]).all.first) == expected)
    }

    @Test("A text and a template have the formatted number, and a number and a condition the plain one")
    func formatted() async throws {
        var price = FieldDeclaration("price", .number, isRequired: true)
        price.format = NumberFormat(decimals: 2, unit: "€")
        let kind = KindDeclaration(
            name: "thing", fields: [price, FieldDeclaration("sound", .url)],
            cells: [
                .collection: [
                    CellDeclaration(
                        "Thing", size: .row(height: 1), conditions: [FieldCondition("price", .between(minimum: 1000, maximum: nil))],
                        bindings: [
                            BindingDeclaration("text", .text, "price"), BindingDeclaration("from", .text, "from {{price}}"),
                            BindingDeclaration("number", .number, "price"), BindingDeclaration("sound", .media, "sound"),
                        ])
                ]
            ])
        let item = #"{"kind":"thing","id":"a","price":1234.5,"sound":"https://example.com/a.mp3"}"#
        let text = String(decoding: try await KindFixture.fixture(kind, items: [item]).page().json(), as: UTF8.self)
        #expect(text.contains(#""text":{"type":"text","text":"1,234.50\#u{A0}€"},"from":{"type":"text","text":"from 1,234.50\#u{A0}€"}"#))
        #expect(text.contains(#""number":{"type":"number","number":1234.5},"sound":{"type":"media","href":"https://example.com/a.mp3"}"#))
        #expect(throws: KindError.self) {
            var text = FieldDeclaration("text", .text)
            text.format = NumberFormat()
            _ = try DeclaredKind(KindDeclaration(name: "thing", fields: [text], cells: kind.cells))
        }
    }
}
