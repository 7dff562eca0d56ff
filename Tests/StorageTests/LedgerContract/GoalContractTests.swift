import Synchronization
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Budget leases of processes, in every ledger")
struct GoalContractTests {
    private final class Seen: Sendable {
        let situation = Mutex<BudgetSyncState?>(nil)
    }

    private static func exchange(
        _ ledger: any CampaignLedger, _ process: String, at now: Int64, _ holding: SharedBudgetLease? = nil, isThere: Bool = true
    ) throws -> BudgetSyncState {
        let seen = Seen()
        let question = BudgetSyncRequest(
            process: process, questions: [.init(campaign: "spring", kind: .impression, day: now / 86_400_000 * 86_400_000)], now: now,
            lifetime: 60_000, presence: 10_000)
        try ledger.exchange(question) { situation in
            seen.situation.withLock { $0 = situation }
            return SharedBudgetLeases(holding.map { ["spring": $0] } ?? [:], isThere: isThere)
        }
        return try #require(seen.situation.withLock { $0 })
    }

    @Test("Each process sees deliveries and the leases of others, which end with their processes", arguments: LedgerKind.allCases)
    func exchanges(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let (one, two) = (bench.ledger, try bench.another())
        let now = bench.clock.now
        #expect(try Self.exchange(one, "a", at: now, .init(served: 2, allowed: 5)) == BudgetSyncState(delivered: [.init()]))
        #expect(try !one.hasOthers(besides: "a", now: now) && two.hasOthers(besides: "b", now: now))
        let seen = LedgerEvent(
            at: now, kind: .impression, cell: "ad:1", viewer: "v",
            showing: ImpressionContext(campaign: "spring", feed: "main", remembered: 0))
        _ = try await bench.ledger.commit(LedgerEntry(events: [seen]))
        #expect(
            try Self.exchange(two, "b", at: now + 1, .init(served: 1))
                == BudgetSyncState(
                    delivered: [.init(total: 1, today: 1)], others: ["spring": .init(served: 2, allowed: 5)], processes: 1, before: 1))
        #expect(
            try Self.exchange(one, "a", at: now + 2, .init(served: 3, allowed: 4))
                == BudgetSyncState(delivered: [.init(total: 1, today: 1)], others: ["spring": .init(served: 1)], processes: 1))
        // What the first may give is over with its presence, what it has given is not.
        #expect(
            try Self.exchange(two, "b", at: now + 10_002)
                == BudgetSyncState(
                    delivered: [.init(total: 1, today: 1)], others: ["spring": .init(served: 3)]))
        #expect(try Self.exchange(two, "b", at: now + 70_002).others.isEmpty)
        // One that goes leaves what it has given.
        _ = try Self.exchange(one, "a", at: now + 70_003, .init(served: 1), isThere: false)
        #expect(
            try Self.exchange(two, "b", at: now + 70_004)
                == BudgetSyncState(
                    delivered: [.init(total: 1, today: 1)], others: ["spring": .init(served: 1)]))
    }

    @Test("A remote impression is reported once to the reserving process", arguments: LedgerKind.allCases)
    func tellsSeen(kind: LedgerKind) throws {
        let bench = try LedgerBench(kind)
        let (one, two) = (bench.ledger, try bench.another())
        let now = bench.clock.now
        let place = ReservationID(process: ReservationID.number(of: "a"), slot: 65_535, address: 7)
        let other = ReservationID(process: ReservationID.number(of: "gone"), slot: 1, address: 0)
        func tell(_ counts: [(ReservationID, Int)], at now: Int64) throws {
            let seen = counts.map { RemoteImpressions(campaign: "spring", reservation: $0, count: $1) }
            let exchange = BudgetSyncRequest(process: "b", seen: seen, now: now, lifetime: 60_000, presence: 10_000)
            try two.exchange(exchange) { _ in SharedBudgetLeases([:]) }
        }
        try tell([(place, 2), (other, 1)], at: now)
        try tell([(place, 1)], at: now + 1)
        #expect(try Self.exchange(one, "a", at: now + 2).seen == [RemoteImpressions(campaign: "spring", reservation: place, count: 3)])
        #expect(try Self.exchange(one, "a", at: now + 3).seen.isEmpty)
        // Who is gone hears nothing any more, and it is not kept for good.
        #expect(try Self.exchange(one, "gone", at: now + 80_000).seen.isEmpty)
    }

    @Test(
        "Ads served to a viewer are visible to other processes, and recorded only by a process that knows all of them",
        arguments: LedgerKind.allCases)
    func claims(kind: LedgerKind) throws {
        let bench = try LedgerBench(kind)
        let (one, two) = (bench.ledger, try bench.another())
        let now = bench.clock.now
        func claim(_ ledger: any CampaignLedger, _ process: String, known: Int, at now: Int64) throws -> Bool {
            try ledger.claim(
                FrequencyCapReservation(
                    viewer: "v", process: process, counts: ["a": 2, "b": 1], page: (7, [1, 0, 2]), known: known, now: now,
                    until: now + 1_000))
        }
        #expect(try claim(one, "1", known: 0, at: now))
        #expect(try one.served(to: "v", besides: "1", now: now).isEmpty && two.served(to: "w", besides: "2", now: now).isEmpty)
        let given = [FrequencyCount(campaign: "a", at: now, count: 2), FrequencyCount(campaign: "b", at: now, count: 1)]
        #expect(try two.served(to: "v", besides: "2", now: now) == given)
        #expect(try !claim(two, "2", known: 0, at: now + 1) && claim(two, "2", known: 3, at: now + 1))
        #expect(try !claim(one, "1", known: 0, at: now + 2))
        // The page is told as it was noted, to whoever asks for it, and not once it is over.
        #expect(try one.page(7, of: "v", now: now) == [1, 0, 2] && two.page(7, of: "v", now: now) == [1, 0, 2])
        #expect(try one.page(8, of: "v", now: now) == nil && one.page(7, of: "w", now: now) == nil)
        #expect(try one.page(7, of: "v", now: now + 9_999) == nil)
        // What is over is nobody's.
        #expect(try two.served(to: "v", besides: "2", now: now + 1_000).isEmpty && claim(two, "2", known: 0, at: now + 1_000))
    }

    @Test("An ended process of this system is detected")
    func hasEnded() {
        let own = ProcessName.make()
        #expect(!ProcessName.hasEnded(own))
        let parts = own.split(separator: "/")
        #expect(ProcessName.hasEnded((parts.dropLast() + ["1"]).joined(separator: "/")))
        #expect(!ProcessName.hasEnded("p") && !ProcessName.hasEnded("p@other/\(parts.dropFirst().joined(separator: "/"))"))
    }
}
