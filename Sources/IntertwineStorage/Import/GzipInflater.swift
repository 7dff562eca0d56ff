import CIntertwineZlib
import IntertwineFeed

/// Decompresses gzip (RFC 1952) as it arrives: all members of it, one after another, as `zcat` does. Holds a window of 32 KiB and one piece
/// of output, however large the file.
final class GzipInflater {
    /// What a gzip member begins with.
    static let magic: [UInt8] = [0x1F, 0x8B]
    private static let pieceSize = 1 << 17

    private var stream = z_stream()
    /// Whether a member has begun and not ended.
    private var isInside = false

    init() {
        czlib_gunzip_init(&stream)
    }

    deinit {
        inflateEnd(&stream)
    }

    /// - Parameter body: called with each decompressed piece.
    /// - Throws: ``ItemFileError/brokenGzip(_:)``, or what `body` throws.
    func inflate(_ bytes: [UInt8], _ body: ([UInt8]) throws -> Void) throws {
        try bytes.withUnsafeBufferPointer { input in
            // zlib does not write through next_in; its type only lacks the const.
            stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.avail_in = UInt32(input.count)
            // The input's bytes are gone when this returns.
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
                // There was nothing to do: all of the input is taken.
                case Z_BUF_ERROR: isFull = false
                default: throw ItemFileError.brokenGzip(stream.msg.map { String(cString: $0) } ?? "its bytes are damaged")
                }
            }
        }
    }

    /// No more bytes will come.
    ///
    /// - Throws: ``ItemFileError/brokenGzip(_:)`` where it was cut off.
    func finish() throws(ItemFileError) {
        guard !isInside else { throw .brokenGzip("it was cut off") }
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
