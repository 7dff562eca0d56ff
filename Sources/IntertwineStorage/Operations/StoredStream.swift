import GRDB
import IntertwineFeed

/// The rows of a stream in an SQLite file.
struct StoredStream: StreamRows {
    let database: Database
    let stream: StreamID

    func nearest(_ direction: PageDirection, of position: Int64) throws -> Int64? {
        let statement =
            switch direction {
            case .forward: try SQLStatement(database, "SELECT min(position) FROM item WHERE lane = ? AND position > ?")
            case .backward: try SQLStatement(database, "SELECT max(position) FROM item WHERE lane = ? AND position < ?")
            }
        defer { statement.reset() }
        try statement.bind(1, stream.rawValue)
        try statement.bind(2, position)
        return try statement.step() && !statement.isNull(0) ? statement.integer(0) : nil
    }

    func positions(after position: Int64, limit: Int) throws -> [Int64] {
        let statement = try SQLStatement(database, "SELECT position FROM item WHERE lane = ? AND position > ? ORDER BY position LIMIT ?")
        defer { statement.reset() }
        try statement.bind(1, stream.rawValue)
        try statement.bind(2, position)
        try statement.bind(3, Int64(limit))
        var positions: [Int64] = []
        while try statement.step() { positions.append(statement.integer(0)) }
        return positions
    }

    /// Moves items from the last to the first, so that each target position is free.
    func move(_ moves: [StreamMove]) throws {
        guard let first = moves.first else { return }
        let update = try SQLStatement(database, "UPDATE item SET position = ? WHERE lane = ? AND position = ?")
        let hasListings = try PinnedAdTable.hasAny(in: stream, after: first.old &- 1, of: database)
        for move in moves.reversed() {
            if hasListings { try PinnedAdTable.move(from: move.old, before: move.end, to: move.target, in: stream, of: database) }
            try update.bind(1, move.target)
            try update.bind(2, stream.rawValue)
            try update.bind(3, move.old)
            try update.run()
        }
    }
}
