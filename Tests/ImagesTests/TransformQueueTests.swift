import IntertwineEventLoop
import Testing

@testable import IntertwineImages

@Suite("Queue of resize jobs")
struct TransformQueueTests {
    private let start = MonotonicInstant(nanoseconds: 1_000_000_000)

    private func queue(running: Int = 1, waiting: Int = 3, pixels: Int = 1_000) -> TransformQueue<Int> {
        var limits = TransformQueue<Int>.Limits()
        limits.running = running
        limits.runningPixels = pixels
        limits.waiting = waiting
        limits.waitingPixels = pixels
        limits.maxQueueTime = .seconds(2)
        return TransformQueue(limits: limits)
    }

    @Test("Visible jobs are first, newest first; others are in order")
    func order() {
        var queue = queue(waiting: 10)
        for (id, priority) in [(1, ImagePriority.visible), (2, .prefetch), (3, .prefetch), (4, .near), (5, .visible), (6, .visible)] {
            #expect(queue.enter(id, pixels: 1, priority: priority, now: start).isTaken)
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
        _ = queue.enter(1, pixels: 900, priority: .visible, now: start)
        #expect(queue.next() == 1)
        #expect(queue.enter(2, pixels: 600, priority: .prefetch, now: start).isTaken)
        #expect(!queue.enter(3, pixels: 600, priority: .prefetch, now: start).isTaken)
        let result = queue.enter(4, pixels: 600, priority: .visible, now: start)
        #expect(result.isTaken && result.displaced == [2])
        #expect(queue.enter(5, pixels: 1, priority: .near, now: start).isTaken)
        #expect(!queue.enter(6, pixels: 1, priority: .near, now: start).isTaken)
        #expect(queue.waitingCount == 2)
    }

    @Test("Concurrent pixels are bounded, and a single job always runs")
    func runningPixels() {
        var queue = queue(running: 2, pixels: 1_000)
        _ = queue.enter(1, pixels: 5_000, priority: .visible, now: start)
        #expect(queue.next() == 1)
        _ = queue.enter(2, pixels: 10, priority: .visible, now: start)
        #expect(queue.next() == nil)
        queue.remove(1)
        #expect(queue.next() == 2)
    }

    @Test("Background jobs use at most half of the workers; queued jobs time out")
    func prefetch() {
        var queue = queue(running: 4, waiting: 10)
        for id in 1...4 { _ = queue.enter(id, pixels: 1, priority: .prefetch, now: start) }
        #expect((queue.next(), queue.next(), queue.next()) == (1, 2, nil))
        #expect(queue.expire(now: start.advanced(by: .seconds(1))).isEmpty)
        #expect(queue.expire(now: start.advanced(by: .seconds(3))) == [3, 4])
    }

    private static func owners(_ origin: String?, _ viewers: String...) -> TransformOwners {
        var owners = TransformOwners(origin: origin)
        for viewer in viewers { owners.add(viewer) }
        return owners
    }

    @Test("No origin and no viewer uses more than half of the workers")
    func shares() {
        for owners in [Self.owners("a"), Self.owners(nil, "v"), Self.owners("a", "v")] {
            var queue = queue(running: 4, waiting: 10)
            for id in 1...4 { _ = queue.enter(id, pixels: 1, priority: .visible, owners: owners, now: start) }
            #expect((queue.next(), queue.next(), queue.next()) == (4, 3, nil))
            _ = queue.enter(5, pixels: 1, priority: .near, owners: Self.owners("b", "w"), now: start)
            #expect((queue.next(), queue.next()) == (5, nil))
            queue.remove(4)
            #expect((queue.next(), queue.next()) == (2, nil))
        }
        var alone = queue(running: 1)
        _ = alone.enter(1, pixels: 1, priority: .visible, owners: Self.owners("a", "v"), now: start)
        #expect(alone.next() == 1)
    }

    @Test("A job of several viewers starts if one has capacity, and counts for each")
    func sharedViewers() {
        var queue = queue(running: 4, waiting: 10)
        for id in 1...3 { _ = queue.enter(id, pixels: 1, priority: .visible, owners: Self.owners(nil, "v"), now: start) }
        #expect((queue.next(), queue.next(), queue.next()) == (3, 2, nil))
        queue.setOwners(Self.owners(nil, "v", "w"), of: 1)
        #expect(queue.next() == 1)
        for id in 4...5 { _ = queue.enter(id, pixels: 1, priority: .visible, owners: Self.owners(nil, "w"), now: start) }
        #expect((queue.next(), queue.next()) == (5, nil))
    }

    @Test("A large image of one origin does not block those of another")
    func largeOfAnother() {
        var queue = queue(running: 4, waiting: 10, pixels: 1_000)
        for id in 1...2 {
            _ = queue.enter(id, pixels: 900, priority: .visible, owners: Self.owners("a"), now: start)
            #expect(queue.next() == (id == 1 ? 1 : nil))
        }
        _ = queue.enter(3, pixels: 90, priority: .near, owners: Self.owners("b"), now: start)
        #expect((queue.next(), queue.next()) == (3, nil))
    }

    @Test("In a full queue, an owner of more than half loses jobs to others")
    func crowded() {
        for (crowd, other) in [(Self.owners("a"), Self.owners("b")), (Self.owners(nil, "v"), Self.owners(nil, "w"))] {
            var queue = queue(running: 1, waiting: 3)
            for id in 1...4 {
                #expect(queue.enter(id, pixels: 1, priority: .visible, owners: crowd, now: start).isTaken)
                if id == 1 { #expect(queue.next() == 1) }
            }
            #expect(!queue.enter(5, pixels: 1, priority: .visible, owners: crowd, now: start).isTaken)
            #expect(!queue.enter(6, pixels: 1, priority: .near, owners: other, now: start).isTaken)
            let result = queue.enter(7, pixels: 1, priority: .visible, owners: other, now: start)
            #expect(result.isTaken && result.displaced == [2])
        }
    }

    @Test("A background job that becomes visible or is prioritized is next")
    func hurried() {
        var queue = queue(running: 2, waiting: 10)
        for (id, priority) in [(1, ImagePriority.prefetch), (2, .prefetch), (3, .prefetch), (4, .visible), (5, .visible)] {
            _ = queue.enter(id, pixels: 1, priority: priority, now: start)
            if id == 1 { #expect(queue.next() == 1) }
        }
        #expect(queue.next() == 5)
        queue.remove(5)
        queue.prioritize(3, to: .visible)
        queue.prioritize(3, to: .prefetch)
        #expect(queue.next() == 3)
        queue.remove(3)
        queue.prioritize(4, to: .visible)
        #expect(queue.next() == 4)
        queue.remove(4)
        // Its place among what nobody looks at is free once somebody waits for the one that runs.
        #expect(queue.next() == nil)
        queue.prioritize(1, to: .near)
        #expect(queue.next() == 2)
        queue.prioritize(9, to: .visible)
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
