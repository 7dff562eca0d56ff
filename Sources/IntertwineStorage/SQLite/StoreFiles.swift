import Foundation
import GRDB
internal import IntertwineItems

/// The database files and the signing key of a file store, which belong together.
package struct StoreFiles: Sendable {
    /// The signing key of the data folder.
    package struct Key: Sendable {
        var path: String
        /// The name of the key; nil if there is no file.
        var name: String?

        package init(path: String, name: String?) {
            (self.path, self.name) = (path, name)
        }
    }

    /// The state of the database file at a path.
    private struct Found {
        var path: String
        var isThere = false
        var isEmpty = false
        var hasLog = false
        var isLogIncomplete = false
        var identity: StoreIdentity?

        /// A Boolean value indicating whether the file was served together with others.
        var isServed: Bool { (identity?.generation ?? 0) > 0 }
    }

    let items: String
    let ledger: String

    package init(items: String, ledger: String) {
        (self.items, self.ledger) = (items, ledger)
    }

    /// Finds parts of the store that are missing, older than the others, or of another store. Writes nothing.
    ///
    /// - Parameters:
    ///   - key: nil if the signing key is configured elsewhere, or not needed.
    ///   - auditLog: the path of the audit log; nil if it is not checked.
    ///   - isReadOnly: true if the files need not be writable.
    /// - Returns: one phrase for each fault.
    /// - Throws: `StoreError` if a file is not an Intertwine database.
    package func faults(key: Key? = nil, auditLog: String? = nil, isReadOnly: Bool = false) throws -> [String] {
        try ItemSchema.file(items).alone {
            let found = (
                items: try Self.find(ItemSchema.file(items), isReadOnly), ledger: try Self.find(LedgerSchema.file(ledger), isReadOnly)
            )
            let faults = Self.faults(found.items, found.ledger) ?? [found.items, found.ledger].compactMap(Self.faultOfLog)
            let faultOfKey = key.flatMap { Self.fault(of: $0, [found.ledger, found.items]) }
            let isBare = !found.items.isThere && !found.ledger.isThere
            return faults + [faultOfKey, isBare ? faultOfFolder(key, auditLog) : nil].compactMap { $0 }
        }
    }

    /// Returns the fault of a folder without databases that a service has used. A key alone may be provided before the first start.
    private func faultOfFolder(_ key: Key?, _ auditLog: String?) -> String? {
        guard let key, key.name != nil, let auditLog, FileManager.default.fileExists(atPath: auditLog) else { return nil }
        return "\(items) and \(ledger) are missing, though \(key.path) and \(auditLog) exist"
    }

    private static func find(_ file: DatabaseFile, _ isReadOnly: Bool) throws(StoreError) -> Found {
        if !isReadOnly { try file.checkPermissions() }
        var found = Found(path: file.path)
        // The size is read before SQLite opens the log, which may create an empty file.
        let size = { (path: String) in (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int }
        let (main, log) = (size(file.path), size(file.path + "-wal") ?? 0)
        // A log with content is longer than its header (32 bytes) and one frame header (24 bytes).
        found.hasLog = log > 32 + 24
        found.isLogIncomplete = found.hasLog && WriteAheadLogCheck.isIncomplete(file.path)
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

    /// Returns the faults of the files as a pair; nil if they belong together.
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
        // A process that ended between the two writes has written only the ledger's generation.
        if other.generation == its.generation || other.generation == its.next { return nil }
        let (older, newer) = other.generation < its.generation ? (ledger, items) : (items, ledger)
        return ["\(older.path) is older than \(newer.path)"]
    }

    private static func faultOfLog(_ file: Found) -> String? {
        if file.isLogIncomplete { return "\(file.path)-wal, which has the last commits of \(file.path), is cut off or overwritten" }
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
    /// - Parameter key: the name of the signing key in the data folder; nil if it is configured elsewhere.
    /// - Throws: an error if one file cannot be written, such as while an import has it locked. The files still belong together.
    package func advance(_ store: SQLiteStore, _ ledger: SQLiteLedger, key: String?) throws {
        try ItemSchema.file(items).alone {
            let (before, other) = (try store.maintain(StoreIdentity.read), try ledger.maintain(StoreIdentity.read))
            let last = [before?.generation, before?.next, other?.generation].compactMap { $0 }.max() ?? 0
            var identity =
                before ?? StoreIdentity(store: other?.store ?? UUID().uuidString, generation: 0, key: other?.key)
            let isFirst = identity.store != other?.store
            identity.key = key ?? identity.key
            // The ledger is written first, so its generation is the one that the items record as `next`.
            identity.next = last + 1
            if isFirst { identity.generation = 0 }
            try store.maintain { try identity.write($0) }
            (identity.generation, identity.next) = (last + 1, nil)
            try ledger.maintain { try identity.write($0) }
            try store.maintain { try identity.write($0) }
        }
    }
}
