import Synchronization
import Testing

@testable import IntertwineFeed

/// Processes that start, stop and stall on one ledger: in any order of events, goals are never exceeded and are finally reached.
@Suite("Goals shared by several processes")
struct BudgetSyncRequestTests {
    @Test(
        "Random orders of process events never exceed the goal and finally reach it", arguments: 1...30
    )
    func keepsGoals(seed: UInt64) throws {
        var world = World(seed: seed, total: seed % 3 == 0 ? 1_200 : 10 + Int(seed % 7) * 9)
        for _ in 0..<(seed % 3 == 0 ? 2_000 : 700) {
            try world.step()
            #expect(world.ledger.delivered <= world.goal + world.onTop, "seed \(seed)")
        }
        try world.finish()
        #expect(world.ledger.delivered >= world.goal && world.ledger.delivered <= world.goal + world.onTop, "seed \(seed)")
    }

    @Test("A new process synchronizes before it serves, and a stopped process releases its budget")
    func comesAndGoes() throws {
        let ledger = ModelLedger()
        let campaignIndex = AdServerTests.campaignIndex([AdServerTests.campaign("a") { $0.goal = .init(unit: .impressions, total: 9) }])
        func process(_ name: String) -> AdServer { AdServer(ledger: ledger, process: name, lifetime: 300_000) }
        func give(_ delivery: AdServer, _ count: Int, at now: Int64) throws -> Int {
            try (0..<count).count { number in
                try delivery.allocate(AdServerTests.page("\(now) \(number)", now: now), of: campaignIndex)[0] != nil
            }
        }
        let (one, two) = (process("1"), process("2"))
        let now = AdServerTests.start + 1
        // A single process holds the complete budget and writes nothing for a while.
        #expect(try give(one, 1, at: now) == 1)
        let writes = ledger.writes
        for step in 1..<9 { try one.exchange(now: now + Int64(step) * 500) }
        #expect(ledger.writes == writes && one.processes == 1)
        // Another process serves nothing until the first process has detected it.
        #expect(try give(two, 3, at: now + 4_500) == 0)
        try one.exchange(now: now + 4_600)
        try two.exchange(now: now + 4_700)
        #expect(try give(two, 9, at: now + 4_800) == 4)
        #expect(try give(one, 9, at: now + 4_800) == 4)
        #expect(one.progress(of: campaignIndex, now: now + 4_900).map(\.obstacle) == [.reserved])
        try two.shutdown(now: now + 5_000)
        #expect(try give(two, 1, at: now + 5_100) == 0)
        try one.exchange(now: now + 5_200)
        #expect(one.processes == 1)
    }

    @Test("An impression through another process ends only the reservation of the serving process")
    func seenElsewhere() throws {
        let ledger = ModelLedger()
        let campaignIndex = AdServerTests.campaignIndex([AdServerTests.campaign("a") { $0.goal = .init(unit: .impressions, total: 9) }])
        let now = AdServerTests.start + 1
        let (one, two) = (
            AdServer(ledger: ledger, process: "1", lifetime: 300_000),
            AdServer(ledger: ledger, process: "2", lifetime: 300_000)
        )
        for delivery in [one, two, one, two] {
            try delivery.begin(campaignIndex, now: now)
            try delivery.exchange(now: now)
        }
        let given = try #require(try one.allocate(AdServerTests.page("v", now: now), of: campaignIndex)[0])
        #expect(try two.allocate(AdServerTests.page("w", now: now), of: campaignIndex)[0] != nil)
        ledger.count()
        two.eventsDidCommit([AdServerTests.seen(given, at: now)], [.counted])
        func reserved() -> [Int64] { [one, two].map { $0.progress(of: campaignIndex, now: now + 2_000)[0].reserved } }
        for (delivery, later) in zip([one, two, one, two], [Int64(500), 600, 1_000, 1_100]) { try delivery.exchange(now: now + later) }
        #expect(reserved() == [1, 1])
    }
}

extension BudgetSyncRequestTests {
    @Test("Between exchanges, processes serve at most the remaining clicks of a click goal")
    func clicks() throws {
        let ledger = ModelLedger()
        let now = AdServerTests.start
        let campaignIndex = AdServerTests.campaignIndex([AdServerTests.campaign("a") { $0.goal = .init(unit: .clicks, total: 8) }])
        let processes = (0..<3).map { AdServer(ledger: ledger, process: "p\($0)", lifetime: 300_000) }
        func exchange(at now: Int64) throws {
            for process in processes {
                try process.begin(campaignIndex, now: now)
                try process.exchange(now: now)
            }
        }
        func click(at now: Int64) throws {
            for number in 0..<60 {
                let page = AdServerTests.page("v\(number)-\(now)", now: now)
                guard let given = try processes[number % 3].allocate(page, of: campaignIndex)[0] else { continue }
                var event = AdServerTests.seen(given, at: now)
                event.kind = .click
                ledger.count()
                processes[(number + 1) % 3].eventsDidCommit([event], [.counted])
            }
        }
        for _ in 0..<3 { try exchange(at: now) }
        try click(at: now + 1)
        #expect((6...8).contains(ledger.delivered))
        for round in 1...8 {
            try exchange(at: now + Int64(round) * 2_000)
            try click(at: now + Int64(round) * 2_000 + 1)
        }
        #expect(ledger.delivered == 8)
    }
}

