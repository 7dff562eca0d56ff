import Testing

@testable import IntertwineFeed

@Suite("Trackers in advertisements")
struct TrackerTemplateTests {
    @Test(
        "Trackers use https or localhost, and have no placeholder in the host",
        arguments: [
            ("https://a.example/?e={event}&v={viewer}&t={time}&c={campaign}&a={ad}", true), ("https://a.example", true),
            ("http://127.0.0.1:8080/{event}", true), ("http://localhost/", true), ("http://a.example/", false),
            ("http://127.0.0.1.a.example/", false),
            ("http://localhost.a.example/", false), ("https://{viewer}.a.example/", false), ("https://a.example:{event}/", false),
            ("https://{name}.a.example/", false), ("https://a.example{event}", false), ("https://u:p@a.example/", false),
            ("https://a.example/{name}", true), ("https://a.example/{event", true),
            ("ftp://a.example/", false),
            ("/relative", false), ("", false),
        ])
    func template(text: String, isGood: Bool) {
        #expect(((try? TrackerTemplate(text)) != nil) == isGood)
    }

    @Test(
        "Only known placeholders are replaced, because other parties have macros of their own",
        arguments: [
            ("g=${GDPR}&c=${GDPR_CONSENT_755}", "g=${GDPR}&c=${GDPR_CONSENT_755}"), ("r={rnd}&{}&}{", "r={rnd}&{}&}{"),
            ("x=%%PATTERN%%&o=[CACHEBUSTER]&u={{y}}", "x=%%PATTERN%%&o=[CACHEBUSTER]&u={{y}}"), ("e={event", "e={event"),
            ("d={\"a\":1}&e={event}", "d={%22a%22:1}&e=4%202"), ("e={{event}}&E={EVENT}", "e={4%202}&E={EVENT}"),
            ("e={event}{event}&v={viewer}", "e=4%2024%202&v="), ("e=%7Bevent%7D", "e=%7Bevent%7D"),
        ])
    func macros(query: String, filled: String) throws {
        #expect(try TrackerTemplate("https://a.example/?\(query)").filled(["event": "4 2"]) == "https://a.example/?\(filled)")
    }

    @Test("Trackers are stored as declared, and an invalid tracker is refused by field")
    func item() throws {
        func validate(_ more: String) throws -> String {
            let text =
                #"{"kind":"ad","id":1,"type":"image","contentUrl":"https://a.example/1","clickthroughUrl":"https://a.example/"\#(more)}"#
            return String(decoding: try ItemKinds.standard.validate(Array(text.utf8)).body, as: UTF8.self)
        }
        #expect(
            try validate(#","impressionTrackers":["https:\/\/a.example\/{event}"]"#).hasSuffix(
                #","impressionTrackers":["https://a.example/{event}"]}"#))
        #expect(try validate(#","clickTrackers":[],"impressionTrackers":null"#) == validate(""))
        for bad in [
            #""x""#, "[1]", #"["http://a.example/"]"#,
            "[" + Array(repeating: #""https://a.example/""#, count: 9).joined(separator: ",") + "]",
        ] {
            let fault = #expect(throws: ItemError.self) { try validate(#","clickTrackers":\#(bad)"#) }
            #expect(fault?.field == "clickTrackers")
        }
    }

    @Test("Trackers receive event data and no viewer name")
    func filled() throws {
        let calls = TrackerCalls(keys: SigningKeys(current: try SigningKey([UInt8](repeating: 7, count: 32))))
        var event = LedgerEvent(
            at: 1_700_000_000_123, kind: .click, cell: "ad:1", viewer: "anna",
            impressionContext: ImpressionContext(campaign: "spring sale", feed: "main"))
        event.creative = CreativeInfo(form: "image")
        var trackers = Trackers()
        trackers.click = [try TrackerTemplate("https://a.example/{event}?v={viewer}&t={time}&c={campaign}&a={ad}")]
        let made = calls.calls(of: RecordedEvent(marker: 42, event: event), trackers)
        let url = try #require(made.first?.url)
        #expect(made.count == 1 && !url.contains("anna"))
        #expect(url.hasPrefix("https://a.example/42?v=") && url.hasSuffix("&t=2023-11-14T22%3A13%3A20.123Z&c=spring%20sale&a=ad%3A1"))
        #expect(url.count == "https://a.example/42?v=&t=2023-11-14T22%3A13%3A20.123Z&c=spring%20sale&a=ad%3A1".count + 22)
        event.kind = .impression
        #expect(calls.calls(of: RecordedEvent(marker: 42, event: event), trackers).isEmpty)
        #expect(TrackerCalls.isTracked(event))
        event.verdict = .bot
        #expect(!TrackerCalls.isTracked(event))
    }
}
