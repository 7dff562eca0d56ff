import IntertwineEventLoop
import TestSupport
import Testing

@testable import IntertwineImages

@Suite("Concurrency limits of downloads")
struct ConcurrencyLimiterTests {
    private func admission(running: Int = 4, perHost: Int = 2, waiting: Int = 3) -> ConcurrencyLimiter<Int> {
        var limits = ConcurrencyLimiter<Int>.Limits()
        limits.running = running
        limits.perHost = perHost
        limits.waiting = waiting
        return ConcurrencyLimiter(limits: limits)
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
        #expect(admission.next() == 6 || admission.runningCount == 4)
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
        for id in [3, 6, 2, 1, 99] { admission.prioritize(id, now: now) }
        #expect(admission.nextExpiry == now.advanced(by: .seconds(2)))
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
        #expect(entered.verdict == .wait && entered.displaced == 2)
        #expect(admission.waitingCount == 2)
    }

    @Test("Prefetches leave capacity for visible images")
    func flood() {
        var admission = admission(running: 8, perHost: 4, waiting: 1_000)
        for id in 0..<100 { _ = admission.acquire(id, origin: "h\(id % 10)", priority: .prefetch, now: now) }
        #expect(admission.runningCount == 4)
        #expect(admission.acquire(1_000, origin: "x", priority: .visible, now: now).verdict == .start)
        #expect(admission.acquire(1_001, origin: "h0", priority: .visible, now: now).verdict == .start)
    }

    @Test("A request that exceeds the queue timeout is rejected; a reprioritized one starts sooner")
    func patience() {
        var admission = admission(running: 1, perHost: 1, waiting: 10)
        _ = admission.acquire(1, origin: "a", priority: .visible, now: now)
        _ = admission.acquire(2, origin: "a", priority: .prefetch, now: now)
        _ = admission.acquire(3, origin: "a", priority: .near, now: now.advanced(by: .seconds(1)))
        #expect(admission.nextExpiry == now.advanced(by: .seconds(2)))
        #expect(admission.expire(now: now.advanced(by: .milliseconds(2_500))) == [2])
        admission.setPriority(.visible, of: 3, now: now.advanced(by: .milliseconds(2_500)))
        #expect(admission.nextExpiry == now.advanced(by: .milliseconds(4_500)))
        _ = admission.acquire(4, origin: "a", priority: .near, now: now.advanced(by: .milliseconds(2_000)))
        #expect(admission.nextExpiry == now.advanced(by: .milliseconds(4_000)))
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
                if let displaced { waiting.remove(displaced) }
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
            #expect(admission.runningCount == running.count && admission.waitingCount == waiting.count)
            for (_, there) in Dictionary(grouping: running, by: { hosts[$0] }) { #expect(there.count <= 3) }
        }
    }
}
