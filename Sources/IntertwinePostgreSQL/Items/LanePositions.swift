import IntertwineFeed
import IntertwineStorage

/// Finds positions for items that come to stand between others, and makes room where there are none left.
///
/// As in SQLite's store, room is made by pushing items towards the end of the lane: a walk that goes on behind a position misses none of
/// those that stood behind it.
struct LanePositions {
    /// How many items are pushed at least, as long as so many follow.
    private static let smallestPush = 32
    /// And at most.
    private static let largestPush = 8_192
    /// How far apart items stand after a push; ten more can then be put between two of them, always at the same side.
    private static let spacing: Int64 = 1 << 10

    private static let full = StoreError.unavailable("no position is left there")

    private let connection: PostgresConnection
    private let lane: Lane

    init(_ connection: PostgresConnection, _ lane: Lane) {
        self.connection = connection
        self.lane = lane
    }

    /// A position behind all items.
    func atEnd() throws -> Int64 {
        try between(try nearest(.backward, of: .max), nil)
    }

    /// The position of the item that stands next to a position; nil where there is none.
    func next(_ direction: PageDirection, of position: Int64) throws -> Int64? {
        try nearest(direction, of: position)
    }

    /// A position next to an item's, with no other item in between.
    func free(_ direction: PageDirection, of position: Int64) throws -> Int64 {
        let neighbour = try nearest(direction, of: position)
        return direction == .backward ? try between(neighbour, position) : try between(position, neighbour)
    }

    /// A position between two neighbours, either of which may be missing.
    private func between(_ left: Int64?, _ right: Int64?) throws -> Int64 {
        switch (left, right) {
        case (nil, nil): return ItemWriter.step
        case (let left?, nil): return try Self.sum(left, ItemWriter.step)
        case (nil, let right?): return try Self.sum(right, -ItemWriter.step)
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
            let room = end.map { Self.distance(left, $0) / Int64(count + 2) } ?? ItemWriter.step
            let isLast = count >= Self.largestPush
            if room >= (isLast ? 2 : Self.spacing) {
                try push(items, after: left, room: room)
                return try Self.sum(left, room)
            }
            guard !isLast else { throw Self.full }
            count *= 2
        }
    }

    /// By way of a lane that is nobody's, so that none comes to stand where another one still does.
    private func push(_ items: [Int64], after left: Int64, room: Int64) throws {
        var (old, end, wanted): ([Int64], [Int64], [Int64]) = ([], [], [])
        for (index, position) in items.enumerated() {
            let new = try Self.sum(left, room * Int64(index + 2))
            guard new > position else { continue }
            old.append(position)
            end.append(index + 1 < items.count ? items[index + 1] : position &+ 1)
            wanted.append(new)
        }
        let (lane, moves) = (PostgresValue.integer(lane.rawValue), "unnest($2, $3) AS m (old, wanted)")
        try connection.run([
            // What is listed behind an item stays behind it.
            PostgresCommand(
                """
                UPDATE ad_listing SET position = m.wanted FROM unnest($2, $3, $4) AS m (old, "end", wanted)
                WHERE lane = $1 AND position >= m.old AND position < m."end"
                """, [lane, .integers(old), .integers(end), .integers(wanted)]),
            PostgresCommand(
                "UPDATE item SET lane = -1 - lane, position = m.wanted FROM \(moves) WHERE lane = $1 AND position = m.old",
                [lane, .integers(old), .integers(wanted)]),
            PostgresCommand("UPDATE item SET lane = -1 - lane WHERE lane = -1 - $1", [lane]),
        ])
    }

    private func nearest(_ direction: PageDirection, of position: Int64) throws -> Int64? {
        let text =
            switch direction {
            case .forward: "SELECT min(position) FROM item WHERE lane = $1 AND position > $2"
            case .backward: "SELECT max(position) FROM item WHERE lane = $1 AND position < $2"
            }
        return try connection.query(text, .integer(lane.rawValue), .integer(position)).optionalInteger(0, 0)
    }

    private func positions(after position: Int64, limit: Int) throws -> [Int64] {
        let rows = try connection.query(
            "SELECT position FROM item WHERE lane = $1 AND position > $2 ORDER BY position LIMIT $3", .integer(lane.rawValue),
            .integer(position), .integer(Int64(limit)))
        return (0..<rows.count).map { rows.integer($0, 0) }
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
