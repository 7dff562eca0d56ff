import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Reports by placement, in every ledger")
struct ReportContractTests {
    @Test("By each grouping, and by two groupings, for counted events", arguments: LedgerKind.allCases)
    func byTwo(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind, hasClock: false)
        let ledger = bench.ledger
        let start = 30 * LedgerBench.day
        let acme = CreativeInfo(form: "image", advertiser: "Acme")
        for (hour, campaign, section, position, cell, verdict, creative) in [
            (0, "a", nil, 3, "ad:1", .counted, acme), (0, "a", "events", 10, "ad:1", .counted, acme),
            (1, "b", nil, 7, "ad:1", .counted, acme), (23, nil, nil, 3, "ad:2", .counted, CreativeInfo(form: "video")),
            (23, "a", nil, 3, "ad:1", .duplicate, acme), (24, nil, nil, 3, "user:x", .counted, nil),
        ] as [(Int64, String?, String?, Int, String, Verdict, CreativeInfo?)] {
            try await bench.commit(
                at: start + hour * LedgerBench.hour, .impression, cell, verdict: verdict,
                impressionContext: ImpressionContext(campaign: campaign, feed: "main", section: section, position: position), creative)
        }
        // What is selected without a page's token.
        try await bench.commit(at: start, .selection, "user:x", impressionContext: nil, nil)

