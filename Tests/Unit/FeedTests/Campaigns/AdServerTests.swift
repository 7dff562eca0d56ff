import Synchronization
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwinePrimitives

@Suite("Delivery of campaigns")
struct AdServerTests {
    /// A Monday, midnight in UTC.
    static let start: Int64 = 1_763_942_400_000
    static let day: Int64 = 86_400_000
    static let place = AdSlotContext(feed: "main")

    static func campaign(_ id: String, _ change: (inout Campaign) -> Void = { _ in }) -> Campaign {
        var campaign = Campaign(id: id, advertiser: "ACME", creatives: ["\(id)-1"])
        campaign.starts = start
        campaign.ends = start + day
        change(&campaign)
        return campaign
    }

    static func campaignIndex(_ campaigns: [Campaign]) -> CampaignIndex {
        CampaignIndex(campaigns) { .init(id: CreativeID(kind: "ad", id: $0), layouts: [.collection]) }
    }

    static func page(
        _ viewer: String? = "v", page: UInt32 = 1, now: Int64 = start + 1, places: Int = 1, attributes: String = "", languages: String = ""
    ) -> AdServer.Page {
        AdServer.Page(
            slots: Array(repeating: place, count: places), identity: page,
            targeting: TargetingContext(
                viewer: viewer, attributes: ViewerAttributes(attributes), languages: LanguagePreferences(languages), moment: now / 300_000),
            now: now)
    }

    static func seen(_ given: AdServer.ServedAd, by viewer: String? = "v", at now: Int64 = start + 1) -> LedgerEvent {
        var impressionContext = ImpressionContext(campaign: given.campaign, feed: "main", frequencyCapTTL: given.frequencyCapTTL)
        impressionContext.served = given.at
        return LedgerEvent(at: now, kind: .impression, cell: "ad", viewer: viewer, impressionContext: impressionContext)
    }

    func delivery(_ ledger: (any CampaignLedger)? = nil) -> AdServer { AdServer(ledger: ledger) }

    /// A ledger that records what is written with the counts that are read.
    private final class WriteRecorder: CampaignLedger {
        private let ledger = SimulatedLedger(processes: 1)
        let writes = Mutex<[[String: Int64]]>([])

        func exposures(of viewer: String, since moment: Int64) throws -> [FrequencyCount] { [] }

        func refresh(adding offers: [String: Int64], _ queries: [DeliveryQuery], now: Int64) throws -> DeliveryRefresh {
            if !offers.isEmpty { writes.withLock { $0.append(offers) } }
            return ledger.refresh(adding: offers, queries, now: now)
        }
    }

    @Test("A page that reads the counts itself, because they are old, writes no offers; the next refresh writes them")
    func reads() throws {
        let ledger = WriteRecorder()
        let delivery = AdServer(ledger: ledger, isShared: true)
        let index = Self.campaignIndex([Self.campaign("a") { $0.goal = .init(unit: .impressions, total: 100) }])
        for page in 1...3 {
            // Each page is a minute after the last, and nothing else has read the counts.
            let served = try delivery.choose(Self.page(page: UInt32(page), now: Self.start + Int64(page) * 60_000), of: index)
            #expect(served.first??.campaign == "a")
        }
        #expect(ledger.writes.withLock { $0 } == [])
        try delivery.refresh(now: Self.start + 200_000)
        #expect(ledger.writes.withLock { $0 } == [["a": 3]])
    }

    /// What the simulations have a tenth of in the small size.
    private static let scale = TestSize.full(10, small: 1)

