import Foundation
import TestSupport

@testable import IntertwineFeed

/// A simulation of one campaign with the real ad servers and pacing, in simulated time: readers see what they are offered, attackers only take
/// offers. Each slot of each page is open to the campaign.
struct PacingSimulation {
    struct Readers {
        /// Visits per second, or the times of all visits.
        var rate = 0.0
        var arrivals: [Double] = []
        /// The seconds for an item, on average, and the chance that a reader stops at an item.
        var secondsPerItem = 2.0
        var stops = 0.0
        var pages = 1
        var areNamed = false
    }

    struct Attackers {
        var networks: Int
        /// Requests per second of all networks together.
        var rate: Double
        var slots: Int
        var areNamed = false
        var period = 0.0...Double.infinity
    }

    struct Outcome {
        var counted = 0
        var surplus = 0
        var late = 0
        var offers = 0
        var seen = 0
        /// The distances of the counted number from its line, at each probe.
        var distances: [Double] = []
        var end = 0.0
    }

    private enum Step {
        case arrival(Int)
        case visit(group: Int, viewer: Int, page: Int)
        case impression(AdServer.ServedAd, viewer: Int?)
        case attack(Int, number: Int)
        case refresh, probe, restart
    }

    static let start: Int64 = 1_763_942_400_000
    private static let itemsPerPage = 20

    var campaign: Campaign
    var start = Self.start
    var seconds: Double
    var readers: [Readers] = []
    var attackers: [Attackers] = []
    var replicas = 1
    var seed: UInt64 = 1
    var restarts: [Double] = []
    /// The first probe and the time between two, in seconds.
    var probe: (first: Double, every: Double)?
    /// The counted number that ends the simulation.
    var until = Int.max

    static func campaign(_ goal: Campaign.Goal, seconds: Double? = nil, since: Double = 0) -> Campaign {
        var campaign = Campaign(id: "a", advertiser: "ACME", creatives: ["1", "2", "3", "4"])
        campaign.goal = goal
        if let seconds {
            campaign.pacing = .even
            (campaign.starts, campaign.ends) = (start + Int64(since * 1_000), start + Int64(seconds * 1_000))
        }
        return campaign
    }

    private func due(at time: Double) -> Double {
        // The day of a daily goal is the simulated time.
        if let daily = campaign.goal?.daily { return Double(daily) * time / seconds }
        guard let goal = campaign.goal?.total else { return 0 }
        guard campaign.pacing == .even, let starts = campaign.starts, let ends = campaign.ends else { return Double(goal) }
        let now = Double(Self.start) + time * 1_000
        return Double(goal) * min(1, max(0, (now - Double(starts)) / Double(ends - starts)))
    }

