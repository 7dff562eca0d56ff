import IntertwineStorage
import Testing

@testable import IntertwineFeed

@Suite("What campaigns ask of every ledger")
struct CampaignContractTests {
    @Test("what was delivered, in all and since a moment, and to whom", arguments: LedgerKind.allCases)
    func deliveries(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let (ledger, clock) = (bench.ledger, bench.clock)
        let quarter: Int64 = 900_000
        let start = clock.now / quarter * quarter
        for (number, campaign) in ["a", "a", "b"].enumerated() {
            var event = LedgerEvent(at: start + Int64(number) * quarter, kind: .impression, cell: "ad:1", viewer: "v")
            event.showing = Showing(campaign: campaign, feed: "main", remembered: 86_400)
            _ = try await (number == 0 ? bench.another() : ledger).commit(LedgerEntry(events: [event]))
        }
        func question(_ campaign: String, _ kind: LedgerEvent.Kind = .impression) -> DeliveryQuestion {
            DeliveryQuestion(campaign: campaign, kind: kind, day: start + quarter)
        }
        let delivered = try ledger.deliveries(of: [question("b"), question("a"), question("a", .click), question("c"), question("a")])
        #expect(delivered.map(\.total) == [1, 2, 0, 0, 2] && delivered.map(\.today) == [1, 1, 0, 0, 1])
        #expect(try ledger.deliveries(of: []).isEmpty)
        let seen = try ledger.exposures(of: "v", since: start)
        #expect(
            seen == [
                CampaignExposure(campaign: "a", at: start + quarter, count: 1), .init(campaign: "b", at: start + 2 * quarter, count: 1),
            ])
        #expect(try ledger.exposures(of: "w", since: 0).isEmpty)
    }

    @Test("processes tell each other what they have given out, for as long as it holds", arguments: LedgerKind.allCases)
    func exchange(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let other = try bench.another()
        func told(_ process: String, _ counts: [String: Int]) -> CampaignReservations {
            CampaignReservations(process: process, counts: counts, lifetime: 5_000)
        }
        func others(_ counts: [String: Int], before: Int) -> OtherReservations {
            var others = OtherReservations()
            (others.counts, others.processes, others.before) = (counts, 1, before)
            return others
        }
        #expect(try await bench.ledger.exchange(told("one", ["a": 2, "b": 1]), now: 0) == OtherReservations())
        #expect(try await other.exchange(told("two", ["a": 5]), now: 1_000) == others(["a": 2, "b": 1], before: 1))
        #expect(try await bench.ledger.exchange(told("one", ["a": 1]), now: 2_000) == others(["a": 5], before: 0))
        #expect(try await other.exchange(told("two", [:]), now: 3_000) == others(["a": 1], before: 1))
        #expect(try await other.exchange(told("two", [:]), now: 8_000) == others([:], before: 1))
        #expect(try await other.exchange(told("two", [:]), now: 13_000) == OtherReservations())
    }
}
