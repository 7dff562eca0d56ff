import Foundation
import GRDB
package import IntertwineFeed

/// A destination for the items of an import. Used by one thread at a time.
package protocol ImportDestination {
    /// Writes items that are not visible to readers yet.
    ///
    /// - Returns: the counts of changes, as far as they are known.
    mutating func write(_ batch: [ValidatedItem]) throws -> ImportCounts

    /// Transfers staged items to the store, if they are not there yet, without making them visible to readers.
    ///
    /// - Returns: the corrections of the counts of ``write(_:)``.
    mutating func finish() throws -> ImportCounts

    /// Finds items by their keys.
    mutating func find(_ keys: [ItemKey]) throws -> FoundItems

    /// Makes all items visible at once and durable.
    ///
    /// - Returns: the corrections of the counts so far.
    mutating func commit() throws -> ImportCounts

    /// Reverts all changes. Does nothing after ``commit()``.
    mutating func rollback()
}

extension ImportDestination {
    package func finish() -> ImportCounts { ImportCounts() }
}

/// The result of a search for items by their keys.
package struct FoundItems: Sendable {
    /// The missing items: neither in the store, nor imported earlier, nor taken down.
    package var missing: Set<ItemKey>
    /// The number of campaigns in the store.
    package var campaigns: Int

    package init(missing: Set<ItemKey> = [], campaigns: Int = 0) {
        (self.missing, self.campaigns) = (missing, campaigns)
    }
}

/// Counts of added, replaced and withheld items.
package struct ImportCounts {
    package var added: Int
    package var replaced: Int
    package var withheld: BlockedItems

    package init(added: Int = 0, replaced: Int = 0, withheld: BlockedItems = BlockedItems()) {
        (self.added, self.replaced, self.withheld) = (added, replaced, withheld)
    }

    mutating func count(_ change: ItemChange, of item: ValidatedItem) {
        switch change {
        case .added: added += 1
        case .replaced: replaced += 1
        case .withheld: withheld.record(ItemKey(item))
        }
    }

    static func += (counts: inout ImportCounts, more: ImportCounts) {
        counts.added += more.added
        counts.replaced += more.replaced
        counts.withheld.add(more.withheld)
    }
}

/// A dry run that counts the changes of an import. It writes nothing into the store, and reads it beside other processes.
///
/// The imported ids are in a temporary SQLite database, so memory stays bounded.
struct DryRunImport: ImportDestination {
    private let seen: DatabaseQueue
    /// The store; nil if it does not exist yet.
    private let store: DatabaseQueue?

    init(_ path: String) throws {
        seen = try DatabaseQueue(path: "")
        try seen.writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -32768;
                    CREATE TABLE seen (kind TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (kind, id)) WITHOUT ROWID
                    """)
        }
        guard FileManager.default.fileExists(atPath: path) else {
            store = nil
            return
        }
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(60)
        configuration.label = "intertwine.rehearsal"
        store = try DatabaseQueue(path: path, configuration: configuration)
    }

    func write(_ batch: [ValidatedItem]) throws -> ImportCounts {
        let fresh = try seen.write { database in
            let insert = try SQLStatement(database, "INSERT INTO seen (kind, id) VALUES (?, ?) ON CONFLICT DO NOTHING")
            return try batch.map { item in
                try insert.bind(1, kind: item.kind)
                try insert.bind(2, item.id)
                try insert.run()
                return database.changesCount > 0
            }
        }
        var counts = ImportCounts()
        guard let store else {
            for (item, isFresh) in zip(batch, fresh) { counts.count(isFresh ? .added : .replaced, of: item) }
            return counts
        }
        return try store.read { database in
            let find = try SQLStatement(database, "SELECT 1 FROM item WHERE kind = ? AND id = ?")
            // A store of an earlier version has no such table; an import would create it.
            let takedowns = try database.tableExists("takedown") ? TakedownTable(database) : nil
            for (item, isFresh) in zip(batch, fresh) {
                if try takedowns?.withholds(kind: item.kind, id: item.id) == true {
                    counts.count(.withheld, of: item)
                    continue
                }
                try find.bind(1, kind: item.kind)
                try find.bind(2, item.id)
                let isThere = try find.step()
                find.reset()
                counts.count(isThere || !isFresh ? .replaced : .added, of: item)
            }
            return counts
        }
    }

    func find(_ keys: [ItemKey]) throws -> FoundItems {
        let unseen = try seen.read { database in
            let find = try SQLStatement(database, "SELECT 1 FROM seen WHERE kind = ? AND id = ?")
            return try keys.filter { key in
                try find.bind(1, kind: key.kind)
                try find.bind(2, key.id)
                defer { find.reset() }
                return try !find.step()
            }
        }
        guard let store else { return FoundItems(missing: Set(unseen)) }
        return try store.read { database in
            try ItemSchema.find(unseen, in: database, try database.tableExists("takedown") ? TakedownTable(database) : nil)
        }
    }

    func commit() -> ImportCounts { ImportCounts() }

    func rollback() {}
}
