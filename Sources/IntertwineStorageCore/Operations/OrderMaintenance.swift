internal import IntertwineFeed

package struct StreamMove: Sendable {
    package var old: Int64
    package var end: Int64
    package var target: Int64
}

/// Finds positions for items between others, and moves items to free positions if none is left.
/// Items move only towards the end of the stream. Pagination that continues after an earlier position therefore misses no item after it.
struct OrderMaintenance<Session: SQLSession> {
    private static var smallestPush: Int { 32 }
    private static var largestPush: Int { 8_192 }
    private static var spacing: Int64 { 1 << 10 }

    private let rows: StoredStream<Session>

    init(_ rows: StoredStream<Session>) { self.rows = rows }

    func atEnd() throws -> Int64 {
        try between(try rows.nearest(.backward, of: .max), nil)
    }

    func next(_ direction: PageDirection, of position: Int64) throws -> Int64? {
        try rows.nearest(direction, of: position)
    }

    func free(_ direction: PageDirection, of position: Int64) throws -> Int64 {
        let neighbour = try rows.nearest(direction, of: position)
        return switch direction {
        case .backward: try between(neighbour, position)
        case .forward: try between(position, neighbour)
        }
    }

    private func between(_ left: Int64?, _ right: Int64?) throws -> Int64 {
        switch (left, right) {
        case (nil, nil): return ItemPosition.step
        case (let left?, nil): return try Self.sum(left, ItemPosition.step)
        case (nil, let right?): return try Self.sum(right, -ItemPosition.step)
        case (let left?, let right?):
            // The mean, rounded down, without a sum that could overflow.
            let middle = (left & right) + ((left ^ right) >> 1)
            return middle > left ? middle : try pushing(after: left)
        }
    }

    private func pushing(after left: Int64) throws -> Int64 {
        var count = Self.smallestPush
        while true {
            var items = try rows.positions(after: left, limit: count + 1)
            // The item after them does not move. At the end of the stream the space is unlimited.
            let end = items.count > count ? items.removeLast() : nil
            let room = end.map { Self.distance(left, $0) / Int64(count + 2) } ?? ItemPosition.step
            let isLast = count >= Self.largestPush
            if room >= (isLast ? 2 : Self.spacing) {
                try push(items, after: left, room: room)
                return try Self.sum(left, room)
            }
            guard !isLast else { throw Self.full }
            count *= 2
        }
    }

    private func push(_ items: [Int64], after left: Int64, room: Int64) throws {
        var moves: [StreamMove] = []
        for (index, old) in items.enumerated() {
            let wanted = try Self.sum(left, room * Int64(index + 2))
            guard wanted > old else { continue }
            moves.append(StreamMove(old: old, end: index + 1 < items.count ? items[index + 1] : old &+ 1, target: wanted))
        }
        if !moves.isEmpty { try rows.move(moves) }
    }

    private static var full: StoreError { .unavailable("no position is free there") }

    private static func distance(_ left: Int64, _ right: Int64) -> Int64 {
        let (distance, isTooFar) = right.subtractingReportingOverflow(left)
        return isTooFar ? .max : distance
    }

    private static func sum(_ left: Int64, _ right: Int64) throws -> Int64 {
        let (sum, isFull) = left.addingReportingOverflow(right)
        guard !isFull else { throw full }
        return sum
    }
}
