import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

/// The verdicts of events with a campaign, in every ledger.
@Suite("Verdicts on events of campaigns, in every ledger")
struct VerdictModelTests {
    /// A model of the verdicts: one list of accepted events, read from its start for each event.
    private struct Model {
        typealias Accepted = (event: LedgerEvent, terms: LedgerEvent.Terms, verdict: Verdict)

        var accepted: [Accepted] = []
        var keys: Set<String> = []

        mutating func judge(_ event: LedgerEvent) -> Verdict {
            guard let terms = event.terms, let key = event.deduplication?.recordedKeys.first else { return .counted }
            if keys.contains(key) { return .duplicate }
            guard event.requiredPriorEvents.allSatisfy({ $0.checkedKeys.contains(where: keys.contains) }) else { return .unseen }
            let verdict = verdict(of: event, terms)
            keys.insert(key)
            accepted.append((event, terms, verdict))
            return verdict
        }

        private func verdict(of event: LedgerEvent, _ terms: LedgerEvent.Terms) -> Verdict {
            guard terms.isLive else { return .late }
            let same = accepted.filter { $0.terms.campaign == terms.campaign && $0.event.kind == event.kind }
            let counted = same.filter { $0.verdict == .counted }
            if let total = terms.total, counted.count >= total { return .surplus }
            if let daily = terms.daily, counted.count(where: { terms.day.contains($0.event.at) }) >= daily { return .surplus }
            for cap in terms.caps {
                let seen = same.count { one in
                    one.event.viewer == event.viewer && one.event.at > event.at - Int64(cap.window) * 1_000
                        && one.event.at <= event.at + 300_000
                }
                if seen >= cap.count { return .surplus }
            }
            return .counted
        }
    }

    private static let quarter: Int64 = 900_000
    private static let day: Int64 = 86_400_000

    static func event(
        _ kind: LedgerEvent.Kind = .impression, of campaign: String, token: Int, viewer: String? = nil, at now: Int64,
        requiring before: [LedgerEvent.Kind] = [], _ terms: LedgerEvent.Terms
    ) -> LedgerEvent {
        var event = LedgerEvent(
            at: now, kind: kind, cell: "ad:1", viewer: viewer,
            deduplication: .init(key: "\(kind.rawValue) \(campaign) \(token)", window: day),
            impressionContext: ImpressionContext(campaign: campaign, feed: "main", frequencyCapTTL: terms.caps.map(\.window).max() ?? 0))
        event.requiredPriorEvents = before.map { .init(key: "\($0.rawValue) \(campaign) \(token)", window: day) }
        if let viewer { event.rates = [.init(key: "\(kind.rawValue) v \(viewer)", limit: 100_000, window: 60_000)] }
        event.terms = terms
        return event
    }

