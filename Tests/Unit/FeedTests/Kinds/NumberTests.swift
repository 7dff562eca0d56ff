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
            (["0", "-0", "0.0", "-0.0e5"], "0"), (["12", "12.0", "1.2e1", "120e-1"], "12"), (["12.5", "125e-1"], "12.5"),
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
