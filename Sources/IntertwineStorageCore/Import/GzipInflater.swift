import CIntertwineZlib
internal import IntertwineFeed

/// A streaming decompressor of gzip (RFC 1952), with all members of a file in sequence, as `zcat` does.
///
/// Its memory is limited to a window of 32 KiB and one piece of output, for files of any size.
final class GzipInflater {
    /// The first bytes of a gzip member.
    static let magic: [UInt8] = [0x1F, 0x8B]
    private static let pieceSize = 1 << 17

    private var stream = z_stream()
    /// A Boolean value indicating whether a member has begun and not ended.
    private var isInside = false

    init() {
        czlib_gunzip_init(&stream)
    }

    deinit {
        inflateEnd(&stream)
    }

    /// Decompresses the next bytes.
    ///
    /// - Parameter body: called with each decompressed piece.
    /// - Throws: `ItemFileError.brokenGzip`, or the error of `body`.
    func inflate(_ bytes: [UInt8], _ body: ([UInt8]) throws -> Void) throws {
        try bytes.withUnsafeBufferPointer { input in
            // zlib does not write through `next_in`; its type only lacks `const`.
            stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.avail_in = UInt32(input.count)
            // The pointer to the input is invalid after this function returns.
            defer { (stream.next_in, stream.avail_in) = (nil, 0) }
            var isFull = false
            while stream.avail_in > 0 || isFull {
                let (piece, status) = step()
                isFull = stream.avail_out == 0
                if !piece.isEmpty { try body(piece) }
                switch status {
                case Z_STREAM_END:
                    inflateReset(&stream)
                    (isInside, isFull) = (false, false)
                case Z_OK: isInside = true
                // All input is consumed.
                case Z_BUF_ERROR: isFull = false
                default: throw ItemFileError.brokenGzip(stream.msg.map { String(cString: $0) } ?? "its data is corrupt")
                }
            }
        }
    }

    /// Checks that the file is complete.
    ///
    /// - Throws: `ItemFileError.brokenGzip` if the file is truncated.
    func finish() throws(ItemFileError) {
        guard !isInside else { throw .brokenGzip("it is truncated") }
    }

    private func step() -> (piece: [UInt8], status: Int32) {
        var status = Z_OK
        let piece = [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { output, count in
            stream.next_out = output.baseAddress
            stream.avail_out = UInt32(output.count)
            status = CIntertwineZlib.inflate(&stream, Z_NO_FLUSH)
            count = output.count - Int(stream.avail_out)
        }
        return (piece, status)
    }
}
