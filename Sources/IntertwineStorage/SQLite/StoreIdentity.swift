import GRDB

struct StoreIdentity: Equatable {
    var store: String
    var isServed = true
    var key: String?

    static let creation = """
        CREATE TABLE store_identity (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            store TEXT NOT NULL,        -- equal in both files of a store
            served INTEGER NOT NULL,    -- 1 after a start with both files
            key TEXT                    -- the name of the signing key
        );

        """

    static let beginning = "INSERT INTO store_identity (only, store, served) VALUES (1, lower(hex(randomblob(16))), 0);\n"

    /// Returns the identity of a file; nil if it is a ledger that was never served.
    static func read(_ connection: any SQLConnection) throws -> StoreIdentity? {
        let statement = try SQLStatement(connection, "SELECT store, served, key FROM store_identity WHERE only = 1")
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        return StoreIdentity(store: statement.text(0), isServed: statement.flag(1), key: statement.optionalText(2))
    }

    func write(_ database: Database) throws {
        try SQLStatement.run(
            database, "INSERT OR REPLACE INTO store_identity (only, store, served, key) VALUES (1, ?1, ?2, ?3)", .text(store),
            .flag(isServed), .text(key))
    }
}