    @Test("Random events of several processes have the verdicts of the model", arguments: LedgerKind.allCases, 0..<4)
    func model(kind: LedgerKind, seed: UInt64) async throws {
        let bench = try LedgerBench(kind)
        let ledgers = [bench.ledger, try bench.another()]
        var (random, model) = (SeededRandom(seed), Model())
        var campaigns: [String: (total: Int64?, daily: Int64?, caps: [FrequencyCap], isLive: Bool)] = [
            "total": (5, nil, [], true), "daily": (nil, 3, [], true), "both": (9, 2, [], true),
            "capped": (nil, nil, [.init(count: 2, window: 3_600)], true),
            "all": (12, 5, [.init(count: 1, window: 60), .init(count: 3, window: 7_200)], true), "none": (nil, nil, [], true),
        ]
        let names = campaigns.keys.sorted()
        var tally: [Verdict: Int] = [:]
        for _ in 0..<TestSize.full(120, small: 40) {
            bench.clock.advance(Int64.random(in: 0...600_000, using: &random))
            // Goals are edited and campaigns paused meanwhile.
            if Int.random(in: 0..<10, using: &random) == 0, let name = names.randomElement(using: &random), var terms = campaigns[name] {
                if Bool.random(using: &random) { terms.isLive.toggle() }
                if let total = terms.total { terms.total = max(1, total + Int64.random(in: -2...3, using: &random)) }
                campaigns[name] = terms
            }
            var entry = LedgerEntry()
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                guard let name = names.randomElement(using: &random), let campaign = campaigns[name] else { continue }
                let at = bench.clock.now + Int64.random(in: -120_000...0, using: &random)
                let isClick = Int.random(in: 0..<4, using: &random) == 0
                let start = LedgerTime.day(of: at) * Self.day
                let terms = LedgerEvent.Terms(
                    campaign: name, isLive: campaign.isLive, total: campaign.total, daily: campaign.daily,
                    day: start..<start + Self.day, caps: isClick ? [] : campaign.caps)
                entry.events.append(
                    Self.event(
                        isClick ? .click : .impression, of: name, token: Int.random(in: 0..<60, using: &random),
                        viewer: "v\(Int.random(in: 0..<3, using: &random))", at: at, requiring: isClick ? [.impression] : [], terms))
            }
            let expected = entry.events.map { model.judge($0) }
            let receipt = try await ledgers[Int.random(in: 0...1, using: &random)].commit(entry)
            #expect(receipt.verdicts == expected)
            for verdict in receipt.verdicts { tally[verdict, default: 0] += 1 }
        }
        #expect(Set(tally.keys) == [.counted, .surplus, .late, .duplicate, .unseen], "\(tally)")
        try await Self.checkMoney(bench, model.accepted.map { ($0.event, $0.verdict) })
    }

    /// Checks that rows, deliveries, exposures and reports agree with the accepted events.
    private static func checkMoney(_ bench: LedgerBench, _ accepted: [(event: LedgerEvent, verdict: Verdict)]) async throws {
        try await bench.settle()
        for verdict in [Verdict.counted, .surplus] {
            let rows = try bench.query("SELECT count(*) FROM event WHERE verdict = '\(verdict.rawValue)'")
            #expect(rows == "\(accepted.count { $0.verdict == verdict })")
        }
        let counted = accepted.count { $0.verdict == .counted }
        let surplus = accepted.count { $0.verdict == .surplus }
        func delivered(_ kinds: String) throws -> String {
            try bench.query("SELECT coalesce(sum(count), 0) FROM delivery WHERE span = -1 AND kind IN (\(kinds))")
        }
        #expect(try delivered("'impression', 'click'") == "\(counted)")
        #expect(try delivered("'surplus-impression', 'surplus-click'") == "\(surplus)")
        // Older exposures may have been removed.
        let since = bench.clock.now - 3_000_000
        let exposed = accepted.filter {
            $0.event.kind == .impression && ($0.event.impressionContext?.frequencyCapTTL ?? 0) > 0 && $0.event.at > since
        }
        #expect(try bench.query("SELECT coalesce(sum(count), 0) FROM exposure WHERE at > \(since)") == "\(exposed.count)")
        let days = accepted.map { Int(LedgerTime.day(of: $0.event.at)) }
        let range = (days.min() ?? 0)...(days.max() ?? 0)
        for grouping in [LedgerReport.Grouping.day, .verdict] {
            let report = try await bench.ledger.report(LedgerReport.Query(days: range, by: grouping))
            let rows = report.rows.filter { grouping == .day || $0.key == .verdict(.counted) }
            #expect(rows.reduce(0) { $0 + ($1.counts[.impression] ?? 0) + ($1.counts[.click] ?? 0) } == counted)
        }
    }

    @Test("512 clicks in one group, and those of several processes at once, count as often as the goal", arguments: LedgerKind.allCases)
    func concurrency(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let now = bench.clock.now
        let ledgers = [bench.ledger, try bench.another(), try bench.another(), try bench.another()]
        for goal in [1, 2, 3, 10, 50] as [Int64] {
            let terms = LedgerEvent.Terms(campaign: "c\(goal)", total: goal)
            // One entry is written in one group.
            let clicks = (0..<512).map { Self.event(.click, of: terms.campaign, token: $0, at: now, terms) }
            #expect(try await bench.ledger.commit(LedgerEntry(events: clicks)).verdicts.count { $0 == .counted } == goal)
            let shared = LedgerEvent.Terms(campaign: "s\(goal)", total: goal)
            let verdicts = try await withThrowingTaskGroup(of: [Verdict].self) { group in
                for client in 0..<32 {
                    group.addTask {
                        var verdicts: [Verdict] = []
                        for number in 0..<4 {
                            let event = Self.event(.click, of: shared.campaign, token: client * 4 + number, at: now, shared)
                            verdicts += try await ledgers[client % 4].commit(LedgerEntry(events: [event])).verdicts
                        }
                        return verdicts
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(verdicts.count == 128 && verdicts.count { $0 == .counted } == goal)
            #expect(verdicts.allSatisfy { $0 == .counted || $0 == .surplus })
        }
    }

    @Test("A playback to the end counts after its impression, and up to the goal", arguments: LedgerKind.allCases)
    func views(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let now = bench.clock.now
        let terms = LedgerEvent.Terms(campaign: "a", total: 1)
        func play(_ token: Int, _ seen: LedgerEvent.Kind...) async throws -> [Verdict] {
            let none = LedgerEvent.Terms(campaign: "a")
            var events = seen.map { Self.event($0, of: "a", token: token, at: now, none) }
            let before = [LedgerEvent.Kind(rawValue: "thirdQuartile"), .impression]
            events.append(Self.event(.complete, of: "a", token: token, at: now, requiring: before, terms))
            return try await bench.ledger.commit(LedgerEntry(events: events)).verdicts
        }
        let last = LedgerEvent.Kind(rawValue: "thirdQuartile")
        #expect(try await play(1) == [.unseen])
        #expect(try await play(1, last) == [.counted, .unseen])
        #expect(try await play(2, .impression) == [.counted, .unseen])
        #expect(try await play(1, .impression) == [.counted, .counted])
        #expect(try await play(3, .impression, last) == [.counted, .counted, .surplus])
        let report = try await bench.ledger.report(days: 0...Int(LedgerTime.day(of: now)), by: .verdict)
        #expect(report.rows.first { $0.key == .verdict(.surplus) }?.counts == [.complete: 1])
        #expect(try bench.query("SELECT sum(count) FROM delivery WHERE kind = 'complete' AND span = -1") == "1")
    }

    @Test("Events of a campaign that is not live use their token and are exposures", arguments: LedgerKind.allCases)
    func late(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let now = bench.clock.now
        let caps = [FrequencyCap(count: 1, window: 3_600)]
        func see(_ token: Int, isLive: Bool) async throws -> [Verdict] {
            let terms = LedgerEvent.Terms(campaign: "a", isLive: isLive, caps: caps)
            let event = Self.event(of: "a", token: token, viewer: "v", at: now, terms)
            return try await bench.ledger.commit(LedgerEntry(events: [event])).verdicts
        }
        #expect(try await see(1, isLive: false) == [.late])
        #expect(try await see(1, isLive: true) == [.duplicate])
        // The viewer has seen the ad, so the cap of one is reached.
        #expect(try await see(2, isLive: true) == [.surplus])
        #expect(try bench.ledger.exposures(of: "v", since: 0).map(\.count) == [2])
        // The click of somebody who saw the ad is never unseen.
        let terms = LedgerEvent.Terms(campaign: "a")
        let click = Self.event(.click, of: "a", token: 1, viewer: "v", at: now, requiring: [.impression], terms)
        #expect(try await bench.ledger.commit(LedgerEntry(events: [click])).verdicts == [.counted])
    }
}

/// A sequence of random numbers that is equal for equal seeds.
private struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) {
        state = seed &+ 0x9E37_79B9_7F4A_7C15
    }

    mutating func next() -> UInt64 {
        state = AdDecision.mix(state)
        return state
    }
}
