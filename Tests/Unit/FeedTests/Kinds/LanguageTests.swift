import Foundation
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwinePrimitives

@Suite("Texts by language")
struct LanguageTests {
    static let languages = FeedLanguages(["en", "de", "de-CH", "pt-BR"])
    static let kind = KindDeclaration(
        name: "story",
        fields: [
            FieldDeclaration("title", .text, isRequired: true, maximum: 10, languages: languages.tags),
            FieldDeclaration("note", .text, languages: languages.tags), FieldDeclaration("city", .text),
        ],
        cells: [
            .collection: [
                CellDeclaration(
                    "StoryCell", size: .row(height: 1),
                    bindings: [
                        BindingDeclaration("title", .text, "title"),
                        BindingDeclaration(
                            "line", .text,
                            LocalizedText([("en", "{{title}} in {{city}}"), ("de", "{{title}} aus {{city}}")]) ?? .init("title")),
                    ])
            ]
        ])

    private func language(_ wanted: String) throws -> FeedLanguage {
        try #require(Self.languages.language(for: LanguagePreferences(wanted)))
    }

    @Test(
        "A text is selected by preferred language, its base language, then the first declared language",
        arguments: [
            ("de-CH", "de-CH", "G"), ("de-AT, en", "de", "D"), ("fr, *;q=0.1", "en", "E"), ("pt-BR", "pt-BR", "E"),
            ("DE-ch-1996", "de-CH", "G"),
        ])
    func lookedUp(wanted: String, tag: String, text: String) throws {
        let language = try language(wanted)
        #expect(language.tag == tag)
        #expect(LocalizedText([("en", "E"), ("de", "D"), ("de-CH", "G")])?[language] == text)
        #expect(LocalizedText("one")[language] == "one")
        #expect(Self.languages.language(for: LanguagePreferences("fr")) == nil)
    }

    @Test("Texts are stored in language order, and schemas and import accept the same texts")
    func items() throws {
        let kind = try DeclaredKind(Self.kind)
        let schema = try SchemaValue(kind.schema())
        func stored(_ title: String) -> String? {
            let json = #"{"kind":"story","id":"1","title":\#(title)}"#
            let item = try? ItemKinds([kind]).validate(Array(json.utf8))
            #expect((try? SchemaValue(json.utf8))?.isValid(under: schema) == (item != nil), "\(json)")
            return item.map { String(decoding: $0.body, as: UTF8.self) }
        }
        #expect(stored(#""Swing""#) == #"{"title":"Swing"}"#)
        #expect(stored(#"{"de":"Schwung","en":"Swing"}"#) == #"{"title":{"en":"Swing","de":"Schwung"}}"#)
        #expect(stored(#"{"en":"x","de":null}"#) == #"{"title":{"en":"x"}}"# && stored(#"{"en":"x","de":""}"#) == #"{"title":{"en":"x"}}"#)
        for wrong in [
            "{}", #"{"fr":"x"}"#, #"{"en":1}"#, #"{"en":""}"#, #"{"EN":"x"}"#, #"{"en":"","de":null}"#, #"{"en":"12345678901"}"#,
            #"{"en":{"en":"x"}}"#, "[]",
        ] {
            #expect(stored(wrong) == nil, "\(wrong)")
        }
        #expect(throws: ItemError(field: "title.de", reason: "is longer than 10 characters", code: .tooLong, path: ["title", "de"])) {
            _ = try ItemKinds([kind]).validate(Array(#"{"kind":"story","id":"1","title":{"en":"x","de":"12345678901"}}"#.utf8))
        }
        #expect(kind.sortFields.isEmpty)
    }

    @Test("Cells and templates use the requested language and ignore undeclared languages")
    func cells() throws {
        var factories = CellFactories()
        try factories.register(DeclaredKind(Self.kind))
        let tokens = try Fixture().tokens
        func texts(_ body: String, in language: FeedLanguage?) throws -> [String] {
            var context = CellContext(links: Links(), tokens: tokens, now: 0)
            context.language = language
            let item = FeedItem(kind: "story", id: "1", variant: "", position: 0, body: Array(body.utf8))
            let viewModel = try factories.makeViewModel(for: item, in: context)
            guard case .bind(let bindings)? = viewModel.action(in: .configuration) else { return [] }
            return bindings.map { if case .text(let text) = $0.value { text } else { "" } }
        }
        let both = #"{"title":{"en":"Swing","de":"Schwung","fr":"Swing!"},"city":"Ulm"}"#
        #expect(try texts(both, in: nil) == ["Swing", "Swing in Ulm"])
        #expect(try texts(both, in: language("de-CH")) == ["Schwung", "Schwung aus Ulm"])
        #expect(try texts(both, in: language("pt-BR")) == ["Swing", "Swing in Ulm"])
        #expect(try texts(#"{"title":{"de":"Schwung"},"city":"Ulm"}"#, in: language("en")) == ["Schwung", "Schwung in Ulm"])
        #expect(throws: ItemError.self) { _ = try texts(#"{"title":{"fr":"Swing!"},"city":"Ulm"}"#, in: nil) }
    }

    @Test("Texts and templates have the label of a choice, and conditions, links and arguments of a screen the choice")
    func choices() async throws {
        var city = FieldDeclaration("city", .text, choices: ["wien", "ulm"])
        city.choiceLabels = ["wien": try #require(LocalizedText([("en", "Vienna"), ("de", "Wien")]))]
        let declaration = KindDeclaration(
            name: "story", fields: [city],
            cells: [
                .collection: [
                    CellDeclaration(
                        "StoryCell", size: .row(height: 1), conditions: [FieldCondition("city", .anyOf(["wien", "ulm"]))],
                        bindings: [
                            BindingDeclaration("city", .text, "city"), BindingDeclaration("line", .text, "in {{city}}"),
                            BindingDeclaration("link", .link, "https://example.com/{{city}}"),
                        ])
                ]
            ],
            presentation: PresentationDeclaration(screen: "City", arguments: [BindingDeclaration("city", .text, "city")]),
            actions: [.selection: ["present"]])
        let kind = try DeclaredKind(declaration)
        var factories = CellFactories()
        try factories.register(kind)
        let tokens = try Fixture().tokens
        for (id, tag, label) in [("wien", "en", "Vienna"), ("wien", "de", "Wien"), ("ulm", "de", "ulm")] {
            var context = CellContext(links: Links(), tokens: tokens, now: 0)
            context.language = try language(tag)
            let item = FeedItem(kind: "story", id: "1", variant: "", position: 0, body: Array(#"{"city":"\#(id)"}"#.utf8))
            let cell = try factories.makeViewModel(for: item, in: context)
            guard case .bind(let bindings)? = cell.action(in: .configuration) else { throw ItemError(reason: "no bindings") }
            #expect(bindings.map(\.value) == [.text(label), .text("in \(label)"), .link("https://example.com/\(id)")])
        }
        let fixture = try KindFixture.fixture(declaration, items: [#"{"kind":"story","id":"1","city":"wien"}"#])
        let outcome = try await fixture.performer().perform(
            .selection, of: "story:1", for: ClientFingerprint(viewer: "ann"), now: Fixture.now, response: { $0.json() })
        guard case .performed(let performance) = outcome else { throw ItemError(reason: "not performed") }
        #expect(performance.presentation?.arguments == [Presentation.Argument("city", "wien")])
        #expect(String(decoding: kind.schema(), as: UTF8.self).contains(#""enum":["wien","ulm"],"x-labels":{"wien":"Vienna"}"#))
    }
}
