import Dispatch
import GRDB
import GRDBSQLite
import IntertwineFeed
import Synchronization

/// One transaction for all units that are waiting: those that arrived while the disk was busy with the group before.
///
/// No unit waits for others to come. `@unchecked Sendable`: the writer is touched on the serial queue alone.
final class GroupCommit: @unchecked Sendable {
    typealias Completion = @Sendable (Result<LedgerReceipt, any Error>) -> Void

    struct Limits: Sendable {
        /// Units that may wait; one more is refused.
        var waiting = 4_096
        /// Units in one transaction, which bounds how long the first of them waits for the last.
        var group = 512
        /// How long a unit waits in all for a file that another process keeps locked.
        var maxQueueTime = Duration.seconds(2)
    }

    /// A class: an entry is a good many strings, and stays where it is from its arrival to its end.
    private final class Unit: Sendable {
        let entry: LedgerEntry
        let completion: Completion
        let arrival = ContinuousClock.now

        init(_ entry: LedgerEntry, _ completion: @escaping Completion) {
            self.entry = entry
            self.completion = completion
        }
    }

    /// What a process gives to a viewer, and whether it was noted.
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

    /// Changed on the queue alone, like the file and the transaction that go with it.
    private var pool: DatabasePool
    private var counter: WALChangeCounter
    private let opened: Mutex<FileIdentity>
    private let limits: Limits
    private let now: @Sendable () -> Int64
    private let queue = DispatchQueue(label: "intertwine.ledger")
    private let state = Mutex(State())
    private var writer: LedgerWriter
    private var sweeper: LedgerExpiryPurger
    /// Memory for the next group; what waits then takes over that of the last.
    private var spare: [Unit] = []
    /// Whether the connection syncs its commits.
    private var isSynced = true
    /// When counts that have no rows were last written, and whether somebody will.
    private var flush: (last: ContinuousClock.Instant?, isPlanned: Bool) = (nil, false)

    /// When the disk last took something.
    private var lastCommit: ContinuousClock.Instant?

    /// For how long that shows that it still does, and how long is waited for a lock to find out.
    private static let (freshness, probeTimeout) = (Duration.seconds(1), Duration.milliseconds(500))
    /// How long such counts wait at the most, so that repeated impressions without end cost the disk no more than one write now and then.
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

