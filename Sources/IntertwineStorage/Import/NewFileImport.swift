import Foundation
import GRDB
import Glibc
internal import IntertwineFeed
internal import IntertwinePrimitives

/// An import into a new store: into a draft file beside its path, which is moved to the path when it is complete.
/// Why: a first import takes half the time. Bytes are not written twice, through a write-ahead log, and the index of ids is sorted at the
/// end instead of updated at random positions.
struct NewFileImport: ImportDestination {
    private let finalPath: String
    private let sections: [SectionConfiguration]
    private let layout: SectionLayout
    private let draft: DraftFile
    private let queue: DatabaseQueue
    private let isRehearsal: Bool
    /// The insert statements for items and pinned ads; nil after the end, because they keep the file open.
    private var insert: (item: SQLStatement, pin: SQLStatement)?
    private var lastPositions: [StreamID: Int64] = [:]
    private var lastContent = StreamID.content

    init(_ place: String, sections: [SectionConfiguration], isRehearsal: Bool) throws {
        self.finalPath = place
        (self.sections, self.isRehearsal) = (sections, isRehearsal)
        let file = ItemSchema.file(place)
        try file.checkPermissions()
        draft = try DraftFile(for: place)
        do {
            queue = try DatabaseQueue(path: draft.path, configuration: Self.configuration)
            try file.create(queue)
            (layout, insert) = try queue.writeWithoutTransaction { database in
                try database.execute(sql: "BEGIN")
                let layout = try SectionLayout.arrange(by: sections, database.session)
                try database.execute(sql: "DROP INDEX item_identity")
                let item = "INSERT INTO item (lane, position, kind, id, variant, body, due) VALUES (?, ?, ?, ?, ?, ?, ?)"
                let pin = "INSERT INTO ad_listing (lane, position, kind, id) VALUES (?, ?, ?, ?)"
                return (layout, (try SQLStatement(database, item), try SQLStatement(database, pin)))
            }
        } catch {
            throw file.failure(error)
        }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "intertwine.import"
        // The transaction spans many calls.
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { database in
            // Only the complete draft must be durable, so it is synced once at the end. The cache is 16 MiB: appending needs little, and
            // sorting the ids needs the same amount again.
            try database.execute(
                sql: """
                    PRAGMA page_size = \(ItemSchema.pageSize); PRAGMA cache_size = -16384; PRAGMA mmap_size = 0;
                    PRAGMA synchronous = OFF
                    """)
        }
        return configuration
    }

    mutating func write(_ batch: [ValidatedItem]) throws -> ImportCounts {
        guard let insert else { throw StoreError.unavailable("the import is over") }
        try queue.writeWithoutTransaction { _ in
            for item in batch {
                let stream = layout.stream(of: item)
                let position = try ItemPosition.next(after: lastPositions[stream] ?? 0)
                lastPositions[stream] = position
                try insert.item.bind([
                    .integer(stream.rawValue), .integer(position), .text(item.kind), .text(item.id), .text(item.variant), .utf8(item.body),
                    .integer(item.isScheduled ? 0 : nil),
                ])
                try insert.item.run()
                guard stream == .advertisements else {
                    lastContent = stream
                    continue
                }
                // An ad that precedes all content has the least position.
                let values: [SQLValue] = [
                    .integer(lastContent.rawValue), .integer(lastPositions[lastContent] ?? .min), .text(item.kind), .text(item.id),
                ]
                try insert.pin.bind(values)
                try insert.pin.run()
            }
        }
        return ImportCounts(added: batch.count)
    }

    func find(_ keys: [ItemKey]) throws -> FoundItems {
        var missing = Set(keys)
        return try queue.writeWithoutTransaction { database in
            let all = try SQLStatement(database, "SELECT kind, id FROM item WHERE lane = \(StreamID.advertisements.rawValue)")
            defer { all.reset() }
            while try !missing.isEmpty && all.step() { missing.remove(ItemKey(kind: all.text(0), id: all.text(1))) }
            return FoundItems(missing: missing)
        }
    }

    mutating func commit() throws -> ImportCounts {
        let twins = try queue.writeWithoutTransaction { database in
            try database.execute(sql: "COMMIT")
            let twins = try Self.index(database)
            try PublicItems.settle(database.session)
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            return twins
        }
        insert = nil
        try queue.close()
        var corrections = ImportCounts(added: -twins, replaced: twins)
        if isRehearsal {
            draft.remove()
        } else if try !draft.moveIntoPlace() {
            corrections += try merge()
        }
        return corrections
    }

