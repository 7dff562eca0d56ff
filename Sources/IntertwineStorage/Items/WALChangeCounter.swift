import GRDB
import GRDBSQLite
import IntertwineFeed
import Synchronization

/// Tells whether anyone has committed to a database in WAL mode, any process included, by looking at memory alone.
///
/// SQLite keeps a header at the start of the memory that all connections to a WAL database share, the `-shm` file
/// (<https://www.sqlite.org/walformat.html#the_wal_index_header>). It holds `iChange`, which every commit increments, and the checksum of
/// the last committed frame, and it is what a read transaction takes its snapshot from: a version read from it before a read begins is
/// never newer than what the read sees. A checkpoint changes neither field.
///
/// The memory is SQLite's own mapping, asked for through its file methods. To open the file here instead would be a trap: closing any
/// descriptor of it drops the locks that SQLite holds on it for the whole process.
///
/// `@unchecked Sendable`: the pointer is only read from. It stays valid as long as the pool's writing connection is open, and the
/// counter keeps the pool alive.
final class WALChangeCounter: @unchecked Sendable {
    private let header: UnsafeRawPointer
    private let pool: DatabasePool
    private let misses = Atomic<UInt64>(0)

    private static let headerSize = 48
    private static let regionSize: Int32 = 32_768

    /// - Throws: ``StoreError/unusable(_:)`` where the database shares no such memory.
    init(_ pool: DatabasePool) throws {
        self.pool = pool
        header = try pool.writeWithoutTransaction { database in
            // A connection maps the memory when it first reads.
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
        // The header stands there twice, and a writer writes the second copy first: equal copies are whole.
        for _ in 0..<64 {
            let first = copy(at: 0)
            atomicMemoryFence(ordering: .acquiring)
            if first == copy(at: Self.headerSize) {
                return StoreVersion(high: first.1 & 0xFFFF_FFFF, low: first.3)
            }
        }
        // A writer died between the two. Whoever asks is told that everything changed, until another mends it: slow, and never stale.
        return StoreVersion(high: .max, low: misses.add(1, ordering: .relaxed).newValue)
    }

    /// Where the write-ahead log stands.
    struct LogPosition: Equatable {
        /// Others each time that the log begins anew. As they stand in the log.
        var salt: [UInt8]
        /// Of the last frame that is committed, as it stands in the log.
        var checksum: [UInt8]
        /// Frames that are committed.
        var frames: UInt32
        /// Frames that were copied into the main file.
        var copied: UInt32

        /// Whether nothing at or behind a former position was copied, nor the log begun anew.
        func continues(_ former: LogPosition) -> Bool { salt == former.salt && copied < former.frames }
    }

    /// Nil if a writer died while it moved.
    var log: LogPosition? {
        for _ in 0..<64 {
            let first = copy(at: 0)
            atomicMemoryFence(ordering: .acquiring)
            guard first == copy(at: Self.headerSize) else { continue }
            // Salts are kept as the log has them, checksums as numbers of this machine.
            let (low, high) = (UInt32(truncatingIfNeeded: first.3), UInt32(truncatingIfNeeded: first.3 >> 32))
            let checksum = [low, high].flatMap { number in withUnsafeBytes(of: number.bigEndian) { Array($0) } }
            return LogPosition(
                salt: withUnsafeBytes(of: first.4.littleEndian) { Array($0) }, checksum: checksum,
                frames: UInt32(truncatingIfNeeded: first.2), copied: UInt32(truncatingIfNeeded: word(2 * Self.headerSize)))
        }
        return nil
    }

    /// The six words of a copy: 1 holds `iChange` in its lower half (little endian), 3 is `aFrameCksum`.
    private func copy(at offset: Int) -> (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) {
        (
            word(offset), word(offset + 8), word(offset + 16), word(offset + 24), word(offset + 32), word(offset + 40)
        )
    }

    private func word(_ offset: Int) -> UInt64 {
        UInt64(littleEndian: header.load(fromByteOffset: offset, as: UInt64.self))
    }
}
