import IntertwineFeed
import IntertwineStorageCore

/// The rows of a lane in the database, inside a transaction that has the writers' lock.
struct StoredStream: StreamRows {
    let connection: PostgresConnection
    let stream: StreamID

    func nearest(_ direction: PageDirection, of position: Int64) throws -> Int64? {
        let text =
            switch direction {
            case .forward: "SELECT min(position) FROM item WHERE lane = $1 AND position > $2"
            case .backward: "SELECT max(position) FROM item WHERE lane = $1 AND position < $2"
            }
        return try connection.query(text, .integer(stream.rawValue), .integer(position)).optionalInteger(0, 0)
    }

    func positions(after position: Int64, limit: Int) throws -> [Int64] {
        let rows = try connection.query(
            "SELECT position FROM item WHERE lane = $1 AND position > $2 ORDER BY position LIMIT $3", .integer(stream.rawValue),
            .integer(position), .integer(Int64(limit)))
        return (0..<rows.count).map { rows.integer($0, 0) }
    }

    /// Moves rows by way of an unused stream number, so that no row takes a position that another row still has.
    func move(_ moves: [StreamMove]) throws {
        let (streamID, old) = (SQLValue.integer(stream.rawValue), SQLValue.integers(moves.map(\.old)))
        let targets = SQLValue.integers(moves.map(\.target))
        try connection.run([
            SQLCommand(
                """
                UPDATE ad_listing SET position = m.wanted FROM unnest($2, $3, $4) AS m (old, "end", wanted)
                WHERE lane = $1 AND position >= m.old AND position < m."end"
                """, [streamID, old, .integers(moves.map(\.end)), targets]),
            SQLCommand(
                """
                UPDATE item SET lane = -1 - lane, position = m.wanted FROM unnest($2, $3) AS m (old, wanted)
                WHERE lane = $1 AND position = m.old
                """, [streamID, old, targets]),
            SQLCommand("UPDATE item SET lane = -1 - lane WHERE lane = -1 - $1", [streamID]),
        ])
    }
}
