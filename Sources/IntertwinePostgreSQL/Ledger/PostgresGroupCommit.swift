internal import Dispatch
internal import Glibc
internal import IntertwineFeed
internal import IntertwineStorageCore
internal import Synchronization

/// A group commit: one transaction for all units of a replica that arrived while the previous group was written.
///
/// No unit waits for later ones. `@unchecked Sendable`: state without the lock is used on the serial queue only.
final class PostgresGroupCommit: @unchecked Sendable {
    typealias Completion = @Sendable (Result<LedgerReceipt, any Error>) -> Void

    struct Limits: Sendable {
        /// Units that may wait; one more is refused.
        var waiting: Int
        /// Units in one transaction, which bounds how long the first of them waits for the last.
        var group: Int
        /// The total time that a unit waits for an unreachable server or for locks.
        var maxQueueTime: Duration
    }

    private final class Unit: Sendable {
        let entry: LedgerEntry
        let completion: Completion
        let arrival = ContinuousClock.now

        init(_ entry: LedgerEntry, _ completion: @escaping Completion) {
            self.entry = entry
            self.completion = completion
        }
    }

    private struct State {
        var waiting: [Unit] = []
        var isRunning = false
        /// When the group was taken that is being written.
        var groupBegan: ContinuousClock.Instant?
        var isWatched = false
        var statistics = LedgerStatistics()
    }

    private let address: PostgresAddress
    private let limits: Limits
    private let clock: ServerClock
    private let queue = DispatchQueue(label: "intertwine.ledger")
    private let watch = DispatchQueue(label: "intertwine.ledger.watch")
    private let state = Mutex(State())
    private let replica: LedgerReplica
    private var connection: PostgresConnection?
    /// A group of which it is not known whether it was committed. It is found out before anything else is written.
    private var lost: LedgerReplica.LostCommit?
    private var sweeper = PostgresExpiryPurger()
    /// The time of the last flush of deferred counts, and whether another flush is scheduled.
    private var flush: (last: ContinuousClock.Instant?, isPlanned: Bool) = (nil, false)
    /// The time of the last successful check of the server's disk space; nil after a failure.
    private var lastProbe: ContinuousClock.Instant?

    /// The lifetime of a successful check.
    private static let freshness = Duration.seconds(1)
    /// The longest delay of deferred counts, which limits the disk writes for endless repetitions.
    private static let flushInterval = Duration.seconds(1)
    /// The maximum number of events of a group. Why: a statement must not exceed the server's timeout.
    private static let eventLimit = 4_096
    /// The number of attempts for a group that conflicts with others.
    private static let attempts = 10

    init(_ address: PostgresAddress, limits: Limits, clock: ServerClock) {
        (self.address, self.limits, self.clock) = (address, limits, clock)
        replica = LedgerReplica(clock: clock)
    }

    /// - Parameter completion: called on the ledger's own queue, or at once where too many wait.
    func commit(_ entry: LedgerEntry, completion: @escaping Completion) {
        let (isAccepted, watches) = state.withLock { state in
            guard state.waiting.count < limits.waiting else {
                state.statistics.refused += 1
                return (false, false)
            }
            state.waiting.append(Unit(entry, completion))
            if !state.isRunning {
                state.isRunning = true
                queue.async { [self] in drain() }
            }
            defer { state.isWatched = true }
            return (true, !state.isWatched)
        }
        if !isAccepted { completion(.failure(StoreError.overloaded)) }
        if watches { planWatch() }
    }

