import GRDB
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Pagination of sections on disk")
struct SectionIteratorTests {
    private func cursor(_ href: String?) -> String? {
        href?.split(separator: "cursor=").last?.split(separator: "&").first.map(String.init)
    }

    @Test(
        "Pages equal those of an array model after any writes, in any section order and direction",
        arguments: StoreKind.seeds(48))
    func model(kind: StoreKind, seed: Int) async throws {
        let feed = try await SectionedFeed(kind, seed: seed)
        var random = SeededRandom(seed: UInt64(seed) &+ 500)
        for _ in 0..<3 {
            for _ in 0..<Int.random(in: 0...20, using: &random) { _ = try await feed.write(&random) }
            let limit = Int.random(in: 1...9, using: &random)
            var pages = [try await feed.page(nil, limit: limit)]
            while let next = pages.last?.next, pages.count < 100 { pages.append(try await feed.page(cursor(next), limit: limit)) }
            let model = feed.pages(limit: limit)
            #expect(pages.map { $0.entries.map(\.cell.id) } == model.map(\.cells))
            #expect(pages.map(\.sections) == model.map(\.sections))
            #expect(pages[0].previous == nil)

            var backward = [try #require(pages.last)]
            while let previous = backward.last?.previous, backward.count < 100 {
                backward.append(try await feed.page(cursor(previous), limit: limit))
            }
            #expect(backward.reversed().map { $0.json() } == pages.map { $0.json() })
        }
    }

    @Test(
        "Pagination has each untouched item once during writes",
        arguments: StoreKind.seeds(48))
    func writer(kind: StoreKind, seed: Int) async throws {
        let feed = try await SectionedFeed(kind, seed: seed)
        var random = SeededRandom(seed: UInt64(seed) &+ 900)
        for _ in 0..<40 { _ = try await feed.write(&random) }
        var survivors = Set(feed.items.map(\.cell))
        var touched: Set<String> = []
        var met: [String] = []
        var next: String?
        repeat {
            let page = try await feed.page(next, limit: .random(in: 1...6, using: &random))
            let ids = page.entries.map(\.cell.id)
            #expect(Set(ids).count == ids.count)
            met += ids
            next = cursor(page.next)
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                if let cell = try await feed.write(&random) {
                    survivors.remove(cell)
                    touched.insert(cell)
                }
            }
        } while next != nil && met.count < 1_000
        let untouched = met.filter { !touched.contains($0) && !$0.hasPrefix("ad:") }
        #expect(Set(untouched).count == untouched.count)
        #expect(survivors.subtracting(met).isEmpty)
    }

    @Test("A section ordered by a field is read through its index: no sorting, no scan", arguments: SortField.Comparison.allCases)
    func plans(_ comparison: SortField.Comparison) async throws {
        let scratch = try Scratch()
        let field = try #require(SortField("f", comparison))
        let store = try SQLiteStore(path: scratch.path("items.sqlite"))
        let lane = try #require(try store.arrange([SectionConfiguration("events", kinds: ["event"], fields: [field])])["events"])
        let place = SortPosition(key: comparison == .number ? .number(1) : .text([65]), position: 5)
        for direction in [PageDirection.forward, .backward] {
            for place in [nil, place] {
                let statements = try await store.statements {
                    _ = try $0.items(RowQuery(.sorted(lane, by: field), direction, of: place, limit: 20))
                }
                #expect(statements.count == (place == nil ? 1 : 2))
                for sql in statements {
                    let plan = try scratch.sqlite("items.sqlite", "EXPLAIN QUERY PLAN " + sql)
                    #expect(plan.contains("INDEX section_order_") && !plan.contains("TEMP"), "\(plan)")
                    if sql.contains("position >") || sql.contains("position <") {
                        #expect(plan.contains("(<expr>=? AND position"), "\(plan)")
                    }
                }
            }
        }
    }

