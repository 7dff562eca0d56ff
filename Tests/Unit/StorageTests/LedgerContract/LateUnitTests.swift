import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Units that are committed late, in every ledger")
struct LateUnitTests {
    private static let late: Int64 = 20_000

    @Test(
        "Late units are decided at commit time, after units committed meanwhile", arguments: LedgerKind.allCases,
        [300_000, 86_400_000] as [Int64])
    func duplicates(kind: LedgerKind, window: Int64) async throws {
        let bench = try LedgerBench(kind)
        let ledger = bench.ledger
        func click(at moment: Int64) -> LedgerEntry {
            LedgerEntry(events: [
                LedgerEvent(
                    at: moment, kind: .click, cell: "ad:1", deduplication: .init(key: "d", window: window),
                    rates: [.init(key: "a", limit: 1, window: window)])
            ])
        }
        let first = bench.clock.now
        bench.clock.advance(Self.late)
        #expect(try await bench.another().commit(click(at: bench.clock.now)).verdicts == [.counted])
        #expect(try await ledger.commit(click(at: first)).verdicts == [.duplicate])
    }

    @Test("An idempotency key that was used meanwhile gets the stored response", arguments: LedgerKind.allCases)
    func keys(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        func selection(at moment: Int64) -> LedgerEntry {
            let key = IdempotencyKey(scope: "v", key: "k", fingerprint: "f", expires: moment + 86_400_000)
            return LedgerEntry(
                events: [LedgerEvent(at: moment, kind: .selection, cell: "user:a")], idempotency: (key, { _ in [UInt8(moment & 0x7F)] }))
        }
        let first = bench.clock.now
        bench.clock.advance(Self.late)
        let second = bench.clock.now
        _ = try await bench.another().commit(selection(at: second))
        #expect(try await bench.ledger.commit(selection(at: first)) == .replayed([UInt8(second & 0x7F)]))
    }
}
