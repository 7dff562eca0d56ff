import Foundation
import GRDB
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Checkpoints of database files")
struct CompleteFileTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    /// What a copy of the file alone answers, while the store is still open.
    private func copied(_ name: String, _ sql: String) throws -> String {
        let copy = "copy-\(UUID()).sqlite"
        try FileManager.default.copyItem(atPath: scratch.path(name), toPath: scratch.path(copy))
        return try scratch.sqlite(copy, sql)
    }

    @Test("After completion the items file alone has all data, and stays writable")
    func items() async throws {
        let store = try SQLiteStore(path: scratch.path("items.sqlite"))
        for round in 1...2 {
            _ = try await store.put(user("u\(round)"))
            try await store.completeFile()
            #expect(try copied("items.sqlite", "SELECT count(*) FROM item") == "\(round)")
            #expect(try await store.ids().count == round)
        }
    }

    @Test("The write-ahead log of a large transaction is truncated by the next one")
    func largeTransaction() async throws {
        let store = try SQLiteStore(path: scratch.path("items.sqlite"))
        _ = try await store.put(user("first"))
        try scratch.sqlite("items.sqlite", "CREATE TABLE large (bytes); INSERT INTO large VALUES (zeroblob(90000000)); DROP TABLE large")
        #expect(try scratch.size("items.sqlite-wal") > 80 << 20)
        _ = try await store.put(user("last"))
        #expect(try scratch.size("items.sqlite-wal") <= 64 << 20)
    }

    @Test("After completion the ledger file alone has all commits")
    func ledger() async throws {
        let ledger = try scratch.ledger()
        try await withThrowingTaskGroup { group in
            for number in 0..<20 {
                group.addTask {
                    _ = try await ledger.commit(click(on: "ad:\(number)"))
                }
            }
            try await group.waitForAll()
        }
        try await ledger.completeFile()
        #expect(try copied("ledger.sqlite", "SELECT count(*) FROM event") == "20")
        _ = try await ledger.commit(click())
    }

    @Test("A reader that blocks completion is reported, and no data is lost")
    func busy() async throws {
        let store = try SQLiteStore(path: scratch.path("items.sqlite"))
        _ = try await store.put(user("a"))
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let reader = try DatabaseQueue(path: scratch.path("items.sqlite"), configuration: configuration)
        try reader.inDatabase { database in
            try database.execute(sql: "BEGIN")
            #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM item") == 1)
        }
        _ = try await store.put(user("b"))
        await #expect(throws: StoreError.self) { try await store.completeFile() }
        try reader.inDatabase { try $0.execute(sql: "COMMIT") }
        try await store.completeFile()
        #expect(try copied("items.sqlite", "SELECT count(*) FROM item") == "2")
    }
}