/// The leases of processes as a ledger stores them, with an interruption between a request and its commit.
private final class ModelLedger: CampaignLedger {
    struct Lost: Error {}

    private struct Row {
        var holdings: SharedBudgetLeases
        var until: Int64
        var present: Int64
    }

    private struct State {
        var rows: [String: Row] = [:]
        var seen: [RemoteImpressions] = []
        var delivered = 0
        var writes = 0
    }

    private let state = Mutex(State())
    /// Called before an exchange is committed; the exchange is lost if the result is false.
    private let between = Mutex<(@Sendable () -> Bool)?>(nil)

    var delivered: Int { state.withLock { $0.delivered } }
    var writes: Int { state.withLock { $0.writes } }

    func count() { state.withLock { $0.delivered += 1 } }

    func interrupt(_ body: (@Sendable () -> Bool)?) { between.withLock { $0 = body } }

    func exposures(of viewer: String, since moment: Int64) -> [FrequencyCount] { [] }

    func served(to viewer: String, besides process: String, now: Int64) -> [FrequencyCount] { [] }

    func claim(_ claim: FrequencyCapReservation) -> Bool { true }

    func page(_ key: Int64, of viewer: String, now: Int64) -> [UInt8]? { nil }

    func delivered(_ questions: [DeliveryQuery]) -> [DeliveryCount] { questions.map { _ in DeliveryCount() } }

    func knownCreatives() -> Set<CreativeID> { [] }

    func remember(_ creatives: [CreativeID]) {}

    func hasOthers(besides process: String, now: Int64) -> Bool {
        state.withLock { $0.rows.contains { $0.key != process && $0.value.present > now } }
    }

    func exchange(_ exchange: BudgetSyncRequest, _ hold: @Sendable (BudgetSyncState) -> SharedBudgetLeases) throws {
        let situation = state.withLock { state in
            let others = state.rows.filter { $0.key != exchange.process }
            let present = others.filter { $0.value.present > exchange.now }
            var situation = BudgetSyncState(
                delivered: exchange.questions.map { _ in DeliveryCount(total: Int64(state.delivered), today: Int64(state.delivered)) },
                processes: present.count, before: present.count { $0.key < exchange.process })
            for (name, row) in others where row.until > exchange.now {
                for (campaign, holding) in row.holdings.counts {
                    situation.others[campaign, default: SharedBudgetLease()].served += holding.served
                    if present[name] != nil { situation.others[campaign, default: SharedBudgetLease()].allowed += holding.allowed }
                }
            }
            situation.seen = state.seen.filter { $0.reservation.process == ReservationID.number(of: exchange.process) }
            return situation
        }
        let holdings = hold(situation)
        guard between.withLock({ $0 })?() ?? true else { throw Lost() }
        state.withLock { state in
            state.writes += 1
            state.seen.removeAll { $0.reservation.process == ReservationID.number(of: exchange.process) }
            state.seen += exchange.seen
            let row = Row(
                holdings: holdings, until: exchange.now + exchange.lifetime,
                present: exchange.now + (holdings.isThere ? exchange.presence : 0))
            state.rows[exchange.process] = row
        }
    }
}

/// Several processes, the pages that they served, and a clock.
private struct World {
    private final class Process: Sendable {
        struct Place {
            var at: Int64
            var given: AdServer.ServedAd
        }

        let delivery: AdServer
        /// The time of the last exchange, the served slots without an impression, and the number of them that the ledger knows.
        let state = Mutex<(exchanged: Int64, places: [Place], known: Int)>((.min, [], 0))

        init(_ name: String, _ ledger: ModelLedger) {
            delivery = AdServer(ledger: ledger, process: name, lifetime: World.lifetime)
        }
    }

    static let lifetime: Int64 = 30_000
    private let campaignIndex: CampaignIndex
    let ledger = ModelLedger()
    let goal: Int
    /// Impressions of slots that processes served before a crash without a record in the ledger, and of expired slots.
    private(set) var onTop = 0
    private var processes: [Process] = []
    /// The slots that crashed processes served.
    private var orphans: [(place: Process.Place, isKnown: Bool)] = []
    /// Expired slots that may still get an impression.
    private var stale: [Process.Place] = []
    private var now = AdServerTests.start + 1
    private var random: UInt64
    private var names = 0
    private var pages: UInt64 = 0

