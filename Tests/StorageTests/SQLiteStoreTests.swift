import IntertwineFeed
import IntertwineStorage
import Testing

@Suite("Store of items")
struct SQLiteStoreTests {
    let scratch: Scratch
    let store: SQLiteStore

    init() throws {
        scratch = try Scratch()
        store = try SQLiteStore(path: scratch.path("items.sqlite"))
    }

    @Test("pages go forward and backward through a lane, each item once", arguments: [1, 2, 3, 7, 100])
    func pages(limit: Int) async throws {
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

    @Test("a known item is replaced in its place, whatever changes about it")
    func replaces() async throws {
        for id in ["a", "b", "c"] { #expect(try await store.put(user(id)) == .added) }
        let old = try await store.read { try $0.item(kind: "user", id: "b") }
        #expect(try await store.put(user("b", variant: "featured", avatar: "https://example.com/new.png")) == .replaced)
        let new = try #require(try await store.read { try $0.item(kind: "user", id: "b") })
        #expect(new.position == old?.position)
        #expect(try User(item: new).avatarURL == "https://example.com/new.png")
        #expect(new.variant == "featured")
        #expect(try await store.ids() == ["a", "b", "c"])
    }

    @Test("an item whose kind moved to another lane follows it to the end there")
    func movesLane() async throws {
        _ = try await store.put(user("a"))
        var moved = try user("a")
        moved.lane = .advertisements
        #expect(try await store.put(moved) == .replaced)
        #expect(try await store.ids().isEmpty)
        #expect(try await store.ids(.advertisements) == ["a"])
    }

    @Test("a removed item is gone, and one put again goes to the end")
    func removes() async throws {
        for id in ["a", "b", "c"] { _ = try await store.put(user(id)) }
        #expect(try await store.remove(kind: "user", id: "a"))
        #expect(try await !store.remove(kind: "user", id: "a"))
        #expect(try await !store.remove(kind: "advertisement", id: "b"))
        #expect(try await store.put(user("a")) == .added)
        #expect(try await store.ids() == ["b", "c", "a"])
    }

    @Test("one form is read by itself, in both lanes and directions")
    func forms() async throws {
        for id in ["a", "b", "c", "d"] {
            _ = try await store.put(advertisement(id, variant: id == "b" ? "video" : "image"))
            _ = try await store.put(user(id, variant: id < "c" ? "featured" : "regular"))
        }
        func ids(_ form: ItemForm, _ direction: PageDirection, _ position: Int64?) async throws -> [String] {
            try await store.read { try $0.items(of: form, direction, of: position, limit: 2).map(\.id) }
        }
        let image = ItemForm(kind: "advertisement", variant: "image")
        let first = try #require(try await store.read { try $0.item(kind: "advertisement", id: "a") })
        #expect(try await ids(image, .forward, nil) == ["a", "c"])
        #expect(try await ids(image, .forward, first.position) == ["c", "d"])
        #expect(try await ids(image, .backward, nil) == ["d", "c"])
        #expect(try await ids(ItemForm(kind: "user", variant: "featured"), .forward, nil) == ["a", "b"])
        #expect(try await ids(ItemForm(kind: "advertisement", variant: "audio"), .forward, nil).isEmpty)
        #expect(try await ids(ItemForm(kind: "event", variant: ""), .forward, nil).isEmpty)
        #expect(try await store.read { try $0.counts() }[image] == 3)
    }

    @Test("a page is a range of one tree, a form's page of another: no sorting, no scan")
    func plans() throws {
        let plan = { (sql: String) in try scratch.sqlite("items.sqlite", "EXPLAIN QUERY PLAN " + sql) }
        let page = try plan("SELECT body FROM item WHERE lane = 0 AND position > 5 ORDER BY position LIMIT 20")
        #expect(page.contains("SEARCH item USING PRIMARY KEY (lane=? AND position>?)") && !page.contains("TEMP"))
        let form = try plan(
            "SELECT body FROM item WHERE lane = 1 AND kind = 'k' AND variant = 'v' AND position > 5 ORDER BY position LIMIT 20")
        #expect(form.contains("INDEX item_form (kind=? AND variant=? AND position>?)") && !form.contains("TEMP"))
    }

    @Test("a failing reader is told its own error, and the store goes on")
    func failingReader() async throws {
        struct Failure: Error {}
        await #expect(throws: Failure.self) { try await store.read { _ in throw Failure() } }
        #expect(try await store.ids().isEmpty)
    }
}
