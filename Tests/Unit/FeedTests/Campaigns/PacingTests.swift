import TestSupport
import Testing

@testable import IntertwineFeed

/// The scenarios of `Benchmarks/pacing`.
@Suite("Pacing by estimate")
struct PacingTests {
    private typealias Simulation = PacingSimulation

    private static let day = 86_400.0
    private static let isFull = TestSize.full(true, small: false)

    private static func report(_ scenario: String, _ outcome: Simulation.Outcome, due: Double? = nil) {
        guard isFull else { return }
        let (least, most) = (outcome.distances.min() ?? 0, outcome.distances.max() ?? 0)
        func tenths(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }
        print(
            "pacing | \(scenario) | counted \(outcome.counted)\(due.map { " of \(tenths($0))" } ?? "") | surplus \(outcome.surplus) | "
                + "seen \(outcome.seen) of \(outcome.offers) | line \(tenths(least)) ... \(tenths(most)) | after \(Int(outcome.end)) s")
    }

    private static let attacks: [Simulation.Attackers] = [
        .init(networks: 1, rate: 20 / 160, slots: 100), .init(networks: 2, rate: 20 / 160, slots: 100),
        .init(networks: 4, rate: 0.2, slots: 20), .init(networks: 50, rate: 20, slots: 100),
        .init(networks: 1, rate: 21 / 150, slots: 100, areNamed: true),
    ]

    @Test("Clients that take offers and report none leave 95 % of what is due to readers", arguments: 0..<5)
    func starvation(attack: Int) throws {
        let attackers = Self.attacks[attack]
        // As many visits as the goal needs, and a little more.
        var fast = Simulation(campaign: Simulation.campaign(.init(unit: .impressions, total: 1_000)), seconds: 427)
        fast.readers = [.init(rate: 0.75, areNamed: attackers.areNamed)]
        fast.attackers = [attackers]
        var alone = fast
        alone.attackers = []
        let (attacked, undisturbed) = (try fast.run(), try alone.run())
        Self.report("asap 1,000, attack \(attack)", attacked)
        #expect(Double(attacked.counted) >= 0.95 * Double(undisturbed.counted), "\(attacked.counted) of \(undisturbed.counted)")
        var even = Simulation(
            campaign: Simulation.campaign(.init(unit: .impressions, total: 100_000), seconds: 30 * Self.day, since: -60),
            seconds: TestSize.full(2_250, small: 1_200))
        even.readers = [.init(rate: 8 / 60, areNamed: attackers.areNamed)]
        even.attackers = [attackers]
        let paced = try even.run()
        let due = 100_000 * (even.seconds + 60) / (30 * Self.day + 60)
        Self.report("even 100,000 in 30 d, attack \(attack)", paced, due: due)
        #expect(Double(paced.counted) >= 0.95 * due - 4 && Double(paced.counted) <= due + 10, "\(paced.counted) of \(due)")
    }

    @Test("Clients that take most offers and report none keep no small goal from its readers", arguments: [1, 2, 3, 10, 50])
    func smallGoals(goal: Int) throws {
        var (counted, surplus) = (0, 0)
        let seeds = TestSize.full(20, small: 5) as UInt64
        for seed in 0..<seeds {
            var simulation = Simulation(campaign: Simulation.campaign(.init(unit: .impressions, total: goal)), seconds: 300)
            simulation.readers = [.init(rate: 1, secondsPerItem: 1.3)]
            simulation.attackers = [.init(networks: 1, rate: 8, slots: 1)]
            simulation.seed = seed
            let outcome = try simulation.run()
            counted += outcome.counted
            surplus += outcome.surplus
        }
        let due = goal * Int(seeds)
        if Self.isFull { print("pacing | goal \(goal), 8 unseen requests a view | counted \(counted) of \(due) | surplus \(surplus)") }
        #expect(Double(counted) >= 0.95 * Double(due) && surplus <= 9 * Int(seeds), "\(counted) of \(due), surplus \(surplus)")
    }

