import Foundation
import GRDB
internal import IntertwineFeed

/// The database files and the signing key of a file store, which belong together.
package struct StoreFiles: Sendable {
    package struct Key: Sendable {
        var path: String
        var name: String?

        package init(path: String, name: String?) {
            (self.path, self.name) = (path, name)
        }
    }

    private struct Found {
        var path: String
        var isThere = false
        var isEmpty = false
        var identity: StoreIdentity?

        var isServed: Bool { identity?.isServed == true }
    }

    let items: String
    let ledger: String

    package init(items: String, ledger: String) {
        (self.items, self.ledger) = (items, ledger)
    }

    package func faults(key: Key? = nil, auditLog: String? = nil, isReadOnly: Bool = false) throws -> [String] {
        let (its, events) = (try Self.find(ItemSchema.file(items), isReadOnly), try Self.find(LedgerSchema.file(ledger), isReadOnly))
        let faultOfKey = key.flatMap { Self.fault(of: $0, [events, its]) }
        let faultOfFolder = its.isThere || events.isThere ? nil : faultOfFolder(key, auditLog)
        return [Self.fault(its, events), faultOfKey, faultOfFolder].compactMap { $0 }
    }

    private func faultOfFolder(_ key: Key?, _ auditLog: String?) -> String? {
        guard let key, key.name != nil, let auditLog, FileManager.default.fileExists(atPath: auditLog) else { return nil }
        return "\(items) and \(ledger) are missing, though \(key.path) and \(auditLog) exist"
    }

    private static func find(_ file: DatabaseFile, _ isReadOnly: Bool) throws(StoreError) -> Found {
        if !isReadOnly { try file.checkPermissions() }
        var found = Found(path: file.path)
        let size = (try? FileManager.default.attributesOfItem(atPath: file.path))?[.size] as? Int
        guard let size else { return found }
        (found.isThere, found.isEmpty) = (true, size == 0)
        guard size > 0 else { return found }
        guard try file.isUpToDate() else {
            found.isEmpty = true
            return found
        }
        do {
            found.identity = try file.reading(StoreIdentity.read)
            return found
        } catch {
            throw file.failure(error)
        }
    }

    private static func fault(_ items: Found, _ ledger: Found) -> String? {
        for (one, other) in [(items, ledger), (ledger, items)] where other.isServed {
            guard one.isThere else { return "\(one.path) is missing, though \(other.path) was served with it" }
            if one.isEmpty { return "\(one.path) is empty, though \(other.path) was served with it" }
        }
        if let its = items.identity, let other = ledger.identity {
            return its.store == other.store ? nil : "\(ledger.path) belongs to another store than \(items.path)"
        }
        return items.isServed ? "\(ledger.path) was never served with \(items.path)" : nil
    }

    private static func fault(of key: Key, _ files: [Found]) -> String? {
        guard let served = files.first(where: { $0.identity?.key != nil }) else { return nil }
        if key.name == nil { return "\(key.path), the signing key of \(served.path), is missing" }
        return key.name == served.identity?.key ? nil : "\(key.path) is another signing key than that of \(served.path)"
    }

    /// Writes the identity of the items to the ledger, unless it is there: at the first start, and after an accepted loss.
    package func identify(_ store: SQLiteStore, _ ledger: SQLiteLedger, key: String?) throws {
        let (before, other) = (try store.connections.read(StoreIdentity.read), try ledger.connections.read(StoreIdentity.read))
        guard var identity = before else { throw StoreError.unusable("\(items): has no identity") }
        (identity.isServed, identity.key) = (true, key ?? identity.key)
        // The ledger comes first: items that are not marked as served fit any ledger of their store.
        if other != identity { try ledger.commits.inTurnBlocking { try $0.write(isSynced: true) { try identity.write($0) } } }
        if before != identity { try store.writeBlocking { try identity.write($0) } }
    }
}
