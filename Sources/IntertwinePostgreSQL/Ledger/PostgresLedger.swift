internal import Foundation
package import IntertwineFeed
internal import IntertwinePrimitives
package import IntertwineStorageCore
internal import Synchronization

/// A ledger in a PostgreSQL database, shared by any number of replicas: a write that one replica acknowledged is visible to all.
package final class PostgresLedger: Sendable {
    let pool: PostgresPool
    package let commits: GroupCommit<PostgresGroupWriter>
    let clock: ServerClock
    let standby: PostgresStandby?
    private let maxSessions = Atomic<Int64>(0)

    package init(
        _ address: PostgresAddress, waiting: Int = 4_096, group: Int = 512, timeout: Double = 2, reading reads: ReadLimits = ReadLimits(),
        beside items: (any ItemStore)? = nil, now: (@Sendable () -> Int64)? = nil
    ) throws(StoreError) {
        let clock = ServerClock(substitute: now)
        (self.clock, standby) = (clock, (items as? PostgresFeedStore)?.standby)
        let pulse = (items as? PostgresFeedStore)?.pulse
        pool = PostgresPool(address, reading: reads, settings: PostgresSettings(applicationName: "intertwine reader"), pulse: pulse)
        let limits = GroupLimits(
            waiting: max(1, waiting), group: max(1, group), maxQueueTime: .seconds(timeout), events: 4_096, isWatched: true)
        commits = GroupCommit(PostgresGroupWriter(address, limits, clock: clock, pulse: pulse), limits)
        try ServerChecks.check(pool) { connection in
            try PostgresSchema.create(PostgresLedgerSchema.part, connection)
            let start = WallClock.now()
            let found = try connection.query(
                """
                SELECT \(ServerClock.expression), current_setting('transaction_read_only') = 'on',
                    current_setting('max_connections')::bigint
                """)
            maxSessions.store(found.integer(0, 2), ordering: .relaxed)
            guard !found.flag(0, 1) else { throw PostgresError(code: "25006", message: "the database is read-only") }
            try clock.check(found.integer(0, 0), askedAt: start)
        }
    }

    package var now: @Sendable () -> Int64 {
        { [clock] in clock.corrected }
    }

    /// Values for metrics: the number of sessions, the server's `max_connections` at the start, and the milliseconds by which this
    /// machine's clock is ahead of the server's.
    package var connectionStatistics: (sessions: Int, maxSessions: Int64, clockOffset: Int64?) {
        (pool.sessions + 1, maxSessions.load(ordering: .relaxed), clock.offset)
    }

    package var readStatistics: ReadStatistics { pool.statistics }

    package func checkReady() async throws {
        try await StoreError.wrapping { try await commits.checkWritable() }
    }

    package func storageChange() -> FileChange? { nil }

    package func complete() async throws {
        try await flushCounts()
    }
}
