import Synchronization
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Reads of house ads")
struct HouseAdReadTests {
    /// Counts the rows that are read from a store.
    private final class CountingStore: FeedStore {
        private struct Snapshot: StoreSnapshot {
            let snapshot: any StoreSnapshot
            let store: CountingStore

            func prefetch(_ queries: [RowQuery], isComplete: Bool) { snapshot.prefetch(queries, isComplete: isComplete) }

            func visit(_ query: RowQuery, _ body: (ItemRow) throws -> Void) throws {
                try snapshot.visit(query) { row in
                    store.count.withLock { $0 += 1 }
                    try body(row)
                }
            }

            func item(kind: String, id: String) throws -> FeedItem? { try snapshot.item(kind: kind, id: id) }
        }

        private let store: any FeedStore
        private let count = Mutex(0)

        init(_ store: any FeedStore) { self.store = store }

        var rows: Int { count.withLock { $0 } }
        var version: StoreVersion { store.version }

        func read<Value: Sendable>(
            for purpose: ReadPurpose, _ body: @escaping @Sendable (any StoreSnapshot) throws -> Value
        ) async throws -> Value {
            try await store.read(for: purpose) { try body(Snapshot(snapshot: $0, store: self)) }
        }
    }

    private static func ad(_ id: String, isOfCampaign: Bool) throws -> ValidatedItem {
        let house = isOfCampaign ? #","house":false"# : ""
        return try ItemKinds.standard.validate(
            Array(
                #"{"kind":"ad","id":"\#(id)","contentUrl":"https://a.example/","clickthroughUrl":"https://b.example/","type":"image"\#(house)}"#
                    .utf8))
    }

    @Test("A page reads house ads, and none of 5,000 ads of campaigns around them", arguments: StoreKind.allCases, [0, 3])
    func rows(kind: StoreKind, house: Int) async throws {
        let scratch = try Scratch()
        let items = try scratch.store(kind)
        let users = try scratch.items(kind).collection(of: "people", kind: UserKind())
        #expect(try users.add((0..<40).map { try user("u\($0)") }) == [])
        _ = try users.apply(removing: 1) { _ in }
        let ads = try scratch.items(kind).collection(of: "ads", kind: AdvertisementKind())
        let all = try (0..<5_000 + house).map { number in
            let isHouseAd = [1_000, 1_001, 4_000].prefix(house).contains(number)
            return try Self.ad("\(number)", isOfCampaign: !isHouseAd)
        }
        #expect(try ads.add(all) == [])
        _ = try ads.apply(removing: 1) { _ in }
        let store = CountingStore(items)
        let feed = try FeedAssembler.standard(over: store)
        var (cursor, shown): (String?, [String]) = (nil, [])
        for _ in 0..<6 {
            // The first page of a version finds the house ads, maybe beside the pages that follow.
            let deadline = ContinuousClock.now + .seconds(60)
            var (page, rows): (FeedPage?, Int) = (nil, .max)
            while rows > 20, ContinuousClock.now < deadline {
                let before = store.rows
                page = try await feed.page(
                    FeedRequest(cursor: cursor, limit: 4, now: FeedAssembler.now, rotationHour: CellTokens.bucket(of: FeedAssembler.now)))
                rows = store.rows - before
            }
            #expect(rows <= 20)
            shown += page?.entries.map(\.id).filter { $0.hasPrefix("ad:") } ?? []
            cursor = page?.next.flatMap(FeedAssembler.cursor)
        }
        let expected = ["ad:1000", "ad:1001", "ad:4000"].prefix(house)
        #expect(shown.count == (house == 0 ? 0 : 6) && Set(shown) == Set(expected))
        #expect(Array(shown.prefix(3)) == Array(shown.dropFirst(3)))
    }

    @Test("An import or a source that omits the field keeps the ads of campaigns", arguments: StoreKind.allCases)
    func omitted(kind: StoreKind) async throws {
        let scratch = try Scratch()
        let store = try scratch.store(kind)
        func line(_ id: String, _ members: String) -> String {
            #"{"kind":"ad","id":"\#(id)","contentUrl":"https://a.example/\#(members.utf8.count)","clickthroughUrl":"https://b.example/","#
                + #""type":"image"\#(members)}"#
        }
        func load(_ lines: [String]) throws {
            let session = try scratch.importer(kind)
            try session.append(Array(lines.joined(separator: "\n").utf8))
            try session.endOfFile()
            _ = try session.commit()
        }
        func houseAds() async throws -> [String] {
            try await store.read { snapshot in
                try ["a", "b", "c", "d"].filter { try snapshot.storedItem(kind: "ad", id: $0).map(\.isHouseAd) == true }
            }
        }
        let scheduled = #","publishAt":"2020-01-01T00:00:00Z""#
        try load([line("a", #","house":false"#), line("b", scheduled + #","house":false"#), line("c", "")])
        #expect(try await houseAds() == ["c"])
        try load([line("a", scheduled), line("b", ""), line("c", scheduled)])
        #expect(try await houseAds() == ["c"])
        try load([line("a", ""), line("b", scheduled + #","house":true"#)])
        #expect(try await houseAds() == ["b", "c"])

        func sync(_ lines: [String]) throws -> SourceChanges {
            let source = try scratch.items(kind).collection(of: "ads", kind: AdvertisementKind())
            #expect(try source.add(lines.map { try ItemKinds.standard.validate(Array($0.utf8)) }) == [])
            return try source.apply(removing: 1) { _ in }
        }
        var lines = [line("a", scheduled), line("b", #","house":false"#), line("c", scheduled), line("d", #","house":false"#)]
        _ = try sync(lines)
        #expect(try await houseAds() == ["c"])
        lines[3] = line("d", "")
        #expect(try sync(lines).changed == 1)
        #expect(try await houseAds() == ["c"])
        // Nothing is written for a list that has not changed, and an ad of the source that left the list is removed.
        #expect(try sync(lines).unchanged == 4)
        let changes = try sync(Array(lines[1..<3]))
        #expect(changes.removed == 1 && changes.released == 1 && changes.unchanged == 2)
        _ = try sync([line("b", #","house":true"#), lines[2]])
        #expect(try await houseAds() == ["b", "c"])
    }
}