    @Test(
        "Dates are ordered by time to the nanosecond, for all years and offsets",
        arguments: StoreKind.allCases)
    func moments(kind: StoreKind) async throws {
        let ordered = [
            "0000-01-01T00:00:00+23:59", "0000-01-01", "1969-12-31T23:59:59.999999999Z", "1970-01-01T00:00:00Z",
            "2026-05-01T01:00:00+14:30", "2026-05-01T23:59:00+23:59", "2026-05-01T00:00:00.0007Z", "2026-05-01T00:00:00.00070001Z",
            "2026-05-01T00:00:00.0009Z",
            "2026-05-01T00:00:00.999999999Z", "2026-04-30T23:00:01-01:00", "2026-05-02",
            "9999-12-31T20:00:00+00:00", "9999-12-31T23:59:59.9999Z", "9999-12-31T20:00:00-05:00", "9999-12-31T23:59:59.1-23:59",
        ]
        let scratch = try Scratch()
        let store = try scratch.store(kind)
        let field = try #require(SortField("starts", .date))
        let lane = try #require(try store.arrange([SectionConfiguration("events", kinds: ["event"], fields: [field])])["events"])
        var random = SeededRandom(seed: 3)
        // What was stored under another declaration stands first, whatever it is: SQLite's dates know the last two.
        let others = [#"{}"#, #"{"starts":null}"#, #"{"starts":"someday"}"#, #"{"starts":"now"}"#]
        let bodies = ordered.map { #"{"starts":"\#($0)"}"# } + others
        for body in bodies.shuffled(using: &random) {
            _ = try await store.put(ValidatedItem(kind: "event", stream: .content, id: body, variant: "", body: Array(body.utf8)))
        }
        let read = { (direction: PageDirection) in
            try await store.read { snapshot in
                var ids: [String] = []
                var place: SortPosition?
                while let item = try snapshot.items(RowQuery(.sorted(lane, by: field), direction, of: place, limit: 1)).first {
                    ids.append(item.id)
                    place = item.sortPosition
                }
                return ids
            }
        }
        let forward = try await read(.forward)
        #expect(Set(forward.prefix(others.count)) == Set(others))
        #expect(forward.dropFirst(others.count).elementsEqual(ordered.map { #"{"starts":"\#($0)"}"# }))
        #expect(try await read(.backward) == forward.reversed())
        let least = try await store.read {
            try $0.items(RowQuery(.sorted(lane, by: field), of: SortPosition(position: 0), limit: 99)).count
        }
        #expect(least == bodies.count)
    }

    @Test("Without the index, reads sort", arguments: StoreKind.allCases)
    func withoutIndex(kind: StoreKind) async throws {
        let scratch = try Scratch()
        let store = try scratch.store(kind)
        for (id, price) in [("x", 3), ("y", 1), ("z", 2)] {
            _ = try await store.put(
                ValidatedItem(kind: "e", stream: .content, id: id, variant: "", body: Array(#"{"price":\#(price)}"#.utf8)))
        }
        let field = try #require(SortField("price", .number))
        let ids = try await store.read { try $0.items(RowQuery(.sorted(.content, by: field), limit: 9)).map(\.id) }
        #expect(ids == ["y", "z", "x"])
    }

    @Test("A section is counted", arguments: StoreKind.allCases)
    func counts(kind: StoreKind) async throws {
        let scratch = try Scratch()
        let store = try scratch.store(kind)
        for id in ["a", "b", "c"] { _ = try await store.put(user(id)) }
        _ = try await store.put(advertisement("1"))
        #expect(try await store.read { try $0.count(in: .content) } == 3)
    }
}

extension SQLiteStore {
    /// The statements that a read runs.
    fileprivate func statements(_ body: @escaping @Sendable (any StoreSnapshot) throws -> Void) async throws -> [String] {
        try await pool.read { database in
            nonisolated(unsafe) var statements: [String] = []
            database.trace { event in
                if case .statement(let statement) = event { statements.append(statement.sql) }
            }
            defer { database.trace(options: []) }
            try body(SQLiteSnapshot(database: database))
            return statements.filter { $0.hasPrefix("SELECT") }
        }
    }
}
