import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwinePostgreSQL
@testable import IntertwineStorage

@Suite("PostgreSQL at the start")
struct ServerChecksTests {
    private let server: PostgresServer
    private let database: PostgresServer.Database

    init() throws {
        server = try PostgresServer.shared()
        database = try server.makeDatabase()
    }

    /// The one line that the start fails with.
    private func complaint(_ uri: String, _ body: (PostgresConnection) throws -> Void = { _ in }) throws -> String {
        let pool = PostgresPool(try PostgresAddress(uri))
        let error = #expect(throws: StoreError.self) { try ServerChecks.check(pool, body) }
        let line = error?.description ?? ""
        #expect(!line.contains("\n") && !line.contains("secret"))
        return line
    }

    @Test("An invalid address is refused, and the error does not repeat it")
    func unreadable() throws {
        for uri in ["postgresql://me:secret%zz@host/db", "postgresql://me:secret@host/db?secret=1", "postgresql://me:secret@[host/db"] {
            let error = #expect(throws: StoreError.self) { try PostgresAddress(uri) }
            #expect(error?.description.hasPrefix("the address of the PostgreSQL database cannot be read") == true)
            #expect(error?.description.contains("secret") == false)
        }
        #expect(
            try PostgresAddress("postgresql://me:secret@db1:5433,db2/feed?target_session_attrs=read-write").shown
                == "postgresql://me@db1:5433,db2/feed")
    }

    @Test("An invalid port and an unknown libpq parameter are named in the error")
    func faults() throws {
        for (uri, fault) in [
            ("postgresql://db1:abc/feed", "its port is not a number"),
            ("postgresql://db1/feed?sslmode=require&colour=red", "parameter 2 after the ?"),
            ("postgresql://db1/feed?connect_timeout=soon", "connect_timeout is not an integer"),
        ] {
            let error = #expect(throws: StoreError.self) { try PostgresAddress(uri) }
            #expect(error?.description.contains(fault) == true, "\(error?.description ?? "")")
        }
    }

    @Test("Tables of another program and foreign locks are named in the error")
    func inTheWay() throws {
        let address = try PostgresAddress(database.uri)
        try database.psql("CREATE TABLE event (name text)")
        let foreign = #expect(throws: StoreError.self) { try PostgresLedger(address) }
        #expect(foreign?.description.contains("another program's") == true, "\(foreign?.description ?? "")")
        try database.psql("DROP TABLE event")

        // Of a start.
        let other = try PostgresConnection(address, PostgresSettings(applicationName: "stranger"))
        try other.execute("SELECT pg_advisory_lock(\(0x494E_5457))")
        let held = #expect(throws: StoreError.self) { try PostgresLedger(address) }
        #expect(
            held?.description.contains("session \(other.backend) (stranger) holds the advisory lock") == true, "\(held?.description ?? "")")
        try other.execute("SELECT pg_advisory_unlock_all()")
        _ = try PostgresLedger(address)
        try other.execute("BEGIN; LOCK TABLE intertwine_schema")
        let locked = #expect(throws: StoreError.self) { try PostgresLedger(address) }
        #expect(
            locked?.description.contains("session \(other.backend) (stranger) holds a lock on the table intertwine_schema") == true,
            "\(locked?.description ?? "")")
        try other.execute("ROLLBACK")
    }

    @Test("A missing server, a wrong password and a missing database give one line with the remedy")
    func refusals() throws {
        let missing = try complaint("postgresql://me:secret@127.0.0.1:1/feed")
        #expect(
            missing.hasPrefix("postgresql://me@127.0.0.1:1/feed: no server responds: ")
                && missing.hasSuffix("start it, or correct store.database"))
        try database.psql("DO $$ BEGIN CREATE ROLE guarded LOGIN PASSWORD 'right'; EXCEPTION WHEN duplicate_object THEN END $$")
        let place = "127.0.0.1:\(server.port)"
        #expect(try complaint("postgresql://guarded:secret@\(place)/\(database.name)").contains("PGPASSFILE"))
        #expect(try complaint("postgresql://guarded@\(place)/\(database.name)").contains("PGPASSFILE"))
        #expect(throws: Never.self) {
            try ServerChecks.check(PostgresPool(PostgresAddress("postgresql://guarded:right@\(place)/\(database.name)"))) { _ in }
        }
        #expect(try complaint(server.uri(of: "nowhere")).contains("createdb"))
    }

    @Test("A server that does not match the address is not reported as missing")
    func otherServers() throws {
        let place = "127.0.0.1:\(server.port)/\(database.name)"
        for (uri, advice) in [
            ("\(database.uri)?target_session_attrs=standby", "correct target_session_attrs"),
            ("\(database.uri)?target_session_attrs=read-only", "correct target_session_attrs"),
            ("postgresql://guarded:secret@\(place)?sslmode=require", "correct sslmode"),
            ("postgresql://guarded:secret@\(place)?sslmode=verify-full&sslrootcert=/none", "correct sslmode"),
            ("postgresql://guarded:secret@\(place)?sslmode=secret", "correct it"),
            ("postgresql://guarded:secret@127.0.0.1:1,127.0.0.1:2,127.0.0.1:3,127.0.0.1:4/x?port=1,2", "correct it"),
        ] {
            let line = try complaint(uri)
            #expect(line.hasSuffix(advice) && !line.contains("no server responds"), "\(line)")
        }
        try database.psql("DO $$ BEGIN CREATE ROLE homeless LOGIN; EXCEPTION WHEN duplicate_object THEN END $$")
        try database.psql("ALTER ROLE homeless SET search_path = nowhere")
        let line = try complaint(database.uri.replacing("intertwine@", with: "homeless@")) {
            try PostgresSchema.create(PostgresPart("test", "SELECT 1"), $0)
        }
        #expect(line.contains("search_path"))
    }

    @Test("Missing privileges and another encoding give one line")
    func rights() throws {
        try database.psql("DO $$ BEGIN CREATE ROLE poor LOGIN; EXCEPTION WHEN duplicate_object THEN END $$")
        let uri = database.uri.replacing("intertwine@", with: "poor@")
        let line = try complaint(uri) { try PostgresSchema.create(PostgresPart("test", "SELECT 1"), $0) }
        #expect(line.contains("GRANT CREATE"))
        // Whoever may write but does not own the tables could not begin a new day.
        _ = try PostgresLedger(PostgresAddress(database.uri))
        try database.psql("GRANT ALL ON SCHEMA public TO poor; GRANT ALL ON ALL TABLES IN SCHEMA public TO poor")
        let stranger = #expect(throws: StoreError.self) { try PostgresLedger(PostgresAddress(uri)) }
        #expect(
            stranger?.description.hasSuffix("the tables belong to intertwine: connect as that user, or GRANT intertwine TO poor") == true)
        try database.psql("GRANT intertwine TO poor")
        defer { _ = try? database.psql("REVOKE intertwine FROM poor") }
        #expect(throws: Never.self) { try PostgresLedger(PostgresAddress(uri)) }
        let latin = try server.makeDatabase("ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
        #expect(try complaint(latin.uri).contains("ENCODING 'UTF8'"))
    }

    @Test("Concurrent replicas create tables once; newer and older schemas are refused")
    func tables() async throws {
        let part = PostgresPart("test", "CREATE TABLE thing (number bigint); INSERT INTO thing VALUES (1)")
        let uri = database.uri
        try await withThrowingTaskGroup { group in
            for _ in 0..<6 {
                group.addTask {
                    try await offPool { try PostgresSchema.create(part, PostgresConnection(PostgresAddress(uri))) }
                }
            }
            try await group.waitForAll()
        }
        #expect(try database.psql("SELECT count(*) FROM thing") == "1")
        let newer = PostgresPart("test", "SELECT 1", migrations: ["INSERT INTO thing VALUES (2)", "INSERT INTO thing VALUES (3)"])
        for _ in 0..<2 { try PostgresSchema.create(newer, PostgresConnection(PostgresAddress(uri))) }
        #expect(try database.psql("SELECT string_agg(number::text, ',') FROM thing") == "1,2,3")
        #expect(try complaint(uri) { try PostgresSchema.create(part, $0) }.contains("newer version of this program (test 3;"))
        try database.psql("UPDATE intertwine_schema SET version = 1 WHERE part = 'test'")
        // Whichever of the parts it is that is newer, and whichever is asked for.
        try database.psql("INSERT INTO intertwine_schema (part, version) VALUES ('ledger', 99)")
        #expect(try complaint(uri) { try PostgresSchema.create(part, $0) }.contains("newer version of this program (ledger 99;"))
        try database.psql("DELETE FROM intertwine_schema WHERE part = 'ledger'")
        // A failing one leaves nothing.
        #expect(throws: PostgresError.self) {
            let broken = PostgresPart("broken", "DELETE FROM thing; SELECT nonsense")
            try PostgresSchema.create(broken, PostgresConnection(PostgresAddress(uri)))
        }
        #expect(try database.psql("SELECT count(*) FROM thing") == "3")
        try database.psql("CREATE TABLE intertwine_migration (part text)")
        #expect(try complaint(uri) { try PostgresSchema.create(part, $0) }.contains("a version before 0.1.0"))
    }

    @Test("While the server is down requests fail, and the store reconnects later")
    func restart() async throws {
        let own = try await offPool { try PostgresServer() }
        let pool = PostgresPool(try PostgresAddress(own.uri(of: "postgres")))
        let ask: @Sendable (PostgresConnection) throws -> Int64 = { try $0.query("SELECT 7").integer(0, 0) }
        #expect(try await pool.run(for: .request, ask) == 7)
        try await offPool { try own.stop() }
        await #expect(throws: StoreError.self) { try await pool.run(for: .request, ask) }
        try await offPool { try own.start() }
        let deadline = ContinuousClock.now + .seconds(30)
        var answer: Int64?
        while answer == nil, ContinuousClock.now < deadline { answer = try? await pool.run(for: .request, ask) }
        #expect(answer == 7)
        // A restart between two uses costs nobody a failure: the idle connection is seen to be over.
        try await offPool {
            try own.stop()
            try own.start()
        }
        #expect(try await pool.run(for: .request, ask) == 7)
    }
}
