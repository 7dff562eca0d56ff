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
            event.impressionContext = ImpressionContext(campaign: campaign, feed: "main", frequencyCapTTL: 86_400)
            _ = try await (number == 0 ? bench.another() : ledger).commit(LedgerEntry(events: [event]))
        }
        func ask(_ campaigns: [(String, LedgerEvent.Kind)]) throws -> [DeliveryCount] {
            let queries = campaigns.map { DeliveryQuery(campaign: $0, kind: $1, day: start + quarter) }
            return try ledger.refresh(adding: [:], queries, now: start).counts
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

    @Test("Offers of all processes are added, and those of the last half hour are separate", arguments: LedgerKind.allCases)
    func offers(kind: LedgerKind) throws {
        let bench = try LedgerBench(kind)
        let (one, two) = (bench.ledger, try bench.another())
        let quarter: Int64 = 900_000
        let now = bench.clock.now / quarter * quarter
        let queries = ["a", "b"].map { DeliveryQuery(campaign: $0, kind: .impression, day: now) }
        _ = try one.refresh(adding: ["a": 3, "b": 1], queries, now: now - 2 * quarter)
        _ = try two.refresh(adding: ["a": 4], queries, now: now)
        let told = try one.refresh(adding: ["a": 1], queries, now: now + 1)
        #expect(told.counts.map(\.offers) == [8, 1] && told.counts.map(\.recentOffers) == [5, 0])
        #expect(told.counts.allSatisfy { $0.total == 0 && $0.recentSeen == 0 } && told.processes >= 1)
        #expect(try two.refresh(adding: [:], [], now: now).counts.isEmpty)
    }
}
