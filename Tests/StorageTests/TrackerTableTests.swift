import IntertwineFeed
import IntertwineStorage
import Testing

@Suite("Calls of trackers in the ledger")
struct TrackerTableTests {
    let scratch: Scratch
    let ledger: SQLiteLedger

    init() throws {
        scratch = try Scratch()
        ledger = try scratch.ledger()
    }

    private func see(_ count: Int, verdict: Verdict = .counted) async throws {
        for _ in 0..<count {
            var event = LedgerEvent(at: 1_000, kind: .impression, cell: "ad:1", viewer: "v", verdict: verdict)
            event.creative = Creative(form: "image")
            _ = try await ledger.commit(LedgerEntry(events: [event]))
        }
    }

    private func note(_ ledger: SQLiteLedger? = nil, waiting: Int = 100) async throws {
        try await (ledger ?? self.ledger).noteTrackerCalls(waiting: waiting) { events in
            events.map {
                TrackerCall(
                    event: $0.marker, campaign: "", kind: $0.event.kind, url: "https://a.example/\($0.marker)", at: 1_000, due: 1_000)
            }
        }
    }

    @Test("each event that counts has its calls made once, whichever processes do, and goes on after a restart")
    func once() async throws {
        let other = try scratch.ledger()
        try await see(3)
        try await see(2, verdict: .bot)
        async let one: Void = note()
        async let two: Void = note(other)
        _ = try await (one, two)
        #expect(try await ledger.trackerSummary().waiting == 3)
        try await see(1)
        try await note(try scratch.ledger())
        #expect(try await ledger.trackerSummary().waiting == 4)
        let first = try await ledger.takeTrackerCalls(3, now: 2_000, lease: 500)
        let second = try await other.takeTrackerCalls(9, now: 2_000, lease: 500)
        #expect(Set((first + second).map(\.id)).count == 4 && first.count == 3)
        // Whoever took them has gone.
        #expect(try await other.takeTrackerCalls(9, now: 2_499, lease: 500).isEmpty)
        #expect(try await other.takeTrackerCalls(9, now: 2_500, lease: 500).map(\.attempts) == [1, 1, 1, 1])
    }

    @Test("as many wait as may; the events that are left have theirs made later")
    func bound() async throws {
        try await see(5)
        try await note(waiting: 3)
        try await see(4)
        try await note(waiting: 3)
        #expect(try await ledger.trackerSummary().waiting == 5)
        let calls = try await ledger.takeTrackerCalls(9, now: 2_000, lease: 500)
        try await ledger.settleTrackerCalls(Dictionary(uniqueKeysWithValues: calls.map { ($0.id, .answered) }), now: 2_000)
        try await note(waiting: 3)
        #expect(try await ledger.trackerCalls(givenUp: false, limit: 9).map(\.event) == [6, 7, 8, 9])
    }

    @Test("what became of a call")
    func outcomes() async throws {
        try await see(4)
        try await note()
        let ids = try await ledger.takeTrackerCalls(9, now: 2_000, lease: 500).map(\.id)
        try await ledger.settleTrackerCalls(
            [ids[0]: .answered, ids[1]: .failed("status 500", again: 9_000), ids[2]: .givenUp("status 404"), ids[3]: .untried(again: 1)],
            now: 3_000)
        let waiting = try await ledger.trackerCalls(givenUp: false, limit: 9)
        #expect(waiting.map(\.due) == [1, 9_000] && waiting.map(\.attempts) == [0, 1] && waiting.map(\.failure) == [nil, "status 500"])
        let givenUp = try await ledger.trackerCalls(givenUp: true, limit: 9)
        #expect(givenUp.map(\.givenUp) == [3_000] && givenUp.map(\.failure) == ["status 404"])
        #expect(
            try await ledger.trackerSummary()
                == {
                    var one = TrackerSummary(); (one.waiting, one.givenUp, one.oldest) = (2, 1, 1_000); return one
                }())
        #expect(try await ledger.takeTrackerCalls(9, now: 8_999, lease: 1).map(\.id) == [ids[3]])
    }
}
