import Foundation
import TestSupport
import Testing

@testable import IntertwineService
@testable import IntertwineStorage

@Suite("State of sources", .timeLimit(.untilStuck))
struct SourceRegistryTests {
    @Test("A sync request ends the current or next cooldown once")
    func wishes() async {
        let board = SourceRegistry(["a", "b"], now: 0)
        #expect(board.requestSync("a"))
        #expect(!board.requestSync("nobody"))
        #expect(await board.cooldown("a", for: .seconds(3_600)))
        #expect(await !board.cooldown("a", for: .milliseconds(1)))
        let resting = Task { await board.cooldown("b", for: .seconds(3_600)) }
        #expect(board.requestSync("b"))
        #expect(await resting.value)
        let cancelled = Task { await board.cooldown("b", for: .seconds(3_600)) }
        cancelled.cancel()
        #expect(await !cancelled.value)
    }

    @Test("A busy source is neither success nor failure; a newer record updates the state")
    func others() throws {
        var state = SourceState(since: 1_000)
        state.fail("no", cause: "fetch", next: 2_000)
        state.begin(at: 2_000)
        state.postpone(to: 3_000)
        #expect(!state.isRunning && state.failures == 1 && state.lastError == "no" && state.nextAttempt == 3_000)
        #expect(state.attempts == ["fetch": 1, "busy": 1])
        func record(_ time: Int, items: Int) throws -> SourceRecord {
            let text = #"{"lastSuccess":\#(time),"items":\#(items),"skipped":2,"pages":3}"#
            return try JSONDecoder().decode(SourceRecord.self, from: Data(text.utf8))
        }
        state.recall(try record(500, items: 7))
        #expect(state.lastSuccess == 500 && state.items == 7 && state.skipped == 2 && state.pages == 3 && state.lag(at: 4_000) == 3_500)
        state.recall(try record(400, items: 8))
        #expect(state.lastSuccess == 500 && state.items == 7)
    }

    @Test("The state has lag, consecutive failures and changes; a failure preserves the last success")
    func states() {
        var state = SourceState(since: 1_000)
        #expect(state.lag(at: 5_000) == 4_000)
        state.begin(at: 5_000)
        #expect(state.isRunning)
        var outcome = SourceOutcome()
        var changes = SourceChanges()
        changes.added = 3
        outcome.changes = changes
        outcome.items = 3
        state.succeed(outcome, at: 6_000, next: 9_000)
        #expect(!state.isRunning && state.lastSuccess == 6_000 && state.items == 3 && state.lastChange == 6_000)
        state.fail("no", cause: "fetch", next: 20_000)
        state.fail("no", cause: "fetch", next: 40_000)
        #expect(state.failures == 2 && state.lastError == "no" && state.lastSuccess == 6_000 && state.lag(at: 10_000) == 4_000)
        #expect(state.items == 3)
        outcome.changes = nil
        state.succeed(outcome, at: 11_000, next: 12_000)
        #expect(state.failures == 0 && state.lastError == nil && state.lastChange == 6_000)
        #expect(state.attempts == ["changed": 1, "fetch": 2, "unchanged": 1])
    }
}
