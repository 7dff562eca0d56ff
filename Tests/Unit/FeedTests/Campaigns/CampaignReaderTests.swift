import Testing

@testable import IntertwineFeed

@Suite("Declarations of campaigns")
struct CampaignReaderTests {
    private static let kind = CampaignKind(
        places: ValidTargets(feeds: ["main"], sections: ["top"]), declared: ["taken"], file: "campaigns.yaml")

    private func item(_ members: String) throws -> ValidatedItem {
        try ItemKinds([Self.kind]).validate(
            Array(#"{"kind":"campaign","id":"spring","advertiser":"ACME","creatives":["1",2]\#(members)}"#.utf8))
    }

    @Test("A campaign with all fields is read and stored without loss")
    func whole() throws {
        let item = try item(
            """
            ,"starts":"2026-11-01T00:00:00+01:00","ends":"2026-12-01T00:00:00Z","zone":"Europe/Berlin","priority":"sponsorship","weight":3,
            "goal":{"unit":"clicks","total":500,"daily":20},"pacing":"even","caps":[{"count":3,"window":"1d"},{"count":1,"window":"30min"}],
            "targeting":{"feeds":["main"],"sections":["top"],"layouts":["table"],"locales":["de","en-GB"],"hours":["8-10","22-2"],
            "days":["mon","sun"],"attributes":{"any":["plan=free"],"none":["vip"]}},"labels":["cars"],
            "disclosure":{"label":"Sponsored"},"impressionTrackers":["https://a.example/{event}"],"clickTrackers":["https://b.example/"]
            """)
        let stored = FeedItem(kind: item.kind, id: item.id, variant: item.variant, position: 1, body: item.body)
        let campaign = try #require(Campaign(item: stored))
        #expect(campaign.starts == 1_793_487_600_000 && campaign.ends == 1_796_083_200_000)
        #expect(campaign.trackers.impression.map(\.text) == ["https://a.example/{event}"] && campaign.trackers.click.count == 1)
        #expect(campaign.creatives == ["1", "2"] && campaign.weight == 3 && campaign.priority == .sponsorship)
        #expect(campaign.goal == .init(unit: .clicks, total: 500, daily: 20) && campaign.pacing == .even)
        #expect(campaign.caps == [.init(count: 3, window: 86_400), .init(count: 1, window: 1_800)] && campaign.longestCapWindow == 86_400)
        #expect(campaign.targeting.hours == 0b1100_0000_0000_0011_0000_0011 && campaign.targeting.days == 0b100_0001)
        #expect(campaign.targeting.none == ["vip=true"] && campaign.disclosure == .init(label: "Sponsored", advertiser: "ACME"))
        #expect(
            try ItemKinds([Self.kind]).validate(
                Array(#"{"kind":"campaign","id":"spring",\#(String(decoding: item.body.dropFirst(), as: UTF8.self))"#.utf8)) == item)
    }

    @Test("A campaign's file may write a Boolean as any word of YAML", arguments: ["true", "True", "yes", "ON"])
    func paused(_ word: String) throws {
        let body = try item(#","paused":"\#(word)""#).body
        #expect(try #require(Campaign(item: FeedItem(kind: "campaign", id: "spring", variant: "", position: 1, body: body))).isPaused)
    }

    @Test("An empty text is no value of an optional field", arguments: CampaignReader.members.dropFirst(2))
    func empty(_ field: String) throws {
        #expect(throws: Never.self) { try item(#","\#(field)":"""#) }
        #expect(try item(#","impressionTrackers":["","https://a.example/"],"goal":{"unit":"","total":5,"daily":""}"#).body.count > 0)
        for required in [#""advertiser":"","creatives":["1"]"#, #""advertiser":"a","creatives":"""#] {
            #expect(throws: (any Error).self) {
                try ItemKinds([Self.kind]).validate(Array(#"{"kind":"campaign","id":"spring",\#(required)}"#.utf8))
            }
        }
    }

    @Test(
        "Texts have up to 256 characters, as the schema says, of any alphabet", arguments: ["a", "ф", "日", "😀", "e\u{301}"],
        ["disclosure", "labels"])
    func lengths(_ character: String, _ field: String) throws {
        func texts(_ count: Int) throws -> ValidatedItem {
            let text = String(repeating: character, count: count / character.unicodeScalars.count)
            let member = field == "labels" ? #","labels":["\#(text)"]"# : #","disclosure":{"label":"\#(text)"}"#
            return try item(member)
        }
        func attribute(_ count: Int) throws -> ValidatedItem {
            let value = String(repeating: character, count: count / character.unicodeScalars.count)
            return try item(#","targeting":{"attributes":{"any":["plan=\#(value)"]}}"#)
        }
        #expect(throws: Never.self) { try attribute(128) }
        #expect(throws: (any Error).self) { try attribute(130) }
        #expect(throws: Never.self) { try texts(256) }
        #expect(throws: (any Error).self) { try texts(258) }
    }

    @Test("A section is unknown if feeds have no sections")
    func noSections() {
        let kind = CampaignKind(places: ValidTargets(feeds: ["main"], sections: []))
        let fault = #expect(throws: (any Error).self) {
            try ItemKinds([kind]).validate(
                Array(#"{"kind":"campaign","id":"a","advertiser":"A","creatives":["1"],"targeting":{"sections":["main"]}}"#.utf8))
        }
        #expect("\(fault as Any)".contains("unknown section 'main'; none exists"))
    }

    @Test("CSV reports escape values that spreadsheets treat as formulas")
    func formulas() {
        let names = ["=1", "+1", "-1", "@a", "\t=1", "\r=1", "\n=1", "a=1", "a,b", "a\"b"]
        #expect(
            LedgerReport.csv([names])
                == "'=1,'+1,'-1,'@a,'\t=1,\"'\r=1\",\"'\n=1\",a=1,\"a,b\",\"a\"\"b\"\r\n")
    }

    @Test(
        "A faulty campaign field is refused with its name and the allowed values",
        arguments: [
            (#","starts":"2026-12-01T00:00:00Z","ends":"2026-11-01T00:00:00Z""#, "ends", "must be after starts"),
            (#","starts":"2026-12-01""#, "starts", "with its zone"),
            (#","zone":"Mars/Base""#, "zone", "Europe/Berlin"),
            (#","goal":{"total":0}"#, "goal.total", "from 1 to"),
            (#","goal":{}"#, "goal", "total or daily"),
            (#","goal":{"total":5},"pacing":"even""#, "pacing", "requires ends"),
            (#","caps":[{"count":3}]"#, "caps.0", "window is missing"),
            (#","caps":[{"count":0,"window":"1d"}]"#, "caps.0.count", "from 1"),
            (#","caps":{"count":1,"window":"never"}"#, "caps.0.window", "a number with its unit"),
            (#","targeting":{"sections":["bottom"]}"#, "targeting.sections.0", "unknown section 'bottom'; allowed: top"),
            (#","targeting":{"feeds":["news"]}"#, "targeting.feeds.0", "unknown feed 'news'"),
            (#","targeting":{"attributes":{"some":["a=b"]}}"#, "targeting.attributes.some", "allowed: any, all, none"),
            (#","targeting":{"attributes":{"any":["A b"]}}"#, "targeting.attributes.any", "name=value"),
            (#","targeting":{"feeds":[]}"#, "targeting.feeds", "is an empty list"),
            (#","targeting":{"hours":[]}"#, "targeting.hours", "is an empty list"),
            (#","targeting":{"attributes":{"any":[]}}"#, "targeting.attributes.any", "is an empty list"),
            (#","targeting":{"hours":["25"]}"#, "targeting.hours", "from 0 to 24"),
            (#","targeting":{"days":["monday"]}"#, "targeting.days.0", "mon, tue"),
            (#","priority":"high""#, "priority", "sponsorship, standard, house"),
            (#","budget":5"#, "budget", "unknown key 'budget'"),
            (#","creatives":["1"]"#, "creatives", "occurs twice"),
        ] as [(String, String, String)])
    func faults(members: String, field: String, reason: String) {
        let fault = #expect(throws: ItemError.self) { try item(members) }
        #expect(fault?.field == field)
        #expect(fault?.reason.contains(reason) == true, "\(fault?.reason ?? "")")
    }

    @Test("A campaign id that a file declares is refused with the file's name")
    func taken() {
        let fault = #expect(throws: ItemError.self) {
            try ItemKinds([Self.kind]).validate(Array(#"{"kind":"campaign","id":"taken","advertiser":"A","creatives":["1"]}"#.utf8))
        }
        #expect(fault?.field == "id" && fault?.reason.contains("campaigns.yaml") == true)
    }
}
