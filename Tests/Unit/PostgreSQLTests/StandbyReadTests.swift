import Synchronization
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwinePostgreSQL
@testable import IntertwineStorage

@Suite("Reads of items from a standby")
struct StandbyReadTests {
    private let (primary, standby): (PostgresServer, PostgresServer)
    private let reader: PostgresStandby
    private let store: PostgresFeedStore

    init() throws {
        primary = try PostgresServer()
        standby = try PostgresServer(standbyOf: primary)
        reader = PostgresStandby(try PostgresAddress(standby.uri(of: "postgres")))
        store = try PostgresFeedStore(
            PostgresAddress(primary.uri(of: "postgres")), standby: reader, reading: ReadLimits(), local: OwnWrites(seen: CommittedLSN()))
    }

    private func user(_ id: String) -> ValidatedItem {
        ValidatedItem(kind: "user", stream: .content, id: id, variant: "regular", body: Array("{}".utf8))
    }

    private func ids() async throws -> [String] {
        try await store.read { try $0.items(in: .content, .forward, of: nil, limit: 99).map(\.id) }
    }

    /// In another session.
    private func execute(_ sql: String, on server: PostgresServer) throws {
        try PostgresConnection(PostgresAddress(server.uri(of: "postgres"))).execute(sql)
    }

    /// How many reads the standby answered, once a read of all items has come to `ids`.
    private func answered(_ ids: [String]) async throws -> Int {
        #expect(try await self.ids() == ids)
        return reader.reads.load(ordering: .relaxed)
    }

    @Test("A standby serves reads if it has all seen changes; otherwise the primary does", .timeLimit(.untilStuck))
    func bound() async throws {
        _ = try await store.put(user("a"))
        try await untilAnswering(["a"])
        // Others' changes are there with their notification, own ones at once.
        try execute("SELECT pg_wal_replay_pause()", on: standby)
        let before = store.version
        try execute(
            "INSERT INTO item (lane, position, kind, id, variant, body) VALUES (0, 1, 'user', 'psql', 'regular', '{}')", on: primary)
        let deadline = ContinuousClock.now + .seconds(30)
        while store.version == before, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(1)) }
        let count = try await answered(["psql", "a"])
        for number in 0..<20 {
            _ = try await store.put(user("\(number)"))
            #expect(try await ids().last == "\(number)")
            _ = try await store.remove(kind: "user", id: "\(number)")
        }
        #expect(try await answered(["psql", "a"]) == count)
        try execute("SELECT pg_wal_replay_resume()", on: standby)
        try await untilAnswering(["psql", "a"])
        try await offPool { [standby] in try standby.stop() }
        #expect(try await ids() == ["psql", "a"])
        _ = try await store.put(user("b"))
        #expect(try await ids() == ["psql", "a", "b"])
    }

    private func untilAnswering(_ ids: [String]) async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        let before = reader.reads.load(ordering: .relaxed)
        while try await answered(ids) == before, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(1)) }
        #expect(reader.reads.load(ordering: .relaxed) > before)
    }

    @Test("A standby of another database is refused")
    func strange() throws {
        let other = PostgresStandby(try PostgresAddress(PostgresServer.shared().makeDatabase().uri))
        let error = #expect(throws: StoreError.self) {
            try PostgresFeedStore(
                PostgresAddress(primary.uri(of: "postgres")), standby: other, reading: ReadLimits(),
                local: OwnWrites(seen: CommittedLSN()))
        }
        #expect(error?.description.contains("store.read-database") == true)
    }
}
