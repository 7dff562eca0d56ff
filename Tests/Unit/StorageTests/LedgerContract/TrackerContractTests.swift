import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Calls of trackers, in every ledger")
struct TrackerContractTests {
    @Test(
        "Each counted event has its calls made once by any process, also after a restart",
        arguments: LedgerKind.allCases)
    func once(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind, hasClock: false)
        let ledger = bench.ledger
        let other = try bench.another()
        try await bench.see(3)
        try await bench.see(2, verdict: .bot)
        async let one = bench.note()
        async let two = bench.note(other)
        _ = try await (one, two)
        #expect(try await ledger.trackerSummary().waiting == 3)
        try await bench.see(1)
        try await bench.note(try bench.another())
        #expect(try await ledger.trackerSummary().waiting == 4)
        let first = try await ledger.leaseTrackerCalls(3, now: 2_000, lease: 500)
        let second = try await other.leaseTrackerCalls(9, now: 2_000, lease: 500)
        #expect(Set((first + second).map(\.id)).count == 4 && first.count == 3)
        // Whoever took them has gone.
        #expect(try await other.leaseTrackerCalls(9, now: 2_499, lease: 500).isEmpty)
        #expect(try await other.leaseTrackerCalls(9, now: 2_500, lease: 500).map(\.attempts) == [1, 1, 1, 1])
    }

    @Test("The queue is bounded; calls of remaining events are created later", arguments: LedgerKind.allCases)
    func bound(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind, hasClock: false)
        let ledger = bench.ledger
        try await bench.see(5)
        try await bench.note(waiting: 3)
        try await bench.see(4)
        try await bench.note(waiting: 3)
        #expect(try await ledger.trackerSummary().waiting == 5)
        let calls = try await ledger.leaseTrackerCalls(9, now: 2_000, lease: 500)
        try await ledger.completeTrackerCalls(Dictionary(uniqueKeysWithValues: calls.map { ($0.id, .succeeded) }), now: 2_000)
        try await bench.note(waiting: 3)
        #expect(try await ledger.trackerCalls(abandoned: false, limit: 9).map(\.event) == [6, 7, 8, 9])
    }

    @Test("Failed calls with the most attempts are abandoned for new ones", arguments: LedgerKind.allCases)
    func room(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind, hasClock: false)
        let ledger = bench.ledger
        try await bench.see(3)
        try await bench.note(waiting: 4)
        for (now, again) in [(2_000, [2_500, 9_000, 9_000]), (3_000, [9_000])] as [(Int64, [Int64])] {
            for (call, again) in zip(try await ledger.leaseTrackerCalls(9, now: now, lease: 500), again) {
                try await ledger.completeTrackerCalls([call.id: .failed("timeout", again: again)], now: now)
            }
        }
        try await bench.see(1)
        try await bench.note(waiting: 4)
        try await bench.see(2)
        #expect(try await bench.note(waiting: 4) == 2)
        #expect(try await ledger.trackerCalls(abandoned: false, limit: 9).count == 4)
        let givenUp = try await ledger.trackerCalls(abandoned: true, limit: 9)
        #expect(givenUp.contains { $0.event == 1 } && givenUp.allSatisfy { $0.failure == "timeout" && $0.abandonedAt == 5_000 })
        // None that was not tried yet goes.
        try await bench.see(4)
        #expect(try await bench.note(waiting: 4) == 1)
        #expect(try await bench.note(waiting: 4) == 0)
        #expect(try await ledger.trackerCalls(abandoned: false, limit: 9).allSatisfy { $0.failure == nil })
    }

    @Test("Events without trackers are skipped, and no event between them is lost", arguments: LedgerKind.allCases)
    func passedBy(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind, hasClock: false)
        let other = try bench.another()
        try await bench.see(2, "ad:2")
        try await bench.note()
        try await bench.see(1, "ad:2")
        try await bench.see(1, by: other)
        try await bench.see(1, "ad:2")
        for _ in 0..<2 { try await bench.note() }
        #expect(try await bench.ledger.trackerCalls(abandoned: false, limit: 9).map(\.event) == [4])
        try await bench.see(1)
        for _ in 0..<2 { try await bench.note() }
        #expect(try await bench.ledger.trackerCalls(abandoned: false, limit: 9).map(\.event) == [4, 6])
    }

    @Test("Outcomes of a call are recorded", arguments: LedgerKind.allCases)
    func outcomes(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind, hasClock: false)
        let ledger = bench.ledger
        try await bench.see(4)
        try await bench.note()
        let ids = try await ledger.leaseTrackerCalls(9, now: 2_000, lease: 500).map(\.id)
        try await ledger.completeTrackerCalls(
            [
                ids[0]: .succeeded, ids[1]: .failed("status 500", again: 9_000), ids[2]: .abandoned("status 404"),
                ids[3]: .untried(again: 1),
            ],
            now: 3_000)
        let waiting = try await ledger.trackerCalls(abandoned: false, limit: 9)
        #expect(waiting.map(\.due) == [1, 9_000] && waiting.map(\.attempts) == [0, 1] && waiting.map(\.failure) == [nil, "status 500"])
        let givenUp = try await ledger.trackerCalls(abandoned: true, limit: 9)
        #expect(givenUp.map(\.abandonedAt) == [3_000] && givenUp.map(\.failure) == ["status 404"])
        #expect(
            try await ledger.trackerSummary()
                == {
                    var one = TrackerSummary(); (one.waiting, one.givenUp, one.oldest) = (2, 1, 1_000); return one
                }())
        #expect(try await ledger.leaseTrackerCalls(9, now: 8_999, lease: 1).map(\.id) == [ids[3]])
    }
}

extension LedgerBench {
    fileprivate func see(
        _ count: Int, _ cell: String = "ad:1", verdict: Verdict = .counted, by ledger: (any PersistentLedger)? = nil
    ) async throws {
        for _ in 0..<count {
            var event = LedgerEvent(at: 1_000, kind: .impression, cell: cell, viewer: "v", verdict: verdict)
            event.creative = CreativeInfo(form: "image")
            _ = try await (ledger ?? self.ledger).commit(LedgerEntry(events: [event]))
        }
    }

    @discardableResult
    fileprivate func note(_ ledger: (any PersistentLedger)? = nil, waiting: Int = 100) async throws -> Int {
        try await (ledger ?? self.ledger).enqueueTrackerCalls(waiting: waiting, now: 5_000) { events in
            // Nobody is to hear of the second ad.
            events.filter { $0.event.cell != "ad:2" }.map {
                TrackerCall(
                    event: $0.sequence, campaign: "", kind: $0.event.kind, url: "https://a.example/\($0.sequence)", at: 1_000, due: 1_000)
            }
        }
    }
}
