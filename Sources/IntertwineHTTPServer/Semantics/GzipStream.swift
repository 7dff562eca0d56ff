internal import CIntertwineZlib

/// A part of a stream in gzip coding that many streams can share, because it refers to no earlier bytes.
struct GzipPart: Sendable {
    /// The length of the gzip header: ten bytes, without name and time (RFC 1952, 2.3).
    fileprivate static let headerLength = 10
    private static let level: Int32 = 6

    let bytes: [UInt8]
    fileprivate let checksum: UInt
    fileprivate let count: Int

    /// It takes as long as compression and must not run on an event loop unless the content is empty.
    init?(_ content: [UInt8]) {
        guard !content.isEmpty else {
            (bytes, checksum, count) = ([], 0, 0)
            return
        }
        guard content.count < Int(Int32.max) else { return nil }
        var stream = z_stream()
        guard czlib_gzip_init(&stream, Self.level) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        // The capacity includes the flush marker, so remaining capacity shows that all output was written.
        let capacity = Int(deflateBound(&stream, UInt(content.count))) + 64
        let coded = [UInt8](unsafeUninitializedCapacity: capacity) { output, length in
            content.withUnsafeBufferPointer { input in
                // The const is missing only in the type: zlib does not write through next_in.
                stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(capacity)
                let isComplete = deflate(&stream, Z_FULL_FLUSH) == Z_OK && stream.avail_in == 0 && stream.avail_out > 0
                length = isComplete ? capacity - Int(stream.avail_out) : 0
            }
        }
        guard coded.count > Self.headerLength else { return nil }
        bytes = Array(coded[Self.headerLength...])
        (checksum, count) = (UInt(stream.adler), content.count)
    }
}

/// The header and trailer of one stream in gzip coding: the trailer has the checksum and length of all content (RFC 1952, 2.3).
struct GzipStream {
    private var hasBegun = false
    private var checksum: UInt = 0
    private var count = 0

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

    func end() -> [UInt8] {
        [0x03, 0x00] + Self.littleEndian(UInt32(truncatingIfNeeded: checksum)) + Self.littleEndian(UInt32(truncatingIfNeeded: count))
    }

    private static func littleEndian(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }
}
