internal import IntertwineFeed
import IntertwinePrimitives

/// `@unchecked Sendable`: its stage is changed under the lock of the queue's owner; all other state is accessed by the one thread that took
/// the read, and by its creator before the read was queued.
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

    func run() {}

    func deliver() {}

    func fail(_ error: any Error) {}
}

struct ReadQueue {
    private let limits: ReadLimits
    // Arrays, because few reads wait: the generic code of a queue was 8 % of the instructions of a page.
    private var requests: [PendingRead] = []
    private var background: [PendingRead] = []
    private var runningInBackground = 0
    private(set) var statistics = ReadStatistics()

    init(_ limits: ReadLimits) {
        self.limits = limits
    }

    private var count: Int { requests.count + background.count }

    var firstDeadline: ContinuousClock.Instant? {
        [requests.first, background.first].lazy.compactMap { $0?.arrival }.min().map { $0 + limits.queueTimeout }
    }

    /// Returns the reason why the read does not wait; nil if it does.
    mutating func admit(_ read: PendingRead, at now: ContinuousClock.Instant) -> (any Error)? {
        guard read.stage == .new else { return CancellationError() }
        let isWanted = read.purpose == .idle ? count == 0 && statistics.running == 0 : count < limits.waiting
        guard isWanted else {
            read.stage = .over
            if read.purpose != .idle { statistics.refused += 1 }
            return StoreError.overloaded
        }
        (read.stage, read.arrival) = (.waiting, now)
        if read.purpose.isForClient { requests.append(read) } else { background.append(read) }
        statistics.waiting = count
        return nil
    }

    private static func first(of reads: inout [PendingRead]) -> PendingRead? { reads.isEmpty ? nil : reads.removeFirst() }

    mutating func next() -> PendingRead? {
        let mayLinger = runningInBackground < max(1, limits.threads / 2)
        let isBehind = background.first.map { first in requests.first.map { first.arrival < $0.arrival } ?? true } ?? false
        guard let read = mayLinger && isBehind ? Self.first(of: &background) : Self.first(of: &requests) else { return nil }
        if !read.purpose.isForClient { runningInBackground += 1 }
        read.stage = .running
        statistics.running += 1
        statistics.waiting = count
        return read
    }

    mutating func finish(_ read: PendingRead) {
        read.stage = .over
        if !read.purpose.isForClient { runningInBackground -= 1 }
        statistics.running -= 1
        statistics.finished += 1
    }

    mutating func cancel(_ read: PendingRead) -> Bool {
        let wasWaiting = read.stage == .waiting
        guard wasWaiting || read.stage == .new else { return false }
        read.stage = .over
        requests.removeAll { $0 === read }
        background.removeAll { $0 === read }
        statistics.waiting = count
        return wasWaiting
    }

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

extension ReadPurpose {
    fileprivate var isForClient: Bool { self == .request || self == .page }
}
