import TestSupport
import Testing

@testable import IntertwineHTTPServer
@testable import IntertwineImages

/// The queue as downloads use it: an entry that may start does so at once.
private struct Downloads {
    enum Verdict { case start, wait, refuse }

    var queue: AdmissionQueue<Int>
    var reduced: Set<String> = []

    mutating func acquire(
        _ key: Int, origin: String, priority: ImagePriority, now: MonotonicInstant
    ) -> (verdict: Verdict, displaced: [Int]) {
        let isReduced: (String) -> Bool = { [reduced] in reduced.contains($0) }
        let (isAccepted, displaced) = queue.enter(
            key, from: origin, priority: priority, now: now, isReduced: isReduced)
        guard isAccepted else { return (.refuse, displaced) }
        let started = next()
        #expect(started == nil || started == key)
        return (started == key ? .start : .wait, displaced)
    }

    mutating func next() -> Int? { queue.next { [reduced] in reduced.contains($0) } }
    mutating func release(_ key: Int) { queue.remove(key) }
}

@Suite("Admission of downloads")
struct DownloadAdmissionTests {
    private func admission(running: Int = 4, perHost: Int = 2, waiting: Int = 3) -> Downloads {
        Downloads(
            queue: AdmissionQueue(
                limits: AdmissionQueue.Limits(
                    running: running, perOrigin: perHost, prefetchesPerOrigin: max(1, perHost / 2), waiting: waiting,
                    maxQueueTime: .seconds(2))))
    }

    private let now = MonotonicInstant(nanoseconds: 0)

    @Test("Limits hold in total and per host")
    func limits() {
        var admission = admission()
        #expect(admission.acquire(1, origin: "a", priority: .visible, now: now).verdict == .start)
        #expect(admission.acquire(2, origin: "a", priority: .visible, now: now).verdict == .start)
        #expect(admission.acquire(3, origin: "a", priority: .visible, now: now).verdict == .wait)
        #expect(admission.acquire(4, origin: "b", priority: .visible, now: now).verdict == .start)
        #expect(admission.acquire(5, origin: "c", priority: .visible, now: now).verdict == .start)
        #expect(admission.acquire(6, origin: "d", priority: .visible, now: now).verdict == .wait)
        #expect(admission.next() == nil)
        admission.release(1)
        #expect(admission.next() == 6 || admission.queue.runningCount == 4)
    }

    @Test("Visible before near before prefetch; newest visible first, prefetch in order")
    func order() {
        var admission = admission(running: 2, perHost: 2, waiting: 10)
        _ = admission.acquire(1, origin: "a", priority: .visible, now: now)
        _ = admission.acquire(2, origin: "a", priority: .visible, now: now)
        for (id, priority) in [(3, ImagePriority.prefetch), (4, .visible), (5, .near), (6, .visible), (7, .prefetch)] {
            #expect(admission.acquire(id, origin: "a", priority: priority, now: now).verdict == .wait)
        }
        var order: [Int] = []
        var running = 1
        for _ in 0..<5 {
            admission.release(running)
            if let next = admission.next() {
                order.append(next)
                running = next
            }
        }
        #expect(order == [6, 4, 5, 3, 7])
    }

    @Test("A prioritized request is next, the last one first, and keeps its timeout if it was visible")
    func hurried() {
        var admission = admission(running: 1, perHost: 1, waiting: 10)
        for id in 1...5 { _ = admission.acquire(id, origin: "a", priority: .visible, now: now) }
        _ = admission.acquire(6, origin: "a", priority: .prefetch, now: now)
        for id in [3, 6, 2, 1, 99] { admission.queue.setPriority(.visible, of: id, isNewest: true, now: now) }
        #expect(admission.queue.nextExpiry == now.advanced(by: .seconds(2)))
        var order: [Int] = []
        var running = 1
        for _ in 0..<5 {
            admission.release(running)
            if let next = admission.next() {
                order.append(next)
                running = next
            }
        }
        #expect(order == [2, 6, 3, 5, 4])
    }

