import Glibc
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwinePostgreSQL
@testable import IntertwineStorage
@testable import IntertwineStorageCore

@Suite("Sessions with a PostgreSQL server", .timeLimit(.untilStuck))
struct SessionTests {
    private let database: PostgresServer.Database
    private let address: PostgresAddress

    init() throws {
        database = try PostgresServer.shared().makeDatabase()
        address = try PostgresAddress(database.uri)
    }

    private static func user(_ id: String) -> ValidatedItem {
        ValidatedItem(kind: "user", stream: .content, id: id, variant: "regular", body: Array(#"{"username":"\#(id)"}"#.utf8))
    }

    private static func click(_ viewer: String, daysAgo days: Int64 = 0) -> LedgerEntry {
        let moment = SQLiteLedger.systemTime() - days * 86_400_000
        return LedgerEntry(events: [LedgerEvent(at: moment, kind: .click, cell: "ad:1", viewer: viewer)])
    }

    private static func isUncertain(_ error: (any Error)?) -> Bool {
        if case StoreError.uncertain(let reason)? = error as? StoreError { !reason.contains("nothing was imported") } else { false }
    }

    // MARK: Publications

    @Test("With a publication of all tables a viewer is erased, and every table has an identity for its rows")
    func publication() async throws {
        _ = try PostgresFeedStore(address)
        let ledger = try PostgresLedger(address)
        _ = try PostgresSigningKeys(address)
        _ = try await ledger.commit(Self.click("ann"))
        _ = try await ledger.commit(Self.click("bob", daysAgo: 3))
        try database.psql("CREATE PUBLICATION everything FOR ALL TABLES")
        for viewer in ["ann", "bob"] { #expect(try await ledger.erase(viewer: viewer, owners: []).events == 1) }
        #expect(try database.psql("SELECT count(*) FROM event WHERE viewer IS NOT NULL") == "0")
        let unsupportedCells = """
            SELECT string_agg(relname, ' ') FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
            AND relreplident <> 'f' AND NOT EXISTS (SELECT 1 FROM pg_index WHERE indrelid = pg_class.oid AND indisprimary)
            """
        #expect(try database.psql(unsupportedCells) == "")
    }

    // MARK: Lost commits

    @Test("If the session ends during a commit, it is not known whether the write was done")
    func lostCommit() async throws {
        let store = try PostgresFeedStore(address)
        _ = try await store.put(Self.user("before"), releasing: false, unless: { _ in })
        let items = PostgresItemLocation(address, companions: "")
        func begin() throws -> ItemImport {
            let importer = try items.importer(
                kinds: .standard, sections: [], policy: .stop, isCompressed: false, limit: .max, isRehearsal: false, report: { _ in })
            let line = #"{"kind":"user","id":"i","username":"A","avatarUrl":"https://example.com/1.png","type":"regular"}"#
            try importer.append(Array(line.utf8))
            try importer.endOfFile()
            return importer
        }
        let importer = try begin()
        // The client cannot tell this from a server that is lost after its commit.
        try database.psql(
            """
            CREATE FUNCTION lost() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END';
            CREATE CONSTRAINT TRIGGER lost AFTER INSERT OR UPDATE ON item DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION lost()
            """)
        let put = await #expect(throws: StoreError.self) { try await store.put(Self.user("a"), releasing: false, unless: { _ in }) }
        let applied = await #expect(throws: StoreError.self) {
            try await store.apply([.append(Self.user("b"))], reason: nil, at: 1, releasing: false, unless: { _, _ in })
        }
        let imported = #expect(throws: StoreError.self) { try importer.commit() }
        for error in [put, applied, imported] {
            #expect(Self.isUncertain(error) && error?.description.hasPrefix("it is not known whether it was done") == true)
        }
        let snapshot = try StagedSource(
            PostgresStaging(address, OwnWrites(), "intertwine source", for: "list"), of: "list", kind: UserKind())
        _ = try snapshot.add([Self.user("s")])
        #expect(Self.isUncertain(#expect(throws: StoreError.self) { try snapshot.apply(removing: 1) { _ in } }))
        // An error before the commit is certain.
        try database.psql("DROP TRIGGER lost ON item; ALTER TABLE item RENAME TO hidden")
        let refused = await #expect(throws: StoreError.self) { try await store.put(Self.user("c"), releasing: false, unless: { _ in }) }
        #expect(!Self.isUncertain(refused))
        try database.psql("ALTER TABLE hidden RENAME TO item")
    }

    @Test("A session that ends between a failed write and its ROLLBACK leaves the next writes whole")
    func lostRollback() async throws {
        let store = try PostgresFeedStore(address)
        _ = try await store.put(Self.user("before"), releasing: false, unless: { _ in })
        var sessions: [Int] = []
        for round in 0..<5 {
            await #expect(throws: CancellationError.self) {
                try await store.writing { _ -> (Bool, InPlaceUpdate?) in
                    // The session's advisory lock and its transaction end with it, whether or not the client learns of that.
                    let ended = try database.psql(
                        """
                        SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity
                        WHERE datname = current_database() AND application_name = 'intertwine writer' AND state = 'idle in transaction'
                        """)
                    #expect(ended == "1")
                    throw CancellationError()
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<3 {
                    group.addTask { _ = try await store.put(Self.user("\(round)-\(number)"), releasing: false, unless: { _ in }) }
                }
                try await group.waitForAll()
            }
            sessions.append(store.connectionStatistics.sessions)
        }
        #expect(try await store.read { try $0.count(in: .content) } == 16)
        // A reader, the listener, and one of each writing thread: those that ended are not counted.
        #expect(sessions.allSatisfy { $0 <= 5 }, "\(sessions)")
    }

    // MARK: Waits

    @Test("Writes that wait for a lock stop no read, and end after five seconds")
    func waitingWrites() async throws {
        let store = try PostgresFeedStore(address)
        let holder = try PostgresConnection(address)
        try holder.execute("BEGIN; SELECT pg_advisory_xact_lock(\(PostgresItemSchema.writers))")
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: (any Error)?.self) { group in
            for number in 0..<8 {
                group.addTask {
                    do {
                        _ = try await store.put(Self.user("\(number)"), releasing: false, unless: { _ in })
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            try await Task.sleep(for: .milliseconds(300))
            let read = ContinuousClock.now
            for _ in 0..<20 { _ = try await store.read(for: .page) { try $0.items(in: .content, .forward, of: nil, limit: 9).count } }
            #expect(ContinuousClock.now - read < .seconds(3) && ContinuousClock.now - start < .seconds(4))
            var errors: [any Error] = []
            for try await error in group { if let error { errors.append(error) } }
            #expect(errors.count == 8)
            #expect(errors.contains { "\($0)".contains("lock timeout") }, "\(errors)")
        }
        #expect(ContinuousClock.now - start > .milliseconds(4_900))
        try holder.execute("ROLLBACK")
        _ = try await store.put(Self.user("a"), releasing: false, unless: { _ in })
    }

    @Test("Options of an address are added to those of the session")
    func options() throws {
        let separator = database.uri.contains("?") ? "&" : "?"
        let address = try PostgresAddress(
            database.uri + separator + "options=-c%20search_path%3Dfeeds%20-c%20idle_in_transaction_session_timeout%3D7000")
        let session = try PostgresConnection(address)
        func setting(_ name: String) throws -> String { try session.query("SELECT current_setting($1)", .text(name)).text(0, 0) }
        #expect(try setting("search_path") == "feeds")
        #expect(try setting("idle_in_transaction_session_timeout") == "7s")
        #expect(try setting("statement_timeout") == "4s")
        let planned = try PostgresConnection(address, PostgresSettings(plansOnce: true))
        #expect(try planned.query("SHOW plan_cache_mode").text(0, 0) == "force_generic_plan")
    }

    @Test("An import holds no snapshot and no transaction while its input arrives")
    func upload() async throws {
        var importer = try StagedImport(
            PostgresStaging(address, OwnWrites(), "intertwine import", note: "; nothing was imported"), sections: [], isRehearsal: false)
        _ = try importer.write((0..<1_000).map { Self.user("\($0)") })
        let transactions = """
            SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'intertwine import'
            AND (backend_xid IS NOT NULL OR backend_xmin IS NOT NULL OR state LIKE 'idle in transaction%')
            """
        let isIdle = try await eventually { try database.psql(transactions) == "0" }
        #expect(isIdle)
        _ = try importer.write((0..<9).map { Self.user("more \($0)") })
        let counts = try importer.commit()
        #expect(counts.added + 1_009 == 1_009)
        #expect(try database.psql("SELECT count(*), count(DISTINCT position) FROM item") == "1009|1009")
    }

    private func eventually(_ isSo: () throws -> Bool) async throws -> Bool {
        for _ in 0..<300 {
            if try isSo() { return true }
            try await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    @Test("A day is dropped without a lock for which inserts would wait, also after an interruption")
    func droppedDay() async throws {
        let ledger = try PostgresLedger(address)
        for days in [0, 40, 41, 42] as [Int64] { _ = try await ledger.commit(Self.click("v", daysAgo: days)) }
        let limit = SQLiteLedger.systemTime() - 30 * 86_400_000
        let reader = try PostgresConnection(address)
        try reader.execute("BEGIN; SELECT count(*) FROM event")
        async let removed = ledger.removeSettledEvents(before: limit)
        let waits = """
            SELECT count(*) FROM pg_locks WHERE relation = 'event'::regclass AND mode = 'AccessExclusiveLock'
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            """
        var locks = 0
        for number in 0..<40 {
            if try database.psql(waits) != "0" { locks += 1 }
            _ = try await ledger.commit(Self.click("\(number)"))
        }
        #expect(locks == 0)
        try reader.execute("COMMIT")
        #expect(try await removed == 3)
        #expect(try database.psql("SELECT count(*) FROM event") == "41")
        #expect(try database.psql("SELECT count(*) FROM pg_class WHERE relname ~ '^event_d[0-9]+$'") == "2")
    }

    // MARK: A frozen server

    @Test("Waiting reads of a frozen server end within a second, and pages come from the standby")
    func frozen() async throws {
        let (primary, standby) = try await offPool {
            let primary = try PostgresServer()
            return (primary, try PostgresServer(standbyOf: primary))
        }
        let address = try PostgresAddress(primary.uri(of: "postgres"))
        let reader = PostgresStandby(try PostgresAddress(standby.uri(of: "postgres")), servesReads: false, maximumAge: .seconds(60))
        let store = try PostgresFeedStore(address, standby: reader, reading: ReadLimits(), local: OwnWrites(seen: CommittedLSN()))
        let ledger = try PostgresLedger(address, beside: store)
        _ = try await store.put(Self.user("a"), releasing: false, unless: { _ in })
        @Sendable func page() async throws -> Bool {
            try await store.read(for: .page) { snapshot in
                _ = try snapshot.items(in: .content, .forward, of: nil, limit: 9)
                return snapshot.age != nil
            }
        }
        #expect(try await page() == false)
        let behind = "SELECT count(*) FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_insert_lsn()"
        #expect(try await eventually { try PostgresConnection(address).query(behind).integer(0, 0) == 1 })
        try primary.freeze()
        defer { try? primary.thaw() }
        let start = ContinuousClock.now
        let (isDegraded, report) = try await withThrowingTaskGroup(of: Bool.self) { group in
            // More than there are threads.
            for _ in 0..<12 { group.addTask { try await page() } }
            async let report = ContinuousClock().measure { _ = try? await ledger.report(days: 0...0, by: .day) }
            var all = true
            for try await isDegraded in group { all = all && isDegraded }
            return (all, await report)
        }
        #expect(isDegraded)
        #expect(ContinuousClock.now - start < .milliseconds(1_800) && report < .seconds(2), "\(ContinuousClock.now - start), \(report)")
        let next = try await ContinuousClock().measure { _ = try await page() }
        #expect(next < .milliseconds(500))
        try primary.thaw()
        #expect(try await eventually { !reader.isPrimaryAway })
        _ = try await store.put(Self.user("b"), releasing: false, unless: { _ in })
        // The pause after the last attempt to connect.
        var isCurrent = false
        for _ in 0..<300 where !isCurrent {
            isCurrent = try await !page()
            if !isCurrent { try await Task.sleep(for: .milliseconds(10)) }
        }
        #expect(isCurrent)
    }
}
