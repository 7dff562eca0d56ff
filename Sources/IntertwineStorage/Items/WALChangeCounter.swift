import GRDB
import GRDBSQLite
internal import IntertwineFeed
import Synchronization

/// A counter that detects commits to a database in WAL mode by any process, by reading shared memory only.
/// SQLite has a header at the start of the memory that all connections to a WAL database share, the `-shm` file
/// (<https://www.sqlite.org/walformat.html#the_wal_index_header>). A read transaction takes its snapshot from this header: a version read
/// from it before a read begins is never newer than the data of the read.
/// The memory is SQLite's own mapping, obtained through its file methods.
/// Why: opening the file separately would be unsafe. Closing any descriptor of it drops the locks that SQLite holds on it for the whole
/// process.
/// `@unchecked Sendable`: the pointer is only read from.
final class WALChangeCounter: @unchecked Sendable {
    private let header: UnsafeRawPointer
    private let pool: DatabasePool
    private let misses = Atomic<UInt64>(0)

    private static let headerSize = 48
    private static let regionSize: Int32 = 32_768

    init(_ pool: DatabasePool) throws {
        self.pool = pool
        header = try pool.writeWithoutTransaction { database in
            // A connection maps the memory at its first read.
            _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema")
            var file: UnsafeMutablePointer<sqlite3_file>?
            var region: UnsafeMutableRawPointer?
            let code = withUnsafeMutablePointer(to: &file) {
                sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, $0)
            }
            guard code == SQLITE_OK, let file, let map = file.pointee.pMethods?.pointee.xShmMap,
                map(file, 0, Self.regionSize, 0, &region) == SQLITE_OK, let region
            else { throw StoreError.unusable("\(pool.path): is not in WAL mode") }
            return UnsafeRawPointer(region)
        }
    }

    var version: StoreVersion {
        // The header has two copies, and a writer writes the second copy first: equal copies are complete.
        for _ in 0..<64 {
            let first = copy(at: 0)
            atomicMemoryFence(ordering: .acquiring)
            if first == copy(at: Self.headerSize) {
                return StoreVersion(high: first.1 & 0xFFFF_FFFF, low: first.3)
            }
        }
        // A writer died between the two copies. Until another process repairs the header, each call returns a new version: slow, never stale.
        return StoreVersion(high: .max, low: misses.add(1, ordering: .relaxed).newValue)
    }

    var frames: UInt32 { UInt32(truncatingIfNeeded: word(16)) }

    private func copy(at offset: Int) -> (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) {
        (
            word(offset), word(offset + 8), word(offset + 16), word(offset + 24), word(offset + 32), word(offset + 40)
        )
    }

    private func word(_ offset: Int) -> UInt64 {
        UInt64(littleEndian: header.load(fromByteOffset: offset, as: UInt64.self))
    }
}
