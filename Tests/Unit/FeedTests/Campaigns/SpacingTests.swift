import Logging
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwinePrimitives

@Suite("Minimum distances of advertisements")
struct SpacingTests {
    private static let campaigns = [
        Campaign(id: "one", advertiser: "ACME", creatives: ["0"]), Campaign(id: "two", advertiser: "ACME", creatives: ["1", "2"]),
        Campaign(id: "three", advertiser: "ACME", creatives: ["3"]),
    ]

    private static func feed(
        _ campaigns: [Campaign], users: Int = 118, ads: Int = 6, rule: PlacementRule = .every(5, offset: 5),
        spacing: AdSpacing = AdSpacing()
    ) throws -> FeedAssembler {
        let fixture = try Fixture(users: users, placement: rule.placement(perPage: 3, isOfFeed: false))
        let reserved = Set(campaigns.flatMap(\.creatives))
        for id in 0..<ads {
            let ad = Fixture.advertisement("\(id)", at: Int64(id + 1) * 1000, house: !reserved.contains("\(id)"))
            fixture.store.put(ad, in: .advertisements)
        }
        let delivery = AdServer(ledger: nil)
        return FeedAssembler(
            store: fixture.store, source: fixture.source, factories: fixture.factories, cells: fixture.cells, placement: fixture.placement,
            campaigns: campaigns.isEmpty ? nil : Campaigns(campaigns, factories: fixture.factories, delivery: delivery), spacing: spacing,
            keys: fixture.keys, tokens: fixture.tokens, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    }

    /// All pages in the order of the feed.
    ///
    /// - Parameter isBackward: whether pages are read backward from the last page, which itself is read forward.
    private static func pages(
        of feed: FeedAssembler, limits: [Int], viewer: String? = "v", moment: Int64 = 1, isBackward: Bool = false
    ) async throws -> [FeedPage] {
        var pages: [FeedPage] = []
        var cursor: String?
        func page(_ number: Int) async throws -> FeedPage {
            try await feed.page(
                FeedRequest(cursor: cursor, limit: limits[number % limits.count], now: Fixture.now),
                for: PageClient(targeting: TargetingContext(viewer: viewer, moment: moment)))
        }
        repeat {
            pages.append(try await page(pages.count))
            cursor = pages.last?.next.flatMap(Fixture.cursor)
        } while cursor != nil
        guard isBackward, var last = pages.last else { return pages }
        pages = [last]
        while let previous = last.previous.flatMap(Fixture.cursor) {
            cursor = previous
            last = try await page(pages.count)
            pages.insert(last, at: 0)
        }
        return pages
    }

    /// The numbers of content items before each advertisement, by its cell.
    private static func shown(in pages: [FeedPage]) -> [String: [Int]] {
        var (count, shown): (Int, [String: [Int]]) = (0, [:])
        for entry in pages.flatMap(\.entries) {
            if entry.adSlot == nil { count += 1 } else { shown[entry.cell.id, default: []].append(count) }
        }
        return shown
    }

    @Test(
        "Page size changes no advertisement's positions, and minimum distances hold",
        arguments: [0, 1, 2], [1, 12, 40])
    func limits(campaigns: Int, distance: Int) async throws {
        for ads in [1, 3, 6] {
            let feed = { try Self.feed(Array(Self.campaigns.prefix(campaigns)), ads: ads, spacing: AdSpacing(creative: distance)) }
            let expected = Self.shown(in: try await Self.pages(of: try feed(), limits: [100]))
            for positions in expected.values {
                #expect(zip(positions, positions.dropFirst()).allSatisfy { $1 - $0 >= distance })
            }
            if distance == 1 { #expect(expected.values.reduce(0) { $0 + $1.count } == 23) }
            for limits in [[5], [20], [3, 17, 1], [7]] {
                #expect(Self.shown(in: try await Self.pages(of: try feed(), limits: limits)) == expected, "\(limits)")
            }
        }
    }

    @Test(
        "Deliveries of sessions with different page sizes differ by at most a tenth or by one impression",
        arguments: ["v", nil], [1, 2, 3])
    func equalDelivery(viewer: String?, campaigns: Int) async throws {
        for (users, distance) in [(115, 1), (200, 1), (115, 12), (200, 12)] {
            let feed = try Self.feed(Array(Self.campaigns.prefix(campaigns)), users: users, spacing: AdSpacing(creative: distance))
            for round in 0..<5 {
                var delivered: [[String: Int]] = []
                for (number, limit) in [5, 20, 100].enumerated() {
                    // Each session without a viewer has a random seed of its own.
                    let moment = Int64(viewer == nil ? 3 * round + number : round)
                    let pages = try await Self.pages(of: feed, limits: [limit], viewer: viewer, moment: moment)
                    var counts: [String: Int] = [:]
                    for entry in pages.flatMap(\.entries) where entry.adSlot != nil {
                        counts[entry.campaign ?? "house ads", default: 0] += 1
                    }
                    delivered.append(counts)
                }
                for name in Set(delivered.flatMap(\.keys)) {
                    let counts = delivered.map { $0[name] ?? 0 }
                    let (least, most) = (counts.min() ?? 0, counts.max() ?? 0)
                    #expect(most - least <= 1 || 10 * most <= 11 * least, "\(name), \(users) items, distance \(distance): \(counts)")
                }
            }
        }
    }

    @Test("A backward session shows the same advertisements", arguments: [0, 2], [1, 12, 40])
    func reverse(campaigns: Int, distance: Int) async throws {
        let feed = { try Self.feed(Array(Self.campaigns.prefix(campaigns)), spacing: AdSpacing(creative: distance)) }
        for limit in [5, 20, 7] {
            let forward = try await Self.pages(of: try feed(), limits: [limit])
            #expect(
                Self.shown(in: try await Self.pages(of: try feed(), limits: [limit], isBackward: true)) == Self.shown(in: forward),
                "\(limit)")
        }
    }

    @Test("Each campaign and creative has its share of one session", arguments: [nil, "v"])
    func shares(viewer: String?) async throws {
        let heavy = Campaign(id: "heavy", advertiser: "ACME", creatives: ["0", "1"], weight: 3)
        let light = Campaign(id: "light", advertiser: "ACME", creatives: ["2"])
        for moment in 1...20 {
            for limit in [5, 100] {
                let feed = try Self.feed([heavy, light], users: 503)
                let shown = Self.shown(in: try await Self.pages(of: feed, limits: [limit], viewer: viewer, moment: Int64(moment)))
                let counts = ["ad:0", "ad:1", "ad:2"].map { shown[$0]?.count ?? 0 }
                #expect(counts.reduce(0, +) == 100)
                #expect((72...78).contains(counts[0] + counts[1]), "\(counts)")
                #expect((30...45).contains(counts[0]), "\(counts)")
            }
        }
    }

    @Test("Adjacent ad slots never repeat an advertisement")
    func sideBySide() async throws {
        let feed = try Self.feed(Array(Self.campaigns.prefix(1)), rule: .midpoint)
        for page in try await Self.pages(of: feed, limits: [20]) {
            #expect(page.adIDs.count == 3 && Set(page.adIDs).count == 3 && page.adIDs.contains("ad:0"))
        }
    }

    @Test("Campaigns of one label share slots and keep their distance across pages", arguments: [1, 20])
    func labels(distance: Int) async throws {
        var campaigns = Array(Self.campaigns.prefix(2))
        for index in campaigns.indices { campaigns[index].labels = ["cars"] }
        var shown: [[String: [Int]]] = []
        for limit in [5, 20, 100] {
            let feed = try Self.feed(campaigns, spacing: AdSpacing(label: distance))
            shown.append(Self.shown(in: try await Self.pages(of: feed, limits: [limit])))
        }
        #expect(shown.allSatisfy { $0 == shown[0] } && shown[0].values.reduce(0) { $0 + $1.count } == 23)
        let labelled = ["ad:0", "ad:1", "ad:2"].flatMap { shown[0][$0] ?? [] }.sorted()
        #expect(zip(labelled, labelled.dropFirst()).allSatisfy { $1 - $0 >= distance })
        #expect(labelled.count == (distance == 1 ? 23 : 6) && labelled.count > shown[0]["ad:0"]?.count ?? 0)
    }

    @Test("Campaigns take turns in the slots that other ads leave", arguments: ["label", "sponsorship"])
    func remainingSlots(reason: String) async throws {
        for moment in 1...10 {
            var campaigns = Array(Self.campaigns.prefix(2))
            switch reason {
            case "label":
                // Every fourth slot.
                for index in campaigns.indices { campaigns[index].labels = ["cars"] }
            default:
                // Every second slot belongs to a campaign of higher priority.
                campaigns.append(Self.campaigns[2])
                campaigns[2].priority = .sponsorship
            }
            let feed = try Self.feed(campaigns, users: 203, spacing: AdSpacing(creative: 10))
            for limit in [5, 20, 100] {
                let pages = try await Self.pages(of: feed, limits: [limit], viewer: nil, moment: Int64(moment))
                let counts = ["one", "two"].map { name in pages.flatMap(\.entries).count { $0.campaign == name } }
                #expect(counts.reduce(0, +) == (reason == "label" ? 10 : 20) && abs(counts[0] - counts[1]) <= 1, "\(counts)")
            }
        }
    }

    @Test("A cursor holds at most 64 shown advertisements")
    func bound() async throws {
        let feed = try Self.feed([], users: 200, ads: 100, rule: .every(1, offset: 1), spacing: AdSpacing(creative: 1_000))
        for page in try await Self.pages(of: feed, limits: [30]) {
            let cursor = try page.next.flatMap(Fixture.cursor).map { try feed.cursor($0, [:]) }
            #expect(cursor?.shown?.impressions.count ?? 0 <= ShownAds.limit)
            #expect(page.next?.utf8.count ?? 0 < 800)
        }
    }
}

extension Campaign {
    fileprivate init(id: String, advertiser: String, creatives: [String], weight: Int) {
        self.init(id: id, advertiser: advertiser, creatives: creatives)
        self.weight = weight
    }
}
