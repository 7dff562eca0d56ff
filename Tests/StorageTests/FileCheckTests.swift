import Foundation
import IntertwineFeed
import IntertwineStorage
import TestSupport
import Testing

@Suite("Checks of database files for damage")
struct FileCheckTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    /// Checks a file once, from its first page to its last row.
    private func check(_ file: some CheckedFile) async -> CheckProgress {
        while await !file.checkSome().isLast {}
        return file.checkProgress
    }

    /// Changes one bit of the first place where a text stands in a main file.
    private func flip(_ text: String, in name: String) throws {
        let handle = try #require(FileHandle(forUpdatingAtPath: scratch.path(name)))
        let place = try #require(try handle.readToEnd()?.range(of: Data(text.utf8)))
        try handle.seek(toOffset: UInt64(place.lowerBound))
        try handle.write(contentsOf: [try #require(text.utf8.first) ^ 1])
        try handle.close()
    }

    private func store(_ count: Int) async throws -> SQLiteStore {
        let store = try SQLiteStore(path: scratch.path("items.sqlite"))
        for number in 0..<count { _ = try await store.put(user("name-\(number)")) }
        return store
    }

    private func ledger(_ count: Int) async throws -> SQLiteLedger {
        let ledger = try scratch.ledger()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count { group.addTask { _ = try await ledger.commit(click("viewer-\(number)")) } }
            try await group.waitForAll()
        }
        return ledger
    }

    @Test("Intact files pass, also after writes of other programs")
    func sound() async throws {
        let (store, ledger) = (try await store(300), try await ledger(700))
        for _ in 0..<2 {
            let (items, events) = (await check(store), await check(ledger))
            #expect(!items.isDamaged && !events.isDamaged && items.share == 1 && events.share == 1)
        }
        #expect(try scratch.sqlite("ledger.sqlite", "SELECT group_concat(last) FROM event_digest") == "256,512")
        _ = try await store.put(user("name-7", variant: "featured"))
        _ = try await store.remove(kind: "user", id: "name-8")
        _ = try await store.apply([.update(user("name-9", avatar: "https://example.com/other.png"))])
        try scratch.sqlite("items.sqlite", "UPDATE item SET variant = 'x' WHERE id = 'name-10'; UPDATE item SET position = position + 1")
        _ = try await ledger.erase(viewer: "viewer-1", owners: [])
        try scratch.sqlite("ledger.sqlite", "UPDATE event SET cell = 'x' WHERE id = 300")
        for _ in 0..<2 {
            #expect(await !check(store).isDamaged)
            #expect(await !check(ledger).isDamaged)
        }
        #expect(try scratch.sqlite("items.sqlite", "SELECT count(*) FROM item WHERE digest IS NULL") == "0")
        #expect(try await ledger.removeEvents(before: .max) == 700)
        #expect(await check(ledger).passes == 5)
        #expect(try scratch.sqlite("ledger.sqlite", "SELECT count(*) FROM event_digest") == "0")
    }

    @Test("A flipped bit of an item is detected, and later writes are rejected")
    func item() async throws {
        let store = try await store(20)
        try await store.completeFile()
        #expect(await !check(store).isDamaged)
        // The row, and not its entry in the index of ids.
        try flip("Name of name-7", in: "items.sqlite")
        #expect(await check(store).isDamaged)
        await #expect(throws: StoreError.self) { try await store.put(user("more")) }
        await #expect(throws: StoreError.self) { try await store.checkReady() }
        // Also by whoever opens the file for itself, as imports do.
        #expect(throws: StoreError.self) { try SQLiteStore(path: scratch.path("items.sqlite")) }
        guard case .damaged(let line) = store.checkForReplacement() else {
            Issue.record("damage is not told")
            return
        }
        #expect(line.contains("items.sqlite") && line.contains("user:name-7"))
    }

    @Test("A flipped bit of an event is detected, and later clicks are rejected")
    func event() async throws {
        let ledger = try await ledger(600)
        #expect(await !check(ledger).isDamaged)
        try await ledger.completeFile()
        try flip("viewer-3", in: "ledger.sqlite")
        let found = await check(ledger)
        #expect(found.isDamaged)
        await #expect(throws: StoreError.self) { try await ledger.commit(click("after")) }
        await #expect(throws: StoreError.self) { try await ledger.erase(viewer: "v", owners: []) }
        await #expect(throws: StoreError.self) { try await ledger.checkReady() }
    }

    @Test("An overwritten index page is detected")
    func index() async throws {
        let ledger = try await ledger(10)
        for number in 0..<600 {
            let change = ListMutation.add(list: .saved, viewer: "v", cell: "user:\(number)", performance: "\(number)", at: 0)
            _ = try await ledger.commit(LedgerEntry(changes: [change]))
        }
        try await ledger.completeFile()
        #expect(await !check(ledger).isDamaged)
        let page = try #require(
            UInt64(try scratch.sqlite("ledger.sqlite", "SELECT max(pageno) FROM dbstat WHERE name = 'listing_cell' AND pagetype = 'leaf'")))
        let handle = try #require(FileHandle(forUpdatingAtPath: scratch.path("ledger.sqlite")))
        try handle.seek(toOffset: (page - 1) * 4_096)
        try handle.write(contentsOf: Data(repeating: 0x5A, count: 4_096))
        #expect(await check(ledger).isDamaged)
    }

    @Test(
        "A truncated file, or one with an overwritten header or log, rejects the next write",
        arguments: ["cut", "header", "log"])
    func ends(damage: String) async throws {
        let ledger = try await ledger(300)
        try await ledger.completeFile()
        _ = try await ledger.commit(click("last"))
        let name = damage == "log" ? "ledger.sqlite-wal" : "ledger.sqlite"
        let handle = try #require(FileHandle(forUpdatingAtPath: scratch.path(name)))
        switch damage {
        case "cut": try handle.truncate(atOffset: 8_192)
        case "header": try handle.write(contentsOf: Data(repeating: 0x5A, count: 100))
        default: try handle.write(contentsOf: Data(repeating: 0x5A, count: try scratch.size(name)))
        }
        await #expect(throws: StoreError.self) { try await ledger.commit(click("after")) }
        await #expect(throws: StoreError.self) { try await ledger.checkReady() }
        if case .damaged? = ledger.checkForReplacement() {} else { Issue.record("damage is not told") }
        #expect(ledger.checkForReplacement() == nil)
    }
}
