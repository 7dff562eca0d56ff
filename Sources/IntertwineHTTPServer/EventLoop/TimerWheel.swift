package protocol TimerHandler: AnyObject {
    func timerDue(at now: MonotonicInstant) -> MonotonicInstant?
}

package struct TimerToken: Hashable, Sendable {
    let node: UInt32
    let generation: UInt32
}

/// The first nodes of the array are the heads of the lists, so a node can be unlinked without knowing its bucket.
struct TimerWheel<Payload> {
    private struct Node {
        var payload: Payload?
        var tick: Int64
        var previous: UInt32
        var next: UInt32
        var generation: UInt32
    }

    let tickLength: Int64
    private let bucketCount: Int
    private var nodes: [Node]
    private var free: [UInt32] = []
    private var current: Int64
    private(set) var count = 0

    init(tick: Duration, buckets: Int = 512, now: MonotonicInstant) {
        self.tickLength = max(1, tick.nanoseconds)
        self.bucketCount = max(1, buckets)
        self.current = now.nanoseconds / tickLength
        self.nodes = (0...UInt32(bucketCount)).map { Node(payload: nil, tick: 0, previous: $0, next: $0, generation: 0) }
    }

    private var dueList: UInt32 { UInt32(bucketCount) }

    mutating func insert(_ payload: Payload, at deadline: MonotonicInstant) -> TimerToken {
        let index: UInt32
        if let recycled = free.popLast() {
            index = recycled
        } else {
            index = UInt32(nodes.count)
            nodes.append(Node(payload: nil, tick: 0, previous: index, next: index, generation: 1))
        }
        nodes[Int(index)].payload = payload
        count += 1
        link(index, at: deadline)
        return TimerToken(node: index, generation: nodes[Int(index)].generation)
    }

    mutating func move(_ token: TimerToken, to deadline: MonotonicInstant) -> Bool {
        guard contains(token) else { return false }
        unlink(token.node)
        link(token.node, at: deadline)
        return true
    }

    @discardableResult
    mutating func remove(_ token: TimerToken) -> Bool {
        guard contains(token) else { return false }
        unlink(token.node)
        nodes[Int(token.node)].payload = nil
        nodes[Int(token.node)].generation &+= 1
        free.append(token.node)
        count -= 1
        return true
    }

    private func contains(_ token: TimerToken) -> Bool {
        let index = Int(token.node)
        return index > bucketCount && index < nodes.count && nodes[index].generation == token.generation
            && nodes[index].payload != nil
    }

    mutating func nextDue(at now: MonotonicInstant) -> (TimerToken, Payload)? {
        collect(upTo: now.nanoseconds / tickLength)
        let index = nodes[Int(dueList)].next
        guard index != dueList, let payload = nodes[Int(index)].payload else { return nil }
        unlink(index)
        link(index, at: MonotonicInstant(nanoseconds: .max))
        return (TimerToken(node: index, generation: nodes[Int(index)].generation), payload)
    }

    var nextWake: MonotonicInstant? {
        if count == 0 { return nil }
        if nodes[Int(dueList)].next != dueList { return MonotonicInstant(nanoseconds: current &* tickLength) }
        for distance in 1...Int64(bucketCount) where !isEmpty(bucket(of: current &+ distance)) {
            return MonotonicInstant(nanoseconds: (current &+ distance).multipliedReportingOverflow(by: tickLength).partialValue)
        }
        return nil
    }

    private func bucket(of tick: Int64) -> UInt32 { UInt32(tick.magnitude % UInt64(bucketCount)) }

    private func isEmpty(_ list: UInt32) -> Bool { nodes[Int(list)].next == list }

    private mutating func link(_ index: UInt32, at deadline: MonotonicInstant) {
        let (quotient, rest) = deadline.nanoseconds.quotientAndRemainder(dividingBy: tickLength)
        let tick = max(rest > 0 ? quotient &+ 1 : quotient, current &+ 1)
        nodes[Int(index)].tick = tick
        // A deadline beyond one turn waits in the farthest bucket and is inserted again from there.
        link(index, into: bucket(of: min(tick, current &+ Int64(bucketCount))))
    }

    private mutating func collect(upTo tick: Int64) {
        guard tick > current else { return }
        let last = tick &- current > Int64(bucketCount) ? current &+ Int64(bucketCount) : tick
        var later: [UInt32] = []
        for passing in (current &+ 1)...last {
            let list = bucket(of: passing)
            while case let index = nodes[Int(list)].next, index != list {
                unlink(index)
                if nodes[Int(index)].tick <= tick { link(index, into: dueList) } else { later.append(index) }
            }
        }
        current = tick
        for index in later {
            link(index, into: bucket(of: min(nodes[Int(index)].tick, current &+ Int64(bucketCount))))
        }
    }

    private mutating func link(_ index: UInt32, into list: UInt32) {
        let last = nodes[Int(list)].previous
        nodes[Int(index)].previous = last
        nodes[Int(index)].next = list
        nodes[Int(last)].next = index
        nodes[Int(list)].previous = index
    }

    private mutating func unlink(_ index: UInt32) {
        let (previous, next) = (nodes[Int(index)].previous, nodes[Int(index)].next)
        nodes[Int(previous)].next = next
        nodes[Int(next)].previous = previous
    }
}
