import Synchronization
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Campaign queries, in every ledger")
struct CampaignContractTests {
    @Test("Deliveries are counted in total, since a time, and per viewer", arguments: LedgerKind.allCases)
    func deliveries(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let (ledger, clock) = (bench.ledger, bench.clock)
        let quarter: Int64 = 900_000
        let start = clock.now / quarter * quarter
        for (number, campaign) in ["a", "a", "b"].enumerated() {
            var event = LedgerEvent(at: start + Int64(number) * quarter, kind: .impression, cell: "ad:1", viewer: "v")
            event.showing = ImpressionContext(campaign: campaign, feed: "main", remembered: 86_400)
            _ = try await (number == 0 ? bench.another() : ledger).commit(LedgerEntry(events: [event]))
        }
        let delivered = Mutex<[DeliveryCount]>([])
        func ask(_ campaigns: [(String, LedgerEvent.Kind)]) throws -> [DeliveryCount] {
            let questions = campaigns.map { DeliveryQuery(campaign: $0, kind: $1, day: start + quarter) }
            let exchange = BudgetSyncRequest(process: "p", questions: questions, now: start, lifetime: 60_000, presence: 10_000)
            try ledger.exchange(exchange) { situation in
                delivered.withLock { $0 = situation.delivered }
                return SharedBudgetLeases([:])
            }
            return delivered.withLock { $0 }
        }
        let told = try ask([("b", .impression), ("a", .impression), ("a", .click), ("c", .impression), ("a", .impression)])
        #expect(told.map(\.total) == [1, 2, 0, 0, 2] && told.map(\.today) == [1, 1, 0, 0, 1])
        #expect(try ask([]).isEmpty)
        let seen = try ledger.exposures(of: "v", since: start)
        #expect(
            seen == [
                FrequencyCount(campaign: "a", at: start + quarter, count: 1), .init(campaign: "b", at: start + 2 * quarter, count: 1),
            ])
        #expect(try ledger.exposures(of: "w", since: 0).isEmpty)
    }
}
