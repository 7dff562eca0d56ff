import Logging
import Synchronization
import TestSupport
import Testing

@testable import IntertwineFeed

@Suite("Sources of ads")
struct AdSourceTests {
    /// Shows its ads one by one, and counts them in its state.
    private struct Counting: AdSource {
        let name: String
        let ads: [String]

        func fill(_ slots: inout AdSlots) throws {
            let number = Int(slots.state.first ?? 0)
            guard let slot = slots.empty.first else { return }
            let isFilled = try slots.fill(slot, with: ads[number % ads.count])
            #expect(isFilled)
            slots.leave([UInt8(number + 1)], towards: .forward)
            slots.leave(Array(repeating: 0, count: PageCursor.AdState.limit + 1), towards: .backward)
        }
    }

    /// Decides with a server of its own.
    private struct Deciding: AdSource {
        let name = "deciding"
        let answer: @Sendable (_ slots: Int, _ state: [UInt8]) async throws -> [String?]

        func decide(_ slots: Int, of feed: String, for context: FeedContext, after state: [UInt8]) async throws -> [String?] {
            #expect(feed == "main" && context.viewer == nil)
            return try await answer(slots, state)
        }
    }

    private struct Failing: AdSource {
        // A short name makes no built-in source.
        let name = "f"

        func fill(_ slots: inout AdSlots) throws {
            try slots.fill(0, with: "ad:5")
            throw TestFailure()
        }
    }

    private static let reader = PageClient(targeting: TargetingContext(moment: 1))

