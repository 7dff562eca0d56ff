import Glibc
import Synchronization
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwinePostgreSQL
@testable import IntertwineStorage

@Suite("Store of items in PostgreSQL")
struct PostgresFeedStoreTests {
    private let database: PostgresServer.Database
    private let store: PostgresFeedStore

    init() throws {
        database = try PostgresServer.shared().makeDatabase()
        store = try PostgresFeedStore(PostgresAddress(database.uri))
    }

    private func user(_ id: String) throws -> ValidatedItem {
        ValidatedItem(kind: "user", stream: .content, id: id, variant: "regular", body: Array(#"{"username":"\#(id)"}"#.utf8))
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

    @Test("A change of another process gives a new version soon, an own change at once, a read none")
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

    @Test("A store without a listening session trusts no version until it listens again")
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

    @Test("A read beyond a complete prefetch repeats the read, and no result is lost or swapped")
    func announcements() async throws {
        for id in ["a", "b", "c"] { _ = try await store.put(user(id)) }
        for isAll in [true, false] {
            let runs = Mutex(0)
            let found = try await store.read { snapshot in
                runs.withLock { $0 += 1 }
                snapshot.prefetch(
                    [RowQuery(.stream(.content), .backward, limit: 2), RowQuery(.stream(.advertisements), limit: 1)],
                    isComplete: isAll)
                func ids(_ direction: PageDirection, _ limit: Int, in lane: StreamID = .content) throws -> [String] {
                    var ids: [String] = []
                    try snapshot.visit(RowQuery(.stream(lane), direction, limit: limit)) { ids.append($0.item.id) }
                    return ids
                }
                // Of what was announced one less, and one more than it brought.
                return try [ids(.forward, 1), ids(.backward, 1), ids(.backward, 3), ids(.forward, 9, in: .advertisements)]
            }
            #expect(found == [["a"], ["c"], ["c", "b", "a"], []])
            #expect(runs.withLock { $0 } == (isAll ? 2 : 1))
        }
    }

    @Test("Statements of one batch see one state, despite commits in between")
    func oneState() async throws {
        let address = try PostgresAddress(database.uri)
        let (session, other) = (try PostgresConnection(address, PostgresSettings(readsOneState: true)), try PostgresConnection(address))
        try other.execute("SELECT pg_advisory_lock(7)")
        let count = SQLCommand("SELECT count(*) FROM item")
        let question = try session.ask([count, SQLCommand("SELECT pg_advisory_xact_lock(7)"), count])
        try await eventually { try database.psql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") == "1" }
        try other.execute("INSERT INTO item VALUES (0, 1, 'user', 'a', '', '{}'); SELECT pg_advisory_unlock(7)")
        let counts = try session.results(of: question)
        #expect(counts[0].integer(0, 0) == 0 && counts[2].integer(0, 0) == 0)
        #expect(try session.query("SELECT count(*) FROM item").integer(0, 0) == 1)
    }

    @Test("While the server is down a read fails as unavailable; later reads succeed")
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

    @Test("Writers on many replicas are serialized: every item is stored at a unique position")
    func writers() async throws {
        let stores = try (0..<4).map { _ in try PostgresFeedStore(PostgresAddress(database.uri)) }
        try await withThrowingTaskGroup { group in
            // Five at a time on each replica: a store refuses writes beyond its queue.
            for (number, store) in stores.enumerated() {
                for client in 0..<5 {
                    group.addTask { for round in 0..<5 { _ = try await store.put(user("\(number) \(client) \(round)")) } }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await store.read { try $0.count(in: .content) } == 100)
        #expect(try database.psql("SELECT count(DISTINCT position) FROM item") == "100")
    }

    @Test("A foreign lock on one item makes only its write fail, after a timeout")
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

    @Test("An import is visible at its end: the last of duplicates at the first position, pinned ads in place")
    func imports() async throws {
        _ = try await store.put(user("old"))
        let lines = [
            #"{"kind":"user","id":"a","username":"A","avatarUrl":"https://example.com/1.png","type":"regular"}"#,
            #"{"kind":"ad","id":"1","contentUrl":"https://a.example/c","clickthroughUrl":"https://a.example/","type":"image"}"#,
            #"{"kind":"user","id":"n l","username":"N","avatarUrl":"https://example.com/1.png","type":"regular"}"#,
            #"{"kind":"user","id":"a","username":"A","avatarUrl":"https://example.com/1.png","type":"featured"}"#,
        ]
        let items = PostgresItemLocation(try PostgresAddress(database.uri), companions: "")
        func begin(isRehearsal: Bool = false) throws -> ItemImport {
            let new = try items.importer(
                kinds: .standard, sections: [], policy: .stop, isCompressed: false, limit: .max, isRehearsal: isRehearsal, report: { _ in })
            try new.append(Array(lines.joined(separator: "\n").utf8))
            try new.endOfFile()
            return new
        }
        let rehearsal = try begin(isRehearsal: true).commit()
        #expect(rehearsal.added == 3 && rehearsal.replaced == 1)
        let version = store.version
        let running = try begin()
        // Nobody waits for it, or sees anything of it.
        _ = try await store.put(user("while it runs"))
        let summary = try running.commit()
        #expect(summary.added == 3 && summary.replaced == 1 && summary.items == 4)
        #expect(try await ids(store) == ["old", "while it runs", "a", "n l"])
        try await eventually { store.version != version }
        #expect(try await store.read { try $0.item(kind: "user", id: "a") }?.variant == "featured")
        let listed = try await store.read { try $0.listings(in: .content, between: .min ..< .max, limit: 9) }
        let place = try await store.read { try $0.item(kind: "user", id: "a") }?.position
        #expect(listed.map(\.item.id) == ["1"] && listed.first?.position == place)
        // Again: nothing new, and what was taken down stays away.
        _ = try await store.takeDown(ItemKey(kind: "user", id: "a"), reason: nil, at: 5) { _ in }
        let again = try begin().commit()
        #expect(again.added == 0 && again.replaced == 2 && again.withheld.count == 2)
        let cancelled = try begin()
        cancelled.rollback()
        #expect(try await ids(store) == ["old", "while it runs", "n l"])
    }
}
