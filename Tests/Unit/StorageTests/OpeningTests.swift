import Foundation
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Opening a store")
struct OpeningTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    /// The one line that it cannot be used, having made sure that the file is what it was.
    private func refusal(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        let path = scratch.path(name)
        let before = FileManager.default.contents(atPath: path)
        let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) { try SQLiteStore(path: path) }
        #expect(FileManager.default.contents(atPath: path) == before, sourceLocation: sourceLocation)
        guard case .unusable(let message)? = error else {
            Issue.record("\(String(describing: error))", sourceLocation: sourceLocation)
            return ""
        }
        #expect(message.hasPrefix(path) && !message.contains("\n"), sourceLocation: sourceLocation)
        return message
    }

    @Test("A missing store is created with the application id, and opened again")
    func new() async throws {
        _ = try SQLiteStore(path: scratch.path("items.sqlite"))
        let id = "INTW".utf8.reduce(0) { $0 << 8 | Int($1) }
        #expect(try scratch.sqlite("items.sqlite", "PRAGMA application_id; PRAGMA journal_mode") == "\(id)\nwal")
        #expect(try await SQLiteStore(path: scratch.path("items.sqlite")).ids().isEmpty)
    }

    @Test("An empty file becomes a new store")
    func emptyFile() async throws {
        #expect(try await SQLiteStore(path: scratch.write("", to: "empty")).ids().isEmpty)
    }

    @Test("A missing folder, and a folder in place of the file, are refused")
    func folders() throws {
        #expect(try refusal("missing/items.sqlite").contains("the folder \(scratch.folder)/missing does not exist"))
        try FileManager.default.createDirectory(atPath: scratch.path("folder"), withIntermediateDirectories: false)
        #expect(try refusal("folder").contains("is a folder"))
    }

    @Test(
        "A file that is not a database is refused",
        arguments: ["x", String(repeating: "not a database\n", count: 1_000), "SQLite format 3\0 and no more"])
    func noDatabase(_ text: String) throws {
        _ = try scratch.write(text, to: "file")
        let message = try refusal("file")
        #expect(message.hasSuffix("is not a database") || message.hasSuffix("is corrupt"))
    }

    @Test("A database of another program, and a ledger, are refused")
    func otherDatabase() throws {
        try scratch.sqlite("other", "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        #expect(try refusal("other").contains("another program"))
        _ = try SQLiteLedger(path: scratch.path("ledger"))
        #expect(try refusal("ledger").contains("another program"))
    }

    @Test("A database of a newer version is refused")
    func newerVersion() throws {
        _ = try SQLiteStore(path: scratch.path("items.sqlite"))
        try scratch.sqlite("items.sqlite", "PRAGMA user_version = 99")
        #expect(try refusal("items.sqlite").contains("newer version of this program (99; this version supports "))
    }

    @Test("A database of version 1 is migrated with its items")
    func migration() async throws {
        do {
            let store = try SQLiteStore(path: scratch.path("items.sqlite"))
            _ = try await store.put(user("a"))
            _ = try await store.put(advertisement("1"))
            _ = try await store.put(advertisement("2"))
        }
        try scratch.sqlite(
            "items.sqlite",
            """
            CREATE TABLE campaign_creative (kind TEXT, id TEXT, campaign TEXT); INSERT INTO campaign_creative VALUES ('ad', '1', 'spring');
            DROP TABLE item_revision; DROP INDEX item_due; ALTER TABLE item DROP COLUMN due; ALTER TABLE item DROP COLUMN counts;
            PRAGMA user_version = 1
            """)
        #expect(try !ItemFile(scratch.path("items.sqlite")).isUpToDate())
        let store = try SQLiteStore(path: scratch.path("items.sqlite"))
        var draft = try user("b")
        draft.body = Array(#"{"draft":true,"#.utf8) + draft.body.dropFirst()
        _ = try await store.put(draft)
        #expect(try await store.ids() == ["a"])
        #expect(try await store.read { try $0.storedItem(kind: "user", id: "b")?.body } == draft.body)
        // An ad that belonged to a campaign is none of the house.
        for (id, isHouseAd) in [("1", false), ("2", true)] {
            let ad = try #require(try await store.read { try $0.storedItem(kind: "ad", id: id) })
            #expect(ad.isHouseAd == isHouseAd && (try? Advertisement(item: ad)) != nil)
        }
    }

    @Test("Former versions of a campaign's ad are none of the house either")
    func migratedRevisions() throws {
        _ = try SQLiteStore(path: scratch.path("items.sqlite"))
        try scratch.sqlite(
            "items.sqlite",
            """
            CREATE TABLE campaign_creative (kind TEXT, id TEXT, campaign TEXT); INSERT INTO campaign_creative VALUES ('ad', '1', 'spring');
            INSERT INTO item_revision (kind, id, number, at, who, action, variant, body)
                VALUES ('ad', '1', 1, 0, '', 'edit', 'image', '{"a":1}'), ('ad', '2', 1, 0, '', 'edit', 'image', '{"a":1}');
            PRAGMA user_version = 4
            """)
        _ = try SQLiteStore(path: scratch.path("items.sqlite"))
        let bodies = try scratch.sqlite("items.sqlite", "SELECT body FROM item_revision ORDER BY id")
        #expect(bodies == #"{"house":false,"a":1}"# + "\n" + #"{"a":1}"#)
    }

    @Test("A database of a version before 0.1.0 is refused with the way out")
    func olderVersion() throws {
        _ = try SQLiteStore(path: scratch.path("items.sqlite"))
        try scratch.sqlite("items.sqlite", "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY); PRAGMA user_version = 11")
        let line = try refusal("items.sqlite")
        #expect(line.contains("a version before 0.1.0") && line.contains("import the items into a new store"))
    }

    @Test("Several processes that create a store at once open the same one")
    func concurrent() throws {
        let victims = try (0..<4).map { _ in
            try SpawnedProcess([BuiltProduct.path("StorageVictim"), "open", "items", scratch.path("items.sqlite")])
        }
        for victim in victims {
            while try victim.nextLine(timeout: 60_000) != nil {}
            #expect(victim.wait() == 0 && victim.lines == ["open"], "\(victim.lines)")
        }
        #expect(try scratch.sqlite("items.sqlite", "SELECT count(*) FROM store_identity; PRAGMA integrity_check") == "1\nok")
    }

    @Test("A truncated file is refused")
    func cutOff() async throws {
        do {
            let store = try SQLiteStore(path: scratch.path("items.sqlite"))
            for number in 0..<300 { _ = try await store.put(user("\(number)")) }
        }
        try scratch.sqlite("items.sqlite", "PRAGMA wal_checkpoint(TRUNCATE)")
        let file = try #require(FileHandle(forUpdatingAtPath: scratch.path("items.sqlite")))
        try file.truncate(atOffset: 3 * 8_192)
        try file.close()
        #expect(try refusal("items.sqlite").contains("is corrupt"))
    }

    @Test("A read-only disk is refused", .mounts)
    func readOnlyDisk() throws {
        _ = try SQLiteStore(path: scratch.path("items.sqlite"))
        let mount = try Mount.readOnly(scratch.folder)
        defer { mount.remove() }
        #expect(try refusal("items.sqlite").contains("cannot be written"))
        #expect(try refusal("new.sqlite").contains("cannot be written"))
    }
}