    @Test("A full queue rejects, unless it has a less urgent request")
    func full() {
        var admission = admission(running: 1, perHost: 1, waiting: 2)
        _ = admission.acquire(1, origin: "a", priority: .visible, now: now)
        _ = admission.acquire(2, origin: "a", priority: .prefetch, now: now)
        _ = admission.acquire(3, origin: "a", priority: .near, now: now)
        #expect(admission.acquire(4, origin: "a", priority: .prefetch, now: now).verdict == .refuse)
        let entered = admission.acquire(5, origin: "a", priority: .visible, now: now)
        #expect(entered.verdict == .wait && entered.displaced == [2])
        #expect(admission.queue.waitingCount == 2)
    }

    @Test("Prefetches leave capacity for visible images")
    func flood() {
        var admission = admission(running: 8, perHost: 4, waiting: 1_000)
        for id in 0..<100 { _ = admission.acquire(id, origin: "h\(id % 10)", priority: .prefetch, now: now) }
        #expect(admission.queue.runningCount == 4)
        #expect(admission.acquire(1_000, origin: "x", priority: .visible, now: now).verdict == .start)
        #expect(admission.acquire(1_001, origin: "h0", priority: .visible, now: now).verdict == .start)
    }

    @Test("A request that exceeds the queue timeout is rejected; a reprioritized one starts sooner")
    func patience() {
        var admission = admission(running: 1, perHost: 1, waiting: 10)
        _ = admission.acquire(1, origin: "a", priority: .visible, now: now)
        _ = admission.acquire(2, origin: "a", priority: .prefetch, now: now)
        _ = admission.acquire(3, origin: "a", priority: .near, now: now.advanced(by: .seconds(1)))
        #expect(admission.queue.nextExpiry == now.advanced(by: .seconds(2)))
        #expect(admission.queue.expire(now: now.advanced(by: .milliseconds(2_500))) == [2])
        admission.queue.setPriority(.visible, of: 3, now: now.advanced(by: .milliseconds(2_500)))
        #expect(admission.queue.nextExpiry == now.advanced(by: .milliseconds(4_500)))
        _ = admission.acquire(4, origin: "a", priority: .near, now: now.advanced(by: .milliseconds(2_000)))
        #expect(admission.queue.nextExpiry == now.advanced(by: .milliseconds(4_000)))
        admission.release(1)
        #expect(admission.next() == 3)
    }

    @Test("Any sequence keeps the limits and loses no request")
    func anySequence() {
        var generator = SeededRandom(seed: 9)
        var admission = admission(running: 8, perHost: 3, waiting: 20)
        var hosts: [Int: String] = [:]
        var running: Set<Int> = []
        var waiting: Set<Int> = []
        for id in 0..<20_000 {
            if Bool.random(using: &generator) {
                let host = "h\(Int.random(in: 0..<5, using: &generator))"
                hosts[id] = host
                let priority = ImagePriority.allCases.randomElement(using: &generator) ?? .near
                let (verdict, displaced) = admission.acquire(id, origin: host, priority: priority, now: now)
                waiting.subtract(displaced)
                if verdict == .start { running.insert(id) } else if verdict == .wait { waiting.insert(id) }
            } else if let gone = running.union(waiting).randomElement(using: &generator) {
                admission.release(gone)
                running.remove(gone)
                waiting.remove(gone)
                while let next = admission.next() {
                    #expect(waiting.remove(next) != nil)
                    running.insert(next)
                }
            }
            #expect(running.count <= 8 && waiting.count <= 20)
            #expect(admission.queue.runningCount == running.count && admission.queue.waitingCount == waiting.count)
            for (_, there) in Dictionary(grouping: running, by: { hosts[$0] }) { #expect(there.count <= 3) }
        }
    }

    @Test("An origin with reduced concurrency has two running downloads and one prefetch, also among those that wait")
    func reduced() {
        var admission = admission(running: 10, perHost: 6, waiting: 2)
        admission.reduced = ["a"]
        let verdicts = (1...5).map { admission.acquire($0, origin: "a", priority: .visible, now: now).verdict }
        #expect(verdicts == [.start, .start, .wait, .wait, .refuse])
        #expect(admission.acquire(6, origin: "b", priority: .visible, now: now).verdict == .start)
        #expect(admission.next() == nil && admission.queue.hasWaiters(for: 1) && !admission.queue.hasWaiters(for: 6))
        admission.release(1)
        admission.reduced = []
        #expect(admission.next() == 4 && admission.next() == 3 && admission.next() == nil)
        #expect(admission.queue.runningCount == 4 && admission.queue.waitingCount == 0)
    }
}

@Suite("Admission of resize jobs")
struct ResizeAdmissionTests {
    private let start = MonotonicInstant(nanoseconds: 1_000_000_000)

