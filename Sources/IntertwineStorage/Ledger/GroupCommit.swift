import Dispatch
import GRDB
import GRDBSQLite
import IntertwineFeed
import Synchronization

/// A writer that commits all waiting units in one transaction: those that arrived while the disk was busy with the previous group.
///
/// A unit never waits for later units. `@unchecked Sendable`: the writer is accessed on the serial queue alone.
final class GroupCommit: @unchecked Sendable {
    typealias Completion = @Sendable (Result<LedgerReceipt, any Error>) -> Void

    struct Limits: Sendable {
        /// The limit of waiting units. A further unit is refused.
        var waiting = 4_096
        /// The limit of units in one transaction, which bounds how long the first unit waits for the last.
        var group = 512
        /// The time after which a unit fails while another process keeps the file locked.
        var maxQueueTime = Duration.seconds(2)
    }

    /// A waiting unit of work.
    ///
    /// Why a class: an entry contains many strings, and is not copied between its arrival and its completion.
    private final class Unit: Sendable {
        let entry: LedgerEntry
        let completion: Completion
        let arrival = ContinuousClock.now

        init(_ entry: LedgerEntry, _ completion: @escaping Completion) {
            self.entry = entry
            self.completion = completion
        }
    }

    /// A reservation for a viewer with its outcome.
    private final class ClaimUnit: Sendable {
        let claim: FrequencyCapReservation
        let outcome = Mutex<Result<Bool, any Error>?>(nil)

        init(_ claim: FrequencyCapReservation) {
            self.claim = claim
        }
    }

    private struct State {
        var waiting: [Unit] = []
        var claims: [ClaimUnit] = []
        var isRunning = false
        var statistics = LedgerStatistics()
    }

    /// The connection pool. It changes on the queue alone, like the counter and the writer.
    var pool: DatabasePool
    private var counter: WALChangeCounter
    private let opened: Mutex<FileIdentity>
    let limits: Limits
    private let now: @Sendable () -> Int64
    let queue = DispatchQueue(label: "intertwine.ledger")
    private let state = Mutex(State())
    private var writer: LedgerWriter
    private var sweeper: LedgerExpiryPurger
    /// Reused memory for the next group, which is swapped with the array of waiting units.
    private var spareGroup: [Unit] = []
    /// A Boolean value indicating whether the connection syncs its commits.
    private var isSynced = true
    /// The time of the last write of counts without rows, and a Boolean value indicating whether the next write is scheduled.
    private var flush: (last: ContinuousClock.Instant?, isPlanned: Bool) = (nil, false)

    private var logLimit = WriteAheadLogLimit()

    /// The time of the last successful commit.
    private var lastCommit: ContinuousClock.Instant?

    /// The time for which a commit proves that the disk is writable, and the lock timeout of a test write.
    private static let (freshness, probeTimeout) = (Duration.seconds(1), Duration.milliseconds(500))
    /// The delay limit for counts without rows. It bounds the writes that a continuous series of repeated impressions causes.
    private static let flushInterval = Duration.seconds(1)

    init(_ pool: DatabasePool, _ file: FileIdentity, _ counter: WALChangeCounter, limits: Limits, now: @escaping @Sendable () -> Int64)
        throws
    {
        (self.pool, self.counter) = (pool, counter)
        opened = Mutex(file)
        self.limits = limits
        self.now = now
        (writer, sweeper) = try pool.writeWithoutTransaction { (try LedgerWriter($0), LedgerExpiryPurger()) }
    }

    /// Queues a unit for the next group.
    ///
    /// - Parameter completion: called on the ledger's queue, or at once if too many units wait.
    func commit(_ entry: LedgerEntry, completion: @escaping Completion) {
        let unit = Unit(entry, completion)
        let (isAccepted, starts) = state.withLock { state in
            guard state.waiting.count < limits.waiting else {
                state.statistics.refused += 1
                return (false, false)
            }
            state.waiting.append(unit)
            defer { state.isRunning = true }
            return (true, !state.isRunning)
        }
        if !isAccepted { return completion(.failure(StoreError.overloaded)) }
        // The call is outside the lock, because it wakes a thread and all event loops take this lock.
        if starts { queue.async { [self] in drain() } }
    }

