import Testing

@testable import IntertwinePrimitives

@Suite("Language preferences")
struct LanguagePreferencesTests {
    /// RFC 4647, 3.4, with its own example of shortening.
    @Test(
        "The language is found by lookup",
        arguments: [
            ("de", "de"), ("de-CH", "de"), ("DE-ch", "de"), ("fr, de;q=0.5", "de"), ("en;q=0.1, de;q=0.9", "de"), ("en, de", "en"),
            ("zh-Hant-CN-x-private1-private2", "zh-Hant"), ("zh-Hans", nil), ("fr", nil), ("", nil), ("*", "en"), ("fr, *;q=0.1", "en"),
            ("*, en;q=0", "de"), ("de;q=0, de-CH", nil), ("fr;q=banana, de", "de"), (";;,,de", "de"), ("de;q=1.5", nil), ("d_e", nil),
        ] as [(String, String?)])
    func lookup(field: String, expected: String?) {
        let languages = ["en", "de", "zh-Hant"]
        #expect(LanguagePreferences(field).lookup(among: languages).map { languages[$0] } == expected)
    }

    /// RFC 4647, 3.3.1.
    @Test(
        "Matching ranges are listed",
        arguments: [
            ("de-CH", ["de-ch", "de", "*"]), ("en, de", ["en", "de", "*"]), ("*", ["*"]), ("de;q=0", []), ("", []),
        ])
    func around(field: String, ranges: [String]) {
        #expect(LanguagePreferences(field).rangesAround == ranges)
    }

    @Test(
        "Tags are recognized by their syntax",
        arguments: [("de", true), ("de-CH", true), ("d", false), ("", false), ("de_CH", false), ("1e", false)])
    func form(text: String, isTag: Bool) {
        #expect(LanguagePreferences.isTag(text) == isTag)
    }

    @Test("The number of ranges is bounded")
    func bounds() {
        let field = (0..<100_000).map { "x\($0 % 10)" }.joined(separator: ",") + ",de"
        #expect(LanguagePreferences(field).lookup(among: ["de"]) == nil)
    }
}