    /// - Parameter completion: called on the ledger's own queue, or at once where too many wait.
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
        // Not under the lock: it wakes a thread, and all loops come here.
        if starts { queue.async { [self] in drain() } }
    }

    var statistics: LedgerStatistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.waiting = state.waiting.count
            return statistics
        }
    }

    /// The file that is written to.
    var file: FileIdentity { opened.withLock { $0 } }

    /// Writes to another file from now on.
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

    /// - Throws: where nothing can be written now.
    func checkWritable() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            queue.async { [self] in
                continuation.resume(
                    with: Result {
                        try checkFile()
                        if let lastCommit, lastCommit.duration(to: .now) < Self.freshness { return }
                        try prepare(isSynced: true, busyTimeout: min(limits.maxQueueTime, Self.probeTimeout))
                        // The same as before, but for that it has to go to the disk like a click.
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

    /// Runs something else on the writing connection, in its turn with the groups.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                continuation.resume(with: Result { try perform(isSynced: true, body) })
            }
        }
    }

    /// One transaction on the queue, if the file is as it was.
    private func perform<Value>(isSynced: Bool, _ body: (Database) throws -> Value) throws -> Value {
        do {
            try checkFile()
            try prepare(isSynced: isSynced, busyTimeout: limits.maxQueueTime)
            return try pool.write(body)
        } catch {
            file.integrity.note(error)
            throw error
        }
    }

    /// The same for what may be lost with the power and is then done again: it is on disk with the next group, and nobody waits for that.
    func sweep<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                continuation.resume(with: Result { try perform(isSynced: false, body) })
            }
        }
    }

    /// The same for those who wait on a thread of their own. Completions of groups before have been called by then.
    func sweepBlocking<Value: Sendable>(_ body: (Database) throws -> Value) throws -> Value {
        try queue.sync { try perform(isSynced: false, body) }
    }

    /// Runs what begins transactions of its own, on disk when it returns. Waits for no lock for longer than a moment.
    func maintain<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try queue.sync {
            try checkFile()
            try prepare(isSynced: true, busyTimeout: Self.probeTimeout)
            return try pool.writeWithoutTransaction(body)
        }
    }

    /// Notes what is given to a viewer, as ``ClaimTable`` does. Those who wait for that at the same time share a writer.
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
            let areNoted = try perform(isSynced: false) { database in try units.map { try ClaimTable.add($0.claim, database) } }
            for (unit, isNoted) in zip(units, areNoted) { unit.outcome.withLock { $0 = .success(isNoted) } }
        } catch {
            for unit in units { unit.outcome.withLock { $0 = .failure(error) } }
        }
    }

    /// Completes the file, behind the groups that are waiting.
    func completeFile() async throws {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                continuation.resume(
                    with: Result {
                        try writeCounts()
                        try pool.completeFile()
                    })
            }
        }
    }

    /// Rewrites the whole file, behind the groups that are waiting. Nothing else is written meanwhile.
    func vacuum() async throws {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                continuation.resume(
                    with: Result {
                        try prepare(isSynced: true, busyTimeout: limits.maxQueueTime)
                        try pool.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
                    })
            }
        }
    }

    /// Has the counts that wait be written, so that whoever reads finds all of them.
    func flushCounts() async throws {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                continuation.resume(with: Result { try writeCounts() })
            }
        }
    }

    /// What was written behind the marker of a tally, to be added to it; nil where that has to be read. It is given once.
    func drainRecent(_ tally: ReportTables.RollupCheckpoint) async -> EventTail? {
        await withCheckedContinuation { continuation in
            queue.async { [self] in continuation.resume(returning: writer.drainRecent(tally)) }
        }
    }

    private func writeCounts() throws {
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
            // What fails here is tried again; commits report the state of the disk.
            try? writeCounts()
            planFlush()
        }
    }

    /// Writes one group, and the next in its turn: whatever else waits for the queue comes in between, also where somebody always waits.
    private func drain() {
        var (group, late) = next()
        fail(late, StoreError.late)
        commit(group)
        group.removeAll(keepingCapacity: group.capacity <= 4_096)
        spare = group
        let isWaitedFor = state.withLock { state in
            state.isRunning = !state.waiting.isEmpty
            return state.isRunning
        }
        if isWaitedFor { queue.async { [self] in drain() } } else { sweep() }
    }

    /// Takes the next group. Units whose timeout is over, such as those of a process that stood still, are in none.
    private func next() -> (group: [Unit], late: [Unit]) {
        var group = spare
        spare = []
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
                // The first has waited longest.
                try prepare(database, isSynced: true, busyTimeout: limits.maxQueueTime - (group.first?.arrival.duration(to: .now) ?? .zero))
                let receipts = try writer.commit(group.count, now: now, flushes: flushes) { group[$0].entry }
                file.integrity.look(database, counter)
                return receipts
            }
            // What went into a file that is gone, or damaged, by now is nowhere.
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
            // One unit cannot be written: its neighbours can, each in a transaction of its own.
            for unit in group { commit([unit]) }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            postpone(group, error)
        } catch {
            file.integrity.note(error)
            fail(group, (error as? DatabaseError).map(StoreError.init) ?? error)
        }
        sweepIfLate(after: writer.perishable)
    }

    private func fail(_ units: [Unit], _ error: any Error) {
        if !units.isEmpty { lastCommit = nil }
        state.withLock { $0.statistics.failed += units.count }
        for unit in units { unit.completion(.failure(error)) }
    }

    /// The file stayed locked until the time of the first unit was over; those whose time is not go on waiting, before all others.
    private func postpone(_ group: [Unit], _ error: DatabaseError) {
        let end = ContinuousClock.now
        let late = group.prefix { isLate($0, at: end) }
        fail(Array(late), StoreError(error))
        state.withLock { $0.waiting.insert(contentsOf: group[late.endIndex...], at: 0) }
    }

    /// Makes the connection ready for its next writer.
    ///
    /// - Parameters:
    ///   - isSynced: whether its commit waits for the disk. One that need not is on disk with the next that does.
    ///   - patience: how long it may wait for the lock. Zero or less: it is tried once.
    private func prepare(isSynced: Bool, busyTimeout: Duration) throws {
        try pool.writeWithoutTransaction { try prepare($0, isSynced: isSynced, busyTimeout: busyTimeout) }
    }

    private func prepare(_ database: Database, isSynced: Bool, busyTimeout: Duration) throws {
        if isSynced != self.isSynced {
            try database.execute(sql: isSynced ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL")
            self.isSynced = isSynced
        }
        Self.wait(database, atMost: busyTimeout)
    }

    /// How long the next transaction may wait for the lock. Zero or less: it is tried once.
    private static func wait(_ database: Database, atMost patience: Duration) {
        let (seconds, attoseconds) = max(patience, .zero).components
        // Rounded up, so that a unit's time is over when the wait for it is.
        let milliseconds = Int32(clamping: seconds * 1_000 + attoseconds / 1_000_000_000_000_000 + 1)
        sqlite3_busy_timeout(database.sqliteConnection, patience > .zero ? milliseconds : 0)
    }

    /// Under a load that never pauses, what expires must go all the same.
    private func sweepIfLate(after rows: Int) {
        if sweeper.isLate(after: rows) { sweep(isBrief: true) }
    }

    private func sweepOnce(at moment: Int64) throws -> Bool {
        // What is lost with the power is removed once more.
        try prepare(isSynced: false, busyTimeout: .zero)
        return try pool.write { try sweeper.sweep($0, now: moment, longestWindow: writer.longestWindow) }
    }

    private func sweep(isBrief: Bool = false) {
        let moment = now()
        guard sweeper.isDue(moment) else { return }
        // What fails here is tried again with the next sweep; commits report the state of the disk.
        while let more = try? sweepOnce(at: moment), more, !isBrief, state.withLock({ !$0.isRunning }) {}
    }
}
