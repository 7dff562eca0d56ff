import Logging
import TestSupport
import Testing

@testable import IntertwineFeed

@Suite("Ids of creatives are bytes")
struct CreativeIDTests {
    private static let (composed, decomposed) = ("\u{E9}", "e\u{301}")

    @Test(
        "An ad is not taken for a missing one whose id is equal only in Unicode",
        arguments: [(composed, decomposed), (decomposed, composed)])
    func served(_ missing: String, _ present: String) async throws {
        let fixture = try Fixture(users: 4, placement: PlacementRule.at([1, 2]).placement(perPage: 2, isOfFeed: false))
        fixture.store.put(Fixture.advertisement(present, at: 1_000, house: false), in: .advertisements)
        let campaigns = [
            Campaign(id: "one", advertiser: "ACME", creatives: [missing]), Campaign(id: "two", advertiser: "ACME", creatives: [present]),
        ]
        let feed = FeedAssembler(
            store: fixture.store, source: fixture.source, factories: fixture.factories, cells: fixture.cells, placement: fixture.placement,
            campaigns: Campaigns(
                campaigns, factories: fixture.factories, delivery: AdServer(ledger: nil)),
            keys: fixture.keys, tokens: fixture.tokens, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        let page = try await feed.page(
            FeedRequest(limit: 4, now: Fixture.now), for: PageClient(targeting: TargetingContext(viewer: "v", moment: 1)))
        let ads = page.entries.filter { $0.adSlot != nil }
        #expect(!ads.isEmpty && ads.allSatisfy { $0.campaign == "two" && $0.cell.id.utf8.elementsEqual("ad:\(present)".utf8) })
    }

    @Test("A campaign may name both")
    func both() throws {
        let kind = CampaignKind()
        let text = #"{"kind":"campaign","id":"a","advertiser":"A","creatives":["\#(Self.composed)","\#(Self.decomposed)"]}"#
        let item = try ItemKinds([kind]).validate(Array(text.utf8))
        let creatives = ItemKinds([kind]).creatives(of: item)
        #expect(creatives.count == 2 && Set(creatives.map(\.item)).count == 2)
    }

    @Test("The kind of a creative ends at the first colon, also before a combining character")
    func colons() {
        let names = CreativeNames([("spot", "spot", .advertisements)])
        #expect(names.item("spot:\u{301}x") == CreativeID(kind: "spot", id: "\u{301}x"))
        #expect(names.isContent("user:\u{301}x") && !names.isContent("users") && !names.isContent("spot:user:"))
    }
}
