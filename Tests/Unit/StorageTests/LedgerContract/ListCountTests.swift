import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage
@testable import IntertwineStorageCore

@Suite("Counts of viewers' lists, in every ledger")
struct ListCountTests {
    private func like(_ cell: String, _ viewers: Int, _ bench: LedgerBench, list: ViewerList = "liked") async throws {
        for viewer in 0..<viewers {
            try await bench.change(.add(list: list, viewer: "v\(viewer)", cell: cell, performance: "\(cell) \(viewer)", at: 0))
        }
    }

    private func counts(_ bench: LedgerBench) async throws -> [String: Int64] {
        let counts = try await bench.ledger.changedCounts(limit: 1_000).counts
        return Dictionary(uniqueKeysWithValues: counts.map { ("\($0.cell) \($0.list.rawValue)", $0.count) })
    }

    @Test("Each change has the new sum once, and an erasure or a removal lowers it", arguments: LedgerKind.allCases)
    func sums(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let ledger = bench.ledger
        try await like("a", 3, bench)
        try await like("b", 2, bench)
        try await like("a", 1, bench, list: "kept")
        for list in ["dismissed", "selected"] as [ViewerList] { try await like("a", 5, bench, list: list) }
        #expect(try await counts(bench) == ["a liked": 3, "b liked": 2, "a kept": 1])
        try await ledger.addUp(ledger.changedCounts(limit: 1_000).changes)
        #expect(try await counts(bench) == [:])
        try await bench.change(.remove(list: "liked", viewer: "v0", cell: "a", performance: "x", at: 0))
        #expect(try await counts(bench) == ["a liked": 2, "a kept": 1])
        // Who adds up the same changes again changes nothing.
        let changes = try await ledger.changedCounts(limit: 1_000).changes
        for _ in 0..<2 { try await ledger.addUp(changes) }
        #expect(try await ledger.erase(viewer: "v1", owners: []).listed == 4)
        #expect(try await counts(bench) == ["a liked": 1, "a kept": 1, "b liked": 1])
        try await ledger.addUp(ledger.changedCounts(limit: 1_000).changes)
        let all = try await ledger.counts(after: "", limit: 10)
        #expect(all.map(\.cell) == ["a", "a", "b"] && all.map(\.count) == [1, 1, 1])
        #expect(try await ledger.counts(after: "a", limit: 10).map(\.cell) == ["b"])
        #expect(
            try bench.countedLists()
                == bench.listedCells().split(separator: "\n").filter { !$0.contains("selected") }.joined(separator: "\n"))
    }

    @Test("Limited reads return all changes, in parts", arguments: LedgerKind.allCases)
    func parts(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        try await like("a", 10, bench)
        var (told, parts) = (Int64(0), 0)
        while case let (changes, counts) = try await bench.ledger.changedCounts(limit: 3), !changes.isEmpty {
            told = try #require(counts.first).count
            parts += 1
            try await bench.ledger.addUp(changes)
        }
        #expect(told == 10 && parts == 4)
    }

    @Test("A ledger of the first version is counted when it is opened")
    func migration() async throws {
        let bench = try LedgerBench(.sqlite)
        try await like("a", 3, bench)
        _ = try bench.query(
            """
            DROP TRIGGER listing_added; DROP TRIGGER listing_changed; DROP TRIGGER listing_gone; DROP TABLE list_count; DROP TABLE list_change;
            PRAGMA user_version = 1
            """)
        let again = try bench.another()
        #expect(try await again.changedCounts(limit: 10).counts.map(\.count) == [3])
    }
}
