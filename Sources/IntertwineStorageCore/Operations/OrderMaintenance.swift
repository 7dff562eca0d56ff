internal import IntertwineFeed

package struct StreamMove: Sendable {
    package var old: Int64
    /// The position of the next item. Ads that are listed before it move with this item.
    package var end: Int64
    package var target: Int64
}

/// Finds positions for items between others, and moves items to free positions if none is left.
///
/// Items move only towards the end of the stream. Pagination that continues after an earlier position therefore misses no item after it.
struct OrderMaintenance<Session: SQLSession> {
    /// The least number of items that are moved at once, if so many follow.
    private static var smallestPush: Int { 32 }
    /// The limit of items that are moved at once.
    private static var largestPush: Int { 8_192 }
    /// The least distance of items after a move. It allows ten more insertions between two of them on one side.
    private static var spacing: Int64 { 1 << 10 }

    private let rows: StoredStream<Session>

    init(_ rows: StoredStream<Session>) { self.rows = rows }

    /// Returns a position after all items.
    func atEnd() throws -> Int64 {
        try between(try rows.nearest(.backward, of: .max), nil)
    }

    /// Returns the position of the item next to a position; nil if there is no such item.
    func next(_ direction: PageDirection, of position: Int64) throws -> Int64? {
        try rows.nearest(direction, of: position)
    }

    /// Returns a free position next to an item's position, with no other item in between.
    func free(_ direction: PageDirection, of position: Int64) throws -> Int64 {
        let neighbour = try rows.nearest(direction, of: position)
        return switch direction {
        case .backward: try between(neighbour, position)
        case .forward: try between(position, neighbour)
        }
    }

    /// Returns a position between two neighbours, each of which may be missing.
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

    /// Moves the items after a position until all of them have sufficient distances.
    ///
    /// - Returns: a position before the first of them.
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