    mutating func rollback() {
        insert = nil
        try? queue.close()
        draft.remove()
    }

    private static func index(_ database: Database) throws -> Int {
        do {
            try database.execute(sql: ItemSchema.identityIndex)
            return 0
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            try database.execute(
                sql: """
                    CREATE INDEX item_twins ON item (kind, id, position);
                    UPDATE item SET (variant, body, due) = (
                        SELECT variant, body, due FROM item AS last WHERE last.kind = item.kind AND last.id = item.id
                        ORDER BY position DESC LIMIT 1
                    ) WHERE EXISTS (SELECT 1 FROM item AS later WHERE later.kind = item.kind AND later.id = item.id
                        AND later.position > item.position);
                    DELETE FROM item WHERE EXISTS (SELECT 1 FROM item AS earlier WHERE earlier.kind = item.kind
                        AND earlier.id = item.id AND earlier.position < item.position)
                    """)
            let twins = database.changesCount
            try database.execute(sql: "DROP INDEX item_twins; \(ItemSchema.identityIndex)")
            return twins
        }
    }

    private func merge() throws -> ImportCounts {
        var store = try StagedImport(finalPath, sections: sections)
        try DatabaseQueue(path: draft.path).writeWithoutTransaction { database in
            let rows = try SQLStatement(database, "SELECT lane, kind, id, variant, body FROM item ORDER BY lane, position")
            defer { rows.reset() }
            while try rows.step() {
                // The numbers of sections differ between stores; the store finds its stream by kind.
                let isAd = [StreamID.advertisements.rawValue, -1 - StreamID.advertisements.rawValue].contains(rows.integer(0))
                let stream = isAd ? StreamID.advertisements : .content
                let item = ValidatedItem(kind: rows.text(1), stream: stream, id: rows.text(2), variant: rows.text(3), body: rows.bytes(4))
                _ = try store.write([item])
            }
        }
        draft.remove()
        return try store.commit()
    }
}

/// A draft file `NAME.draft-N` beside the path of a new file, which is moved to the path when it is complete.
/// The file is locked while its process runs, so that another process can detect and remove an abandoned draft.
final class DraftFile {
    let path: String
    private let finalPath: String
    private let descriptor: Int32

    init(for place: String) throws(StoreError) {
        self.finalPath = place
        for number in 1...64 {
            let path = "\(place).draft-\(number)"
            let descriptor = OwnedFile.open(path, O_RDWR | O_EXCL)
            if descriptor < 0, errno == EEXIST { continue }
            guard descriptor >= 0 else { throw .unusable("\(place): cannot be created: \(OwnedFile.reason(path))") }
            // Another process that locked the file between the two calls treats it as abandoned.
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                close(descriptor)
                continue
            }
            self.path = path
            self.descriptor = descriptor
            return
        }
        throw .unavailable("\(place): too many imports at once")
    }

    deinit {
        remove()
        close(descriptor)
    }

    func moveIntoPlace() throws(StoreError) -> Bool {
        try ServedFile.check(finalPath)
        guard DurableFolder.syncContent(of: path) else {
            throw .unavailable("\(finalPath): cannot be written: \(OwnedFile.reason(finalPath))")
        }
        // Unlike a rename, a link never replaces a file that another process has created.
        guard link(path, finalPath) == 0 else {
            guard [EEXIST, EPERM, EOPNOTSUPP, ENOSYS].contains(errno) else {
                throw .unavailable("\(finalPath): cannot be moved into place: \(OwnedFile.reason(finalPath))")
            }
            return false
        }
        remove()
        guard DurableFolder.sync(of: finalPath) else {
            throw .unavailable("\(finalPath): cannot be written: \(OwnedFile.reason(finalPath))")
        }
        return true
    }

    /// Removes the draft and SQLite's journals of it.
    func remove() {
        Self.remove(path)
    }

    private static func remove(_ path: String) {
        for suffix in ["", "-journal", "-wal", "-shm"] { unlink(path + suffix) }
    }

    static func removeAbandoned(_ place: String) {
        for number in 1...64 {
            let path = "\(place).draft-\(number)"
            let descriptor = open(path, O_RDWR | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { remove(path) }
            close(descriptor)
        }
    }
}
