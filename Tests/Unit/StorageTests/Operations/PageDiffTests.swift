import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Pages that an operation changes")
struct PageDiffTests {
    private static let limit = 10

    let scratch: Scratch
    let store: SQLiteStore
    let assembler: FeedAssembler

    init() throws {
        scratch = try Scratch()
        store = try SQLiteStore(path: scratch.path("items.sqlite"))
        assembler = try FeedAssembler.standard(over: store)
    }

    private static func key(_ number: Int) -> ItemKey { ItemKey(kind: "user", id: "\(number)") }

    @Test(
        "An operation changes the item's old and new pages, and no byte of others",
        arguments: try [
            (.insert(user("new"), .before(key(0))), [0]), (.insert(user("new"), .before(key(25))), [2]),
            (.insert(user("new"), .before(key(30))), [3]), (.insert(user("new"), .after(key(29))), [3]),
            (.insert(user("new"), .after(key(38))), [3]), (.append(user("new")), [5]), (.remove(key(0)), [0]), (.remove(key(19)), [1]),
            (.remove(key(20)), [2]), (.remove(key(52)), [5]), (.update(user("44", variant: "featured")), [4]),
            (.update(user("44")), []), (.move(key(12), .after(key(17))), [1]), (.move(key(12), .before(key(47))), [1, 4]),
            (.move(key(52), .before(key(0))), [0, 5]), (.move(key(12), .before(key(13))), []), (.move(key(30), .after(key(29))), []),
            (.update(advertisement("1", variant: "video")), [1, 3, 5]),
            (.insert(advertisement("new"), .before(ItemKey(kind: "ad", id: "0"))), [0, 2, 4]),
        ] as [(StoreOperation, [Int])])
    func exactly(operation: StoreOperation, expected: [Int]) async throws {
        _ = try await store.apply((0..<53).map { .append(try user("\($0)")) } + (0..<2).map { .append(try advertisement("\($0)")) })
        var cursors: [String?] = [nil]
        cursors += try await assembler.walk(limit: Self.limit).compactMap { $0.next.flatMap(FeedAssembler.cursor) }
        let before = try await pages(cursors)
        #expect(before.count == 6)
        _ = try await store.apply([operation])
        let after = try await pages(cursors)
        #expect(before.indices.filter { before[$0] != after[$0] } == expected)
    }

    @Test("A pagination session has each remaining item once, despite insertions, moves and removals")
    func walking() async throws {
        var random = SeededRandom(seed: 11)
        _ = try await store.apply((0..<300).map { .append(try user("\($0)")) })
        var met: [String] = []
        var cursor: String?
        var isOver = false
        var number = 0
        while !isOver {
            let page = try await assembler.page(cursor, limit: Self.limit)
            met += page.entries.map(\.cell.item.id)
            cursor = page.next.flatMap(FeedAssembler.cursor)
            isOver = cursor == nil
            for _ in 0..<5 {
                let neighbour = Self.key(Int.random(in: 0..<300, using: &random))
                let place: StoreOperation.Position = Bool.random(using: &random) ? .before(neighbour) : .after(neighbour)
                _ = try await store.apply([.insert(try user("new \(number)"), place)])
                if number % 3 == 0 { _ = try await store.apply([.remove(ItemKey(kind: "user", id: "new \(number)"))]) }
                number += 1
            }
        }
        #expect(met.filter { !$0.hasPrefix("new") } == (0..<300).map(String.init))
    }

    private func pages(_ cursors: [String?]) async throws -> [[UInt8]] {
        var pages: [[UInt8]] = []
        for cursor in cursors { pages.append(try await assembler.page(cursor, limit: Self.limit).json()) }
        return pages
    }
}