    private static func feed(_ fixture: Fixture, _ sources: any AdSource..., limit: Duration = .seconds(600)) -> FeedAssembler {
        FeedAssembler(
            store: fixture.store, source: fixture.source, factories: fixture.factories, cells: fixture.cells, placement: fixture.placement,
            adSources: sources, decisionLimit: limit, keys: fixture.keys, tokens: fixture.tokens,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    }

    private static func fixture() throws -> Fixture {
        try Fixture(users: 20, advertisements: 6, placement: PlacementRule.at([1, 3, 5]).placement(perPage: 3, isOfFeed: false))
    }

    @Test("Remembered decisions take a bounded number of bytes, however large each one is")
    func bound() throws {
        let decisions = AdDecisions()
        func question(_ moment: Int64) -> AdDecisions.Question {
            AdDecisions.Question(source: "s", context: FeedContext(), moment: moment, page: 0, slots: [0], state: [])
        }
        let cells = Array(repeating: String(repeating: "a", count: 1_000), count: 64) as [String?]
        for moment in 0..<600 as Range<Int64> { decisions.add(cells, for: question(moment), now: 0) }
        #expect(decisions.bytes > 4 << 20 && decisions.bytes <= 16 << 20)
        #expect(decisions.known(question(0), now: 0) == nil && decisions.known(question(599), now: 0)?.cells == cells)
    }

    @Test("Each source gets the state that it left in the cursor, in the order of the sources, and house ads follow")
    func states() async throws {
        let fixture = try Self.fixture()
        let feed = Self.feed(fixture, Counting(name: "one", ads: ["ad:4", "ad:5"]), Counting(name: "two", ads: ["ad:3"]))
        #expect(feed.dependsOnViewer)
        var (cursor, shown): (String?, [[String]]) = (nil, [])
        for _ in 0..<3 {
            let page = try await feed.page(FeedRequest(cursor: cursor, limit: 6, now: Fixture.now), for: Self.reader)
            shown.append(page.adIDs)
            #expect(page.entries.filter { $0.adSlot != nil }.map(\.campaign) == ["one", "two", nil])
            cursor = page.next.flatMap(Fixture.cursor)
        }
        #expect(shown == [["ad:4", "ad:3", "ad:0"], ["ad:5", "ad:3", "ad:1"], ["ad:4", "ad:3", "ad:2"]])
    }

    @Test("A decision is asked for once a page with its slots; what fails or cannot be shown leaves them to house ads")
    func decisions() async throws {
        let fixture = try Self.fixture()
        func ads(_ answer: @escaping @Sendable (Int, [UInt8]) async throws -> [String?]) async throws -> [String] {
            try await Self.feed(fixture, Deciding(answer: answer)).page(FeedRequest(limit: 6, now: Fixture.now), for: Self.reader).adIDs
        }
        let decided = try await ads { slots, state in
            #expect(slots == 3 && state.isEmpty)
            await Task.yield()
            return ["ad:5", nil, "ad:4"]
        }
        #expect(decided == ["ad:5", "ad:0", "ad:4"])
        #expect(try await ads { _, _ in ["user:u1", "ad:none", "none"] } == ["ad:0", "ad:1", "ad:2"])
        #expect(try await ads { _, _ in throw TestFailure() } == ["ad:0", "ad:1", "ad:2"])
        let hanging = Deciding { _, _ in
            try await Task.sleep(for: .seconds(3_600))
            return ["ad:5"]
        }
        let impatient = Self.feed(fixture, hanging, limit: .milliseconds(200))
        let late = try await impatient.page(FeedRequest(limit: 6, now: Fixture.now), for: Self.reader)
        #expect(late.adIDs == ["ad:0", "ad:1", "ad:2"])
        let failing = try await Self.feed(fixture, Failing()).page(FeedRequest(limit: 6, now: Fixture.now), for: Self.reader)
        #expect(failing.adIDs == ["ad:5", "ad:0", "ad:1"])
    }

    @Test("Changes of a page, previews, explanations, HEAD requests and robots ask no source")
    func asksOnce() async throws {
        let asked = Mutex(0)
        let fixture = try Self.fixture()
        let feed = Self.feed(
            fixture,
            Deciding { _, _ in
                asked.withLock { $0 += 1 }
                return ["ad:5"]
            })
        var request = FeedRequest(limit: 6, now: Fixture.now, followsChanges: true)
        let page = try await feed.page(request, for: Self.reader)
        #expect(page.adIDs == ["ad:5", "ad:0", "ad:1"] && asked.withLock { $0 } == 1)
        request.now += 60_000
        let changes = try await feed.changes(since: [try #require(page.syncToken)], request, for: Self.reader)
        guard case .changed(let diff) = changes else { throw TestFailure() }
        #expect(diff.changes.count == 0)
        var others = TargetingContext(moment: 2)
        others.allocates = false
        for client in [PageClient(), PageClient(targeting: others)] {
            #expect(try await feed.page(request, for: client).adIDs == ["ad:0", "ad:1", "ad:2"])
        }
        var preview = request
        preview.preview = FeedRequest.Preview(showsDrafts: false)
        #expect(try await feed.page(preview, for: PageClient(targeting: others)).adIDs == ["ad:0", "ad:1", "ad:2"])
        #expect(asked.withLock { $0 } == 1)
        #expect(try await feed.page(request, for: PageClient(targeting: TargetingContext(moment: 3))).adIDs.first == "ad:5")
        #expect(asked.withLock { $0 } == 2)
    }

    @Test("A stored campaign with the name of a source is none")
    func names() async throws {
        let fixture = try Self.fixture()
        for (number, id) in ["deciding", "other"].enumerated() {
            let body = #"{"advertiser":"ACME","creatives":["1"]}"#
            fixture.store.put(
                FeedItem(kind: Campaign.kind, id: id, variant: "", position: Int64(number) + 1, body: Array(body.utf8)), in: .advertisements
            )
        }
        let campaigns = Campaigns([], factories: fixture.factories, delivery: AdServer(ledger: nil), sources: ["deciding"])
        #expect(try await campaigns.campaignIndex(of: fixture.store)?.campaigns.map(\.id) == ["other"])
    }

    @Test("A cursor of a former format is refused as invalid")
    func formats() throws {
        let fixture = try Fixture(users: 3)
        let feed = fixture.assembler()
        let genuine = PageCursor(direction: .forward, position: FeedPosition(item: SortPosition(position: 1_000)))
        let signer = fixture.keys.signer(for: .cursor)
        let bytes = try #require(signer.payload(of: feed.text(genuine, [:])))
        try feed.validate(cursor: signer.sign(Array(bytes)))
        for format in [1, 2] as [UInt8] {
            #expect(throws: FeedError.cursor(.invalid)) { try feed.validate(cursor: signer.sign([format] + bytes.dropFirst())) }
        }
    }
}
