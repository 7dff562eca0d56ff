import Testing

@testable import IntertwineFeed

@Suite("Media advertisements")
struct MediaCellTests {
    private static func item(_ id: String, _ type: String, _ more: String = "") throws -> FeedItem {
        let fields =
            #"{"kind":"ad","id":"\#(id)","contentUrl":"https://ads.example/\#(id)","clickthroughUrl":"https://shop.example/","#
            + #""type":"\#(type)"\#(more)}"#
        let valid = try ItemKinds.standard.validate(Array(fields.utf8))
        return FeedItem(kind: valid.kind, id: valid.id, variant: valid.variant, position: 1, body: valid.body)
    }

    private func fixture(_ item: FeedItem, configuration: CellConfiguration = CellConfiguration()) throws -> Fixture {
        let fixture = try Fixture(users: 2, configuration: configuration)
        fixture.store.put(item, in: .advertisements)
        return fixture
    }

    @Test("Video advertisements bind media, poster, type and duration, and have playback actions", arguments: CellLayout.allCases)
    func video(layout: CellLayout) async throws {
        let more = #","posterUrl":"https://ads.example/p.png","mediaType":"video/mp4","duration":12.5"#
        var configuration = CellConfiguration()
        configuration.mediaCells[.video]?.tableHeight = 90
        configuration.viewability[.video] = Viewability(share: 0.5, seconds: 2)
        let fixture = try fixture(Self.item("v", "video", more), configuration: configuration)
        let page = try await fixture.assembler().page(FeedRequest(now: Fixture.now, layout: layout))
        let entry = try #require(page.entries.first { $0.adSlot != nil })
        #expect(entry.cell.identifier == (layout == .table ? "AdvertisementVideoTableViewCell" : "AdvertisementVideoCollectionViewCell"))
        let json = String(decoding: entry.json, as: UTF8.self)
        #expect(json.contains(layout == .table ? #""height":90"# : #""size":{"width":320,"height":180}"#))
        let media = #""media":{"type":"media","href":"https://ads.example/v"},"poster":{"type":"image","href":"https://ads.example/p.png""#
        #expect(json.contains(media), "\(json)")
        #expect(json.contains(#""mediaType":{"type":"text","text":"video/mp4"},"duration":{"type":"number","number":12.5}"#))
        #expect(json.contains(#""viewable":{"share":0.5,"seconds":2}"#))
        for slot in CommandKey.playback {
            let event =
                #"{"type":"request","method":"POST","href":"/events","body":{"events":[{"type":"\#(slot.rawValue)","cell":"ad:v","token":""#
            #expect(json.contains(#""\#(slot.rawValue)":"# + event), "\(slot.rawValue)")
        }
    }

    @Test("Audio advertisements need no poster, type or duration")
    func audio() async throws {
        let page = try await fixture(Self.item("a", "audio")).page()
        let entry = try #require(page.entries.first { $0.adSlot != nil })
        #expect(entry.cell.identifier == "AdvertisementAudioCollectionViewCell")
        let media = #""bindings":{"media":{"type":"media","href":"https://ads.example/a"},"disclosure":"#
        #expect(String(decoding: entry.json, as: UTF8.self).contains(media))
    }

    @Test(
        "An invalid media field is refused with its name",
        arguments: [
            (#","posterUrl":"ftp://a/""#, "posterUrl"), (#","mediaType":"text/html""#, "mediaType"),
            (#","mediaType":"video/""#, "mediaType"),
            (#","mediaType":"video/mp4; codecs=x""#, "mediaType"), (#","duration":0"#, "duration"), (#","duration":"12""#, "duration"),
            (#","duration":86401"#, "duration"),
        ])
    func faults(more: String, field: String) {
        let error = #expect(throws: ItemError.self) { try Self.item("v", "video", more) }
        #expect(error?.field == field)
    }

    @Test("Playback events count once per viewer and page, only in reports and for media")
    func playback() async throws {
        let fixture = try fixture(Self.item("v", "video"))
        fixture.store.put(Fixture.advertisement("0", at: 2), in: .advertisements)
        let performer = fixture.performer()
        let client = ClientFingerprint(viewer: "ann", address: "192.0.2.0", addressHash: "h", userAgent: "tests")
        func report(_ slot: CommandKey, of cell: String = "ad:v") -> ActionPerformer.ImpressionReport {
            let token = fixture.tokens.impression(cell: cell, slot: 0, page: 3, now: Fixture.now)
            return ActionPerformer.ImpressionReport(cell: cell, token: token, slot: slot)
        }
        let reports =
            CommandKey.playback.map { report($0) } + [
                report(.impression), report(CommandKey("start"), of: "ad:0"), report(.selection),
            ]
        let verdicts = try await performer.impressions(reports, for: client, now: Fixture.now)
        #expect(verdicts == Array(repeating: .counted, count: 8) + [.unknown, .unknown])
        #expect(fixture.ledger.events.map(\.kind.rawValue) == CommandKey.playback.map(\.rawValue) + ["impression"])
        #expect(Set(fixture.ledger.events.compactMap { $0.deduplication?.recordedKeys.first }).count == 8)
        #expect(fixture.ledger.events.allSatisfy { $0.rates.count == 2 })
        // A view needs the whole playback and a viewable impression.
        let complete = try #require(fixture.ledger.events.first { $0.kind == .complete })
        #expect(complete.requiredPriorEvents.count == 2)
        #expect(fixture.ledger.events.filter { $0.kind.isPlayback && $0.kind != .complete }.allSatisfy { $0.requiredPriorEvents.count < 2 })
        await #expect(throws: ActionError.nothingToDo(CommandKey("start"), cell: "ad:v")) {
            _ = try await performer.perform(CommandKey("start"), of: "ad:v", for: client, now: Fixture.now, response: { $0.json() })
        }
    }

    @Test("Viewability rules are read from valid text only")
    func words() {
        for text in ["50% 1s", "30% 0s", "12.5% 2.5s", "100% 3600s"] + (1...100).map({ "\($0)% 1s" }) {
            #expect(Viewability(text)?.text == text)
        }
        for wrong in ["", "50%", "0% 1s", "101% 1s", "50 1", "50% -1s", "nan% 1s", "50% 3601s", "50% 1s 1s"] {
            #expect(Viewability(wrong) == nil, "\(wrong)")
        }
    }
}
