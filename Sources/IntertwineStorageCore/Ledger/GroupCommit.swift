internal import Dispatch
package import IntertwineFeed
internal import IntertwinePrimitives
internal import Synchronization

/// Why a class: an entry contains many strings, and is not copied between its arrival and its completion.
package final class LedgerUnit: Sendable {
    package let entry: LedgerEntry
    fileprivate let completion: @Sendable (Result<LedgerReceipt, any Error>) -> Void
    fileprivate let arrival = ContinuousClock.now

    fileprivate init(_ entry: LedgerEntry, _ completion: @escaping @Sendable (Result<LedgerReceipt, any Error>) -> Void) {
        self.entry = entry
        self.completion = completion
    }
}

package enum GroupFailure {
    /// Each unit is written in its own transaction, so that all others succeed.
    case ofOneUnit
    case transient(StoreError)
    case final(any Error)
}

package protocol LedgerGroupWriter: AnyObject, SendableMetatype {
    static var commitProvesDisk: Bool { get }

    var hasWaitingCounts: Bool { get }

    var rateCounters: (count: Int, bytes: Int) { get }

    /// `flushes`: true if waiting counts must be written.
    /// `deadline`: the time after which the first unit must not wait for a lock.
    func commit(
        _ group: [LedgerUnit], flushes: Bool, until deadline: ContinuousClock.Instant, isLate: (LedgerUnit) -> Bool
    ) throws -> [Result<LedgerReceipt, any Error>]

    func failure(_ error: any Error) -> GroupFailure

    func probe() throws

    /// Returns true if expired rows must be removed now: after the interval, or after enough rows were written.
    func isPurgeDue() -> Bool
    func isPurgeLate(after group: [LedgerUnit]) -> Bool

    func purge() -> Bool
}

