import Foundation
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Corrupt database files")
struct FileCheckTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private func store(_ count: Int) async throws -> SQLiteStore {
        let store = try SQLiteStore(path: scratch.path("items.sqlite"))
        for number in 0..<count { _ = try await store.put(user("name-\(number)")) }
        return store
    }

    private func ledger(_ count: Int) async throws -> SQLiteLedger {
        let ledger = try scratch.ledger()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                let change = ListMutation.add(list: .saved, viewer: "v", cell: "user:\(number)", performance: "\(number)", at: 0)
                group.addTask { _ = try await ledger.commit(LedgerEntry(events: click("viewer-\(number)").events, changes: [change])) }
            }
            try await group.waitForAll()
        }
        return ledger
    }

    @Test("Sound files pass, also after writes of other programs")
    func sound() async throws {
        let (store, ledger) = (try await store(300), try await ledger(300))
        _ = try await store.remove(kind: "user", id: "name-8")
        try scratch.sqlite("items.sqlite", "UPDATE item SET variant = 'x' WHERE id = 'name-10'; UPDATE item SET position = position + 1")
        for file in [store.file, ledger.file] {
            for _ in 0..<2 { file.checkContent() }
            #expect(!file.isCorrupt && file.completeChecks == 2 && file.change() == nil)
        }
    }

    @Test("One bit of an index entry is found, told once, and later writes and connections are refused")
    func index() async throws {
        let store = try await store(300)
        try await store.completeFile()
        try DatabasePages(scratch.path("items.sqlite")).flip(in: "item_identity")
        store.file.checkContent()
        #expect(store.file.isCorrupt && store.file.completeChecks == 0)
        await #expect(throws: StoreError.self) { try await store.put(user("more")) }
        await #expect(throws: StoreError.self) { try await store.apply([.append(user("more"))]) }
        await #expect(throws: StoreError.self) { try await store.checkReady() }
        // Also by whoever opens the file for itself, as imports do.
        #expect(throws: StoreError.self) { try SQLiteStore(path: scratch.path("items.sqlite")) }
        guard case .damaged(let line)? = store.storageChange() else {
            Issue.record("damage is not told")
            return
        }
        #expect(line.contains("items.sqlite: it is corrupt"))
        #expect(store.storageChange() == nil)
    }

    @Test("A check that is ended reports nothing, and none follows")
    func ended() async throws {
        let ledger = try await ledger(10)
        ledger.file.endCheck()
        ledger.file.checkContent()
        #expect(!ledger.file.isCorrupt && ledger.file.completeChecks == 0)
    }

    @Test("An overwritten page of any table or index is found by the check, or by the read that needs it", arguments: 0..<4)
    func anyPage(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        do {
            let (store, ledger) = (try await store(300), try await ledger(300))
            for number in 0..<100 { _ = try await store.put(advertisement("ad-\(number)")) }
            for name in ["items.sqlite", "ledger.sqlite"] { try DatabasePages(scratch.path(name)).fill(except: ["item", "event"]) }
            try await store.completeFile()
            try await ledger.completeFile()
        }
        for name in ["items.sqlite", "ledger.sqlite"] {
            let pages = try DatabasePages(scratch.path(name)).pages()
            for number in 0..<8 {
                let page = pages[Int.random(in: pages.indices, using: &random)]
                let copy = scratch.path("\(number)-\(name)")
                var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: scratch.path(name))))
                for place in page.range { bytes[place] = 0x5A }
                try Data(bytes).write(to: URL(fileURLWithPath: copy))
                do {
                    let isOfItems = name == "items.sqlite"
                    let (store, ledger) = try (isOfItems ? SQLiteStore(path: copy) : nil, isOfItems ? nil : SQLiteLedger(path: copy))
                    let file = try #require(store?.file ?? ledger?.file)
                    file.checkContent()
                    #expect(file.isCorrupt, "\(page) of \(name)")
                    withExtendedLifetime((store, ledger)) {}
                } catch {
                    // The file cannot even be opened.
                    continue
                }
            }
        }
    }

    @Test("A read that meets a corrupt page stops the writes of clicks")
    func read() async throws {
        let ledger = try await ledger(600)
        try await ledger.completeFile()
        let page = try #require(try DatabasePages(scratch.path("ledger.sqlite")).pages().last { $0.object == "event" })
        let handle = try #require(FileHandle(forUpdatingAtPath: scratch.path("ledger.sqlite")))
        try handle.seek(toOffset: UInt64(page.range.lowerBound))
        try handle.write(contentsOf: Data(repeating: 0x5A, count: page.range.count))
        await #expect(throws: StoreError.self) { try await ledger.events(after: 0, limit: 10_000) }
        await #expect(throws: StoreError.self) { try await ledger.commit(click("after")) }
        await #expect(throws: StoreError.self) { try await ledger.erase(viewer: "v", owners: []) }
        await #expect(throws: StoreError.self) { try await ledger.checkReady() }
        if case .damaged? = ledger.storageChange() {} else { Issue.record("damage is not told") }
    }
}