    init(seed: UInt64, total: Int) {
        (random, goal) = (seed, total)
        campaignIndex = AdServerTests.campaignIndex([
            AdServerTests.campaign("a") {
                $0.goal = seed % 2 == 0 ? .init(unit: .impressions, total: total) : .init(unit: .impressions, daily: total)
            }
        ])
    }

    private mutating func below(_ limit: Int) -> Int {
        random = AdDecision.mix(random)
        return Int(random % UInt64(limit))
    }

    mutating func step() throws {
        now += Int64(below(300))
        forget()
        guard !processes.isEmpty else { return try start() }
        let process = processes[below(processes.count)]
        switch below(100) {
        case 0: if processes.count < 4 { try start() }
        case 1: if below(3) == 0 { die(process) }
        case 2: if below(8) == 0 { now += 12_000 }
        case 3..<40: try exchange(process)
        case 40..<75: try Self.give(process, campaignIndex, name(), at: now)
        case 75..<95: see(process)
        case 95..<98: seeOrphan()
        default: seeStale()
        }
    }

    /// Every served slot gets an impression from now on, and no process crashes.
    mutating func finish() throws {
        if processes.isEmpty { try start() }
        for _ in 0..<4_000 where ledger.delivered < goal {
            now += 1_000
            forget()
            for process in processes {
                try process.delivery.exchange(now: now)
                try Self.give(process, campaignIndex, name(), at: now)
                see(process)
            }
        }
    }

    private mutating func name() -> String {
        pages += 1
        return "v\(pages)"
    }

    private mutating func start() throws {
        names += 1
        // Names have a random order.
        let process = Process("\(below(1_000)) \(names)", ledger)
        try process.delivery.begin(campaignIndex, now: now)
        process.state.withLock { $0.exchanged = now }
        processes.append(process)
    }

    private mutating func die(_ process: Process) {
        processes.removeAll { $0 === process }
        process.state.withLock { state in
            orphans += state.places.enumerated().map { ($1, $0 < state.known) }
        }
    }

    /// Moves expired slots to `stale`, and removes those of crashed processes.
    private mutating func forget() {
        let since = now - Self.lifetime
        orphans.removeAll { $0.place.at <= since }
        if stale.count > 20 { stale.removeFirst(10) }
        for process in processes {
            process.state.withLock { state in
                let gone = state.places.prefix { $0.at <= since }.count
                stale += state.places.prefix(gone)
                state.places.removeFirst(gone)
                state.known = max(0, state.known - gone)
            }
        }
    }

    private static func give(_ process: Process, _ campaignIndex: CampaignIndex, _ viewer: String, at now: Int64) throws {
        let page = AdServerTests.page(viewer, now: now)
        guard let given = try process.delivery.allocate(page, of: campaignIndex)[0] else { return }
        process.state.withLock { $0.places.append(.init(at: now, given: given)) }
    }

    private mutating func see(_ process: Process) {
        let number = below(1_000)
        let place = process.state.withLock { state -> Process.Place? in
            guard !state.places.isEmpty else { return nil }
            let index = number % state.places.count
            if index < state.known { state.known -= 1 }
            return state.places.remove(at: index)
        }
        if let place { tell(place) }
    }

    /// Reports an impression to any of the processes.
    private mutating func tell(_ place: Process.Place) {
        ledger.count()
        guard !processes.isEmpty else { return }
        processes[below(processes.count)].delivery.eventsDidCommit([AdServerTests.seen(place.given, at: now)], [.counted])
    }

    private mutating func seeStale() {
        guard !stale.isEmpty else { return }
        tell(stale.remove(at: below(stale.count)))
        onTop += 1
    }

    private mutating func seeOrphan() {
        guard !orphans.isEmpty else { return }
        let orphan = orphans.remove(at: below(orphans.count))
        tell(orphan.place)
        if !orphan.isKnown { onTop += 1 }
    }

    /// An exchange in two halves: pages are served during the write, which may fail.
    private mutating func exchange(_ process: Process) throws {
        let (count, fails, at) = (below(4), below(8) == 0, now)
        let (campaignIndex, known) = (campaignIndex, process.state.withLock { $0.places.count })
        let viewers = (0..<count).map { _ in name() }
        let isFresh = process.state.withLock { now < $0.exchanged + 8_000 }
        let wasWritten = Mutex(false)
        ledger.interrupt {
            // A process that must not serve waits for the exchange.
            if isFresh { for viewer in viewers { try? Self.give(process, campaignIndex, viewer, at: at) } }
            if !fails { wasWritten.withLock { $0 = true } }
            return !fails
        }
        defer { ledger.interrupt(nil) }
        try? process.delivery.exchange(now: now)
        if wasWritten.withLock({ $0 }) { process.state.withLock { ($0.exchanged, $0.known) = (at, known) } }
    }
}
