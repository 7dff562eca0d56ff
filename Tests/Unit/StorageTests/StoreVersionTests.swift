import Foundation
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Version of a store")
struct StoreVersionTests {
    let scratch: Scratch
    let store: SQLiteStore

    init() throws {
        scratch = try Scratch()
        store = try SQLiteStore(path: scratch.path("items.sqlite"))
    }

    @Test("The version stays without changes, despite reads")
    func stays() async throws {
        _ = try await store.put(user("a"))
        let version = store.version
        #expect(try await store.ids() == ["a"])
        try scratch.sqlite("items.sqlite", "SELECT count(*) FROM item")
        #expect(store.version == version)
    }

    @Test("The version changes with each commit of this connection, another one, and another process")
    func changes() async throws {
        let other = try SQLiteStore(path: scratch.path("items.sqlite"))
        var seen: Set<StoreVersion> = [store.version]
        for round in 0..<50 {
            switch round % 3 {
            case 0: _ = try await store.put(user("own \(round)"))
            case 1: _ = try await other.put(user("other \(round)"))
            default: try scratch.sqlite("items.sqlite", "UPDATE item SET variant = 'x\(round)'")
            }
            #expect(store.version == other.version)
            #expect(seen.insert(store.version).inserted, "round \(round)")
        }
    }

    @Test("The version stays when the WAL is checkpointed and restarted, and changes with the next commit")
    func checkpoint() async throws {
        for id in ["a", "b"] { _ = try await store.put(user(id)) }
        let version = store.version
        #expect(try scratch.sqlite("items.sqlite", "PRAGMA wal_checkpoint(TRUNCATE)").hasPrefix("0|"))
        #expect(store.version == version)
        try scratch.sqlite("items.sqlite", "DELETE FROM item WHERE id = 'a'")
        let next = store.version
        #expect(next != version)
        #expect(try await store.ids() == ["b"])
        try scratch.sqlite("items.sqlite", "DELETE FROM item WHERE id = 'b'; PRAGMA wal_checkpoint(TRUNCATE)")
        #expect(![version, next].contains(store.version))
    }

    @Test("The version is never newer than the snapshot of a later read, during foreign writes")
    func neverNewer() async throws {
        let writer = try Program.victim("put", scratch.path("items.sqlite"), "400")
        let first = store.version
        var seen: [StoreVersion: Int] = [:]
        var count = 0
        while count < 400 {
            let version = store.version
            count = try await store.read { try $0.counts() }.values.reduce(0, +)
            // What was kept under a version that still holds is what the store has: nothing was committed in between.
            if let kept = seen[version], store.version == version { #expect(kept == count) }
            if store.version == version { seen[version] = count }
        }
        #expect(try writer.output() == "put")
        #expect(store.version != first)
    }

    @Test("Closing another store in the process releases no lock of this one")
    func closing() async throws {
        do {
            let other = try SQLiteStore(path: scratch.path("items.sqlite"))
            _ = try await other.put(user("a"))
        }
        // Were the locks gone, the other process would take itself for the only one, and remove the shared memory when it ends.
        try scratch.sqlite("items.sqlite", "SELECT count(*) FROM item")
        #expect(FileManager.default.fileExists(atPath: scratch.path("items.sqlite-shm")))
        let version = store.version
        try scratch.sqlite("items.sqlite", "DELETE FROM item")
        #expect(store.version != version)
        #expect(try await store.ids().isEmpty)
    }
}
