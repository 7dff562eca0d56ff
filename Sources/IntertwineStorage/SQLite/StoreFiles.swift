import Foundation
import GRDB
import IntertwineFeed

/// The database files and the signing key of a store in files, which belong together.
package struct StoreFiles: Sendable {
    /// The signing key of the data folder.
    package struct Key: Sendable {
        var path: String
        /// Names the key; nil if there is no file.
        var name: String?

        package init(path: String, name: String?) {
            (self.path, self.name) = (path, name)
        }
    }

    /// What stands at the path of a database file.
    private struct Found {
        var path: String
        var isThere = false
        var isEmpty = false
        var hasLog = false
        var identity: StoreIdentity?

        /// Whether the file was served together with others.
        var isServed: Bool { (identity?.generation ?? 0) > 0 }
    }

    private let items: String
    private let ledger: String

    package init(items: String, ledger: String) {
        (self.items, self.ledger) = (items, ledger)
    }

    /// Looks for parts that are missing, older than the others, or of another store. Writes nothing.
    ///
    /// - Parameter key: nil if the signing key is configured elsewhere.
    /// - Returns: one phrase for each of them.
    /// - Throws: `StoreError` if a file is no database of ours.
    package func faults(key: Key?) throws -> [String] {
        try ItemSchema.file(items).alone {
            let found = (items: try Self.find(ItemSchema.file(items)), ledger: try Self.find(LedgerSchema.file(ledger)))
            let faults = Self.faults(found.items, found.ledger) ?? [found.items, found.ledger].compactMap(Self.faultOfLog)
            let faultOfKey = key.flatMap { Self.fault(of: $0, [found.ledger, found.items]) }
            return faults + [faultOfKey].compactMap { $0 }
        }
    }

    private static func find(_ file: DatabaseFile) throws(StoreError) -> Found {
        try file.checkPermissions()
        var found = Found(path: file.path)
        // Before SQLite opens it, which may make an empty one.
        let size = { (path: String) in (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int }
        let (main, log) = (size(file.path), size(file.path + "-wal") ?? 0)
        // The header of a log and that of a frame.
        found.hasLog = log > 32 + 24
        guard let main else { return found }
        (found.isThere, found.isEmpty) = (true, main == 0)
        guard main > 0 else { return found }
        _ = try file.isUpToDate()
        do {
            found.identity = try file.reading(StoreIdentity.read)
            return found
        } catch {
            throw file.failure(error)
        }
    }

    /// Faults of the files as a pair; nil if they belong together.
    private static func faults(_ items: Found, _ ledger: Found) -> [String]? {
        for (one, other) in [(items, ledger), (ledger, items)] where other.isServed {
            guard one.isThere else { return ["\(one.path) is missing, though \(other.path) was served with it"] }
            if one.isEmpty { return ["\(one.path) is empty, though \(other.path) was served with it"] }
        }
        guard items.isServed || ledger.isServed else { return nil }
        guard let its = items.identity, let other = ledger.identity else {
            let (part, whole) = items.identity == nil ? (items, ledger) : (ledger, items)
            return ["\(part.path) was never served with \(whole.path)"]
        }
        if its.store != other.store { return ["\(ledger.path) belongs to another store than \(items.path)"] }
        // A process that ended between the two has written the ledger's first.
        if other.generation == its.generation || other.generation == its.next { return nil }
        let (older, newer) = other.generation < its.generation ? (ledger, items) : (items, ledger)
        return ["\(older.path) is older than \(newer.path)"]
    }

    private static func faultOfLog(_ file: Found) -> String? {
        guard file.identity?.expectsLog == true, !file.hasLog else { return nil }
        return "\(file.path)-wal, which has the last commits of \(file.path), is missing"
    }

    private static func fault(of key: Key, _ files: [Found]) -> String? {
        guard let served = files.first(where: { $0.identity?.key != nil }) else { return nil }
        if key.name == nil { return "\(key.path), the signing key of \(served.path), is missing" }
        return key.name == served.identity?.key ? nil : "\(key.path) is another signing key than that of \(served.path)"
    }

    /// Writes the next generation to both files: at each start and stop.
    ///
    /// - Parameter key: names the signing key of the data folder; nil if it is configured elsewhere.
    /// - Throws: if one of them cannot be written, such as while an import has it locked. The files belong together all the same.
    package func advance(_ store: SQLiteStore, _ ledger: SQLiteLedger, key: String?) throws {
        try ItemSchema.file(items).alone {
            let (before, other) = (try store.maintain(StoreIdentity.read), try ledger.maintain(StoreIdentity.read))
            let last = [before?.generation, before?.next, other?.generation].compactMap { $0 }.max() ?? 0
            var identity =
                before ?? StoreIdentity(store: other?.store ?? UUID().uuidString, generation: 0, key: other?.key)
            let isFirst = identity.store != other?.store
            identity.key = key ?? identity.key
            // The ledger is first behind, and then of the generation that the items say comes next.
            identity.next = last + 1
            if isFirst { identity.generation = 0 }
            try store.maintain { try identity.write($0) }
            (identity.generation, identity.next) = (last + 1, nil)
            try ledger.maintain { try identity.write($0) }
            try store.maintain { try identity.write($0) }
        }
    }
}
