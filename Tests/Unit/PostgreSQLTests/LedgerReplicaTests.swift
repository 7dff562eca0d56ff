import Synchronization
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwinePostgreSQL
@testable import IntertwineStorage

@Suite("Replicas with one ledger")
struct LedgerReplicaTests {
    private let database: PostgresServer.Database
    private let replicas: [PostgresLedger]

    init() throws {
        let database = try PostgresServer.shared().makeDatabase()
        self.database = database
        replicas = try (0..<3).map { _ in try PostgresLedger(PostgresAddress(database.uri)) }
    }

    private func click(_ viewer: String? = nil, cell: String = "ad:1") -> LedgerEvent {
        LedgerEvent(at: SQLiteLedger.systemTime(), kind: .click, cell: cell, viewer: viewer)
    }

    /// Commits to all replicas at once, each some of the entries.
    private func commit(_ count: Int, _ entry: @escaping @Sendable (Int) -> LedgerEntry) async throws -> [LedgerReceipt] {
        try await withThrowingTaskGroup(of: LedgerReceipt.self) { group in
            for number in 0..<count {
                let replica = replicas[number % replicas.count]
                group.addTask { try await replica.commit(entry(number)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test("One of concurrent requests with one idempotency key is performed, and all get its response", arguments: 0..<5)
    func oneKey(round: Int) async throws {
        let click = click()
        let receipts = try await commit(30) { number in
            let key = IdempotencyKey(scope: "v", key: "\(round)", fingerprint: "f", expires: SQLiteLedger.systemTime() + 60_000)
            return LedgerEntry(events: [click], idempotency: (key, { _ in [UInt8(number)] }))
        }
        #expect(receipts.count { $0 == .committed([.counted]) } == 1)
        // The others got one and the same answer.
        #expect(Set(receipts).count == 2)
        #expect(try database.psql("SELECT count(*) FROM event") == "1")
    }

    @Test("Duplicates count once, rates hold and selections are undone once on any replica", arguments: [60_000, 86_400_000] as [Int64])
    func shared(window: Int64) async throws {
        let now = SQLiteLedger.systemTime()
        let verdicts = try await commit(90) { number in
            var click = LedgerEvent(at: now, kind: .click, cell: "ad:1")
            click.deduplication = .init(key: "viewer \(number / 2)", window: window)
            click.rates = [.init(key: "address", limit: 40, window: window)]
            return LedgerEntry(events: [click])
        }.flatMap(\.verdicts)
        #expect(verdicts.count { $0 == .counted } == 40)
        #expect(try await replicas[0].report(days: 0...100_000, by: .day).rows.first?.counts[.click] == 40)
        #expect(try database.psql("SELECT count(*) > 0 FROM allowance") == (window > 300_000 ? "t" : "f"))
        _ = try await replicas[0].commit(
            LedgerEntry(selection: CommandRecord(id: "s", cell: "c", viewer: nil, steps: [], expires: now + 60_000)))
        let undone = try await commit(9) { _ in LedgerEntry(undoes: "s") }
        #expect(undone.count { $0 == .committed([]) } == 1 && undone.count { $0 == .alreadyUndone } == 8)
    }

    @Test("A replica that wrongly assumes a new viewer detects it and gives the event the correct verdict")
    func taken() async throws {
        let now = SQLiteLedger.systemTime()
        func click(_ viewer: String, address: String = "a", limit: Int = 1) -> LedgerEntry {
            var click = LedgerEvent(at: now, kind: .click, cell: "ad:1")
            click.deduplication = .init(key: viewer, window: 86_400_000)
            click.rates = [.init(key: address, limit: limit, window: 86_400_000)]
            return LedgerEntry(events: [click])
        }
        #expect(try await replicas[0].commit(click("v1")).verdicts == [.counted])
        // Too much for the address besides, but a repetition first: the row that tells is not written.
        #expect(try await replicas[1].commit(click("v1")).verdicts == [.duplicate])
        #expect(try await replicas[2].commit(click("v1", address: "b")).verdicts == [.duplicate])
        // What was looked up for a while is taken for new again.
        for number in 0..<40 {
            let entry = click("w\(number)", address: "c", limit: 100)
            #expect(try await replicas[1].commit(entry).verdicts == [.counted])
            #expect(try await replicas[2].commit(entry).verdicts == [.duplicate])
        }
        #expect(try database.psql("SELECT max(used), count(*) FROM allowance") == "40|43")
        #expect(try database.psql("SELECT count(*) FROM event WHERE verdict = 'counted'") == "41")
    }

    @Test("Writes of replicas to the same keys in any order do not block each other for long, and add up", .timeLimit(.untilStuck))
    func anyOrder() async throws {
        let now = SQLiteLedger.systemTime()
        let receipts = try await commit(600) { number in
            var random = SeededRandom(seed: UInt64(number))
            func some(_ word: String) -> String { "\(word) \(Int.random(in: 0..<40, using: &random))" }
            let events = (0..<4).map { _ in
                var event = LedgerEvent(at: now, kind: .impression, cell: some("ad:"), viewer: some("v"))
                event.deduplication = .init(key: some("d"), window: 60_000)
                event.rates = [.init(key: some("r"), limit: 3, window: 60_000)]
                event.impressionContext = ImpressionContext(campaign: some("c"), feed: "main", frequencyCapTTL: 60)
                return event
            }
            let viewer = some("v")
            return LedgerEntry(
                events: events, changes: [.add(list: .saved, viewer: viewer, cell: some("cell"), performance: "\(number)", at: now)],
                selection: CommandRecord(id: "\(number)", cell: "c", viewer: viewer, steps: [], expires: now + 60_000))
        }
        #expect(receipts.count == 600 && !receipts.contains { $0.verdicts.isEmpty })
        let counted = receipts.flatMap(\.verdicts).count { $0 == .counted }
        for replica in replicas { _ = try await replica.report(days: 0...0, by: .day) }
        #expect(try database.psql("SELECT sum(count) FROM rollup_day WHERE verdict = 'counted'") == "\(counted)")
        #expect(try database.psql("SELECT sum(count) FROM rollup_cell") == "2400")
        #expect(try database.psql("SELECT sum(count) FROM delivery WHERE span = -1") == "\(counted)")
        #expect(try database.psql("SELECT sum(count) FROM exposure") == "\(counted)")
        #expect(try database.psql("SELECT count(*) FROM event WHERE verdict = 'counted'") == "\(counted)")
        #expect(try database.psql("SELECT count(DISTINCT slot) FROM rollup_cell") == "3")
        #expect(try database.psql("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == "0")
    }

    @Test("An export skips no event that another replica is still writing")
    func exportInOrder() async throws {
        _ = try await replicas[0].commit(LedgerEntry(events: [click("first")]))
        let other = try PostgresConnection(PostgresAddress(database.uri))
        try other.execute(
            """
            BEGIN;
            SELECT pg_advisory_xact_lock_shared(\(PostgresLedgerSchema.lockClass), \(PostgresLedgerSchema.Lock.appending));
            INSERT INTO event (at, kind, cell, viewer, verdict) SELECT at, kind, cell, 'second', verdict FROM event
            """)
        _ = try await replicas[0].commit(LedgerEntry(events: [click("third")]))
        async let exported = replicas[1].events(after: 0, limit: 9)
        while try database.psql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") == "0" {
            try await Task.sleep(for: .milliseconds(2))
        }
        try other.execute("COMMIT")
        #expect(try await exported.map(\.event.viewer) == ["first", "second", "third"])
    }

    @Test("Each day has a partition, which is removed with its events")
    func days() async throws {
        let day: Int64 = 86_400_000
        for number in [-2, 0, 3] as [Int64] {
            _ = try await replicas[0].commit(LedgerEntry(events: [LedgerEvent(at: number * day, kind: .click, cell: "ad:1")]))
        }
        let partitions =
            "SELECT string_agg(inhrelid::regclass::text, ' ' ORDER BY inhrelid::regclass::text) FROM pg_inherits"
            + " WHERE inhparent = 'event'::regclass"
        #expect(try database.psql(partitions) == "event_d0 event_d3 event_dm2")
        #expect(try await replicas[1].removeEvents(before: 1 * day) == 2)
        #expect(try database.psql(partitions) == "event_d3")
        // The first still believes that the day is there.
        _ = try await replicas[0].commit(LedgerEntry(events: [LedgerEvent(at: 0, kind: .click, cell: "ad:1")]))
        #expect(try database.psql(partitions) == "event_d0 event_d3")
    }
}