    var statistics: LedgerStatistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.waiting = state.waiting.count
            return statistics
        }
    }

    /// - Throws: where nothing can be written now.
    func checkWritable() async throws {
        try await onQueue { [self] in
            if let lastProbe, lastProbe.duration(to: .now) < Self.freshness { return }
            try replica.touch(connected())
            lastProbe = .now
        }
    }

    /// Writes the deferred counts, so that reads include all counts of this replica.
    func flushCounts() async throws {
        try await onQueue { [self] in try writeCounts() }
    }

    /// Runs something else on the writing connection, in its turn with the groups, for those who wait on a thread of their own. Completions of
    /// groups before have been called by then.
    func blocking<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        try queue.sync {
            do {
                return try body(connected())
            } catch let error as PostgresError {
                if error.isEndOfSession { connection = nil }
                throw error.storeError
            }
        }
    }

    private func onQueue(_ body: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            queue.async { continuation.resume(with: Result { try body() }) }
        }
    }

    // MARK: The connection

    /// Returns the writing connection, and reconnects if it was lost.
    private func connected() throws -> PostgresConnection {
        if let connection, connection.isAlive { return connection }
        connection = nil
        let new = try PostgresConnection(address, PostgresSettings(applicationName: "intertwine ledger", plansOnce: true))
        try replica.begin(new, timeout: limits.maxQueueTime.milliseconds)
        connection = new
        return new
    }

    /// Rolls back an open transaction, or closes the session.
    private func abandon() {
        replica.discard()
        guard let connection else { return }
        guard (try? connection.execute("ROLLBACK")) != nil, connection.isReusable else {
            self.connection = nil
            return
        }
    }

    // MARK: Groups

    /// Writes one group and schedules the next, so that other work on the queue runs in between, also under constant load.
    private func drain() {
        let (group, late) = next()
        failLate(late)
        commit(group)
        let isWaitedFor = state.withLock { state in
            state.isRunning = !state.waiting.isEmpty
            return state.isRunning
        }
        if isWaitedFor { queue.async { [self] in drain() } } else { sweep() }
    }

    /// Takes the next group. Units that exceeded their timeout, for example in a frozen process, are not included.
    private func next() -> (group: [Unit], late: [Unit]) {
        state.withLock { state in
            let now = ContinuousClock.now
            let late = state.waiting.prefix { isLate($0, at: now) }
            state.waiting.removeFirst(late.count)
            var events = 0
            let group = Array(
                state.waiting.prefix(limits.group).prefix { unit in
                    defer { events += unit.entry.events.count }
                    return events < Self.eventLimit
                })
            state.waiting.removeFirst(group.count)
            state.groupBegan = now
            return (group, Array(late))
        }
    }

    private func isLate(_ unit: Unit, at now: ContinuousClock.Instant) -> Bool { unit.arrival.duration(to: now) >= limits.maxQueueTime }

    private func commit(_ group: [Unit]) {
        guard let first = group.first else { return }
        let flushes = isFlushDue
        do {
            let receipts = try write(group, flushes: flushes, until: first.arrival + limits.maxQueueTime)
            if replica.hasWaitingCounts { planFlush() }
            if flushes { flush.last = .now }
            let failures = receipts.count { if case .failure = $0 { true } else { false } }
            state.withLock { state in
                state.statistics.commits += 1
                state.statistics.units += group.count - failures
                state.statistics.failed += failures
                state.statistics.largestGroup = max(state.statistics.largestGroup, group.count)
            }
            for (unit, receipt) in zip(group, receipts) { unit.completion(receipt) }
        } catch let error as PostgresError where error.isDataError && group.count > 1 {
            // One unit failed. The others are written, each in a separate transaction.
            for unit in group { commit([unit]) }
        } catch let error as PostgresError where error.isPassing {
            postpone(group, error.storeError)
        } catch {
            fail(group, (error as? PostgresError)?.storeError ?? error)
        }
        if sweeper.isLate(after: group.reduce(0) { $0 + max(1, $1.entry.events.count) }) { sweep(isBrief: true) }
    }

    /// Writes a group, with retries if they can help.
    ///
    /// - Throws: ``PostgresError`` if nothing was written; `StoreError` if the outcome is unknown.
    private func write(
        _ group: [Unit], flushes: Bool, until deadline: ContinuousClock.Instant
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
                return try replica.commit(entries, now: clock.substitute?(), flushes: flushes, connection) { [self] in
                    isLate(group[$0], at: .now)
                }
            } catch let error as LedgerReplica.LostCommit {
                (lost, isSent, connection) = (error, true, nil)
                // The client may ask again, under its key.
                guard ContinuousClock.now < deadline else { throw error.cause.storeError }
            } catch let error as PostgresError {
                // The counts of a group with an unknown outcome stay in memory until the outcome is known.
                if lost == nil { abandon() } else { connection = nil }
                let isHopeful = error.isEndOfSession || lost != nil || error.isConflict && attempt < Self.attempts
                guard isHopeful, ContinuousClock.now < deadline else {
                    if isSent { throw error.storeError }
                    throw error
                }
            }
            usleep(UInt32.random(in: 1_000...10_000) * UInt32(min(attempt, 10)))
            attempt += 1
        }
    }

    private func failLate(_ units: [Unit]) {
        guard !units.isEmpty else { return }
        state.withLock { $0.statistics.failed += units.count }
        for unit in units { unit.completion(.failure(StoreError.late)) }
    }

    private func fail(_ units: [Unit], _ error: any Error) {
        if !units.isEmpty { lastProbe = nil }
        state.withLock { $0.statistics.failed += units.count }
        for unit in units { unit.completion(.failure(error)) }
    }

    /// Requeues the units that have not timed out, in front of all others.
    private func postpone(_ group: [Unit], _ error: any Error) {
        let end = ContinuousClock.now
        let late = group.prefix { isLate($0, at: end) }
        fail(Array(late), error)
        state.withLock { $0.waiting.insert(contentsOf: group[late.endIndex...], at: 0) }
    }

    // MARK: Timeouts

    /// A network that swallows everything holds the queue up for longer than a unit may wait.
    private func planWatch() {
        watch.asyncAfter(deadline: .now() + .milliseconds(Int(max(10, limits.maxQueueTime.milliseconds / 4)))) { [weak self] in
            self?.failLate()
        }
    }

    /// Fails units that wait behind a slow group, at their timeouts.
    private func failLate() {
        let now = ContinuousClock.now
        let (late, goesOn) = state.withLock { state in
            let isStuck = state.groupBegan.map { $0.duration(to: now) >= limits.maxQueueTime } ?? false
            let late = Array(state.waiting.prefix { isStuck && $0.arrival.duration(to: now) >= limits.maxQueueTime })
            state.waiting.removeFirst(late.count)
            state.isWatched = state.isRunning
            return (late, state.isWatched)
        }
        failLate(late)
        if goesOn { planWatch() }
    }

    // MARK: Counts

    private var isFlushDue: Bool { flush.last.map { $0.duration(to: .now) >= Self.flushInterval } ?? true }

    private func writeCounts() throws {
        guard replica.hasWaitingCounts else { return }
        _ = try write([], flushes: true, until: .now + limits.maxQueueTime)
        flush.last = .now
    }

    private func planFlush() {
        guard replica.hasWaitingCounts, !flush.isPlanned else { return }
        flush.isPlanned = true
        queue.asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in
            guard let self else { return }
            flush.isPlanned = false
            // A failed write is retried by the next flush; commits report the state of the server.
            try? writeCounts()
            planFlush()
        }
    }

    // MARK: Sweeping

    private func sweep(isBrief: Bool = false) {
        guard sweeper.isDue(clock.now) else { return }
        // A failed sweep is retried by the next sweep; commits report the state of the server.
        while sweepOnce(), !isBrief, state.withLock({ !$0.isRunning }) {}
    }

    private func sweepOnce() -> Bool {
        do {
            return try sweeper.sweep(connected(), by: clock, longestWindow: replica.longestWindow)
        } catch {
            if let connection, (try? connection.execute("ROLLBACK")) == nil { self.connection = nil }
            return false
        }
    }
}

extension PostgresError {
    /// A value that the database cannot take.
    fileprivate var isDataError: Bool { code.hasPrefix("22") }

    /// A conflict with another replica: the same new key, a deadlock, or a dropped partition.
    fileprivate var isConflict: Bool { isRepeatable || ["23505", "23514", "42P01"].contains(code) }

    /// True for transient errors that may end before a unit times out: an unreachable server, and locks.
    fileprivate var isPassing: Bool { isEndOfSession || ["55P03", "57014"].contains(code) }
}

extension Duration {
    fileprivate var milliseconds: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}