        #expect(try await bench.counts(.campaign) == [" 1", "a 2", "b 1"])
        #expect(try await bench.counts(.advertiser) == [" 1", "Acme 3"])
        #expect(try await bench.counts(.creative) == ["image 3", "video 1"])
        #expect(try await bench.counts(.feed) == [" 0", "main 5"])
        #expect(try await bench.counts(.section) == [" 4", "events 1"])
        #expect(try await bench.counts(.position) == [" 0", "3 3", "7 1", "10 1"])
        #expect(
            try await bench.counts(.hour) == [
                "1970-01-31T00:00:00Z 2", "1970-01-31T01:00:00Z 1", "1970-01-31T23:00:00Z 1", "1970-02-01T00:00:00Z 1",
            ])
        #expect(try await bench.counts(.day) == ["1970-01-31 4", "1970-02-01 1"])
        #expect(try await bench.counts(.ad, .campaign) == ["ad:1 a 2", "ad:1 b 1", "ad:2  1"])
        #expect(try await bench.counts(.campaign, .day) == [" 1970-01-31 1", "a 1970-01-31 2", "b 1970-01-31 1"])
        #expect(try await bench.counts(.campaign, .day, days: 31...31).isEmpty)
        #expect(try await bench.counts(.advertiser, .position) == [" 3 1", "Acme 3 1", "Acme 7 1", "Acme 10 1"])
        #expect(try await bench.counts(.hour, .section, days: 31...31) == ["1970-02-01T00:00:00Z  1"])
        #expect(try await bench.counts(.creative, .section) == ["image  2", "image events 1", "video  1"])
        // Whatever two there are, no event is lost between them.
        let groupings = LedgerReport.Grouping.allCases.filter { $0 != .verdict && !$0.isOfChoices }
        for by in groupings {
            for and in groupings where and != by {
                let rows = try await ledger.report(LedgerReport.Query(days: 30...31, by: by, and: and)).rows
                let expected = by.isOfAdvertisements || and.isOfAdvertisements ? 4 : 5
                #expect(rows.reduce(0) { $0 + ($1.counts[.impression] ?? 0) } == expected, "\(by) and \(and)")
            }
        }
    }

    @Test("Equal events are summed, and events with different field boundaries are not", arguments: LedgerKind.allCases)
    func alike(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind, hasClock: false)
        for (feed, section, count) in [("ab", "c", 3), ("a", "bc", 2), ("abc", nil, 1)] as [(String, String?, Int)] {
            for minute in 0..<Int64(count) {
                try await bench.commit(
                    at: 30 * LedgerBench.day + minute * 60_000, viewer: "viewer-\(minute)",
                    impressionContext: ImpressionContext(feed: feed, section: section, position: 0))
            }
        }
        #expect(try await bench.counts(.feed, .section) == ["a bc 2", "ab c 3", "abc  1"])
        #expect(try await bench.counts(.hour) == ["1970-01-31T00:00:00Z 6"])
    }

    @Test(
        "Totals include each event once with any number of processes, and outlive events; hours are removed with them",
        arguments: LedgerKind.allCases)
    func once(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind, hasClock: false)
        let ledger = bench.ledger
        let other = try bench.another()
        for number in 0..<3 as Range<Int64> {
            try await bench.commit(
                at: 30 * LedgerBench.day + number * LedgerBench.hour, impressionContext: ImpressionContext(campaign: "a", feed: "main"))
            async let first: Void = ledger.gatherTotals()
            async let second: Void = other.gatherTotals()
            _ = try await (first, second)
        }
        #expect(try await bench.counts(.campaign) == ["a 3"])
        // PostgreSQL drops whole days.
        #expect(try await ledger.removeEvents(before: 30 * LedgerBench.day + LedgerBench.hour) == (kind == .sqlite ? 1 : 0))
        #expect(try await bench.counts(.campaign) == ["a 3"])
        #expect(try await bench.counts(.hour).count == 2)
        try await bench.commit(at: 31 * LedgerBench.day, impressionContext: ImpressionContext(campaign: "a", feed: "main"))
        #expect(try await ledger.removeEvents(before: .max) == (kind == .sqlite ? 3 : 4))
        #expect(try await bench.counts(.campaign, .day) == ["a 1970-01-31 3", "a 1970-02-01 1"])
        #expect(try await bench.counts(.hour).isEmpty)
    }

    @Test("Events of alternating processes are added once, whichever process computes totals", arguments: LedgerKind.allCases)
    func inTurn(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind, hasClock: false)
        let (one, two) = (bench.ledger, try bench.another())
        for (index, ledger) in [one, one, two, two, one, two, one, one, try bench.another(), one, two, one].enumerated() {
            try await bench.commit(at: 30 * LedgerBench.day, impressionContext: ImpressionContext(campaign: "a", feed: "main"), to: ledger)
            switch index % 4 {
            case 0: #expect(try await bench.counts(.campaign) == ["a \(index + 1)"])
            case 1: try await two.gatherTotals()
            case 2: try await one.gatherTotals()
            default: #expect(try await bench.counts(.hour) == ["1970-01-31T00:00:00Z \(index + 1)"])
            }
        }
        #expect(try await bench.counts(.campaign) == ["a 12"])
    }
}

extension LedgerBench {
    fileprivate static let hour: Int64 = 3_600_000

    fileprivate func commit(
        at: Int64, _ kind: LedgerEvent.Kind = .impression, _ cell: String = "ad:1", viewer: String? = nil, verdict: Verdict = .counted,
        impressionContext: ImpressionContext? = nil, _ creative: CreativeInfo? = CreativeInfo(form: "image", advertiser: "Acme"),
        to ledger: (any PersistentLedger)? = nil
    ) async throws {
        var event = LedgerEvent(at: at, kind: kind, cell: cell, viewer: viewer, verdict: verdict, impressionContext: impressionContext)
        event.creative = creative
        _ = try await (ledger ?? self.ledger).commit(LedgerEntry(events: [event]))
    }

    fileprivate func counts(_ by: LedgerReport.Grouping, _ and: LedgerReport.Grouping? = nil, days: ClosedRange<Int> = 30...31) async throws
        -> [String]
    {
        try await ledger.report(LedgerReport.Query(days: days, by: by, and: and)).rows.map { row in
            (row.keys.map(\.text) + ["\(row.counts[.impression] ?? 0)"]).joined(separator: " ")
        }
    }
}
