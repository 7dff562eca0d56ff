internal import IntertwineFeed

/// Finds positions for items between others, and moves items to free positions if none is left.
/// Items move only towards the end of the stream. Pagination that continues after an earlier position therefore misses no item after it.
struct OrderMaintenance<Session: SQLSession> {
    private static var smallestPush: Int { 32 }
    private static var largestPush: Int { 8_192 }
    private static var spacing: Int64 { 1 << 10 }
    private static var unused: Int64 { 1 << 40 }

    private let session: Session
    private let stream: StreamID

    init(_ session: Session, _ stream: StreamID) { (self.session, self.stream) = (session, stream) }

    func atEnd() throws -> Int64 {
        try between(try next(.backward, of: .max), nil)
    }

    func free(_ direction: PageDirection, of position: Int64) throws -> Int64 {
        let neighbour = try next(direction, of: position)
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
            var items = try positions(after: left, limit: count + 1)
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
        var moves: [(old: Int64, end: Int64, target: Int64)] = []
        for (index, old) in items.enumerated() {
            let wanted = try Self.sum(left, room * Int64(index + 2))
            guard wanted > old else { continue }
            moves.append((old, index + 1 < items.count ? items[index + 1] : old &+ 1, wanted))
        }
        if !moves.isEmpty { try move(moves) }
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

    // MARK: Rows

    package func next(_ direction: PageDirection, of position: Int64) throws -> Int64? {
        let text =
            switch direction {
            case .forward: PublicItems.outermost("min", of: "?1", " AND position > ?2")
            case .backward: PublicItems.outermost("max", of: "?1", " AND position < ?2")
            }
        return try session.integer(text, .integer(stream.rawValue), .integer(position))
    }

    private func positions(after position: Int64, limit: Int) throws -> [Int64] {
        try session.rows(
            """
            SELECT * FROM (SELECT position FROM item WHERE lane = ?1 AND position > ?2 ORDER BY position LIMIT ?3) AS shown
            UNION ALL SELECT * FROM (SELECT position FROM item WHERE lane = -1 - ?1 AND position > ?2 ORDER BY position LIMIT ?3) AS hidden
            ORDER BY position LIMIT ?3
            """, .integer(stream.rawValue), .integer(position), .integer(Int64(limit))
        ) { $0.integer(0) }
    }

    /// Rows move by way of unused stream numbers, so that no row takes a position that another row still has.
    private func move(_ moves: [(old: Int64, end: Int64, target: Int64)]) throws {
        // The last is moved first, so that its ads are not among those of the item before it.
        let moves = moves.reversed()
        let stream = SQLValue.integer(stream.rawValue)
        let (old, target) = (SQLValue.integers(moves.map(\.old)), SQLValue.integers(moves.map(\.target)))
        try session.run([
            SQLCommand(
                """
                UPDATE ad_listing SET position = moved.target FROM \(Session.dialect.table("moved", ["old", "beyond", "target"]))
                WHERE lane = ?4 AND position >= moved.old AND position < moved.beyond
                """, [old, .integers(moves.map(\.end)), target, stream]),
            SQLCommand(
                """
                UPDATE item SET lane = lane - \(Self.unused), position = moved.target FROM \(Session.dialect.table("moved", ["old", "target"]))
                WHERE \(PublicItems.condition("?3")) AND position = moved.old
                """, [old, target, stream]),
            SQLCommand(
                "UPDATE item SET lane = lane + \(Self.unused) WHERE lane IN (?1 - \(Self.unused), -1 - ?1 - \(Self.unused))", [stream]),
        ]) { _, _ in }
    }
}