    private func queue(running: Int = 1, waiting: Int = 3, pixels: Int = 1_000) -> AdmissionQueue<Int> {
        let share = max(1, running / 2)
        return AdmissionQueue(
            limits: AdmissionQueue.Limits(
                running: running, perOrigin: share, prefetchesPerOrigin: share, runningCost: pixels, waiting: waiting,
                waitingCost: pixels, maxQueueTime: .seconds(2)))
    }

    @Test("Visible jobs are first, newest first; others are in order")
    func order() {
        var queue = queue(waiting: 10)
        for (id, priority) in [(1, ImagePriority.visible), (2, .prefetch), (3, .prefetch), (4, .near), (5, .visible), (6, .visible)] {
            #expect(queue.enter(id, from: nil, cost: 1, priority: priority, now: start).isAccepted)
            if id == 1 { #expect(queue.next() == 1) }
        }
        var order: [Int] = []
        var last = 1
        #expect(queue.next() == nil)
        while true {
            queue.remove(last)
            guard let next = queue.next() else { break }
            order.append(next)
            last = next
        }
        #expect(order == [6, 5, 4, 2, 3])
    }

    @Test("Beyond the limits of jobs and pixels, less urgent jobs are dropped or the new one is rejected")
    func bounded() {
        var queue = queue(waiting: 2, pixels: 1_000)
        _ = queue.enter(1, from: nil, cost: 900, priority: .visible, now: start)
        #expect(queue.next() == 1)
        #expect(queue.enter(2, from: nil, cost: 600, priority: .prefetch, now: start).isAccepted)
        #expect(!queue.enter(3, from: nil, cost: 600, priority: .prefetch, now: start).isAccepted)
        let result = queue.enter(4, from: nil, cost: 600, priority: .visible, now: start)
        #expect(result.isAccepted && result.displaced == [2])
        #expect(queue.enter(5, from: nil, cost: 1, priority: .near, now: start).isAccepted)
        #expect(!queue.enter(6, from: nil, cost: 1, priority: .near, now: start).isAccepted)
        #expect(queue.waitingCount == 2)
    }

    @Test("Concurrent pixels are bounded, and a single job always runs")
    func runningPixels() {
        var queue = queue(running: 2, pixels: 1_000)
        _ = queue.enter(1, from: nil, cost: 5_000, priority: .visible, now: start)
        #expect(queue.next() == 1)
        _ = queue.enter(2, from: nil, cost: 10, priority: .visible, now: start)
        #expect(queue.next() == nil)
        queue.remove(1)
        #expect(queue.next() == 2)
    }

    @Test("Background jobs use at most half of the workers; queued jobs time out")
    func prefetch() {
        var queue = queue(running: 4, waiting: 10)
        for id in 1...4 { _ = queue.enter(id, from: nil, cost: 1, priority: .prefetch, now: start) }
        #expect((queue.next(), queue.next(), queue.next()) == (1, 2, nil))
        #expect(queue.expire(now: start.advanced(by: .seconds(1))).isEmpty)
        #expect(queue.expire(now: start.advanced(by: .seconds(3))) == [3, 4])
    }

    @Test("No origin uses more than half of the workers")
    func shares() {
        var queue = queue(running: 4, waiting: 10)
        for id in 1...4 { _ = queue.enter(id, from: "a", cost: 1, priority: .visible, now: start) }
        #expect((queue.next(), queue.next(), queue.next()) == (4, 3, nil))
        _ = queue.enter(5, from: "b", cost: 1, priority: .near, now: start)
        #expect((queue.next(), queue.next()) == (5, nil))
        queue.remove(4)
        #expect((queue.next(), queue.next()) == (2, nil))
        var alone = self.queue(running: 1)
        _ = alone.enter(1, from: "a", cost: 1, priority: .visible, now: start)
        #expect(alone.next() == 1)
    }

    @Test("A large image of one origin does not block those of another")
    func largeOfAnother() {
        var queue = queue(running: 4, waiting: 10, pixels: 1_000)
        for id in 1...2 {
            _ = queue.enter(id, from: "a", cost: 900, priority: .visible, now: start)
            #expect(queue.next() == (id == 1 ? 1 : nil))
        }
        _ = queue.enter(3, from: "b", cost: 90, priority: .near, now: start)
        #expect((queue.next(), queue.next()) == (3, nil))
    }

    @Test("In a full queue, an origin with more than half loses jobs to others")
    func crowded() {
        var queue = queue(running: 1, waiting: 3)
        for id in 1...4 {
            #expect(queue.enter(id, from: "a", cost: 1, priority: .visible, now: start).isAccepted)
            if id == 1 { #expect(queue.next() == 1) }
        }
        #expect(!queue.enter(5, from: "a", cost: 1, priority: .visible, now: start).isAccepted)
        #expect(!queue.enter(6, from: "b", cost: 1, priority: .near, now: start).isAccepted)
        let result = queue.enter(7, from: "b", cost: 1, priority: .visible, now: start)
        #expect(result.isAccepted && result.displaced == [2])
    }

    @Test("A background job that becomes visible or is prioritized is next")
    func hurried() {
        var queue = queue(running: 2, waiting: 10)
        for (id, priority) in [(1, ImagePriority.prefetch), (2, .prefetch), (3, .prefetch), (4, .visible), (5, .visible)] {
            _ = queue.enter(id, from: nil, cost: 1, priority: priority, now: start)
            if id == 1 { #expect(queue.next() == 1) }
        }
        #expect(queue.next() == 5)
        queue.remove(5)
        queue.setPriority(.visible, of: 3, isNewest: true, now: start)
        #expect(queue.next() == 3)
        queue.remove(3)
        queue.setPriority(.visible, of: 4, isNewest: true, now: start)
        #expect(queue.next() == 4)
        queue.remove(4)
        // Its place among what nobody looks at is free once somebody waits for the one that runs.
        #expect(queue.next() == nil)
        queue.setPriority(.near, of: 1, isNewest: true, now: start)
        #expect(queue.next() == 2)
        queue.setPriority(.visible, of: 9, isNewest: true, now: start)
        #expect(queue.expire(now: start.advanced(by: .seconds(3))).isEmpty && queue.waitingCount == 0)
    }

    @Test("Workers are restarted at once, and with a delay after many crashes")
    func restarts() {
        var policy = RestartPolicy(tolerated: 3)
        for _ in 0..<3 { #expect(policy.died(now: start) == .zero) }
        #expect(policy.died(now: start) == .milliseconds(200))
        #expect(policy.died(now: start) == .milliseconds(400))
        for _ in 0..<20 { #expect(policy.died(now: start) <= .seconds(30)) }
        #expect(policy.died(now: start.advanced(by: .seconds(3_600))) == .zero)
    }
}
