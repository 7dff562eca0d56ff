import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Store of items")
struct ItemStoreTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    @Test("Pages go forward and backward through a stream, with each item once", arguments: StoreKind.allCases, [1, 2, 3, 7, 100])
    func pages(kind: StoreKind, limit: Int) async throws {
        let store = try scratch.store(kind)
        let users = (0..<7).map { "u\($0)" }
        for id in users { _ = try await store.put(user(id)) }
        for id in ["a", "b"] { _ = try await store.put(advertisement(id)) }
        #expect(try await store.ids(limit: limit) == users)
        #expect(try await store.ids(.content, .backward, limit: limit) == users.reversed())
        #expect(try await store.ids(.advertisements, limit: limit) == ["a", "b"])
        for limit in [0, -1] {
            #expect(try await store.read { try $0.items(in: .content, .forward, of: nil, limit: limit) }.isEmpty)
        }
    }

    @Test("A known item is replaced in place, whichever fields change", arguments: StoreKind.allCases)
    func replaces(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        for id in ["a", "b", "c"] { #expect(try await store.put(user(id)) == .added) }
        let old = try await store.read { try $0.item(kind: "user", id: "b") }
        #expect(try await store.put(user("b", variant: "featured", avatar: "https://example.com/new.png")) == .replaced)
        let new = try #require(try await store.read { try $0.item(kind: "user", id: "b") })
        #expect(new.position == old?.position)
        #expect(try User(item: new).avatarURL == "https://example.com/new.png")
        #expect(new.variant == "featured")
        #expect(try await store.ids() == ["a", "b", "c"])
    }

    @Test("Links of taken-down items stay known, for single items and for all", arguments: StoreKind.allCases)
    func takenDownURLs(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        for id in ["a", "b"] { _ = try await store.put(user(id, avatar: "https://example.com/\(id).png")) }
        _ = try await store.put(advertisement("1"))
        func taken() async throws -> [String] { Array(Set(try await store.takenDownURLs())).filter { $0.hasSuffix(".png") }.sorted() }
        #expect(try await taken().isEmpty)
        let key = ItemKey(kind: "user", id: "a")
        for _ in 0..<2 { _ = try await store.takeDown(key, reason: nil, at: 1) { _ in } }
        #expect(try await taken() == ["https://example.com/a.png"])
        _ = try await store.apply([.remove(ItemKey(kind: "user", id: "b"))])
        #expect(try await taken() == ["https://example.com/a.png", "https://example.com/b.png"])
        _ = try await store.apply([.clear(section: StoreOperation.advertisements)])
        #expect(try await taken().count == 3)
        #expect(try await store.release([key]) == 1)
        #expect(try await taken() == ["https://example.com/b.png", "https://example.com/c.png"])
        _ = try await store.put(user("b"))
        #expect(try await taken() == ["https://example.com/c.png"])
    }

    @Test("An item whose kind moved to another stream moves to its end", arguments: StoreKind.allCases)
    func movesLane(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        _ = try await store.put(user("a"))
        var moved = try user("a")
        moved.stream = .advertisements
        #expect(try await store.put(moved) == .replaced)
        #expect(try await store.ids().isEmpty)
        #expect(try await store.ids(.advertisements) == ["a"])
    }

    @Test("A removed item is deleted, and one that is stored again is appended", arguments: StoreKind.allCases)
    func removes(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        for id in ["a", "b", "c"] { _ = try await store.put(user(id)) }
        #expect(try await store.remove(kind: "user", id: "a"))
        #expect(try await !store.remove(kind: "user", id: "a"))
        #expect(try await !store.remove(kind: "ad", id: "b"))
        #expect(try await store.put(user("a")) == .added)
        #expect(try await store.ids() == ["b", "c", "a"])
    }

    @Test("One item type is read alone, in both streams and directions", arguments: StoreKind.allCases)
    func forms(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        for id in ["a", "b", "c", "d"] {
            _ = try await store.put(advertisement(id, variant: id == "b" ? "video" : "image"))
            _ = try await store.put(user(id, variant: id < "c" ? "featured" : "regular"))
        }
        func ids(_ form: ItemType, _ direction: PageDirection, _ position: Int64?) async throws -> [String] {
            try await store.read {
                try $0.items(RowQuery(.type(form), direction, of: position.map { SortPosition(position: $0) }, limit: 2)).map(\.id)
            }
        }
        let image = ItemType(kind: "ad", variant: "image")
        let first = try #require(try await store.read { try $0.item(kind: "ad", id: "a") })
        #expect(try await ids(image, .forward, nil) == ["a", "c"])
        #expect(try await ids(image, .forward, first.position) == ["c", "d"])
        #expect(try await ids(image, .backward, nil) == ["d", "c"])
        #expect(try await ids(ItemType(kind: "user", variant: "featured"), .forward, nil) == ["a", "b"])
        #expect(try await ids(ItemType(kind: "ad", variant: "audio"), .forward, nil).isEmpty)
        #expect(try await ids(ItemType(kind: "event", variant: ""), .forward, nil).isEmpty)
        #expect(try await store.read { try $0.counts() }[image] == 3)
    }

    @Test(
        "Ids are bytes: similar ids differ, and NUL is stored as U+FFFD", arguments: StoreKind.allCases)
    func exactIDs(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        let ids = ["e\u{301}", "é", "a\u{FFFD}b", "a", "\u{1}", "\u{212A}", "K", "'\"\\%_", "日本"]
        for id in ids {
            let item = ValidatedItem(kind: "user", stream: .content, id: id, variant: "", body: Array("{}".utf8))
            #expect(try await store.put(item) == .added)
            #expect(try await store.put(item) == .replaced)
        }
        #expect(try await store.ids().map { Array($0.utf8) } == ids.map { Array($0.utf8) })
        for id in ids { #expect(try await store.read { try $0.item(kind: "user", id: id) }?.id.utf8.elementsEqual(id.utf8) == true) }
        let keys = ids.map { ItemKey(kind: "user", id: $0) }
        for key in keys { #expect(try await store.takeDown(key, reason: nil, at: 1) { _ in }.wasStored) }
        let sorted = ids.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { Array($0.utf8) }
        #expect(try await store.takedowns(after: nil, limit: 99).map { Array($0.item.id.utf8) } == sorted)
        #expect(try await store.release(keys) == ids.count)
        _ = try await store.put(ValidatedItem(kind: "user", stream: .content, id: "a\u{0}b", variant: "", body: Array("{}".utf8)))
        #expect(try await store.ids() == ["a\u{FFFD}b"])
    }

    @Test("Writes beyond the queue's limit are refused while another process locks the file, and the others are done")
    func manyWrites() async throws {
        let path = scratch.path("items.sqlite")
        let store = try SQLiteStore(path: path)
        let other = try Program.lock(path)
        let (item, total) = (try user("a"), 4_500)
        let accepted = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<total {
                group.addTask {
                    do {
                        _ = try await store.put(item)
                    } catch StoreError.overloaded {
                        return false
                    } catch {
                        // On a busy machine the first ones may wait for too long.
                    }
                    return true
                }
            }
            var (accepted, refused) = (0, 0)
            for try await isAccepted in group {
                if isAccepted { accepted += 1 } else { refused += 1 }
                if refused == 1, !isAccepted { try other.release() }
            }
            return accepted
        }
        #expect(accepted >= 4_096 && accepted < total, "\(accepted)")
    }

    @Test("A failing reader gets its own error, and the store stays usable", arguments: StoreKind.allCases)
    func failingReader(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        struct Failure: Error {}
        await #expect(throws: Failure.self) { try await store.read { _ in throw Failure() } }
        #expect(try await store.ids().isEmpty)
    }
}