    @Test("Goals are reached within a few percent on a day", arguments: [1, 3])
    func paces(processes: Int) async throws {
        var simulation = CampaignForecast(start: Self.start)
        (simulation.days, simulation.requests, simulation.processes) = (1, 10_000 * Self.scale, processes)
        (simulation.seen, simulation.clicked) = (0.8, 0.02)
        let campaigns = [
            Self.campaign("even") {
                $0.goal = .init(unit: .impressions, total: 2_000 * Self.scale); $0.pacing = .even
            },
            Self.campaign("daily") {
                $0.goal = .init(unit: .impressions, daily: 1_000 * Self.scale)
                $0.pacing = .even
                ($0.starts, $0.ends) = (nil, nil)
            },
            Self.campaign("hours") {
                $0.goal = .init(unit: .impressions, total: 500 * Self.scale)
                $0.pacing = .even
                $0.targeting.hours = 0b1111 << 8
            },
            Self.campaign("soon") { $0.goal = .init(unit: .impressions, total: 300 * Self.scale) },
            Self.campaign("clicks") {
                $0.goal = .init(unit: .clicks, total: 20 * Self.scale); $0.pacing = .even
            },
            Self.campaign("rest") { $0.priority = .house },
        ]
        let forecasts = try await simulation.run(campaigns)
        for forecast in forecasts.prefix(5) {
            let goal = try #require(forecast.goal)
            let delivered = forecast.days[0]
            #expect(delivered <= goal, "\(forecast)")
            #expect(Double(delivered) >= Double(goal) * TestSize.full(0.98, small: 0.95), "\(forecast)")
        }
        #expect(forecasts[5].impressions > 2_000 * Self.scale)
    }

    @Test("Small goals are delivered exactly over a day", arguments: [1, 3])
    func smallGoals(processes: Int) async throws {
        var simulation = CampaignForecast(start: Self.start)
        (simulation.days, simulation.requests, simulation.processes, simulation.seen) = (1, 10_000 * Self.scale, processes, 0.8)
        let goals = [1, 2, 3, 5, 7, 10, 20]
        let campaigns = goals.map { goal in
            Self.campaign("\(goal)") {
                ($0.goal, $0.pacing) = (.init(unit: .impressions, total: goal), .even)
                ($0.starts, $0.ends) = (Self.start, Self.start + Self.day)
            }
        }
        let forecasts = try await simulation.run(campaigns + [Self.campaign("rest") { $0.priority = .house }])
        #expect(forecasts.prefix(goals.count).map { $0.days[0] } == goals)
    }

    @Test("A daily goal is forecast by the days of its zone, including partial days")
    func daysOfZones() async throws {
        var simulation = CampaignForecast(start: Self.start)
        (simulation.days, simulation.requests) = (2, 20_000 * Self.scale)
        let forecasts = try await simulation.run([
            Self.campaign("berlin") {
                $0.goal = .init(unit: .impressions, daily: 200 * Self.scale)
                $0.pacing = .even
                $0.zone = CampaignTimeZone("+02:00") ?? $0.zone
                ($0.starts, $0.ends) = (Self.start, Self.start + 2 * Self.day)
            }
        ])
        let goal = try #require(forecasts[0].goal)
        let delivered = forecasts[0].days.reduce(0, +)
        // Days of 22, 24 and 2 hours.
        #expect(goal == 600 * Self.scale && delivered <= goal, "\(forecasts)")
        #expect(Double(delivered) >= Double(goal) * TestSize.full(0.98, small: 0.95), "\(forecasts)")
    }

