internal import CIntertwineZlib

/// A part of a stream in gzip coding, which any number of streams may carry: it refers to no byte in front of it.
struct GzipPart: Sendable {
    /// What the gzip coding begins with: ten bytes, with no name and no time (RFC 1952, 2.3).
    fileprivate static let headerLength = 10
    private static let level: Int32 = 6

    /// Deflate blocks that end at a byte's boundary, and are not the last ones.
    let bytes: [UInt8]
    fileprivate let checksum: UInt
    fileprivate let count: Int

    /// Nil where zlib has no memory. Takes as long as compressing does: not for an event loop, unless there is nothing to compress.
    init?(_ content: [UInt8]) {
        guard !content.isEmpty else {
            (bytes, checksum, count) = ([], 0, 0)
            return
        }
        guard content.count < Int(Int32.max) else { return nil }
        var stream = z_stream()
        guard czlib_gzip_init(&stream, Self.level) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        // Room for the marker of the flush, too: what is left of the room then says that all is out.
        let capacity = Int(deflateBound(&stream, UInt(content.count))) + 64
        let coded = [UInt8](unsafeUninitializedCapacity: capacity) { output, length in
            content.withUnsafeBufferPointer { input in
                // zlib does not write through next_in; its type only lacks the const.
                stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(capacity)
                let isWhole = deflate(&stream, Z_FULL_FLUSH) == Z_OK && stream.avail_in == 0 && stream.avail_out > 0
                length = isWhole ? capacity - Int(stream.avail_out) : 0
            }
        }
        guard coded.count > Self.headerLength else { return nil }
        bytes = Array(coded[Self.headerLength...])
        (checksum, count) = (UInt(stream.adler), content.count)
    }
}

/// What one stream in gzip coding consists of beside its parts: the header, and the checksum and length of all content (RFC 1952, 2.3).
struct GzipStream {
    private var hasBegun = false
    private var checksum: UInt = 0
    private var count = 0

    /// What comes before the first part; nil later.
    mutating func begin() -> [UInt8]? {
        if hasBegun { return nil }
        hasBegun = true
        // Deflate, no flags, no time, no hint, an unknown system.
        return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]
    }

    mutating func add(_ part: GzipPart) {
        if part.count == 0 { return }
        checksum = crc32_combine(checksum, part.checksum, part.count)
        count &+= part.count
    }

    /// An empty last block, and what follows it.
    func end() -> [UInt8] {
        [0x03, 0x00] + Self.littleEndian(UInt32(truncatingIfNeeded: checksum)) + Self.littleEndian(UInt32(truncatingIfNeeded: count))
    }

    private static func littleEndian(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }
}
