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
}
