import Foundation
import Glibc
import IntertwineItems
import IntertwineLedger
import IntertwineStorage
import TestSupport
import Testing

@Suite("Database files that are deleted or replaced")
struct LostFileTests {
    let scratch: Scratch
    private var files: FileManager { .default }

    init() throws {
        scratch = try Scratch()
    }

    private static func name(_ news: FileChange?) -> String? {
        switch news {
        case .gone: "gone"
        case .back: "back"
        case .damaged: "damaged"
        case nil: nil
        }
    }

    private func move(_ name: String, to other: String) throws {
        try files.moveItem(atPath: scratch.path(name), toPath: scratch.path(other))
    }

    @Test("A store with a missing file rejects writes, reports it once, and recovers with the file")
    func store() async throws {
        let store = try SQLiteStore(path: scratch.path("items.sqlite"))
        _ = try await store.put(user("a"))
        #expect(store.checkForReplacement() == nil)
        try move("items.sqlite", to: "elsewhere")
        await #expect(throws: StoreError.self) { try await store.put(user("b")) }
        await #expect(throws: StoreError.self) { try await store.checkReady() }
        let news = store.checkForReplacement()
        #expect(Self.name(news) == "gone" && "\(news as Any)".contains("items.sqlite: the file is missing"))
        #expect(store.checkForReplacement() == nil)
        try move("elsewhere", to: "items.sqlite")
        #expect(Self.name(store.checkForReplacement()) == "back")
        try await store.checkReady()
        _ = try await store.put(user("c"))
        #expect(try await store.ids() == ["a", "c"])
    }

    @Test("A replacement store is served when complete, and leftover files of the old one do no harm")
    func replacedStore() async throws {
        let store = try SQLiteStore(path: scratch.path("items.sqlite"))
        for id in ["a", "b", "c"] { _ = try await store.put(user(id)) }
        let version = store.version
        do {
            let other = try SQLiteStore(path: scratch.path("other.sqlite"))
            for id in ["x", "y", "z"] { _ = try await other.put(user(id)) }
            try await other.completeFile()
        }
        let whole = try Data(contentsOf: URL(fileURLWithPath: scratch.path("other.sqlite")))
        try files.removeItem(atPath: scratch.path("items.sqlite"))
        try whole.prefix(5_000).write(to: URL(fileURLWithPath: scratch.path("items.sqlite")))
        #expect(Self.name(store.checkForReplacement()) == "gone")
        // Half of it is there, and then more.
        try whole.write(to: URL(fileURLWithPath: scratch.path("items.sqlite")))
        #expect(store.checkForReplacement() == nil)
        #expect(Self.name(store.checkForReplacement()) == "back")
        #expect(try await store.ids() == ["x", "y", "z"])
        #expect(store.version != version)
        _ = try await store.put(user("w"))
        #expect(try await store.ids() == ["x", "y", "z", "w"])
        #expect(try scratch.sqlite("items.sqlite", "PRAGMA integrity_check; SELECT count(*) FROM item") == "ok\n4")
    }

    @Test("A ledger with a missing file rejects clicks, and recovers with the same or another file")
    func ledger() async throws {
        let ledger = try scratch.ledger()
        _ = try await ledger.commit(click("before"))
        try move("ledger.sqlite", to: "elsewhere")
        await #expect(throws: StoreError.self) { try await ledger.commit(click("during")) }
        await #expect(throws: StoreError.self) { try await ledger.checkReady() }
        #expect(Self.name(ledger.checkForReplacement()) == "gone")
        try move("elsewhere", to: "ledger.sqlite")
        #expect(Self.name(ledger.checkForReplacement()) == "back")
        _ = try await ledger.commit(click("after"))
        #expect(try await ledger.events(after: 0, limit: 9).map(\.event.viewer) == ["before", "after"])
        do {
            let other = try SQLiteLedger(path: scratch.path("other.sqlite"))
            _ = try await other.commit(click("other"))
            try await other.completeFile()
        }
        #expect(rename(scratch.path("other.sqlite"), scratch.path("ledger.sqlite")) == 0)
        await #expect(throws: StoreError.self) { try await ledger.commit(click("during")) }
        for _ in 0..<3 { _ = ledger.checkForReplacement() }
        try await ledger.checkReady()
        _ = try await ledger.commit(click("there"))
        #expect(try await ledger.events(after: 0, limit: 9).map(\.event.viewer) == ["other", "there"])
    }

    @Test("A ledger is not ready while it is locked or its disk is full", .mounts)
    func notReady() async throws {
        let mount = try Mount.small(scratch.folder, kibibytes: 1_024)
        defer { mount.remove() }
        let path = scratch.path("ledger.sqlite")
        let ledger = try SQLiteLedger(path: path, lockTimeout: 0.2)
        try await ledger.checkReady()
        let other = try Program.lock(path)
        // What was written a moment ago is no proof for long.
        while (try? await ledger.checkReady()) != nil { try await Task.sleep(for: .milliseconds(50)) }
        try other.release()
        try await ledger.checkReady()
        // As much as there is room for.
        let ballast = open(scratch.path("ballast"), O_WRONLY | O_CREAT, 0o600)
        let piece = [UInt8](repeating: 0, count: 4_096)
        while write(ballast, piece, piece.count) > 0 {}
        close(ballast)
        // Some fit into what already exists.
        var failed = 0
        for number in 0..<200 where (try? await ledger.commit(click("\(number)"))) == nil { failed += 1 }
        #expect(failed > 0)
        await #expect(throws: StoreError.self) { try await ledger.checkReady() }
        unlink(scratch.path("ballast"))
        try await ledger.checkReady()
    }
}
