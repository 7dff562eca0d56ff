import Foundation
import IntertwineItems
import IntertwineLedger
import TestSupport
import Testing

@testable import IntertwineStorage

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

    @Test("A flipped bit of any row or index entry is detected within a pass", arguments: 0..<6)
    func anyBit(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let (store, ledger) = (try await store(300), try await ledger(512))
        for number in 0..<100 { _ = try await store.put(advertisement("ad-\(number)")) }
        try scratch.sqlite(
            "items.sqlite",
            """
            CREATE INDEX section_order_0_text_username ON item (ifnull(substr(json_extract(body, '$."username"'), 1, 256), ''), position)
            WHERE lane = 0
            """)
        for name in ["items.sqlite", "ledger.sqlite"] {
            try DatabasePages(scratch.path(name)).fill(except: ["item", "event", "event_digest"])
        }
        // The first check writes the digests.
        #expect(await !check(store).isDamaged)
        #expect(await !check(ledger).isDamaged)
        try await store.completeFile()
        try await ledger.completeFile()
        for name in ["items.sqlite", "ledger.sqlite"] {
            let pages = try DatabasePages(scratch.path(name)).pages()
            for number in 0..<8 {
                let page = pages[Int.random(in: pages.indices, using: &random)]
                let copy = "\(number)-\(name)"
                var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: scratch.path(name))))
                let place = try page.randomByte(of: bytes, using: &random)
                bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                try Data(bytes).write(to: URL(fileURLWithPath: scratch.path(copy)))
                let found: CheckProgress
                do {
                    found =
                        name == "items.sqlite"
                        ? await check(try SQLiteStore(path: scratch.path(copy))) : await check(try SQLiteLedger(path: scratch.path(copy)))
                } catch {
                    // The file cannot even be opened.
                    continue
                }
                #expect(found.isDamaged, "\(page) of \(name), byte \(place)")
            }
        }
    }

    @Test("The page that SQLite locks can have any content; all other pages are checked", arguments: [512, 4_096, 65_536])
    func lockPage(size: Int) throws {
        var bytes = Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: 84)
        (bytes[16], bytes[17], bytes[28]) = (UInt8(size >> 8 & 0xFF), UInt8(size >> 16), 0x7F)
        let header = try #require(DatabaseHeader(bytes))
        #expect(header.pageSize == size)
        let check = PageCheck(header)
        let garbage = [UInt8](repeating: 0xA5, count: size)
        let zeros = [UInt8](repeating: 0, count: size)
        // A leaf page of a table without rows.
        var leaf = zeros
        (leaf[0], leaf[5], leaf[6]) = (13, UInt8(size >> 8 & 0xFF), 0)
        let locked = (1 << 30) / Int64(size) + 1
        for (content, number, isSuspect, count) in [
            (garbage, locked, false, Int64(0)), (zeros, locked, false, 0), (garbage, locked - 1, true, 0), (garbage, locked + 1, true, 0),
            (zeros, locked + 1, false, 1),
        ] {
            let checked = check.check(locked - 3..<locked + 3) { $0 == number ? content : leaf }
            #expect(checked.isSuspect == isSuspect && checked.zeros == count, "\(content[0]) on page \(number - locked)")
        }
    }

    @Test("A changed row loses its digest, and the next check adds it", arguments: [true, false])
    func rewritten(byAnother: Bool) async throws {
        let ledger = try await ledger(3)
        #expect(await !check(ledger).isDamaged)
        let missing = "SELECT count(*) FROM rollup_day WHERE row_digest IS NULL"
        #expect(try scratch.sqlite("ledger.sqlite", "\(missing); SELECT count(*) > 0 FROM rollup_day") == "0\n1")
        if byAnother {
            try scratch.sqlite("ledger.sqlite", "UPDATE rollup_day SET count = count + 1")
        } else {
            _ = try await ledger.commit(click("another"))
        }
        #expect(try scratch.sqlite("ledger.sqlite", "SELECT count(*) > 0 FROM rollup_day WHERE row_digest IS NULL") == "1")
        #expect(await !check(ledger).isDamaged)
        #expect(try scratch.sqlite("ledger.sqlite", missing) == "0")
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