    func run() throws -> Outcome {
        let index = CampaignIndex([campaign]) { .init(id: CreativeID(kind: "ad", id: $0), layouts: [.collection]) }
        let ledger = SimulatedLedger(processes: replicas)
        func server() -> AdServer { AdServer(ledger: ledger, isShared: true) }
        var servers = (0..<replicas).map { _ in server() }
        var (random, queue, outcome) = (SeededRandom(seed: seed), TimeQueue<Step>(), Outcome())
        var people = 0
        func exponential(_ rate: Double) -> Double { -log(1 - Double.random(in: 0..<1, using: &random)) / rate }
        for (number, group) in readers.enumerated() {
            if group.rate > 0 { queue.add(.arrival(number), at: exponential(group.rate)) }
            for time in group.arrivals {
                people += 1
                queue.add(.visit(group: number, viewer: people, page: 0), at: time)
            }
        }
        for (number, attackers) in attackers.enumerated() { queue.add(.attack(number, number: 0), at: attackers.period.lowerBound) }
        for time in restarts { queue.add(.restart, at: time) }
        if let probe { queue.add(.probe, at: probe.first) }
        queue.add(.refresh, at: 0)
        var requests: UInt32 = 0
        func offer(_ slots: Int, viewer: String?, at time: Double) throws -> [AdServer.ServedAd] {
            requests += 1
            let now = start + Int64(time * 1_000)
            var page = AdServer.Page(
                slots: Array(repeating: AdSlotContext(feed: "main"), count: slots), identity: requests,
                targeting: TargetingContext(viewer: viewer, moment: Int64(requests)), now: now)
            page.coordinates = (0..<slots).map { $0 * 5 }
            return try servers[Int.random(in: 0..<replicas, using: &random)].choose(page, of: index).compactMap(\.self)
        }
        while let (time, step) = queue.next(), time <= seconds {
            outcome.end = time
            let now = start + Int64(time * 1_000)
            switch step {
            case .arrival(let number):
                queue.add(.arrival(number), at: time + exponential(readers[number].rate))
                people += 1
                queue.add(.visit(group: number, viewer: people, page: 0), at: time)
            case .visit(let number, let viewer, let page):
                let group = readers[number]
                let served = try offer(4, viewer: group.areNamed ? "v\(viewer)" : nil, at: time)
                outcome.offers += served.count
                var (moment, hasStopped) = (time, false)
                for item in 1...Self.itemsPerPage {
                    // The time for an item varies by half, as readers do.
                    moment += group.secondsPerItem * Double.random(in: 0.5...1.5, using: &random)
                    if group.stops > 0, Double.random(in: 0..<1, using: &random) < group.stops {
                        hasStopped = true
                        break
                    }
                    if item % 5 == 0, item / 5 <= served.count {
                        queue.add(.impression(served[item / 5 - 1], viewer: group.areNamed ? viewer : nil), at: moment)
                    }
                }
                if !hasStopped, page + 1 < group.pages { queue.add(.visit(group: number, viewer: viewer, page: page + 1), at: moment) }
            case .impression(let served, let viewer):
                outcome.seen += 1
                var impressionContext = ImpressionContext(campaign: served.campaign, feed: "main", frequencyCapTTL: served.frequencyCapTTL)
                impressionContext.served = served.at
                var event = LedgerEvent(
                    at: now, kind: .impression, cell: "ad:1", viewer: viewer.map { "v\($0)" }, impressionContext: impressionContext)
                event.terms = campaign.terms(of: event)
                let verdicts = ledger.commit([event])
                switch verdicts[0] {
                case .counted: outcome.counted += 1
                case .surplus: outcome.surplus += 1
                default: outcome.late += 1
                }
                servers[Int.random(in: 0..<replicas, using: &random)].eventsDidCommit([event], verdicts)
                if outcome.counted >= until { return outcome }
            case .attack(let number, let request):
                let group = attackers[number]
                guard time <= group.period.upperBound else { continue }
                _ = try offer(group.slots, viewer: group.areNamed ? "x\(request % group.networks)" : nil, at: time)
                queue.add(.attack(number, number: request + 1), at: time + 1 / group.rate)
            case .refresh:
                for server in servers { try server.refresh(now: now) }
                queue.add(.refresh, at: time + 0.5)
            case .probe:
                outcome.distances.append(Double(outcome.counted) - due(at: time))
                queue.add(.probe, at: time + (probe?.every ?? 1))
            case .restart: servers = servers.map { _ in server() }
            }
        }
        return outcome
    }
}

/// Steps in the order of their times.
private struct TimeQueue<Step> {
    private var heap: [(time: Double, number: Int, step: Step)] = []
    private var count = 0

    private func isBefore(_ one: Int, _ other: Int) -> Bool {
        (heap[one].time, heap[one].number) < (heap[other].time, heap[other].number)
    }

    mutating func add(_ step: Step, at time: Double) {
        count += 1
        heap.append((time, count, step))
        var index = heap.count - 1
        while index > 0, isBefore(index, (index - 1) / 2) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    mutating func next() -> (time: Double, step: Step)? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        if heap.isEmpty { return (first.time, first.step) }
        heap[0] = last
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count && isBefore(child, least) { least = child }
            if least == index { return (first.time, first.step) }
            heap.swapAt(index, least)
            index = least
        }
    }
}
