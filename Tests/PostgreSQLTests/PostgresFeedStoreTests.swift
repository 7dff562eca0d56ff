import Glibc
import IntertwineFeed
import IntertwinePostgreSQL
import IntertwineStorage
import TestSupport
import Testing

@Suite("Store of items in PostgreSQL")
struct PostgresFeedStoreTests {
    private let database: PostgresServer.Database
    private let store: PostgresFeedStore

    init() throws {
        database = try PostgresServer.shared().makeDatabase()
        store = try PostgresFeedStore(PostgresAddress(database.uri))
    }

    private func user(_ id: String) throws -> ValidItem {
        ValidItem(kind: "user", lane: .content, id: id, variant: "regular", body: Array(#"{"username":"\#(id)"}"#.utf8))
    }

    private func ids(_ store: PostgresFeedStore) async throws -> [String] {
        try await store.read { try $0.items(in: .content, .forward, of: nil, limit: 100).map(\.id) }
    }

    /// Waits for what has to come soon.
    private func eventually(_ isSo: () throws -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while try !isSo(), ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(1)) }
        #expect(try isSo())
    }

    @Test("a change by another process, psql included, is another version soon; one's own at once; reading is none")
    func versions() async throws {
        let other = try PostgresFeedStore(PostgresAddress(database.uri))
        var version = store.version
        _ = try await store.put(user("a"))
        #expect(store.version != version)
        version = store.version
        #expect(try await ids(store) == ["a"])
        let othersVersion = other.version
        _ = try await other.put(user("b"))
        #expect(other.version != othersVersion)
        try await eventually { store.version != version }
        #expect(try await ids(store) == ["a", "b"])
        for change in ["UPDATE item SET variant = 'featured' WHERE id = 'a'", "DELETE FROM item WHERE id = 'b'", "TRUNCATE item"] {
            version = store.version
            try database.psql(change)
            try await eventually { store.version != version }
        }
        version = store.version
        #expect(try await ids(store).isEmpty)
        try database.psql("BEGIN; DELETE FROM section; ROLLBACK; SELECT count(*) FROM item")
        #expect(store.version == version)
    }

    @Test("a store whose listening session is lost, or not answered, trusts no version until it listens again")
    func lostListener() async throws {
        let listener = "FROM pg_stat_activity WHERE application_name = 'intertwine listener' AND datname = '\(database.name)'"
        var version = store.version
        try database.psql("SELECT pg_terminate_backend(pid) \(listener)")
        try await eventually { store.version != version }
        // It listens again: what it says holds.
        try await eventually { store.version == store.version }
        version = store.version
        try database.psql("INSERT INTO item VALUES (0, 1, 'user', 'a', '', '{}')")
        try await eventually { store.version != version }

        let backend = try #require(Int32(database.psql("SELECT pid \(listener)")))
        #expect(kill(backend, SIGSTOP) == 0)
        defer { kill(backend, SIGKILL) }
        try await eventually { store.version != store.version }
        kill(backend, SIGCONT)
        try await eventually { store.version == store.version }
    }

    @Test("while the server is away a read fails as unavailable; it is served again when it is back")
    func restart() async throws {
        let own = try await offPool { try PostgresServer() }
        let store = try PostgresFeedStore(PostgresAddress(own.uri(of: "postgres")))
        _ = try await store.put(user("a"))
        try await offPool { try own.stop() }
        await #expect(throws: StoreError.self) { try await ids(store) }
        await #expect(throws: StoreError.self) { try await store.put(user("b")) }
        await #expect(throws: StoreError.self) { try await store.checkReady() }
        #expect(store.version != store.version)
        try await offPool { try own.start() }
        let deadline = ContinuousClock.now + .seconds(30)
        var found: [String]?
        while found == nil, ContinuousClock.now < deadline { found = try? await ids(store) }
        #expect(found == ["a"])
        try await eventually { store.version == store.version }
    }

    @Test("writers on many replicas come one after another: every item is there, at a place of its own")
    func writers() async throws {
        let stores = try (0..<4).map { _ in try PostgresFeedStore(PostgresAddress(database.uri)) }
        try await withThrowingTaskGroup { group in
            for (number, store) in stores.enumerated() {
                for round in 0..<25 { group.addTask { _ = try await store.put(user("\(number) \(round)")) } }
            }
            try await group.waitForAll()
        }
        #expect(try await store.read { try $0.count(in: .content) } == 100)
        #expect(try database.psql("SELECT count(DISTINCT position) FROM item") == "100")
    }

    @Test("one item that somebody else holds a lock on makes a write fail after a while, and nothing else")
    func locked() async throws {
        for id in ["a", "b"] { _ = try await store.put(user(id)) }
        let holder = try PostgresConnection(PostgresAddress(database.uri))
        try holder.execute("BEGIN; SELECT * FROM item WHERE id = 'a' FOR UPDATE")
        await #expect(throws: StoreError.self) { try await store.remove(kind: "user", id: "a") }
        #expect(try await ids(store) == ["a", "b"])
        #expect(try await store.remove(kind: "user", id: "b"))
        try holder.execute("ROLLBACK")
        #expect(try await store.remove(kind: "user", id: "a"))
    }
}
