import Foundation
import IntertwineItems
import IntertwineLedger
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
        for name in ["items.sqlite", "ledger.sqlite"] { try fill(name) }
        // The first check writes the digests.
        #expect(await !check(store).isDamaged)
        #expect(await !check(ledger).isDamaged)
        try await store.completeFile()
        try await ledger.completeFile()
        for name in ["items.sqlite", "ledger.sqlite"] {
            let pages = try pages(of: name)
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

    /// A page whose cells are rows or entries of an index.
    private struct Page: CustomStringConvertible {
        let object: String
        let offset: Int
        let size: Int

        var description: String { "a page of \(object) at \(offset)" }

        /// A byte of a row: not the pointer to another page, which is no part of it, and not the length of the row's header. With another length,
        /// the digest can seem to be missing.
        func randomByte(of file: [UInt8], using random: inout SeededRandom) throws -> Int {
            func number(_ place: Int) -> Int { Int(file[offset + place]) << 8 | Int(file[offset + place + 1]) }
            let (kind, count) = (file[offset], number(3))
            let isInternal = kind == 2
            try #require(count > 0 && [2, 10, 13].contains(kind))
            let cell = number((isInternal ? 12 : 8) + 2 * Int.random(in: 0..<count, using: &random)) + (isInternal ? 4 : 0)
            var (length, place) = (0, cell)
            func readNumber() -> Int {
                var number = 0
                while true {
                    let byte = file[offset + place]
                    place += 1
                    number = number << 7 | Int(byte & 0x7F)
                    if byte < 0x80 { return number }
                }
            }
            length = readNumber()
            if kind == 13 { _ = readNumber() }
            return offset + place + Int.random(in: 1..<min(length, size - place), using: &random)
        }
    }

    /// Tables that the check excludes: short-lived state, and what belongs to the file itself.
    private static let excluded: Set<String> = [
        "allowance", "recent_allowance", "reservation", "seen_place", "claim", "given_page", "store_identity", "grdb_migrations",
        "event_digest", "sqlite_schema", "sqlite_sequence", "sqlite_autoindex_grdb_migrations_1",
    ]

    private func pages(of name: String) throws -> [Page] {
        let sql = """
            SELECT name || ' ' || pgoffset || ' ' || pgsize FROM dbstat
            WHERE ncell > 0 AND (pagetype = 'leaf' OR pagetype = 'internal' AND name IN (SELECT name FROM sqlite_schema WHERE sql IS NULL
                OR type = 'index' OR sql LIKE '%WITHOUT ROWID%')) ORDER BY name, pgoffset
            """
        return try scratch.sqlite(name, sql).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ").map(String.init)
            guard !Self.excluded.contains(words[0]) else { return nil }
            return Page(object: words[0], offset: try #require(Int(words[1])), size: try #require(Int(words[2])))
        }
    }

    /// Adds rows to each empty table, as another program would.
    private func fill(_ name: String) throws {
        let columns = try scratch.sqlite(
            name,
            """
            SELECT t.name || ' ' || c.name || ' ' || c.type FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
            WHERE t.type = 'table' AND t.sql NOT LIKE '%CHECK (only = 1)%' AND c.name <> 'row_digest'
            """)
        var tables: [String: [(name: String, value: String)]] = [:]
        for line in columns.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            guard !Self.excluded.contains(words[0]), !["item", "event"].contains(words[0]) else { continue }
            let value =
                switch (words[1], words[2]) {
                case ("leads", _): "i % 2"
                case ("removes", _): "i / 2 % 2"
                case (_, "INTEGER"): "i * 1000003"
                case (_, "BLOB"): "randomblob(40)"
                default: "'\(words[1]) ' || i"
                }
            tables[words[0], default: []].append((words[1], value))
        }
        for (table, columns) in tables {
            try scratch.sqlite(
                name,
                """
                WITH RECURSIVE number(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < 300)
                INSERT OR IGNORE INTO \(table) (\(columns.map(\.name).joined(separator: ", ")))
                SELECT \(columns.map(\.value).joined(separator: ", ")) FROM number
                """)
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
