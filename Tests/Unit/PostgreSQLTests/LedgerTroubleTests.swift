import Synchronization
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwinePostgreSQL
@testable import IntertwineStorage

@Suite("Ledger in PostgreSQL during failures", .timeLimit(.untilStuck))
struct LedgerTroubleTests {
    /// Clicks without end from several clients, and notes what was acknowledged.
    private final class Clickers: Sendable {
        private struct State {
            var acknowledged: [String] = []
            var failed = 0
            var isOver = false
        }

        private let ledger: PostgresLedger
        private let state = Mutex(State())

        init(_ ledger: PostgresLedger) {
            self.ledger = ledger
        }

        var acknowledged: [String] { state.withLock { $0.acknowledged } }
        var failed: Int { state.withLock { $0.failed } }

        func stop() { state.withLock { $0.isOver = true } }

        func run(_ clients: Int = 16) async {
            await withTaskGroup(of: Void.self) { group in
                for client in 0..<clients {
                    group.addTask { [self] in
                        for number in 0... {
                            if state.withLock({ $0.isOver }) { return }
                            let id = "\(client)-\(number)"
                            let click = LedgerEvent(at: SQLiteLedger.systemTime(), kind: .click, cell: "ad:1", viewer: id)
                            do {
                                _ = try await ledger.commit(LedgerEntry(events: [click]))
                                state.withLock { $0.acknowledged.append(id) }
                            } catch {
                                state.withLock { $0.failed += 1 }
                            }
                        }
                    }
                }
            }
        }

        func waitForMore(_ count: Int) async {
            let goal = acknowledged.count + count
            while acknowledged.count < goal { try? await Task.sleep(for: .milliseconds(2)) }
        }
    }

    /// Nothing that was acknowledged is lost, nothing is there twice, and counts are those of the events.
    private func check(_ clickers: Clickers, _ ledger: PostgresLedger, _ database: PostgresServer.Database) async throws {
        let viewers = try await ledger.events(after: 0, limit: .max).compactMap(\.event.viewer)
        #expect(Set(viewers).count == viewers.count)
        #expect(Set(viewers).isSuperset(of: clickers.acknowledged))
        #expect(try database.psql("SELECT sum(count) FROM rollup_day") == "\(viewers.count)")
    }

