package import IntertwineFeed

/// The rows of one lane, in whatever database they are.
package protocol StreamRows {
    /// The position of the item that stands next to a position; nil where there is none.
    func nearest(_ direction: PageDirection, of position: Int64) throws -> Int64?

    /// Of the items behind a position, the first ones.
    func positions(after position: Int64, limit: Int) throws -> [Int64]

    /// Moves items, and what is listed behind them, towards the end of the lane.
    ///
    /// - Parameter moves: in the order of the items. Where one moves to, the next may still stand.
    func move(_ moves: [StreamMove]) throws
}

package struct StreamMove: Sendable {
    package var old: Int64
    /// Where the item behind it stands: what is listed before that is listed behind this one.
    package var end: Int64
    package var target: Int64
}

/// Finds positions for items that come to stand between others, and makes room where there are none left.
///
/// Room is made by pushing items towards the end of the lane, never towards its start: a walk that goes on behind a position which it was
/// given before then misses none of the items that stood behind it.
package struct OrderMaintenance<Rows: StreamRows> {
    /// How many items are pushed at least, as long as so many follow.
    private static var smallestPush: Int { 32 }
    /// And at most.
    private static var largestPush: Int { 8_192 }
    /// How far apart items stand after a push; ten more can then be put between two of them, always at the same side.
    private static var spacing: Int64 { 1 << 10 }

    private let rows: Rows

    package init(_ rows: Rows) { self.rows = rows }

    /// A position behind all items.
    package func atEnd() throws -> Int64 {
        try between(try rows.nearest(.backward, of: .max), nil)
    }

    /// The position of the item that stands next to a position; nil where there is none.
    package func next(_ direction: PageDirection, of position: Int64) throws -> Int64? {
        try rows.nearest(direction, of: position)
    }

    /// A position next to an item's, with no other item in between.
    package func free(_ direction: PageDirection, of position: Int64) throws -> Int64 {
        let neighbour = try rows.nearest(direction, of: position)
        return switch direction {
        case .backward: try between(neighbour, position)
        case .forward: try between(position, neighbour)
        }
    }

    /// A position between two neighbours, either of which may be missing.
    private func between(_ left: Int64?, _ right: Int64?) throws -> Int64 {
        switch (left, right) {
        case (nil, nil): return ItemSchema.step
        case (let left?, nil): return try Self.sum(left, ItemSchema.step)
        case (nil, let right?): return try Self.sum(right, -ItemSchema.step)
        case (let left?, let right?):
            // The mean, rounded down, without a sum that could overflow.
            let middle = (left & right) + ((left ^ right) >> 1)
            return middle > left ? middle : try pushing(after: left)
        }
    }

    /// Pushes the items behind a position as far as it takes for all of them to stand well apart.
    ///
    /// - Returns: a position before the first of them.
    private func pushing(after left: Int64) throws -> Int64 {
        var count = Self.smallestPush
        while true {
            var items = try rows.positions(after: left, limit: count + 1)
            // The one behind them stays where it is; at the end of the lane there is room without end.
            let end = items.count > count ? items.removeLast() : nil
            let room = end.map { Self.distance(left, $0) / Int64(count + 2) } ?? ItemSchema.step
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

    private static var full: StoreError { .unavailable("no position is left there") }

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
