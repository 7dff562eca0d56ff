import DequeModule
import IntertwineFeed

/// A read that waits for a thread, or has one.
///
/// `@unchecked Sendable`: its stage is changed under the lock of whoever keeps the queue; everything else is touched by the one thread that
/// took the read, and by whoever made it before it came to the queue.
class PendingRead: @unchecked Sendable {
    fileprivate enum Stage {
        case new, waiting, running, over
    }

    let purpose: ReadPurpose
    fileprivate var stage = Stage.new
    fileprivate var arrival = ContinuousClock.now

    init(_ purpose: ReadPurpose) {
        self.purpose = purpose
    }

    /// Reads. On the thread that took it.
    func run() {}

    /// Gives what was read to whoever waits for it. Called once, after ``run()``.
    func deliver() {}

    /// Tells whoever waits that nothing will be read. Called once, in place of ``run()``.
    func fail(_ error: any Error) {}
}

/// Reads that wait, and which of them is next. A state machine without a lock or a thread.
struct ReadQueue {
    enum Admission {
        /// It waits for its turn.
        case waiting
        /// There is no room, or it was to be read only while nothing else is.
        case refused
        /// Whoever asked for it is gone already.
        case cancelled
    }

    private let limits: ReadLimits
    private var requests: Deque<PendingRead> = []
    private var background: Deque<PendingRead> = []
    private var runningInBackground = 0
    private(set) var statistics = ReadStatistics()

    init(_ limits: ReadLimits) {
        self.limits = limits
    }

    private var count: Int { requests.count + background.count }

    /// When the time of the read that has waited longest is over.
    var firstDeadline: ContinuousClock.Instant? {
        [requests.first, background.first].lazy.compactMap { $0?.arrival }.min().map { $0 + limits.queueTimeout }
    }

    mutating func admit(_ read: PendingRead, at now: ContinuousClock.Instant) -> Admission {
        guard read.stage == .new else { return .cancelled }
        let isWanted = read.purpose == .idle ? count == 0 && statistics.running == 0 : count < limits.waiting
        guard isWanted else {
            read.stage = .over
            if read.purpose != .idle { statistics.refused += 1 }
            return .refused
        }
        (read.stage, read.arrival) = (.waiting, now)
        if read.purpose == .request { requests.append(read) } else { background.append(read) }
        statistics.waiting = count
        return .waiting
    }

    /// Takes the read that is next, of either kind the one that came first; those in the background only as long as they leave threads free.
    mutating func next() -> PendingRead? {
        let mayLinger = runningInBackground < max(1, limits.threads / 2)
        let isBehind = background.first.map { first in requests.first.map { first.arrival < $0.arrival } ?? true } ?? false
        guard let read = mayLinger && isBehind ? background.popFirst() : requests.popFirst() else { return nil }
        if read.purpose != .request { runningInBackground += 1 }
        read.stage = .running
        statistics.running += 1
        statistics.waiting = count
        return read
    }

    mutating func finish(_ read: PendingRead) {
        read.stage = .over
        if read.purpose != .request { runningInBackground -= 1 }
        statistics.running -= 1
        statistics.finished += 1
    }

    /// Has a read leave whose asker is gone: true where it waited, and nothing will be read for it.
    mutating func cancel(_ read: PendingRead) -> Bool {
        let wasWaiting = read.stage == .waiting
        guard wasWaiting || read.stage == .new else { return false }
        read.stage = .over
        requests.removeAll { $0 === read }
        background.removeAll { $0 === read }
        statistics.waiting = count
        return wasWaiting
    }

    /// Takes out those that have waited too long.
    mutating func drainExpired(at now: ContinuousClock.Instant) -> [PendingRead] {
        var late: [PendingRead] = []
        while let read = requests.first, now - read.arrival >= limits.queueTimeout { late.append(requests.removeFirst()) }
        while let read = background.first, now - read.arrival >= limits.queueTimeout { late.append(background.removeFirst()) }
        for read in late { read.stage = .over }
        statistics.refused += late.count
        statistics.waiting = count
        return late
    }
}
