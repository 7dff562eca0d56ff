import Glibc

/// A check of the write-ahead log that a killed process left, before SQLite recovers it.
///
/// Recovery uses the frames up to the first invalid one and ignores the rest without an error. The shared memory of the killed process, the
/// `-shm` file, has the number of committed frames: a log with fewer valid frames was cut or overwritten.
/// Formats: <https://www.sqlite.org/walformat.html>.
enum WriteAheadLogCheck {
    static let frameHeaderSize = 24
    private static let indexHeaderSize = 48

    /// The header of the log.
    struct Header {
        static let size = 32

        /// The byte order of checksums.
        let isBigEndian: Bool
        let pageSize: Int
        /// The salts, which change each time that the log restarts. The header of each frame repeats them.
        let salt: ArraySlice<UInt8>

        /// Returns nil if the bytes are not the beginning of a log.
        init?(_ bytes: [UInt8]) {
            let word = { (offset: Int) in bytes[offset..<offset + 4].reduce(0 as UInt32) { $0 << 8 | UInt32($1) } }
            guard bytes.count >= Self.size, [0x377F_0682, 0x377F_0683].contains(word(0)) else { return nil }
            (isBigEndian, pageSize, salt) = (word(0) == 0x377F_0683, Int(word(8)), bytes[16..<24])
        }

        /// Returns the offset of a frame, counted from 0.
        func offset(ofFrame number: Int) -> Int { Self.size + number * (WriteAheadLogCheck.frameHeaderSize + pageSize) }

        /// Returns true if the frame belongs to the log, and not to an earlier one in the same file.
        func owns(frame: [UInt8]) -> Bool { frame[8..<16].elementsEqual(salt) }
    }

    /// The header of the shared memory. Only the parts that the check needs.
    private struct Index: Equatable {
        let frames: UInt32
        let salt: [UInt8]
        /// The number of frames that were copied into the main file.
        let copied: UInt32

        /// Returns nil if a writer died between the two copies of the header, or no process initialised it.
        init?(_ bytes: [UInt8]) {
            let (size, isInitialized) = (WriteAheadLogCheck.indexHeaderSize, 12)
            guard bytes.count >= 2 * size + 4, bytes[isInitialized] != 0, bytes[..<size] == bytes[size..<2 * size] else { return nil }
            let word = { (offset: Int) in bytes[offset..<offset + 4].reversed().reduce(0 as UInt32) { $0 << 8 | UInt32($1) } }
            (frames, salt, copied) = (word(16), Array(bytes[32..<40]), word(2 * size))
        }
    }

    /// The checksum of the log: a sum over pairs of words, in the byte order that the log's header declares.
    private struct Checksum: Equatable {
        var first: UInt32 = 0
        var second: UInt32 = 0

        mutating func add(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) {
            bytes.withUnsafeBytes { bytes in
                for offset in stride(from: 0, through: bytes.count - 8, by: 8) {
                    let one = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                    let other = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                    first &+= (isBigEndian ? UInt32(bigEndian: one) : UInt32(littleEndian: one)) &+ second
                    second &+= (isBigEndian ? UInt32(bigEndian: other) : UInt32(littleEndian: other)) &+ first
                }
            }
        }

        /// Returns true if the bytes are this checksum, which is stored in big-endian order in either case.
        func isEqual(to bytes: ArraySlice<UInt8>) -> Bool {
            let stored = bytes.map(UInt64.init).reduce(0) { $0 << 8 | $1 }
            return stored == UInt64(first) << 32 | UInt64(second)
        }
    }

    /// Returns true if the log of a database lacks commits that a killed process wrote to it. Writes nothing.
    ///
    /// After a restart of the machine the check finds nothing: the shared memory may be newer than a log whose last frames were not synced.
    ///
    /// - Parameter path: the path of the main file.
    static func isIncomplete(_ path: String) -> Bool {
        var attempts = 3
        // Another process may commit between the two reads.
        while let index = index(path + "-shm"), index.frames > index.copied, lacks(index, path + "-wal") {
            attempts -= 1
            guard attempts > 0 else { return true }
            usleep(20_000)
        }
        return false
    }

    private static func index(_ path: String) -> Index? {
        guard let file = File(path), file.modified >= File.bootTime, let bytes = file.read(2 * indexHeaderSize + 4, at: 0) else {
            return nil
        }
        return Index(bytes)
    }

    private static func lacks(_ index: Index, _ path: String) -> Bool {
        guard let file = File(path), let bytes = file.read(Header.size, at: 0), let header = Header(bytes) else { return true }
        var checksum = Checksum()
        checksum.add(bytes[..<24], isBigEndian: header.isBigEndian)
        guard checksum.isEqual(to: bytes[24...]) else { return true }
        // A log with another salt was restarted after the shared memory was written: its own checksums are its only measure.
        guard header.salt.elementsEqual(index.salt) else { return false }
        guard (512...65_536).contains(header.pageSize) else { return true }
        for number in 0..<Int(index.frames) {
            let frame = file.read(frameHeaderSize + header.pageSize, at: header.offset(ofFrame: number))
            guard let frame, header.owns(frame: frame) else { return true }
            checksum.add(frame[..<8], isBigEndian: header.isBigEndian)
            checksum.add(frame[frameHeaderSize...], isBigEndian: header.isBigEndian)
            guard checksum.isEqual(to: frame[16..<24]) else { return true }
        }
        return false
    }

    /// A file that is open for reading.
    ///
    /// Why not while this process has the database open: closing a descriptor drops the locks that SQLite holds on the file.
    private final class File {
        private let descriptor: Int32
        /// Seconds since 1970-01-01 UTC.
        let modified: Int

        init?(_ path: String) {
            descriptor = open(path, O_RDONLY | O_CLOEXEC)
            var facts = stat()
            guard descriptor >= 0, fstat(descriptor, &facts) == 0 else {
                modified = 0
                return nil
            }
            modified = facts.st_mtim.tv_sec
        }

        deinit { if descriptor >= 0 { close(descriptor) } }

        func read(_ count: Int, at offset: Int) -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: count)
            return pread(descriptor, &bytes, count, off_t(offset)) == count ? bytes : nil
        }

        /// The time when the machine started, in seconds since 1970-01-01 UTC.
        static var bootTime: Int {
            var (wall, monotonic) = (timespec(), timespec())
            clock_gettime(CLOCK_REALTIME, &wall)
            clock_gettime(CLOCK_BOOTTIME, &monotonic)
            return wall.tv_sec - monotonic.tv_sec
        }
    }
}