    @Test("Readers lose nothing, however slowly they read", arguments: [3, 20, 45, 120])
    func slowReaders(secondsPerItem: Double) throws {
        var simulation = Simulation(campaign: Simulation.campaign(.init(unit: .impressions, total: 1_000_000)), seconds: 40_000)
        simulation.readers = [
            .init(arrivals: (0..<40).map { Double($0) * 3 }, secondsPerItem: secondsPerItem, pages: 3, areNamed: true)
        ]
        let outcome = try simulation.run()
        Self.report("readers of \(Int(secondsPerItem)) s an item", outcome)
        #expect(outcome.counted == 480 && outcome.seen == 480 && outcome.late == 0)
    }

    @Test("A burst delivers a small goal exactly, with little surplus", arguments: [1, 2, 3, 10, 50, 200], [1, 3])
    func bursts(goal: Int, replicas: Int) throws {
        var surplus = 0
        let seeds: UInt64 = 20
        for seed in 0..<seeds {
            var simulation = Simulation(campaign: Simulation.campaign(.init(unit: .impressions, total: goal)), seconds: 1_200)
            simulation.readers = [
                .init(arrivals: (0..<50).map { Double($0) * 0.002 }, secondsPerItem: 0.5), .init(rate: 0.5, secondsPerItem: 0.5),
            ]
            (simulation.replicas, simulation.seed) = (replicas, seed)
            let outcome = try simulation.run()
            #expect(outcome.counted == goal)
            surplus += outcome.surplus
        }
        if Self.isFull { print("pacing | burst, goal \(goal), \(replicas) replicas | surplus \(Double(surplus) / Double(seeds))") }
        // About two pages of four slots for each process.
        #expect(surplus <= 9 * replicas * Int(seeds), "\(surplus)")
    }

    @Test(
        "An even pace stays near its line",
        arguments: [(4.0 / 60, 0.1, 0), (4.0 / 60, 3, 0.06), (4.0 / 60, 45, 0.03), (1, 45, 0.03)] as [(Double, Double, Double)], [1, 3])
    func even(readers: (rate: Double, secondsPerItem: Double, stops: Double), replicas: Int) throws {
        let hours = TestSize.full(24, small: 8) as Double
        var simulation = Simulation(
            campaign: Simulation.campaign(.init(unit: .impressions, total: Int(20 * hours)), seconds: hours * 3_600), seconds: hours * 3_600
        )
        simulation.readers = [.init(rate: readers.rate, secondsPerItem: readers.secondsPerItem, stops: readers.stops, pages: 2)]
        (simulation.replicas, simulation.probe) = (replicas, (3_600, 60))
        let outcome = try simulation.run()
        Self.report("even 20 an hour, \(readers), \(replicas) replicas", outcome, due: 20 * hours)
        // 2 % and two pages.
        let limit = 0.02 * 20 * hours + 8
        #expect(outcome.distances.allSatisfy { abs($0) <= limit }, "\(outcome.distances.min() ?? 0) \(outcome.distances.max() ?? 0)")
        #expect(Double(outcome.counted) >= 0.98 * 20 * hours)
    }

