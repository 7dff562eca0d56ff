import GRDB
import IntertwineFeed

/// Finds positions for items that come to stand between others, and makes room where there are none left.
///
/// Room is made by pushing items towards the end of the lane, never towards its start: a walk that goes on behind a position which it was
/// given before then misses none of the items that stood behind it.
struct LanePositions {
    /// How many items are pushed at least, as long as so many follow.
    private static let smallestPush = 32
    /// And at most.
    private static let largestPush = 8_192
    /// How far apart items stand after a push; ten more can then be put between two of them, always at the same side.
    private static let spacing: Int64 = 1 << 10

    let database: Database
    let lane: Lane

    private static let full = StoreError.unavailable("no position is left there")

    /// A position behind all items.
    func atEnd() throws -> Int64 {
        try between(try nearest(.backward, of: .max), nil)
    }

    /// The position of the item that stands next to a position, on the side that the place tells; nil where there is none.
    func next(_ place: StoreOperation.Place, _ position: Int64) throws -> Int64? {
        switch place {
        case .before: try nearest(.backward, of: position)
        case .after: try nearest(.forward, of: position)
        }
    }

    /// A position next to an item's, with no other item in between.
    func free(_ place: StoreOperation.Place, _ position: Int64) throws -> Int64 {
        let neighbour = try next(place, position)
        return switch place {
        case .before: try between(neighbour, position)
        case .after: try between(position, neighbour)
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
            var items = try positions(after: left, limit: count + 1)
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

    /// From the last to the first, so that none comes to stand where another one still does.
    private func push(_ items: [Int64], after left: Int64, room: Int64) throws {
        let update = try SQLStatement(database, "UPDATE item SET position = ? WHERE lane = ? AND position = ?")
        let hasListings = try AdListingTable.hasAny(in: lane, behind: left, of: database)
        for (index, old) in items.enumerated().reversed() {
            let wanted = try Self.sum(left, room * Int64(index + 2))
            guard wanted > old else { continue }
            if hasListings {
                let end = index + 1 < items.count ? items[index + 1] : old &+ 1
                try AdListingTable.move(from: old, before: end, to: wanted, in: lane, of: database)
            }
            try update.bind(1, wanted)
            try update.bind(2, lane.rawValue)
            try update.bind(3, old)
            try update.run()
        }
    }

    private func nearest(_ direction: PageDirection, of position: Int64) throws -> Int64? {
        let statement =
            switch direction {
            case .forward: try SQLStatement(database, "SELECT min(position) FROM item WHERE lane = ? AND position > ?")
            case .backward: try SQLStatement(database, "SELECT max(position) FROM item WHERE lane = ? AND position < ?")
            }
        defer { statement.reset() }
        try statement.bind(1, lane.rawValue)
        try statement.bind(2, position)
        return try statement.step() && !statement.isNull(0) ? statement.integer(0) : nil
    }

    private func positions(after position: Int64, limit: Int) throws -> [Int64] {
        let statement = try SQLStatement(database, "SELECT position FROM item WHERE lane = ? AND position > ? ORDER BY position LIMIT ?")
        defer { statement.reset() }
        try statement.bind(1, lane.rawValue)
        try statement.bind(2, position)
        try statement.bind(3, Int64(limit))
        var positions: [Int64] = []
        while try statement.step() { positions.append(statement.integer(0)) }
        return positions
    }

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