    @Test("Terminated sessions under load lose and double no event, and no request fails")
    func endedSessions() async throws {
        let database = try PostgresServer.shared().makeDatabase()
        let ledger = try PostgresLedger(PostgresAddress(database.uri), timeout: 30)
        let clickers = Clickers(ledger)
        async let clicking: Void = clickers.run()
        for _ in 0..<20 {
            await clickers.waitForMore(30)
            try database.psql(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND application_name = 'intertwine ledger'
                """)
        }
        await clickers.waitForMore(30)
        clickers.stop()
        await clicking
        #expect(clickers.failed == 0)
        try await check(clickers, ledger, database)
    }

    @Test("Three replicas whose sessions end at any moment, also during a commit, count a goal exactly")
    func goals() async throws {
        let database = try PostgresServer.shared().makeDatabase()
        let ledgers = try (0..<3).map { _ in try PostgresLedger(PostgresAddress(database.uri), timeout: 30) }
        for goal in TestSize.full([1, 2, 3, 10, 50], small: [3, 50]) {
            let terms = LedgerEvent.Terms(campaign: "c\(goal)", total: Int64(goal))
            let now = SQLiteLedger.systemTime()
            async let ended: Void = Self.endSessions(10, database)
            let verdicts = try await withThrowingTaskGroup(of: [Verdict].self) { group in
                for client in 0..<48 {
                    group.addTask {
                        var verdicts: [Verdict] = []
                        for number in 0..<4 {
                            var click = LedgerEvent(
                                at: now, kind: .click, cell: "ad:1", viewer: "v\(client)",
                                deduplication: .init(key: "\(goal) \(client) \(number)", window: 86_400_000),
                                impressionContext: ImpressionContext(campaign: terms.campaign, feed: "main"))
                            click.terms = terms
                            verdicts += try await ledgers[client % 3].commit(LedgerEntry(events: [click])).verdicts
                        }
                        return verdicts
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            try await ended
            func rows(_ verdicts: String) throws -> String {
                try database.psql("SELECT count(*) FROM event WHERE campaign = '\(terms.campaign)' AND verdict IN (\(verdicts))")
            }
            // A click whose commit was done, and whose answer was lost, is repeated as a duplicate.
            #expect(verdicts.count == 192 && verdicts.count { $0 == .counted } <= goal)
            #expect(try rows("'counted'") == "\(goal)" && rows("'counted', 'surplus'") == "192")
            let delivered = "SELECT sum(count) FROM delivery WHERE campaign = '\(terms.campaign)' AND kind = 'click' AND span = -1"
            #expect(try database.psql(delivered) == "\(goal)")
        }
    }

    private static func endSessions(_ count: Int, _ database: PostgresServer.Database) async throws {
        for _ in 0..<count {
            try database.psql(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND application_name = 'intertwine ledger'
                """)
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    @Test("After a crash under load the server has all acknowledged events once; meanwhile it is reported as unavailable")
    func restartedServer() async throws {
        let server = try PostgresServer()
        let database = try server.makeDatabase()
        let ledger = try PostgresLedger(PostgresAddress(database.uri), timeout: 0.2)
        let clickers = Clickers(ledger)
        async let clicking: Void = clickers.run()
        await clickers.waitForMore(100)
        try server.stop()
        while clickers.failed == 0 { try? await Task.sleep(for: .milliseconds(2)) }
        await #expect(throws: StoreError.self) { try await ledger.checkReady() }
        try server.start()
        await clickers.waitForMore(100)
        clickers.stop()
        await clicking
        try await ledger.checkReady()
        try await check(clickers, ledger, database)
    }

    @Test("A click waits for a foreign lock up to its timeout")
    func locked() async throws {
        let database = try PostgresServer.shared().makeDatabase()
        let ledger = try PostgresLedger(PostgresAddress(database.uri), timeout: 0.3)
        func click(_ viewer: String) -> LedgerEntry {
            LedgerEntry(events: [LedgerEvent(at: SQLiteLedger.systemTime(), kind: .click, cell: "ad:1", viewer: viewer)])
        }
        _ = try await ledger.commit(click("before"))
        let other = try PostgresConnection(PostgresAddress(database.uri))
        try other.execute("BEGIN; LOCK TABLE event IN ACCESS EXCLUSIVE MODE")
        await #expect(throws: StoreError.self) { try await ledger.commit(click("during")) }
        try other.execute("ROLLBACK")
        _ = try await ledger.commit(click("after"))
        #expect(try await ledger.events(after: 0, limit: 9).map(\.event.viewer) == ["before", "after"])
    }

    @Test("Beyond the queue limit units are rejected as overloaded, and the others are written")
    func overloaded() async throws {
        let database = try PostgresServer.shared().makeDatabase()
        let ledger = try PostgresLedger(PostgresAddress(database.uri), waiting: 8, timeout: 30)
        let outcomes = await withTaskGroup(of: String.self) { group in
            for number in 0..<400 {
                group.addTask {
                    do {
                        _ = try await ledger.commit(
                            LedgerEntry(events: [LedgerEvent(at: 1, kind: .click, cell: "ad:1", viewer: "\(number)")]))
                        return "committed"
                    } catch StoreError.overloaded {
                        return "overloaded"
                    } catch {
                        return "\(error)"
                    }
                }
            }
            return await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        }
        let committed = outcomes["committed"] ?? 0
        #expect(committed >= 8 && committed + (outcomes["overloaded"] ?? 0) == 400, "\(outcomes)")
        #expect(try await ledger.events(after: 0, limit: 999).count == committed)
    }

    @Test("A replica that cannot create the table of the day is not ready; the error of a read-only database names the remedy")
    func dayMissing() async throws {
        let database = try PostgresServer.shared().makeDatabase()
        let ledger = try PostgresLedger(PostgresAddress(database.uri))
        // As a full disk does.
        try database.psql("ALTER TABLE event RENAME TO hidden")
        await #expect(throws: StoreError.self) { try await ledger.checkReady() }
        try database.psql("ALTER TABLE hidden RENAME TO event")
        try await ledger.checkReady()
        #expect(try database.psql("SELECT count(*) FROM pg_inherits WHERE inhparent = 'event'::regclass") == "2")
        try database.psql("ALTER DATABASE \(database.name) SET default_transaction_read_only = on")
        let error = #expect(throws: StoreError.self) { try PostgresLedger(PostgresAddress(database.uri)) }
        #expect(error?.description.contains("default_transaction_read_only") == true)
    }

    @Test(
        "A replica with a clock different from the server's counts no event, and does not start", arguments: ["20 seconds", "-20 seconds"])
    func clocks(skew: String) async throws {
        let database = try PostgresServer.shared().makeDatabase()
        // Found before the server's own.
        try database.psql(
            """
            CREATE TABLE skew (amount interval); INSERT INTO skew VALUES ('0');
            CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql
                AS 'SELECT pg_catalog.clock_timestamp() + (SELECT amount FROM skew)';
            ALTER DATABASE \(database.name) SET search_path = public, pg_catalog
            """)
        let ledger = try PostgresLedger(PostgresAddress(database.uri))
        func click() async throws {
            let event = LedgerEvent(at: SQLiteLedger.systemTime(), kind: .click, cell: "ad:1")
            _ = try await ledger.commit(LedgerEntry(events: [event]))
        }
        try await click()
        try database.psql("UPDATE skew SET amount = '\(skew)'")
        for _ in 0..<2 {
            let error = await #expect(throws: StoreError.self) { try await click() }
            #expect(error?.description.contains(skew.hasPrefix("-") ? "s ahead of that of" : "s behind that of") == true)
        }
        await #expect(throws: StoreError.self) { try await ledger.checkReady() }
        #expect(throws: StoreError.self) { try PostgresLedger(PostgresAddress(database.uri)) }
        try database.psql("UPDATE skew SET amount = '0'")
        try await click()
        #expect(try database.psql("SELECT count(*) FROM event") == "2")
    }
}
