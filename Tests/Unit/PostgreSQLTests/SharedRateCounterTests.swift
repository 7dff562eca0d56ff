import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwinePostgreSQL
@testable import IntertwineStorage

@Suite("Short rate counters of replicas")
struct SharedRateCounterTests {
    private let database: PostgresServer.Database
    private let now = SQLiteLedger.systemTime()

    init() throws {
        database = try PostgresServer.shared().makeDatabase()
        // Makes the tables.
        _ = try PostgresLedger(PostgresAddress(database.uri))
    }

    /// One that decides and writes a group at a time, when it is told to.
    private struct Replica {
        let ledger: LedgerReplica
        let connection: PostgresConnection

        init(_ database: PostgresServer.Database, slots: Int = RecentRateCounters.defaultSlots) throws {
            ledger = LedgerReplica(recentSlots: slots)
            connection = try PostgresConnection(PostgresAddress(database.uri))
            try ledger.begin(connection, timeout: 20_000)
        }

        /// As the queue does where others were in the way.
        func commit(_ entries: [LedgerEntry], now: Int64) throws -> [Verdict] {
            while true {
                do {
                    return try ledger.commit(entries, now: now, flushes: false, connection).flatMap { try $0.get().verdicts }
                } catch let error as PostgresError where error.code == "40001" || error.code == "23505" {
                    ledger.discard()
                    try connection.execute("ROLLBACK")
                }
            }
        }

        func lose() throws { try ledger.begin(connection, timeout: 20_000) }
    }

    private func click(_ viewer: String, address: String = "a", limit: Int = .max) -> LedgerEntry {
        var click = LedgerEvent(at: now, kind: .click, cell: "ad:1", viewer: viewer)
        click.deduplication = .init(key: viewer, window: 60_000)
        click.rates = [.init(key: address, limit: limit, window: 60_000)]
        return LedgerEntry(events: [click])
    }

    private func verdicts(_ viewers: Range<Int>, _ replica: Replica) throws -> [Verdict] {
        try replica.commit(viewers.map { click("v\($0)") }, now: now)
    }

    @Test("Each replica, also a later one, knows all counts from one row per group")
    func known() throws {
        let (one, two) = (try Replica(database), try Replica(database))
        #expect(try verdicts(0..<50, one) == Array(repeating: .counted, count: 50))
        #expect(try verdicts(30..<60, two) == Array(repeating: .duplicate, count: 20) + Array(repeating: .counted, count: 10))
        #expect(try database.psql("SELECT count(*), (SELECT count(*) FROM allowance) FROM recent_allowance") == "2|0")
        for replica in [one, try Replica(database)] {
            #expect(try verdicts(0..<60, replica) == Array(repeating: .duplicate, count: 60))
        }
        // What a server says that took another's place is what holds.
        try database.psql("DELETE FROM recent_allowance")
        #expect(try verdicts(0..<1, one) == [.duplicate])
        try one.lose()
        #expect(try verdicts(0..<1, one) == [.counted])
    }

    @Test("With many concurrent replicas, in small and large groups, each key counts once and each rate holds")
    func race() async throws {
        let (viewers, addresses, limit) = (400, 5, 50)
        let counted = try await withThrowingTaskGroup(of: [Verdict].self) { group in
            for number in 0..<4 {
                group.addTask { [self] in
                    try await offPool {
                        let replica = try Replica(database)
                        var random = SeededRandom(seed: UInt64(number))
                        var rest = (0..<viewers).shuffled(using: &random)[...]
                        var verdicts: [Verdict] = []
                        while !rest.isEmpty {
                            let group = rest.prefix(Int.random(in: 1...20, using: &random))
                            rest = rest.dropFirst(group.count)
                            verdicts += try replica.commit(
                                group.map { click("v\($0)", address: "a\($0 % addresses)", limit: limit) }, now: now)
                        }
                        return verdicts
                    }
                }
            }
            return try await group.reduce(0) { $0 + $1.count { $0 == .counted } }
        }
        #expect(counted == addresses * limit)
        #expect(
            try database.psql("SELECT count(*), count(DISTINCT viewer) FROM event WHERE verdict = 'counted'") == "\(counted)|\(counted)")
        #expect(try database.psql("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == "0")
    }

    @Test("Counters beyond the memory limit are stored in the table and found by other replicas")
    func spilled() throws {
        let (small, large) = (try Replica(database, slots: 16), try Replica(database))
        for start in stride(from: 0, to: 40, by: 4) {
            #expect(try verdicts(start..<start + 4, small) == Array(repeating: .counted, count: 4))
        }
        #expect(try database.psql("SELECT count(*) > 20 FROM allowance") == "t")
        for replica in [large, small, try Replica(database, slots: 16)] {
            #expect(try verdicts(0..<40, replica) == Array(repeating: .duplicate, count: 40))
        }
    }
}
