import Foundation
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Repetitions and the disk")
struct RepetitionCostTests {
    let scratch: Scratch
    let clock = TestClock()
    let ledger: SQLiteLedger

    init() throws {
        scratch = try Scratch()
        ledger = try scratch.ledger(clock)
    }

    private func impression(_ token: String, _ verdict: Verdict = .counted, window: Int64 = 90_000_000) -> LedgerEvent {
        LedgerEvent(
            at: clock.now, kind: .impression, cell: "ad:1", verdict: verdict, deduplication: .init(key: token, window: window),
            rates: [.init(key: "a", limit: 3_000, window: 60_000)])
    }

    private var rows: Int {
        get throws { Int(try scratch.sqlite("ledger.sqlite", "SELECT count(*) FROM event").trimmingCharacters(in: .whitespaces)) ?? 0 }
    }

    @Test("A token repeated 500 times per request is one row with little disk usage; reports count all")
    func repeated() async throws {
        let body = LedgerEntry(events: Array(repeating: impression("t"), count: 500))
        #expect(try await ledger.commit(body).verdicts.filter { $0 == .counted }.count == 1)
        let before = try scratch.size("ledger.sqlite-wal")
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<50 { _ = try await ledger.commit(body) } }
            }
            try await group.waitForAll()
        }
        // Counts are written once a second at the most, each time some pages.
        let seconds = Int(start.duration(to: .now).components.seconds) + 2
        #expect(try scratch.size("ledger.sqlite-wal") - before <= seconds * 100_000)
        #expect(try rows == 1)
        let report = try await ledger.report(days: 0...100_000, by: .verdict)
        #expect(report.rows.first { $0.key == .verdict(.duplicate) }?.counts[.impression] == 200 * 500 + 499)
        #expect(report.rows.first { $0.key == .verdict(.counted) }?.counts[.impression] == 1)
        #expect(try scratch.sqlite("ledger.sqlite", "SELECT sum(count) FROM rollup_cell") == "\(201 * 500)")
    }
}
