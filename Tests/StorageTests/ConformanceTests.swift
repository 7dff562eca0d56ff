import IntertwineConformance
import IntertwineFeed
import IntertwineItems
import IntertwineLedger
import IntertwineStorageCore
import Testing

@Suite("Conformance of stores, ledgers and data sources", .timeLimit(.minutes(2)))
struct ConformanceTests {
    private func store(_ kind: StoreKind, in scratch: Scratch) throws -> any ItemStore {
        let importer = try scratch.importer(kind)
        for number in 0..<12 {
            try importer.append(Array((line(user: "u\(number)", variant: number % 3 == 0 ? "featured" : "regular") + "\n").utf8))
        }
        try importer.endOfFile()
        _ = try importer.commit()
        return try scratch.store(kind)
    }

    @Test("Stores conform", arguments: StoreKind.allCases)
    func stores(kind: StoreKind) async throws {
        let scratch = try Scratch()
        try await Conformance.check(try store(kind, in: scratch))
        withExtendedLifetime(scratch) {}
    }

    @Test("Ledgers conform", arguments: LedgerKind.allCases)
    func ledgers(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind, hasClock: false)
        try await Conformance.check(bench.ledger)
        withExtendedLifetime(bench) {}
    }

    @Test("Data sources of a store conform", arguments: StoreKind.allCases)
    func dataSources(kind: StoreKind) async throws {
        let scratch = try Scratch()
        let store = try store(kind, in: scratch)
        try await Conformance.check(FlatDataSource(), in: store)
        let sections = [FeedSection("users", stream: .content), FeedSection("ads", stream: .advertisements)]
        try await Conformance.check(SectionedDataSource(sections), in: store)
        withExtendedLifetime(scratch) {}
    }

    @Test("An array of items conforms")
    func array() async throws {
        let items = (0..<20).map { FeedItem(kind: "card", id: "c\($0)", variant: "", position: Int64($0 * 3), body: []) }
        try await Conformance.check(ArrayDataSource(items))
    }

    @Test("A data source that repeats the item at a position does not conform")
    func repeating() async throws {
        let items = (0..<20).map { FeedItem(kind: "card", id: "c\($0)", variant: "", position: Int64($0), body: []) }
        let error = await #expect(throws: ConformanceError.self) { try await Conformance.check(RepeatingSource(items: items)) }
        #expect(error?.violations.contains { $0.hasPrefix("Pages of one item") } == true)
    }
}

/// A source whose pages begin with the last item of the page before.
private struct RepeatingSource: AsyncDataSource {
    let items: [FeedItem]
    let version: UInt64 = 1

    func page(after position: Int64?, limit: Int) async throws -> [FeedItem] {
        Array(items.filter { $0.position >= position ?? .min }.prefix(limit))
    }

    func item(id: String) async throws -> FeedItem? { items.first { $0.id == id } }
}