    @Test("An even campaign follows its pace throughout the day")
    func isEven() throws {
        let (delivery, campaignIndex) = (
            delivery(),
            Self.campaignIndex([
                Self.campaign("a") {
                    $0.goal = .init(unit: .impressions, total: 2_400); $0.pacing = .even
                }
            ])
        )
        var delivered = 0
        for number in 0..<24_000 {
            let now = Self.start + Int64(number) * 3_600
            if let given = try delivery.choose(Self.page("v\(number)", now: now), of: campaignIndex)[0] {
                delivered += 1
                delivery.eventsDidCommit([Self.seen(given, by: "v\(number)", at: now)], [.counted])
            }
            if number % 1_000 == 999 { #expect(abs(delivered - (number + 1) / 10) <= 3) }
        }
    }

    @Test("Offers under way hold a goal back until they are seen or given up, and an exhausted campaign stops at once")
    func offers() throws {
        let (delivery, campaignIndex) = (
            delivery(), Self.campaignIndex([Self.campaign("a") { $0.goal = .init(unit: .impressions, total: 2) }])
        )
        let first = try #require(try delivery.choose(Self.page("1"), of: campaignIndex)[0])
        let second = try #require(try delivery.choose(Self.page("2"), of: campaignIndex)[0])
        #expect(try delivery.choose(Self.page("3"), of: campaignIndex)[0] == nil)
        #expect(delivery.progress(of: campaignIndex, now: Self.start + 1).map(\.obstacle) == [.underWay])
        // The same page again returns the same advertisement and is no offer.
        #expect(try delivery.choose(Self.page("1"), of: campaignIndex)[0] == first)
        // A page that cannot show the advertisement takes its offer back.
        delivery.withdraw([second], Self.page("2"))
        let third = try #require(try delivery.choose(Self.page("3"), of: campaignIndex)[0])
        // An impression of a bot, or one that is not owed, does not count.
        delivery.eventsDidCommit([Self.seen(first), Self.seen(first)], [.bot, .surplus])
        // Offers that are not seen are given up after a while.
        let later = Self.start + 600_000
        #expect(try delivery.choose(Self.page("4", now: later), of: campaignIndex)[0] != nil)
        delivery.eventsDidCommit([Self.seen(first, at: later), Self.seen(third, by: "3", at: later)], [.counted, .counted])
        #expect(delivery.progress(of: campaignIndex, now: later).map(\.obstacle) == [.goalReached])
        #expect(try delivery.choose(Self.page("5", now: later), of: campaignIndex)[0] == nil)
    }

    @Test("Frequency caps limit a viewer's impressions and exclude anonymous viewers")
    func caps() throws {
        let (delivery, campaignIndex) = (
            delivery(),
            Self.campaignIndex([
                Self.campaign("a") {
                    $0.caps = [.init(count: 2, window: 3_600)]; $0.creatives = ["1", "2", "3"]
                }
            ])
        )
        #expect(try delivery.choose(Self.page(nil), of: campaignIndex) == [nil])
        #expect(try delivery.choose(Self.page("v", places: 3), of: campaignIndex).compactMap(\.self).count == 2)
        #expect(try delivery.choose(Self.page("v", page: 2), of: campaignIndex) == [nil])
        #expect(try delivery.choose(Self.page("w"), of: campaignIndex)[0] != nil)
    }

    @Test("Each frequency cap counts the impressions of its own window")
    func capWindows() {
        let (minute, hour) = (FrequencyCap(count: 1, window: 60), FrequencyCap(count: 3, window: 3_600))
        let campaignIndex = Self.campaignIndex([
            Self.campaign("minute") { $0.caps = [minute] }, Self.campaign("hour") { $0.caps = [hour] },
            Self.campaign("both") { $0.caps = [minute, hour] },
        ])
        func room(afterSeconds seconds: Int64) -> [Int?] {
            let seen = ["minute", "hour", "both"].map { FrequencyCount(campaign: $0, at: Self.start, count: 1) }
            let room = ViewerOffers().room(of: campaignIndex, for: "v", seen: seen, now: Self.start + seconds * 1_000)
            return seen.map { campaignIndex.index(of: $0.campaign).flatMap { room?[Int32($0)] } }
        }
        #expect(room(afterSeconds: 59) == [0, 2, 0])
        // A campaign without an impression in any of its windows has all its room, and no entry.
        #expect(room(afterSeconds: 60) == [nil, 2, 1])
        #expect(room(afterSeconds: 3_600) == [nil, nil, nil])
    }

    @Test("Frequency caps hold over two simulated days")
    func capsHold() async throws {
        var simulation = CampaignForecast(start: Self.start)
        (simulation.days, simulation.requests, simulation.viewers) = (2, 20_000, 50)
        let forecasts = try await simulation.run([
            Self.campaign("a") {
                $0.caps = [.init(count: 3, window: 86_400)]; $0.ends = Self.start + 2 * Self.day
            }
        ])
        #expect((290...300).contains(forecasts[0].impressions))
    }

    @Test("The highest priority is served first, and weights decide within a priority")
    func priorities() throws {
        let light = Self.campaign("light")
        let heavy = Self.campaign("heavy") { $0.weight = 3 }
        let house = Self.campaign("house") {
            $0.priority = .house; $0.weight = 1_000
        }
        let (one, other) = (delivery(), delivery())
        let campaignIndex = Self.campaignIndex([light, heavy, house])
        var counts: [String: Int] = [:]
        for number in 0..<4_000 {
            let page = Self.page("v\(number)")
            let given = try one.choose(page, of: campaignIndex)[0]
            #expect(try other.choose(page, of: campaignIndex)[0] == given)
            counts[given?.campaign ?? "", default: 0] += 1
        }
        #expect(counts["house"] == nil && (2_900...3_100).contains(counts["heavy"] ?? 0))
        // A sponsorship is served first, and the next campaigns get the remaining slots.
        let sponsored = Self.campaignIndex([
            light,
            Self.campaign("sponsor") {
                $0.priority = .sponsorship; $0.goal = .init(unit: .impressions, total: 1)
            },
        ])
        #expect(try one.choose(Self.page("s1"), of: sponsored)[0]?.campaign == "sponsor")
        #expect(try one.choose(Self.page("s2"), of: sponsored)[0]?.campaign == "light")
    }

    @Test(
        "Eligible campaigns share ad slots by weight despite excluded campaigns"
    )
    func draws() throws {
        let many = (0..<200).map { number in
            Self.campaign("c\(number)") {
                switch number % 4 {
                case 0: $0.weight = 3
                case 1: $0.targeting.any = ["plan=pro"]
                case 2: $0.caps = [.init(count: 1, window: 60)]
                default: ($0.priority, $0.targeting.all) = (.sponsorship, ["plan=pro", "country=DE"])
                }
            }
        }
        let (delivery, campaignIndex) = (delivery(), Self.campaignIndex(many))
        var counts = [0, 0, 0, 0]
        for number in 0..<20_000 {
            let page = Self.page(number % 2 == 0 ? nil : "v\(number)", page: UInt32(number + 1), attributes: "plan=pro")
            let given = try #require(try delivery.choose(page, of: campaignIndex)[0])
            counts[(Int(given.campaign.dropFirst()) ?? 0) % 4] += 1
        }
        // Without a viewer, campaigns with caps are excluded: 50 x 3 to 50 x 1.
        // With a viewer, only sponsorships are excluded: 150 to 50 to 50.
        #expect((13_300...13_700).contains(counts[0]) && (4_300...4_700).contains(counts[1]) && (1_850...2_150).contains(counts[2]))
        #expect(counts[3] == 0)
        // After a viewer has seen all campaigns with caps, the remaining campaign is served.
        let few = Self.campaignIndex(
            (0..<100).map { number in
                Self.campaign("c\(number)") { if number != 77 { $0.caps = [.init(count: 1, window: 3_600)] } }
            })
        let shown = try (0..<120).compactMap { try delivery.choose(Self.page("all", page: UInt32($0 + 1)), of: few)[0]?.campaign }
        #expect(shown.count == 120 && Set(shown).count == 100)
    }

    @Test("A page has one campaign per label and each advertisement at most once")
    func labels() throws {
        let campaignIndex = Self.campaignIndex([
            Self.campaign("a") { $0.labels = ["cars"] }, Self.campaign("b") { $0.labels = ["cars", "fuel"] },
            Self.campaign("c") { $0.creatives = ["x", "y"] },
        ])
        for number in 0..<100 {
            let given = try delivery().choose(Self.page("v\(number)", places: 5), of: campaignIndex).compactMap(\.self)
            #expect(given.count == 3 && Set(given.map(\.creative)).count == 3)
            #expect(given.count { $0.campaign != "c" } == 1)
        }
    }

    @Test(
        "Targeting matches viewer attributes and languages",
        arguments: [
            ("any", "plan=free, country=DE", "", true), ("any", "plan=pro", "", false), ("any", "", "", false),
            ("all", "plan=free, country=DE", "", true), ("all", "plan=free", "", false),
            ("none", "plan=pro", "", true), ("none", "plan=free;x", "", true), ("none", "plan=\"free\"", "", false),
            ("german", "", "de-AT,en;q=0.5", true), ("german", "", "en, de;q=0", false), ("german", "", "", false),
        ] as [(String, String, String, Bool)])
    func targets(rule: String, attributes: String, languages: String, isShown: Bool) throws {
        let campaignIndex = Self.campaignIndex([
            Self.campaign("a") {
                switch rule {
                case "any": $0.targeting.any = ["plan=free", "plan=trial"]
                case "all": $0.targeting.all = ["plan=free", "country=DE"]
                case "none": $0.targeting.none = ["plan=free"]
                default: $0.targeting.locales = ["de"]
                }
            }
        ])
        let given = try delivery().choose(Self.page(attributes: attributes, languages: languages), of: campaignIndex)
        #expect((given[0] != nil) == isShown)
    }

    @Test("A campaign is served only in its zone's hours and days and its targeted places")
    func times() throws {
        // 2025-11-24 is a Monday; 23:30 UTC is 00:30 on Tuesday in Berlin.
        let late = Self.start + Self.day - 1_800_000
        let berlin = try #require(CampaignTimeZone("Europe/Berlin"))
        func isShown(at now: Int64, _ change: (inout Campaign) -> Void) throws -> Bool {
            try delivery().choose(Self.page(now: now), of: Self.campaignIndex([Self.campaign("a", change)]))[0] != nil
        }
        #expect(
            try isShown(at: late) {
                $0.zone = berlin; $0.targeting.days = 0b10; $0.targeting.hours = 1
            })
        #expect(try !isShown(at: late) { $0.targeting.days = 0b10 })
        #expect(
            try !isShown(at: late) {
                $0.zone = berlin; $0.targeting.hours = 1 << 23
            })
        #expect(try !isShown(at: late) { $0.starts = late + 1 })
        #expect(try !isShown(at: late) { $0.ends = late })
        #expect(try !isShown(at: late) { $0.targeting.feeds = ["news"] })
        #expect(try !isShown(at: late) { $0.targeting.sections = ["top"] })
        #expect(try !isShown(at: late) { $0.targeting.layouts = [.table] })
        #expect(CampaignTimeZone("+05:30") != nil && CampaignTimeZone("Mars/Base") == nil && CampaignTimeZone("+25:00") == nil)
    }

    @Test("An explanation gives the reason for each rejected campaign")
    func explains() throws {
        let campaignIndex = Self.campaignIndex([
            Self.campaign("chosen") { $0.labels = ["cars"] },
            Self.campaign("labelled") {
                $0.labels = ["cars"]; $0.priority = .house
            },
            Self.campaign("later") { $0.starts = Self.start + 10 },
            Self.campaign("elsewhere") { $0.targeting.feeds = ["news"] },
            Self.campaign("others") { $0.targeting.any = ["plan=pro"] },
        ])
        let delivery = delivery()
        let page = Self.page(places: 2)
        let given = try delivery.choose(page, of: campaignIndex)
        #expect(given.map { $0?.campaign } == ["chosen", nil])
        let reasons = try delivery.explain(page, of: campaignIndex, served: given)
        let names = campaignIndex.campaigns.map(\.id)
        #expect(
            Dictionary(uniqueKeysWithValues: zip(names, reasons[0])) == [
                "chosen": nil, "labelled": .lost, "later": .notStarted, "elsewhere": .feed, "others": .attributes,
            ])
        #expect(zip(names, reasons[1]).first { $0.0 == "labelled" }?.1 == .label)
    }
}
