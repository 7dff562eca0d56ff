import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("The input of slots, in every ledger")
struct InputContractTests {
    private static func report(
        _ reason: String, by viewer: String = "v", at time: Int64 = 10 * LedgerBench.day, verdict: Verdict = .counted
    ) -> LedgerEntry {
        var events = ["report", "save"].map { kind in
            LedgerEvent(at: time, kind: LedgerEvent.Kind(rawValue: kind), cell: "user:a", viewer: viewer, verdict: verdict)
        }
        for index in events.indices {
            events[index].input = EventInput(
                json: #"{"reason":"\#(reason)","note":"é \u0001"}"#, choices: [EventInput.Choice("reason", reason)])
        }
        return LedgerEntry(events: events)
    }

    @Test(
        "Input is stored with its event, counted by choices if the event counts, and erased with its viewer", arguments: LedgerKind.allCases
    )
    func input(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind, hasClock: false)
        let (ledger, other) = (bench.ledger, try bench.another())
        let day = LedgerBench.day
        for (ledger, entry) in [
            (ledger, Self.report("spam")), (other, Self.report("spam", by: "w")), (ledger, Self.report("\u{E9}", at: 11 * day)),
            (ledger, Self.report("e\u{301}", at: 11 * day)), (ledger, Self.report("spam", at: 12 * day, verdict: .bot)),
            (other, click(at: 12 * day)),
        ] { _ = try await ledger.commit(entry) }

        let events = try await ledger.events(after: 0, limit: 99).map(\.event)
        #expect(events.count == 11 && events.count { $0.input?.json == #"{"reason":"spam","note":"é \u0001"}"# } == 6)
        #expect(events.first { $0.kind == .click }?.input == nil)
        let report = LedgerEvent.Kind(rawValue: "report")
        func rows(_ question: LedgerReport.Query) async throws -> [[String]] {
            try await ledger.report(question).rows.map { row in
                row.keys.map(\.text) + ["\(row.counts[report] ?? 0) \(row.counts[.save] ?? 0)"]
            }
        }
        let choices = LedgerReport.Query(days: 0...20, by: .choice)
        let all = [["reason=e\u{301}", "1 1"], ["reason=spam", "2 2"], ["reason=\u{E9}", "1 1"]]
        #expect(try await rows(choices).map { $0.map { Array($0.utf8) } } == all.map { $0.map { Array($0.utf8) } })
        let daily = LedgerReport.Query(days: 10...10, by: .choice, and: .day)
        #expect(try await rows(daily) == [["reason=spam", "1970-01-11", "2 2"]])
        #expect(try await ledger.report(daily).csv(of: daily).hasPrefix("choice,day,impressions,"))
        #expect(try await rows(LedgerReport.Query(days: 13...20, by: .choice)).isEmpty)
        for second in LedgerReport.Grouping.allCases where second != .day {
            #expect(LedgerReport.Query(days: 0...1, by: .choice, and: second).error != nil)
            #expect(LedgerReport.Query(days: 0...1, by: second, and: .choice).error != nil)
        }

        // The values of filters are reported apart from those of inputs.
        var filtered = click(at: 10 * day)
        for index in filtered.events.indices {
            filtered.events[index].impressionContext = ImpressionContext(feed: "main")
            filtered.events[index].impressionContext?.filters = ImpressionContext.filters(["reason": ["spam"], "city": ["a=b", "Köln"]])
        }
        _ = try await other.commit(filtered)
        for grouping in [LedgerReport.Grouping.context, .choice] {
            let question = LedgerReport.Query(days: 10...10, by: grouping, and: .day)
            let found = try await ledger.report(question).rows.map { $0.keys.map(\.text) + ["\($0.counts[.click] ?? 0)"] }
            let wanted = grouping == .choice ? [["reason=spam", "0"]] : [["city=Köln", "1"], ["city=a=b", "1"], ["reason=spam", "1"]]
            #expect(found == wanted.map { [$0[0], "1970-01-11", $0[1]] })
        }
        #expect(LedgerReport.Query(days: 0...1, by: .context, and: .hour).error != nil)

        #expect(try await ledger.erase(viewer: "v", owners: []).events == 8)
        let left = try await ledger.events(after: 0, limit: 99).map(\.event).filter { $0.input != nil }
        #expect(left.count == 2 && left.allSatisfy { $0.viewer == "w" })
        #expect(try await rows(choices).count == 3)
    }
}
