import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Voided events, in every ledger")
struct VoidingTests {
    private static let quarter: Int64 = 900_000

    private static func event(_ kind: LedgerEvent.Kind, _ number: Int, at now: Int64) -> LedgerEvent {
        let terms = LedgerEvent.Terms(campaign: "a", total: 10)
        var event = VerdictModelTests.event(kind, of: "a", token: number, at: now, terms)
        event.creative = CreativeInfo(form: "image", advertiser: "ACME")
        event.address = number % 12 < 4 ? "2001:db8::/48" : "192.0.2.0/24"
        event.userAgent = number.isMultiple(of: 2) ? "Loader/1.0" : "App/1.0"
        return event
    }

    /// The sums of all reports, which must agree with the rows and the delivery.
    private static func check(_ bench: LedgerBench, _ counted: Int, _ surplus: Int, _ voided: Int) async throws {
        try await bench.settle()
        let day = Int(LedgerTime.day(of: bench.clock.now))
        let expected = [LedgerEvent.Kind.click: counted, .click.reported(as: .surplus): surplus, .click.reported(as: .voided): voided]
        let single: [LedgerReport.Grouping] = [.day, .hour, .ad, .campaign, .advertiser, .creative, .feed, .section, .position]
        let pairs = single.flatMap { one in single.filter { $0 != one }.map { (one, Optional($0)) } }
        for (by, and) in single.map({ ($0, nil) }) + pairs {
            let report = try await bench.ledger.report(LedgerReport.Query(days: (day - 1)...(day + 1), by: by, and: and))
            for (kind, count) in expected {
                #expect(report.rows.reduce(0) { $0 + ($1.counts[kind] ?? 0) } == count, "\(by) \(and.map { "\($0)" } ?? "") \(kind)")
            }
        }
        let verdicts = try await bench.ledger.report(days: (day - 1)...(day + 1), by: .verdict).rows
        for (verdict, count) in [(Verdict.counted, counted), (.surplus, surplus), (.voided, voided)] {
            #expect((verdicts.first { $0.key == .verdict(verdict) }?.counts[.click] ?? 0) == count)
            #expect(try bench.query("SELECT count(*) FROM event WHERE kind = 'click' AND verdict = '\(verdict.rawValue)'") == "\(count)")
        }
        for span in ["span = -1", "span >= 0"] {
            #expect(try bench.query("SELECT sum(count) FROM delivery WHERE kind = 'click' AND \(span)") == "\(counted)")
        }
    }

    @Test("Voided clicks leave all reports and the delivery, once, and are owed again", arguments: LedgerKind.allCases, [false, true])
    func void(kind: LedgerKind, hasTotals: Bool) async throws {
        let bench = try LedgerBench(kind)
        let now = bench.clock.now
        let clicks = (0..<12).map { Self.event(.click, $0, at: now + Int64($0 % 3) * Self.quarter) }
        #expect(try await bench.ledger.commit(LedgerEntry(events: clicks)).verdicts.count { $0 == .counted } == 10)
        _ = try await bench.ledger.commit(LedgerEntry(events: [Self.event(.impression, 0, at: now)]))
        if hasTotals { try await bench.ledger.gatherTotals() }
        try await Self.check(bench, 10, 2, 0)
        var selection = EventSelection(time: now..<now + 3 * Self.quarter)
        (selection.kind, selection.addresses, selection.campaign) = (.click, ["2001:db8::/48"], "a")
        let expected = [EventSelection.VoidedCount(campaign: "a", kind: "click", events: 4)]
        #expect(try await bench.ledger.void(selection, isDryRun: true) == expected)
        try await Self.check(bench, 10, 2, 0)
        let ledgers = [bench.ledger, try bench.another()]
        // Two requests at once take each event back once.
        let voided = try await withThrowingTaskGroup(of: Int.self) { group in
            for ledger in ledgers {
                group.addTask { [selection] in try await ledger.void(selection, isDryRun: false).reduce(0) { $0 + $1.events } }
            }
            return try await group.reduce(0, +)
        }
        #expect(voided == 4)
        #expect(try await bench.ledger.void(selection, isDryRun: false).isEmpty)
        try await Self.check(bench, 6, 2, 4)
        // The campaign owes the voided clicks again, and their tokens stay used.
        let more = (12..<18).map { Self.event(.click, $0, at: now) } + [clicks[0]]
        let verdicts = try await ledgers[1].commit(LedgerEntry(events: more)).verdicts
        #expect(verdicts.map(\.rawValue) == Array(repeating: "counted", count: 4) + ["surplus", "surplus", "duplicate"])
        var robot = EventSelection(time: now..<now + 1)
        robot.userAgent = "Loader/"
        #expect(try await bench.ledger.void(robot, isDryRun: false).map(\.kind) == ["click", "impression"])
        let left = try #require(Int(try bench.query("SELECT count(*) FROM event WHERE kind = 'click' AND verdict = 'counted'")))
        #expect(left < 10)
        try await Self.check(bench, left, 4, 14 - left)
    }

    @Test("Calls of trackers for voided events are withdrawn", arguments: LedgerKind.allCases)
    func trackers(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let now = bench.clock.now
        _ = try await bench.ledger.commit(LedgerEntry(events: (0..<4).map { Self.event(.click, $0 * 3, at: now) }))
        _ = try await bench.ledger.enqueueTrackerCalls(waiting: 100, now: now) { events in
            events.map { TrackerCall(event: $0.sequence, campaign: "a", kind: .click, url: "https://t.example/", at: now, due: now) }
        }
        #expect(try await bench.ledger.trackerSummary().waiting == 4)
        var selection = EventSelection(time: now..<now + 1)
        selection.addresses = ["2001:db8::/48"]
        #expect(try await bench.ledger.void(selection, isDryRun: false).map(\.events) == [2])
        #expect(try await bench.ledger.trackerSummary().waiting == 2)
    }

    @Test("An event that is voided while its calls are made has none", arguments: LedgerKind.allCases)
    func voidedMeanwhile(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let now = bench.clock.now
        let clicks = (0..<4).map { Self.event(.click, $0 * 3, at: now) }
        #expect(try await bench.ledger.commit(LedgerEntry(events: clicks)).verdicts.allSatisfy { $0 == .counted })
        var selection = EventSelection(time: now..<now + 1)
        selection.addresses = ["2001:db8::/48"]
        _ = try await bench.ledger.enqueueTrackerCalls(waiting: 100, now: now) { [ledger = bench.ledger, selection] events in
            // The events were read as counted.
            _ = try await ledger.void(selection, isDryRun: false)
            return events.map { TrackerCall(event: $0.sequence, campaign: "a", kind: .click, url: "https://t.example/", at: now, due: now) }
        }
        let kept = try bench.query("SELECT id FROM event WHERE verdict = 'counted' ORDER BY id").split(separator: "\n").map(String.init)
        #expect(kept.count == 2)
        #expect(try await bench.ledger.trackerCalls(abandoned: false, limit: 9).map { "\($0.event)" }.sorted() == kept)
    }
}
