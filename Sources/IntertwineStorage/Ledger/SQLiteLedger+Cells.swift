import GRDB
public import IntertwineFeed

extension SQLiteLedger {
    public func holds(_ cell: String, on list: ViewerList, of viewer: String) async throws -> Bool {
        try await read { try Listing($0, list, viewer).contains(cell) }
    }

    /// Reads on the caller's thread, and beside whatever that reads of the items.
    public func withCells<Value>(on list: ViewerList, of viewer: String, _ body: (any CellSet) throws -> Value) throws -> Value {
        do {
            return try connections.read { try body(Listing($0, list, viewer)) }
        } catch let error as DatabaseError {
            throw StoreError(error)
        }
    }
}

/// A viewer's list, asked by a look into the index for each cell: a microsecond or two, however long the list.
private struct Listing: CellSet {
    /// With the viewer and the list in it already. Nil where the list is empty, as most are.
    private let statement: SQLStatement?

    init(_ database: Database, _ list: ViewerList, _ viewer: String) throws {
        let any = try SQLStatement(
            database, "SELECT 1 FROM listing INDEXED BY listing_place WHERE viewer = ?1 AND list = ?2 AND leads = 1 LIMIT 1")
        try any.bind(2, list.rawValue)
        guard try any.finds(viewer, at: 1) else {
            statement = nil
            return
        }
        let one = try SQLStatement(
            database, "SELECT 1 FROM listing INDEXED BY listing_leader WHERE viewer = ?1 AND list = ?2 AND cell = ?3 AND leads = 1")
        try one.bind(1, viewer)
        try one.bind(2, list.rawValue)
        statement = one
    }

    func contains(_ cell: String) throws -> Bool {
        try statement?.finds(cell, at: 3) ?? false
    }
}
