import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Operations on the store")
struct StoreOperationTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private static func key(_ id: String) -> ItemKey { ItemKey(kind: "user", id: id) }

    @Test("Each operation has its effect, in order", arguments: StoreKind.allCases)
    func basics(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        let summary = try await store.apply([
            .append(user("a")), .append(user("d")), .insert(user("b"), .after(Self.key("a"))), .insert(user("c"), .before(Self.key("d"))),
            .append(advertisement("1")), .insert(advertisement("0"), .before(ItemKey(kind: "ad", id: "1"))),
        ])
        #expect(summary == StoreOperationSummary(inserted: 6))
        #expect(try await store.ids() == ["a", "b", "c", "d"])
        #expect(try await store.ids(.advertisements) == ["0", "1"])
        let changed = try await store.apply([
            .move(Self.key("d"), .before(Self.key("a"))), .move(Self.key("a"), .after(Self.key("c"))), .remove(Self.key("b")),
            .update(user("c", variant: "featured")), .clear(section: "advertisements"),
        ])
        var expected = StoreOperationSummary(moved: 2, updated: 1, removed: 3)
        expected.cleared = ["0", "1"].map { ItemKey(kind: "ad", id: $0) }
        #expect(changed == expected)
        #expect(try await store.ids() == ["d", "c", "a"])
        #expect(try await store.ids(.advertisements).isEmpty)
        #expect(try await store.read { try $0.item(kind: "user", id: "c") }?.variant == "featured")
    }

    @Test("Members of many items change in one transaction, and unknown items change nothing", arguments: StoreKind.allCases)
    func patches(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        let importer = try scratch.importer(kind)
        for id in 0..<2_500 { try importer.append(Array((line(user: "\(id)") + "\n").utf8)) }
        try importer.endOfFile()
        _ = try importer.commit()
        let keys = (0..<3_000).map { Self.key("\($0)") } + [Self.key("7"), Self.key("8")]
        let summary = try await store.patch(keys) { index, item in
            // The second patch of an item gets the result of the first one.
            if index == 3_000 { #expect(item.variant == "featured") }
            return try user(item.id, variant: index == 3_001 ? "regular" : "featured")
        }
        #expect(summary.unknown == 500 && summary.updated + summary.unchanged == 2_502 && summary.unchanged <= 1)
        let items = try await store.read { snapshot in try [7, 8, 2_499].map { try snapshot.item(kind: "user", id: "\($0)")?.variant } }
        #expect(items == ["featured", "regular", "featured"])
        let ids = try await store.ids(limit: 300)
        #expect(ids == (0..<2_500).map { "\($0)" })
        struct Failure: Error {}
        await #expect(throws: Failure.self) {
            _ = try await store.patch((0..<2_500).map { Self.key("\($0)") }) { index, item in
                if index == 2_400 { throw Failure() }
                return try user(item.id, variant: "regular")
            }
        }
        #expect(try await store.read { try $0.item(kind: "user", id: "7") }?.variant == "featured")
    }

    @Test(
        "A failed operation is named with its index, and no operation is applied",
        arguments: StoreKind.allCases,
        try [
            (.append(user("a")), .known(key("a"))), (.insert(user("a"), .before(key("a"))), .known(key("a"))),
            (.insert(user("n"), .after(key("x"))), .unknown(key("x"))), (.update(user("x")), .unknown(key("x"))),
            (.remove(key("x")), .unknown(key("x"))), (.move(key("x"), .after(key("a"))), .unknown(key("x"))),
            (.move(key("a"), .after(key("x"))), .unknown(key("x"))), (.move(key("a"), .before(key("a"))), .besideItself(key("a"))),
            (.clear(section: "other"), .unknownSection("other")),
            (
                .insert(user("n"), .before(ItemKey(kind: "ad", id: "1"))),
                .elsewhere(key("n"), than: ItemKey(kind: "ad", id: "1"))
            ),
            (
                .move(ItemKey(kind: "ad", id: "1"), .after(key("a"))),
                .elsewhere(ItemKey(kind: "ad", id: "1"), than: key("a"))
            ),
        ] as [(StoreOperation, StoreOperationError.Reason)])
    func faults(kind: StoreKind, fault: (operation: StoreOperation, reason: StoreOperationError.Reason)) async throws {
        let (operation, reason) = fault
        let store = try scratch.store(kind)
        _ = try await store.apply([.append(user("a")), .append(user("b")), .append(advertisement("1"))])
        let version = store.version
        await #expect(throws: StoreOperationError(index: 2, reason: reason)) {
            try await store.apply([.append(user("c")), .remove(Self.key("b")), operation, .clear(section: "main")])
        }
        #expect(try await store.ids() == ["a", "b"])
        #expect(store.version == version)
    }

    @Test("Before and after follow the display order of the section", arguments: StoreKind.allCases)
    func newest(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        _ = try store.arrange([SectionConfiguration("main", order: .newest)])
        _ = try await store.apply([.append(user("a")), .append(user("b")), .append(user("c"))])
        let shown = { try await store.ids(.content, .backward) }
        #expect(try await shown() == ["c", "b", "a"])
        _ = try await store.apply([.move(Self.key("a"), .before(Self.key("b"))), .insert(user("d"), .after(Self.key("b")))])
        #expect(try await shown() == ["c", "a", "b", "d"])
        _ = try await store.apply([.move(Self.key("d"), .after(Self.key("c"))), .insert(user("e"), .before(Self.key("c")))])
        #expect(try await shown() == ["e", "c", "d", "a", "b"])
        // It is the arrangement of the start that holds.
        _ = try store.arrange([])
        _ = try await store.apply([.move(Self.key("e"), .before(Self.key("b")))])
        #expect(try await store.ids() == ["e", "b", "a", "d", "c"])
    }

    @Test("Items ordered by a field cannot be moved; ads and other sections can", arguments: StoreKind.allCases)
    func orderedByField(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        let name = try #require(SortField("username", .text))
        _ = try store.arrange([SectionConfiguration("people", kinds: ["user"], fields: [name], order: SectionSort(by: name))])
        _ = try await store.apply([
            .append(user("a")), .append(user("b")), .insert(user("c"), .before(Self.key("a"))), .append(advertisement("1")),
            .append(advertisement("2")),
        ])
        let version = store.version
        await #expect(throws: StoreOperationError(index: 1, reason: .ordered(Self.key("a"), by: "username"))) {
            try await store.apply([.remove(Self.key("c")), .move(Self.key("a"), .after(Self.key("b")))])
        }
        #expect(store.version == version)
        #expect(
            "\(StoreOperationError.Reason.ordered(Self.key("a"), by: "username"))"
                == "user:a is ordered by its username; update that field to move it")
        _ = try await store.apply([.move(ItemKey(kind: "ad", id: "2"), .before(ItemKey(kind: "ad", id: "1")))])
        #expect(try await store.ids(.advertisements) == ["2", "1"])
    }

    @Test("The number of operations is bounded, and an empty list changes nothing", arguments: StoreKind.allCases)
    func bound(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        let version = store.version
        #expect(try await store.apply([]) == StoreOperationSummary())
        await #expect(throws: StoreOperationError(index: StoreOperation.limit, reason: .tooMany)) {
            try await store.apply(Array(repeating: .clear(section: "main"), count: StoreOperation.limit + 1))
        }
        #expect(store.version == version)
    }

    @Test("A precondition sees the item after the previous operations", arguments: StoreKind.allCases)
    func objections(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        struct Objection: Error {}
        _ = try await store.apply([.append(user("a")), .append(user("b"))])
        let operations = try [
            StoreOperation.append(user("c")), .update(user("a", variant: "featured")), .move(Self.key("a"), .after(Self.key("c"))),
            .remove(Self.key("b")),
        ]
        let seen = EventLog<String>()
        _ = try await store.apply(operations) { index, item in seen.append("\(index) \(item.id) \(item.variant)") }
        #expect(seen.events == ["1 a regular", "2 a featured", "3 b regular"])
        await #expect(throws: Objection.self) {
            try await store.apply([.clear(section: "main"), .append(user("z")), .remove(Self.key("z"))]) { _, _ in throw Objection() }
        }
        #expect(try await store.ids() == ["c", "a"])
    }

    enum Pattern: CaseIterable {
        case beforeOne, afterOne, beforeTheLast, afterTheLast, either
    }

    @Test(
        "Many insertions at one position stay in order, and no item moves towards the start",
        arguments: Pattern.allCases.map { (StoreKind.sqlite, $0) } + [(.postgresql, .afterOne)])
    func onePlace(kind: StoreKind, pattern: Pattern) async throws {
        let store = try scratch.store(kind)
        let old = (0..<50).map { "old \($0)" }
        _ = try await store.apply(old.map { .append(try user($0)) })
        var random = SeededRandom(seed: 5)
        var expected = old
        // The index at which the next one comes to stand.
        var index = 25
        var positions = try await Self.positions(store)
        let size = TestSize.full(1_000, small: 200)
        for batch in 0..<(kind == .sqlite ? TestSize.full(4, small: 2) : 1) {
            var operations: [StoreOperation] = []
            for number in 0..<size {
                let item = try user("new \(batch * size + number)")
                let isAfter =
                    switch pattern {
                    case .beforeOne, .beforeTheLast: false
                    case .afterOne, .afterTheLast: true
                    case .either: Bool.random(using: &random)
                    }
                operations.append(.insert(item, isAfter ? .after(Self.key(expected[index - 1])) : .before(Self.key(expected[index]))))
                expected.insert(item.id, at: index)
                switch pattern {
                case .beforeOne, .afterTheLast: index += 1
                case .afterOne, .beforeTheLast: break
                case .either: index += Bool.random(using: &random) ? 1 : 0
                }
            }
            _ = try await store.apply(operations)
            let now = try await Self.positions(store)
            #expect(positions.filter { id, position in now[id, default: .min] < position }.isEmpty)
            positions = now
        }
        #expect(try await store.ids(limit: 1_000) == expected)
    }

    private static func positions(_ store: any ItemStore) async throws -> [String: Int64] {
        try await store.read { snapshot in
            let items = try snapshot.items(in: .content, .forward, of: nil, limit: 20_000)
            return Dictionary(uniqueKeysWithValues: items.map { ($0.id, $0.position) })
        }
    }
}
