import Foundation
import Glibc
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

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
        #expect(store.storageChange() == nil)
        try move("items.sqlite", to: "elsewhere")
        await #expect(throws: StoreError.self) { try await store.put(user("b")) }
        await #expect(throws: StoreError.self) { try await store.checkReady() }
        let news = store.storageChange()
        #expect(Self.name(news) == "gone" && "\(news as Any)".contains("items.sqlite: the file is missing"))
        #expect(store.storageChange() == nil)
        try move("elsewhere", to: "items.sqlite")
        #expect(Self.name(store.storageChange()) == "back")
        try await store.checkReady()
        _ = try await store.put(user("c"))
        #expect(try await store.ids() == ["a", "c"])
    }

    @Test("While another file is at the path, nothing opens it and every writer is refused", arguments: [true, false])
    func replacedStore(isMissing: Bool) async throws {
        let path = scratch.path("items.sqlite")
        let store = try SQLiteStore(path: path)
        for id in ["a", "b", "c"] { _ = try await store.put(user(id)) }
        let source = try SourceSnapshot(of: "list", kind: UserKind(), into: path)
        _ = try source.add([user("d")])
        let session = try ItemImport(into: path)
        try session.append(Array(line(user: "e").utf8)[...])
        try session.endOfFile()
        try move("items.sqlite", to: "elsewhere")
        if !isMissing {
            let other = try SQLiteStore(path: scratch.path("other.sqlite"))
            _ = try await other.put(user("x"))
            try await other.completeFile()
            try files.copyItem(atPath: scratch.path("other.sqlite"), toPath: path)
        }
        await #expect(throws: StoreError.self) { try await store.put(user("f")) }
        await #expect(throws: StoreError.self) { try await store.apply([.append(user("f"))]) }
        #expect(throws: StoreError.self) { try store.arrange([SectionConfiguration("people", kinds: ["user"])]) }
        #expect(throws: StoreError.self) { try session.commit() }
        #expect(throws: StoreError.self) { try source.apply(removing: 1) }
        #expect(throws: StoreError.self) { try ItemImport(into: path) }
        #expect(throws: StoreError.self) { try SourceSnapshot(of: "another", kind: UserKind(), into: path) }
        #expect(throws: StoreError.self) { try SQLiteStore(path: path) }
        #expect(throws: StoreError.self) { try ItemImport(into: path, isRehearsal: true) }
        #expect(throws: StoreError.self) {
            try StoreFiles(items: path, ledger: scratch.path("none.sqlite")).copy(
                to: StoreFiles(items: scratch.path("copy.sqlite"), ledger: scratch.path("copy-ledger.sqlite")), includesKey: false,
                onProgress: { _, _ in })
        }
        if !isMissing { #expect(throws: StoreError.self) { try ItemFile(path).isUpToDate() } }
        // Another process is refused too, and leaves the write-ahead log of the open file alone.
        let victim = try SpawnedProcess([BuiltProduct.path("StorageVictim"), "put", path, "3"])
        while try victim.nextLine(timeout: 60_000) != nil {}
        #expect(victim.wait() != 0 && !victim.lines.contains("put"))
        #expect(Self.name(store.storageChange()) == "gone")
        // Reads go on.
        #expect(try await store.ids() == ["a", "b", "c"])
        if !isMissing {
            #expect(try scratch.sqlite("other.sqlite", "SELECT group_concat(id) FROM item") == "x")
            try files.removeItem(atPath: path)
        }
        #expect(!files.fileExists(atPath: path))
        try move("elsewhere", to: "items.sqlite")
        #expect(Self.name(store.storageChange()) == "back")
        _ = try await store.put(user("g"))
        #expect(try await store.ids() == ["a", "b", "c", "g"])
    }

    @Test(
        "A store rejects writes while its file is a link or empty, or its log is not beside it",
        arguments: [("link", false), ("-wal", false), ("-shm", false), ("-wal", true), ("-shm", true), ("empty", false)])
    func incompleteStore(what: String, isReplaced: Bool) async throws {
        let path = scratch.path("items.sqlite")
        let store = try SQLiteStore(path: path)
        _ = try await store.put(user("a"))
        switch what {
        case "link":
            try move("items.sqlite", to: "moved")
            try files.createSymbolicLink(atPath: path, withDestinationPath: scratch.path("moved"))
        case "empty": #expect(truncate(path, 0) == 0)
        default:
            try move("items.sqlite\(what)", to: "moved")
            if isReplaced { try files.copyItem(atPath: scratch.path("moved"), toPath: path + what) }
        }
        await #expect(throws: StoreError.self) { try await store.put(user("b")) }
        await #expect(throws: StoreError.self) { try await store.apply([.append(user("b"))]) }
        await #expect(throws: StoreError.self) { try await store.checkReady() }
        #expect(throws: StoreError.self) { try ItemImport(into: path) }
        #expect(Self.name(store.storageChange()) == "gone")
        guard what != "empty" else { return }
        // Another process is refused too.
        let victim = try SpawnedProcess([BuiltProduct.path("StorageVictim"), "put", path, "3"])
        while try victim.nextLine(timeout: 60_000) != nil {}
        #expect(victim.wait() != 0 && !victim.lines.contains("put"))
        #expect(!files.fileExists(atPath: scratch.path("moved-wal")))
        if what == "link" { try files.removeItem(atPath: path) }
        if isReplaced { try files.removeItem(atPath: path + what) }
        try move("moved", to: what == "link" ? "items.sqlite" : "items.sqlite\(what)")
        #expect(Self.name(store.storageChange()) == "back")
        _ = try await store.put(user("c"))
        #expect(try await store.ids() == ["a", "c"])
    }

    @Test("A store rejects writes after its log was truncated in place, because they would be lost", arguments: [0, 2])
    func truncatedLog(part: Int) async throws {
        let path = scratch.path("items.sqlite")
        let store = try SQLiteStore(path: path)
        for id in ["a", "b", "c"] { _ = try await store.put(user(id)) }
        #expect(truncate("\(path)-wal", part == 0 ? 0 : try scratch.size("items.sqlite-wal") / part) == 0)
        for _ in 0..<2 {
            await #expect(throws: StoreError.self) { try await store.checkReady() }
            await #expect(throws: StoreError.self) { try await store.put(user("d")) }
        }
        #expect(Self.name(store.storageChange()) == "damaged")
    }

    @Test("A store whose path is a link from the start is written")
    func linkedStore() async throws {
        try await SQLiteStore(path: scratch.path("real.sqlite")).completeFile()
        let path = scratch.path("items.sqlite")
        try files.createSymbolicLink(atPath: path, withDestinationPath: scratch.path("real.sqlite"))
        let store = try SQLiteStore(path: path)
        _ = try await store.put(user("a"))
        let session = try ItemImport(into: path)
        try session.append(Array(line(user: "b").utf8)[...])
        try session.endOfFile()
        _ = try session.commit()
        #expect(try await store.ids() == ["a", "b"] && store.storageChange() == nil)
    }

    @Test("A new store at the end of a link is for its owner alone")
    func newLinkedStore() async throws {
        let (path, real) = (scratch.path("items.sqlite"), scratch.path("real.sqlite"))
        try files.createSymbolicLink(atPath: path, withDestinationPath: real)
        let mask = umask(0o022)
        defer { umask(mask) }
        let store = try SQLiteStore(path: path)
        _ = try await store.put(user("a"))
        for file in [real, "\(real)-wal", "\(real)-shm"] {
            #expect(try files.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600, "\(file)")
        }
    }

    @Test("A ledger with a missing or another file rejects clicks, and recovers with its own")
    func ledger() async throws {
        let ledger = try scratch.ledger()
        _ = try await ledger.commit(click("before"))
        try move("ledger.sqlite", to: "elsewhere")
        await #expect(throws: StoreError.self) { try await ledger.commit(click("during")) }
        await #expect(throws: StoreError.self) { try await ledger.checkReady() }
        #expect(Self.name(ledger.storageChange()) == "gone")
        try files.copyItem(atPath: scratch.path("elsewhere"), toPath: scratch.path("ledger.sqlite"))
        await #expect(throws: StoreError.self) { try await ledger.commit(click("during")) }
        await #expect(throws: StoreError.self) { try await ledger.checkReady() }
        #expect(rename(scratch.path("elsewhere"), scratch.path("ledger.sqlite")) == 0)
        #expect(Self.name(ledger.storageChange()) == "back")
        _ = try await ledger.commit(click("after"))
        #expect(try await ledger.events(after: 0, limit: 9).map(\.event.viewer) == ["before", "after"])
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