    var statistics: LedgerStatistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.waiting = state.waiting.count
            return statistics
        }
    }

    /// The identity of the file that is written to.
    var file: FileIdentity { opened.withLock { $0 } }

    /// Switches all further writes to another file.
    func reopen(with pool: DatabasePool, _ file: FileIdentity, _ counter: WALChangeCounter) throws {
        try queue.sync {
            writer = try pool.writeWithoutTransaction { try LedgerWriter($0) }
            (self.pool, self.counter) = (pool, counter)
            opened.withLock { $0 = file }
        }
    }

    private func checkFile() throws {
        if let fault = file.error { throw StoreError.unavailable("\(file.path): \(fault)") }
    }

    /// Writes to the file, unless a recent commit has shown that it is writable.
    ///
    /// - Throws: an error if the file cannot be written.
    func checkWritable() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            queue.async { [self] in
                continuation.resume(
                    with: Result {
                        try checkFile()
                        if let lastCommit, lastCommit.duration(to: .now) < Self.freshness { return }
                        try prepare(isSynced: true, busyTimeout: min(limits.maxQueueTime, Self.probeTimeout))
                        // The value does not change, but the write reaches the disk like a click.
                        try pool.writeWithoutTransaction { database in
                            try database.inTransaction(.immediate) {
                                try database.execute(sql: "PRAGMA user_version = \(LedgerSchema.version)")
                                return .commit
                            }
                        }
                        lastCommit = .now
                    })
            }
        }
    }

    /// Runs another write transaction on the connection, in order with the groups, and makes it durable.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                continuation.resume(with: Result { try perform(isSynced: true, body) })
            }
        }
    }

    /// Runs one transaction on the queue, if the file is unchanged.
    private func perform<Value>(isSynced: Bool, _ body: (Database) throws -> Value) throws -> Value {
        do {
            try checkFile()
            try prepare(isSynced: isSynced, busyTimeout: limits.maxQueueTime)
            defer { logLimit.enforce(on: pool, counter) }
            return try pool.write(body)
        } catch {
            file.integrity.note(error)
            throw error
        }
    }

    /// Runs a write transaction whose loss in a power failure is harmless, because the work is repeated. It becomes durable with the next group.
    func sweep<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                continuation.resume(with: Result { try perform(isSynced: false, body) })
            }
        }
    }

    /// Runs a write transaction as ``sweep(_:)`` does, and blocks the calling thread. Completions of earlier groups are called before it.
    func sweepBlocking<Value: Sendable>(_ body: (Database) throws -> Value) throws -> Value {
        try queue.sync { try perform(isSynced: false, body) }
    }

    /// Runs `body`, which begins its own transactions, with durable commits. The wait for a lock is limited to 500 ms.
    func maintain<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try queue.sync {
            try checkFile()
            try prepare(isSynced: true, busyTimeout: Self.probeTimeout)
            return try pool.writeWithoutTransaction(body)
        }
    }

    /// Adds a reservation to `ClaimTable`. Concurrent callers share one transaction. Blocks the calling thread.
    func claim(_ claim: FrequencyCapReservation) throws -> Bool {
        let unit = ClaimUnit(claim)
        state.withLock { $0.claims.append(unit) }
        let outcome = queue.sync {
            if let outcome = unit.outcome.withLock({ $0 }) { return outcome }
            let units = state.withLock { state in
                defer { state.claims = [] }
                return state.claims
            }
            record(units)
            return unit.outcome.withLock { $0 } ?? .success(false)
        }
        return try outcome.get()
    }

    private func record(_ units: [ClaimUnit]) {
        do {
            let areRecorded = try perform(isSynced: false) { database in
                try units.map { try ClaimTable.add($0.claim, SQLiteSession(connection: database)) }
            }
            for (unit, isRecorded) in zip(units, areRecorded) { unit.outcome.withLock { $0 = .success(isRecorded) } }
        } catch {
            for unit in units { unit.outcome.withLock { $0 = .failure(error) } }
        }
    }

    /// Returns the counts after the marker of a rollup, and forgets them; nil if the events must be read from the ledger.
    func drainRecent(_ tally: ReportTables.RollupCheckpoint) async -> EventTail? {
        await withCheckedContinuation { continuation in
            queue.async { [self] in continuation.resume(returning: writer.drainRecent(tally)) }
        }
    }

    func writeCounts() throws {
        guard writer.hasWaitingCounts else { return }
        let now = now()
        try checkFile()
        try prepare(isSynced: true, busyTimeout: limits.maxQueueTime)
        _ = try pool.writeWithoutTransaction { _ in
            try writer.commit(0, now: now, flushes: true) { _ in LedgerEntry() }
        }
        flush.last = .now
    }

    private var isFlushDue: Bool { flush.last.map { $0.duration(to: .now) >= Self.flushInterval } ?? true }

    private func planFlush() {
        guard writer.hasWaitingCounts, !flush.isPlanned else { return }
        flush.isPlanned = true
        queue.asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in
            guard let self else { return }
            flush.isPlanned = false
            // A failed write is retried; commits report the state of the disk.
            try? writeCounts()
            planFlush()
        }
    }

    /// Writes one group, and queues the next one. Other work on the queue runs in between, even under continuous load.
    private func drain() {
        var (group, late) = next()
        fail(late, StoreError.late)
        commit(group)
        group.removeAll(keepingCapacity: group.capacity <= 4_096)
        spareGroup = group
        let isWaitedFor = state.withLock { state in
            state.isRunning = !state.waiting.isEmpty
            return state.isRunning
        }
        if isWaitedFor { queue.async { [self] in drain() } } else { sweep() }
    }

    /// Removes the next group. Expired units, for example after the process was suspended, are returned separately.
    private func next() -> (group: [Unit], late: [Unit]) {
        var group = spareGroup
        spareGroup = []
        let now = ContinuousClock.now
        let late = state.withLock { state in
            let late = Array(state.waiting.prefix { isLate($0, at: now) })
            if !late.isEmpty { state.waiting.removeFirst(late.count) }
            if state.waiting.count <= limits.group {
                swap(&state.waiting, &group)
            } else {
                group += state.waiting.prefix(limits.group)
                state.waiting.removeFirst(group.count)
            }
            return late
        }
        return (group, late)
    }

    private func isLate(_ unit: Unit, at now: ContinuousClock.Instant) -> Bool { unit.arrival.duration(to: now) >= limits.maxQueueTime }

    private func commit(_ group: [Unit]) {
        if group.isEmpty { return }
        let (now, flushes) = (now(), isFlushDue)
        do {
            try checkFile()
            let receipts = try pool.writeWithoutTransaction { database in
                // The first unit has waited longest.
                try prepare(database, isSynced: true, busyTimeout: limits.maxQueueTime - (group.first?.arrival.duration(to: .now) ?? .zero))
                let receipts = try writer.commit(group.count, now: now, flushes: flushes) { group[$0].entry }
                file.integrity.look(database, counter)
                return receipts
            }
            // Data that was written to a missing or damaged file is lost.
            try checkFile()
            if writer.hasWaitingCounts { planFlush() } else { lastCommit = .now }
            if flushes { flush.last = .now }
            state.withLock { state in
                state.statistics.commits += 1
                state.statistics.units += group.count
                state.statistics.largestGroup = max(state.statistics.largestGroup, group.count)
            }
            for (unit, receipt) in zip(group, receipts) { unit.completion(.success(receipt)) }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT && group.count > 1 {
            // One unit violates a constraint. Each unit is committed in its own transaction, so that all others succeed.
            for unit in group { commit([unit]) }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            postpone(group, error)
        } catch {
            file.integrity.note(error)
            fail(group, (error as? DatabaseError).map(StoreError.init) ?? error)
        }
        logLimit.enforce(on: pool, counter)
        sweepIfLate(after: writer.perishable)
    }

    private func fail(_ units: [Unit], _ error: any Error) {
        if !units.isEmpty { lastCommit = nil }
        state.withLock { $0.statistics.failed += units.count }
        for unit in units { unit.completion(.failure(error)) }
    }

    /// Fails the units whose time has expired while the file was locked, and puts the others back at the start of the queue.
    private func postpone(_ group: [Unit], _ error: DatabaseError) {
        let end = ContinuousClock.now
        let late = group.prefix { isLate($0, at: end) }
        fail(Array(late), StoreError(error))
        state.withLock { $0.waiting.insert(contentsOf: group[late.endIndex...], at: 0) }
    }

    /// Prepares the connection for its next transaction.
    ///
    /// - Parameters:
    ///   - isSynced: true if the commit waits for the disk. A commit that does not wait becomes durable with the next one that does.
    ///   - busyTimeout: the limit of the wait for the lock. Zero or less: one attempt.
    func prepare(isSynced: Bool, busyTimeout: Duration) throws {
        try pool.writeWithoutTransaction { try prepare($0, isSynced: isSynced, busyTimeout: busyTimeout) }
    }

    private func prepare(_ database: Database, isSynced: Bool, busyTimeout: Duration) throws {
        if isSynced != self.isSynced {
            try database.execute(sql: isSynced ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL")
            self.isSynced = isSynced
        }
        Self.wait(database, atMost: busyTimeout)
    }

    /// Sets the lock timeout of the next transaction. Zero or less: one attempt.
    private static func wait(_ database: Database, atMost timeout: Duration) {
        let (seconds, attoseconds) = max(timeout, .zero).components
        // The timeout is rounded up, so that a unit has expired when the wait for it ends.
        let milliseconds = Int32(clamping: seconds * 1_000 + attoseconds / 1_000_000_000_000_000 + 1)
        sqlite3_busy_timeout(database.sqliteConnection, timeout > .zero ? milliseconds : 0)
    }

    /// Removes expired rows also under continuous load, after enough rows were written.
    private func sweepIfLate(after rows: Int) {
        if sweeper.isLate(after: rows) { sweep(isBrief: true) }
    }

    private func sweepOnce(at moment: Int64) throws -> Bool {
        // Removals that are lost in a power failure are repeated.
        try prepare(isSynced: false, busyTimeout: .zero)
        return try pool.write { try sweeper.sweep($0, now: moment, longestWindow: writer.longestWindow) }
    }

    private func sweep(isBrief: Bool = false) {
        let moment = now()
        guard sweeper.isDue(moment) else { return }
        // A failed sweep is retried by the next one; commits report the state of the disk.
        while let more = try? sweepOnce(at: moment), more, !isBrief, state.withLock({ !$0.isRunning }) {}
    }
}
