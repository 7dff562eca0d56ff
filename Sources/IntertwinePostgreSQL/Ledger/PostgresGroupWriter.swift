internal import Glibc
package import IntertwineFeed
internal import IntertwinePrimitives
package import IntertwineStorageCore

package final class PostgresGroupWriter: LedgerGroupWriter {
    // Updated rows can reuse space of existing pages, so writes can succeed on a full disk for a while.
    package static let commitProvesDisk = false

    private let address: PostgresAddress
    private let maxQueueTime: Duration
    private let clock: ServerClock
    private let pulse: PostgresPulse?
    private let replica: LedgerReplica
    private var connection: PostgresConnection?
    private var lost: LedgerReplica.LostCommit?
    private var purger = PostgresExpiryPurger()

    private static let attempts = 10

    init(_ address: PostgresAddress, _ limits: GroupLimits, clock: ServerClock, pulse: PostgresPulse? = nil) {
        (self.address, self.clock, self.pulse) = (address, clock, pulse)
        maxQueueTime = limits.maxQueueTime
        replica = LedgerReplica(clock: clock)
    }

    package var hasWaitingCounts: Bool { replica.hasWaitingCounts }
    package var rateCounters: (count: Int, bytes: Int) { replica.rateCounters }

    package func probe() throws { try replica.touch(connected()) }

    func run<Value>(_ body: (PostgresConnection, _ slot: Int64) throws -> Value) throws -> Value {
        do {
            let connection = try connected()
            return try body(connection, replica.slot)
        } catch let error as PostgresError {
            if error.isEndOfSession { connection = nil }
            throw error
        }
    }

    // MARK: The connection

    private func connected() throws -> PostgresConnection {
        if let connection, connection.isAlive { return connection }
        connection = nil
        let new = try PostgresConnection(address, PostgresSettings(applicationName: "intertwine ledger", plansOnce: true), pulse: pulse)
        try replica.begin(new, timeout: maxQueueTime.milliseconds)
        connection = new
        return new
    }

    private func abandon() {
        replica.discard()
        guard let connection else { return }
        guard (try? connection.execute("ROLLBACK")) != nil, connection.isReusable else {
            self.connection = nil
            return
        }
    }

    // MARK: Groups

    package func commit(
        _ group: [LedgerUnit], flushes: Bool, until deadline: ContinuousClock.Instant, isLate: (LedgerUnit) -> Bool
    ) throws -> [Result<LedgerReceipt, any Error>] {
        let entries = group.map(\.entry)
        var (attempt, isSent) = (1, false)
        while true {
            do {
                let connection = try connected()
                if let lost {
                    let isCommitted = try replica.hasCommitted(lost, connection)
                    self.lost = nil
                    if isCommitted && isSent { return lost.receipts }
                    isSent = false
                }
                return try replica.commit(entries, now: clock.substitute?(), flushes: flushes, connection) { isLate(group[$0]) }
            } catch let error as LedgerReplica.LostCommit {
                (lost, isSent, connection) = (error, true, nil)
                // The client may ask again, under its key.
                guard ContinuousClock.now < deadline else { throw error.cause.storeError }
            } catch let error as PostgresError {
                // The counts of a group with an unknown outcome stay in memory until the outcome is known.
                if lost == nil { abandon() } else { connection = nil }
                let isHopeful = error.isEndOfSession || lost != nil || error.isConflict && attempt < Self.attempts
                guard isHopeful, ContinuousClock.now < deadline else {
                    if isSent { throw StoreError.uncertain("\(error)") }
                    throw error
                }
            }
            usleep(UInt32.random(in: 1_000...10_000) * UInt32(min(attempt, 10)))
            attempt += 1
        }
    }

    package func failure(_ error: any Error) -> GroupFailure {
        guard let error = error as? PostgresError else { return .final(error) }
        if error.isDataError { return .ofOneUnit }
        return error.isPassing ? .transient(error.storeError) : .final(error)
    }

    // MARK: Purge

    package func isPurgeDue() -> Bool { purger.schedule.isDue(clock.now) }

    package func isPurgeLate(after group: [LedgerUnit]) -> Bool {
        purger.schedule.isLate(after: group.reduce(0) { $0 + max(1, $1.entry.events.count) })
    }

    package func purge() -> Bool {
        do {
            return try purger.sweep(connected(), now: clock.now, longestWindow: replica.longestWindow)
        } catch {
            // A failed purge is retried by the next one; commits report the state of the server.
            if let connection, (try? connection.execute("ROLLBACK")) == nil { self.connection = nil }
            return false
        }
    }
}

extension PostgresError {
    fileprivate var isDataError: Bool { code.hasPrefix("22") }

    /// A conflict with another replica: the same new key, a deadlock, or a dropped partition.
    fileprivate var isConflict: Bool { isRepeatable || ["23505", "23514", "42P01"].contains(code) }

    fileprivate var isPassing: Bool { isEndOfSession || ["55P03", "57014"].contains(code) }
}
