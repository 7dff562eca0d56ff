import GRDB
import IntertwineFeed

/// The items of an SQLite file that operations change, inside a transaction of the caller.
struct OperationItems: StoredItems {
    private let database: Database
    private let kinds: SectionKinds
    private let takedowns: TakedownTable
    private let find: SQLStatement
    private let insert: SQLStatement
    private let update: SQLStatement
    private let move: SQLStatement
    private let delete: SQLStatement

    init(_ database: Database) throws {
        self.database = database
        takedowns = try TakedownTable(database)
        kinds = try SectionKinds(database)
        find = try SQLStatement(database, "SELECT lane, position FROM item WHERE kind = ? AND id = ?")
        insert = try SQLStatement(database, ItemSchema.insertion)
        update = try SQLStatement(database, "UPDATE item SET variant = ?1, body = ?2, digest = ?5 WHERE kind = ?3 AND id = ?4")
        move = try SQLStatement(database, "UPDATE item SET position = ? WHERE kind = ? AND id = ?")
        delete = try SQLStatement(database, "DELETE FROM item WHERE kind = ? AND id = ?")
    }

    func rows(of stream: StreamID) -> StoredStream { StoredStream(database: database, stream: stream) }

    func location(of key: ItemKey) throws -> (stream: StreamID, position: Int64)? {
        defer { find.reset() }
        try find.bind(1, kind: key.kind)
        try find.bind(2, key.id)
        return try find.step() ? (StreamID(rawValue: find.integer(0)), find.integer(1)) : nil
    }

    func stream(of item: ValidatedItem) -> StreamID { kinds.stream(of: item) }

    func stream(ofSection name: String) throws -> StreamID? { try SectionLayout(database).streams[name] }

    func insert(_ item: ValidatedItem, in stream: StreamID, at position: Int64) throws {
        _ = try takedowns.remove(ItemKey(item))
        try insert.bind(item, in: stream, at: position)
        try insert.run()
        try PinnedAdTable(database).append(item)
    }

    func move(_ key: ItemKey, to position: Int64) throws {
        try move.bind(1, position)
        try move.bind(2, kind: key.kind)
        try move.bind(3, key.id)
        try move.run()
    }

    func update(_ item: ValidatedItem) throws -> Bool {
        try update.bind(1, item.variant)
        try update.bind(2, text: item.body)
        try update.bind(3, kind: item.kind)
        try update.bind(4, item.id)
        try update.bind(5, RowDigest.of(item))
        try update.run()
        return database.changesCount > 0
    }

    func delete(_ key: ItemKey) throws -> Bool {
        try delete.bind(1, kind: key.kind)
        try delete.bind(2, key.id)
        try delete.run()
        return database.changesCount > 0
    }

    func deleteAll(in stream: StreamID, naming limit: Int) throws -> (count: Int, first: [ItemKey]) {
        let some = try SQLStatement(database, "SELECT kind, id FROM item WHERE lane = ? ORDER BY position LIMIT ?")
        defer { some.reset() }
        try some.bind(1, stream.rawValue)
        try some.bind(2, Int64(limit))
        var first: [ItemKey] = []
        while try some.step() { first.append(ItemKey(kind: some.kind(0), id: some.text(1))) }
        try SQLStatement.run(database, "DELETE FROM item WHERE lane = ?", .integer(stream.rawValue))
        return (database.changesCount, first)
    }

    func takeDown(_ takedown: Takedown) throws { try takedowns.add(takedown) }

    func takeDownAll(in stream: StreamID, at moment: Int64, reason: String?) throws {
        try takedowns.addAll(in: stream, at: moment, reason: reason)
    }
}
