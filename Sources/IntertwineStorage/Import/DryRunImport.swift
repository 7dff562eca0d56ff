import Foundation
import GRDB
internal import IntertwineFeed

/// The imported ids are in a temporary SQLite database, so memory stays bounded.
struct DryRunImport: ImportDestination {
    private let seen: DatabaseQueue
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
        try ServedFile.check(path)
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
                try insert.bind(1, item.kind)
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
            let withheld = try database.tableExists("takedown") ? WithheldItems(database) : nil
            for (item, isFresh) in zip(batch, fresh) {
                if try withheld?.contains(kind: item.kind, id: item.id) == true {
                    counts.count(.withheld, of: item)
                    continue
                }
                try find.bind(1, item.kind)
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
                try find.bind(1, key.kind)
                try find.bind(2, key.id)
                defer { find.reset() }
                return try !find.step()
            }
        }
        guard let store else { return FoundItems(missing: Set(unseen)) }
        return try store.read { database in
            try ItemSchema.find(unseen, in: database, try database.tableExists("takedown") ? WithheldItems(database) : nil)
        }
    }

    func commit() -> ImportCounts { ImportCounts() }

    func rollback() {}
}