    @Test(
        "An even pace of a daily goal stays near its line on the days of clock changes",
        arguments: ["Europe/Berlin", "America/New_York", "Pacific/Auckland"])
    func clockChanges(zone name: String) throws {
        let zone = try #require(CampaignTimeZone(name))
        let changed = ZoneDayTests.days(in: zone).filter { $0.upperBound - $0.lowerBound != 86_400_000 }
        #expect(changed.map { ($0.upperBound - $0.lowerBound) / 3_600_000 }.sorted() == [23, 25])
        for day in changed.prefix(TestSize.full(2, small: 1)) {
            var campaign = Simulation.campaign(.init(unit: .impressions, daily: 480))
            (campaign.pacing, campaign.zone) = (.even, zone)
            var simulation = Simulation(
                campaign: campaign, start: day.lowerBound, seconds: Double(day.upperBound - day.lowerBound) / 1_000)
            simulation.readers = [.init(rate: 4.0 / 60, secondsPerItem: 3, stops: 0.06, pages: 2)]
            simulation.probe = (3_600, 60)
            let outcome = try simulation.run()
            Self.report("even 480 a day, \(name), \(Int(simulation.seconds / 3_600)) hours", outcome, due: 480)
            // 2 % and two pages.
            #expect(outcome.distances.allSatisfy { abs($0) <= 0.02 * 480 + 8 }, "\(outcome.distances)")
            #expect((470...480).contains(outcome.counted), "\(outcome.counted)")
        }
    }

    @Test("Processes that restart each hour keep the pace", arguments: [1, 3])
    func restarts(replicas: Int) throws {
        let hours = TestSize.full(6, small: 3) as Double
        var simulation = Simulation(
            campaign: Simulation.campaign(.init(unit: .impressions, total: 24_000), seconds: Self.day), seconds: hours * 3_600)
        simulation.readers = [.init(rate: 1, secondsPerItem: 3, stops: 0.06, pages: 2)]
        (simulation.replicas, simulation.probe) = (replicas, (3_600, 20))
        simulation.restarts = (0..<Int(hours)).map { Double($0) * 3_600 + 1_800 }
        let outcome = try simulation.run()
        Self.report("even 24,000 a day, hourly restarts, \(replicas) replicas", outcome)
        #expect(outcome.distances.allSatisfy { abs($0) <= 30 }, "\(outcome.distances.min() ?? 0) \(outcome.distances.max() ?? 0)")
    }

    @Test("At most what the days before have left of the goal is due today", arguments: [(0, 0, 5), (8, 2, 4), (8, 0, 2), (12, 1, 0)])
    func dueToday(total: Int64, today: Int64, due: Int64) {
        var campaign = Simulation.campaign(.init(unit: .impressions, total: 10, daily: 5))
        campaign.pacing = .asap
        let day = Simulation.start..<Simulation.start + 86_400_000
        let pace = CampaignPace(campaign)
        #expect(pace.dueToday(at: day.lowerBound + 1, in: day, DeliveryCount(total: total, today: today)) == due)
        #expect(pace.dueToday(at: day.lowerBound + 1, in: day) == 5)
    }

    @Test("Unseen offers leave the estimate in time, and it learns the view rate")
    func estimate() {
        var estimate = DeliveryEstimate(of: .init(unit: .impressions, total: 1_000))
        estimate.advance(to: 0)
        estimate.offered(100)
        #expect(estimate.expected == 100 && estimate.viewRate == 1)
        estimate.advance(to: 60_000)
        #expect(abs(estimate.pending - 36.8) < 0.1 && estimate.viewRate < 0.3)
        #expect(estimate.expected < 15)
        estimate.seen(60)
        #expect(estimate.viewRate > 0.9)
        estimate.advance(to: 3_600_000)
        #expect(estimate.pending < 0.001)
        // What this process sees is expected no longer, and not twice when the ledger reports it.
        var small = DeliveryEstimate(of: .init(unit: .impressions, total: 1_000))
        small.advance(to: 0)
        small.offered(5)
        for left in [4.0, 3, 2] {
            small.seen(after: 0)
            #expect(abs(small.expected - left) < 0.01)
        }
        small.seen(3)
        #expect(abs(small.expected - 2) < 0.01)
        small.seen(1)
        #expect(abs(small.expected - 1) < 0.01)
        // A clock that is set back changes nothing.
        estimate.offered(10)
        estimate.advance(to: 0)
        #expect(estimate.pending > 9.9)
        for _ in 0..<500 { estimate.observed(lag: 300) }
        #expect(abs(estimate.lag - 300) < 20)
    }
}