/// A group commit: one transaction for all units that arrived while the previous group was written.
/// `@unchecked Sendable`: all state outside of the lock is accessed on the serial queue alone, and the semaphore synchronizes itself.
package final class GroupCommit<Writer: LedgerGroupWriter>: @unchecked Sendable {
    package typealias Completion = @Sendable (Result<LedgerReceipt, any Error>) -> Void

    private struct State {
        var waiting: [LedgerUnit] = []
        var isRunning = false
        var awaited = 0
        var groupBegan: ContinuousClock.Instant?
        var isWatched = false
        var statistics = LedgerStatistics()
    }

    private let limits: GroupLimits
    package let writer: Writer
    private let queue = DispatchQueue(label: "intertwine.ledger")
    private let watch = DispatchQueue(label: "intertwine.ledger.watch")
    private let state = Mutex(State())
    private var spareGroup: [LedgerUnit] = []
    /// Signalled once for each wait that ends because enough units wait.
    private let gathered = MonotonicSemaphore()
    private var pause: (left: Int, next: Int) = (0, 1)
    private var flush: (last: ContinuousClock.Instant?, isPlanned: Bool) = (nil, false)
    private var lastProof: ContinuousClock.Instant?

    /// The duration of a group below which a wait would cost more than a transaction.
    private static var shortestGroup: Duration { .microseconds(200) }
    private static var longestWait: Duration { .milliseconds(2) }
    private static var longestPause: Int { 64 }
    private static var freshness: Duration { .seconds(1) }
    private static var flushInterval: Duration { .seconds(1) }

    package init(_ writer: Writer, _ limits: GroupLimits) {
        (self.writer, self.limits) = (writer, limits)
    }

    package func commit(_ entry: LedgerEntry, completion: @escaping Completion) {
        let unit = LedgerUnit(entry, completion)
        let (isAccepted, starts, completes, watches) = state.withLock { state in
            guard state.waiting.count < limits.waiting else {
                state.statistics.refused += 1
                return (false, false, false, false)
            }
            state.waiting.append(unit)
            let completes = state.awaited > 0 && state.waiting.count >= state.awaited
            if completes { state.awaited = 0 }
            defer { (state.isRunning, state.isWatched) = (true, limits.isWatched) }
            return (true, !state.isRunning, completes, limits.isWatched && !state.isWatched)
        }
        if !isAccepted { return completion(.failure(StoreError.overloaded)) }
        // The call is outside the lock, because it wakes a thread and all event loops take this lock.
        if starts { queue.async { [self] in drain() } }
        if completes { gathered.signal() }
        if watches { planWatch() }
    }

    package var statistics: LedgerStatistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.waiting = state.waiting.count
            return statistics
        }
    }

    /// Checks that a click could be written, unless that was proved recently.
    package func checkWritable() async throws {
        try await inTurn { [self] writer in
            if let lastProof, lastProof.duration(to: .now) < Self.freshness { return }
            try writer.probe()
            lastProof = .now
        }
    }

    /// Writes the waiting counts, so that readers find all of them.
    package func flushCounts() async throws {
        try await inTurn { [self] _ in try writeCounts() }
    }

    package func inTurn<Value: Sendable>(_ body: @escaping @Sendable (Writer) throws -> Value) async throws -> Value {
        try await queue.perform { [self] in try body(writer) }
    }

    package func inTurnBlocking<Value>(_ body: (Writer) throws -> Value) throws -> Value {
        try queue.sync { try body(writer) }
    }

    // MARK: Groups

    private func drain() {
        var (group, late) = next()
        fail(late, StoreError.late)
        commit(group)
        let count = group.count
        group.removeAll(keepingCapacity: group.capacity <= 4_096)
        spareGroup = group
        gather(after: count)
        let isWaitedFor = state.withLock { state in
            state.isRunning = !state.waiting.isEmpty
            return state.isRunning
        }
        if isWaitedFor { queue.async { [self] in drain() } } else { purge() }
    }

    /// Waits for the next units of the clients of the last group, so that they share a transaction with the units that wait already.
    /// The wait takes at most half as long as the last group did, and at most ``longestWait``. A single client never waits.
    /// Why: otherwise clients that each wait for their unit form two halves, which alternate in transactions of half the size.
    private func gather(after count: Int) {
        guard pause.left == 0 else { return pause.left -= 1 }
        let now = ContinuousClock.now
        let wait: (before: Int, limit: Duration)? = state.withLock { state in
            let before = state.waiting.count
            let awaited = min(before + count, limits.group)
            let duration = state.groupBegan?.duration(to: now) ?? .zero
            guard awaited > max(1, before), duration >= Self.shortestGroup else { return nil }
            state.awaited = awaited
            return (before, min(duration / 2, Self.longestWait))
        }
        guard let wait else { return }
        let isComplete = gathered.wait(for: wait.limit)
        let (arrived, isSignalled) = state.withLock { state in
            defer { state.awaited = 0 }
            return (state.waiting.count - wait.before, state.awaited == 0)
        }
        // The signal can follow the end of the time.
        if isSignalled, !isComplete { gathered.wait() }
        if arrived * 2 >= count {
            pause.next = 1
        } else {
            pause = (pause.next, min(pause.next * 2, Self.longestPause))
        }
    }

    private func next() -> (group: [LedgerUnit], late: [LedgerUnit]) {
        var group = spareGroup
        spareGroup = []
        let now = ContinuousClock.now
        let late = state.withLock { state in
            let late = Array(state.waiting.prefix { isLate($0, at: now) })
            if !late.isEmpty { state.waiting.removeFirst(late.count) }
            state.groupBegan = now
            let count = groupSize(state.waiting)
            if count == state.waiting.count {
                swap(&state.waiting, &group)
            } else {
                group += state.waiting.prefix(count)
                state.waiting.removeFirst(count)
            }
            return late
        }
        return (group, late)
    }

    private func groupSize(_ waiting: [LedgerUnit]) -> Int {
        let most = min(waiting.count, limits.group)
        guard limits.events < .max else { return most }
        var events = 0
        return waiting.prefix(most).prefix { unit in
            defer { events += unit.entry.events.count }
            return events < limits.events
        }.count
    }

    private func isLate(_ unit: LedgerUnit, at now: ContinuousClock.Instant) -> Bool {
        unit.arrival.duration(to: now) >= limits.maxQueueTime
    }

    private func commit(_ group: [LedgerUnit]) {
        guard let first = group.first else { return }
        let flushes = flush.last.map { $0.duration(to: .now) >= Self.flushInterval } ?? true
        do {
            let receipts = try write(group, flushes: flushes, until: first.arrival + limits.maxQueueTime)
            if writer.hasWaitingCounts { planFlush() } else if Writer.commitProvesDisk { lastProof = .now }
            if flushes { flush.last = .now }
            let memory = writer.rateCounters
            let failures = receipts.count { if case .failure = $0 { true } else { false } }
            state.withLock { state in
                state.statistics.commits += 1
                state.statistics.units += group.count - failures
                state.statistics.failed += failures
                state.statistics.largestGroup = max(state.statistics.largestGroup, group.count)
                (state.statistics.rateCounters, state.statistics.rateCounterBytes) = memory
            }
            for (unit, receipt) in zip(group, receipts) { unit.completion(receipt) }
        } catch {
            switch writer.failure(error) {
            case .ofOneUnit where group.count > 1: for unit in group { commit([unit]) }
            case .transient(let error): postpone(group, error)
            case .ofOneUnit, .final: fail(group, (error as? any DatabaseFailure)?.storeError ?? error)
            }
        }
        if writer.isPurgeLate(after: group) { purge(isBrief: true) }
    }

    private func write(
        _ group: [LedgerUnit], flushes: Bool, until deadline: ContinuousClock.Instant
    ) throws -> [Result<LedgerReceipt, any Error>] {
        try writer.commit(group, flushes: flushes, until: deadline) { isLate($0, at: .now) }
    }

    private func fail(_ units: some Collection<LedgerUnit>, _ error: any Error) {
        if units.isEmpty { return }
        lastProof = nil
        report(units, error)
    }

    private func report(_ units: some Collection<LedgerUnit>, _ error: any Error) {
        state.withLock { $0.statistics.failed += units.count }
        for unit in units { unit.completion(.failure(error)) }
    }

    private func postpone(_ group: [LedgerUnit], _ error: StoreError) {
        let end = ContinuousClock.now
        let late = group.prefix { isLate($0, at: end) }
        fail(late, error)
        state.withLock { $0.waiting.insert(contentsOf: group[late.endIndex...], at: 0) }
    }

    // MARK: Counts

    private func writeCounts() throws {
        guard writer.hasWaitingCounts else { return }
        _ = try write([], flushes: true, until: .now + limits.maxQueueTime)
        flush.last = .now
    }

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

    // MARK: Purge

    private func purge(isBrief: Bool = false) {
        guard writer.isPurgeDue() else { return }
        while writer.purge(), !isBrief, state.withLock({ !$0.isRunning }) {}
    }

    // MARK: Timeouts of units behind a slow group

    private func planWatch() {
        watch.asyncAfter(deadline: .now() + .milliseconds(Int(max(10, limits.maxQueueTime.milliseconds / 4)))) { [weak self] in
            self?.failLate()
        }
    }

    private func failLate() {
        let now = ContinuousClock.now
        let (late, goesOn) = state.withLock { state in
            let isStuck = state.groupBegan.map { $0.duration(to: now) >= limits.maxQueueTime } ?? false
            let late = Array(state.waiting.prefix { isStuck && isLate($0, at: now) })
            state.waiting.removeFirst(late.count)
            state.isWatched = state.isRunning
            return (late, state.isWatched)
        }
        if !late.isEmpty { report(late, StoreError.late) }
        if goesOn { planWatch() }
    }
}

package struct GroupLimits: Sendable {
    package var waiting = 4_096
    package var group = 512
    /// The time after which a unit fails: while another process has the lock, or while the server does not respond.
    package var maxQueueTime = Duration.seconds(2)
    /// The limit of events in one transaction. Why: a statement must not exceed the server's timeout.
    package var events = Int.max
    /// True if units that wait behind a slow group fail at their timeouts. Why: a network that swallows everything holds the queue up.
    package var isWatched = false

    package init(waiting: Int = 4_096, group: Int = 512, maxQueueTime: Duration = .seconds(2), events: Int = .max, isWatched: Bool = false)
    {
        (self.waiting, self.group, self.maxQueueTime) = (waiting, group, maxQueueTime)
        (self.events, self.isWatched) = (events, isWatched)
    }
}
