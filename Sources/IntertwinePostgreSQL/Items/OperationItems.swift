import IntertwineFeed
import IntertwineStorageCore

/// The items that operations change, inside a transaction that is someone else's and has the writers' lock.
struct OperationItems: StoredItems {
    private let connection: PostgresConnection
    private let writer: ItemWriter
    private let takedowns: TakedownTable

    init(_ connection: PostgresConnection) {
        self.connection = connection
        writer = ItemWriter(connection)
        takedowns = TakedownTable(connection)
    }

    func rows(of stream: StreamID) -> StoredStream { StoredStream(connection: connection, stream: stream) }

    func location(of key: ItemKey) throws -> (stream: StreamID, position: Int64)? {
        let rows = try connection.query("SELECT lane, position FROM item WHERE kind = $1 AND id = $2", .kind(key.kind), .text(key.id))
        return rows.isEmpty ? nil : (StreamID(rawValue: rows.integer(0, 0)), rows.integer(0, 1))
    }

    func stream(of item: ValidatedItem) throws -> StreamID { try writer.stream(of: item) }

    func stream(ofSection name: String) throws -> StreamID? {
        try SectionTable(PostgresSnapshot(inside: connection)).layout.streams[name]
    }

    func insert(_ item: ValidatedItem, in stream: StreamID, at position: Int64) throws {
        _ = try takedowns.remove([ItemKey(item)])
        try writer.insert(item, in: stream, at: position)
    }

    func move(_ key: ItemKey, to position: Int64) throws {
        try connection.query(
            "UPDATE item SET position = $1 WHERE kind = $2 AND id = $3", .integer(position), .kind(key.kind), .text(key.id))
    }

    func update(_ item: ValidatedItem) throws -> Bool {
        try connection.query(
            "UPDATE item SET variant = $1, body = $2 WHERE kind = $3 AND id = $4", .text(item.variant), .utf8(item.body), .kind(item.kind),
            .text(item.id)
        ).affected > 0
    }

    func delete(_ key: ItemKey) throws -> Bool { try writer.remove(key) }

    func deleteAll(in stream: StreamID, naming limit: Int) throws -> (count: Int, first: [ItemKey]) {
        let rows = try connection.query(
            "SELECT kind, id FROM item WHERE lane = $1 ORDER BY position LIMIT $2", .integer(stream.rawValue), .integer(Int64(limit)))
        let first = (0..<rows.count).map { ItemKey(kind: rows.kind($0, 0), id: rows.text($0, 1)) }
        return (try connection.query("DELETE FROM item WHERE lane = $1", .integer(stream.rawValue)).affected, first)
    }

    func takeDown(_ takedown: Takedown) throws { try takedowns.add(takedown) }

    func takeDownAll(in stream: StreamID, at moment: Int64, reason: String?) throws {
        try takedowns.addAll(in: stream, at: moment, reason: reason)
    }
}
