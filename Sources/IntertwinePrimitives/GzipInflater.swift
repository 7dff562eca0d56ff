internal import CIntertwineZlib

/// A streaming decompressor of gzip (RFC 1952), with all members of a file in sequence, as `zcat` does, and of zlib (RFC 1950).
package final class GzipInflater {
    package static let magic: [UInt8] = [0x1F, 0x8B]
    private static let pieceSize = 1 << 17

    private var stream = z_stream()
    private var isInside = false
    private var hasMember = false
    private var isOver = false
    private let uncheckedTrailer: Int?

    package struct Failure: Error, Hashable {
        package let reason: String
    }

    /// `isRaw`: the data has no header (RFC 1951), as some origins understand the coding `deflate`.
    /// `uncheckedTrailer`: the length in bytes of the checksum after the data, if it may be wrong or missing.
    package init(isRaw: Bool = false, uncheckedTrailer: Int? = nil) {
        self.uncheckedTrailer = uncheckedTrailer
        czlib_inflate_init(&stream, isRaw ? -15 : 15 + 32)
        if uncheckedTrailer != nil { inflateValidate(&stream, 0) }
    }

    deinit {
        inflateEnd(&stream)
    }

    package func inflate(_ bytes: UnsafeRawBufferPointer, _ body: ([UInt8]) throws -> Void) throws {
        guard !isOver else { return }
        try bytes.withMemoryRebound(to: UInt8.self) { input in
            // zlib does not write through `next_in`; its type only lacks `const`.
            stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.avail_in = UInt32(input.count)
            // The pointer to the input is invalid after this function returns.
            defer { (stream.next_in, stream.avail_in) = (nil, 0) }
            var isFull = false
            while stream.avail_in > 0 || isFull {
                if hasMember, !isInside, !isFull, stream.next_in.pointee != Self.magic[0] {
                    isOver = true
                    return
                }
                let (piece, status) = step()
                isFull = stream.avail_out == 0
                if !piece.isEmpty { try body(piece) }
                switch status {
                case Z_STREAM_END:
                    inflateReset(&stream)
                    (isInside, isFull, hasMember) = (false, false, true)
                case Z_OK: isInside = true
                // All input is consumed.
                case Z_BUF_ERROR: isFull = false
                default: throw Failure(reason: stream.msg.map { String(cString: $0) } ?? "its data is corrupt")
                }
            }
        }
    }

    package var isComplete: Bool { !isInside || lacksOnlyTrailer() }

    /// Completes a missing trailer. Incomplete data takes at least one byte of it, so that the rest is too short.
    private func lacksOnlyTrailer() -> Bool {
        guard let uncheckedTrailer, uncheckedTrailer > 0 else { return false }
        var trailer = [UInt8](repeating: 0, count: uncheckedTrailer)
        return trailer.withUnsafeMutableBufferPointer { trailer in
            (stream.next_in, stream.avail_in) = (trailer.baseAddress, UInt32(trailer.count))
            defer { (stream.next_in, stream.avail_in) = (nil, 0) }
            return step().status == Z_STREAM_END
        }
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
