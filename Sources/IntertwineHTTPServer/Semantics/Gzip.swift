internal import CIntertwineZlib

/// The gzip coding (RFC 1952) of bytes that are all there.
enum Gzip {
    /// Below this many bytes the coding saves nothing that a packet would notice.
    static let minimumLength = 1024

    /// The coded bytes, nil where they would not be fewer or zlib has no memory.
    ///
    /// - Parameter level: 1 (fast) to 9 (small).
    static func compress(_ bytes: [UInt8], level: Int32) -> [UInt8]? {
        guard bytes.count >= minimumLength, bytes.count < Int(UInt32.max) else { return nil }
        var stream = z_stream()
        guard czlib_gzip_init(&stream, level) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        let capacity = bytes.count
        let result = [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
            bytes.withUnsafeBufferPointer { input in
                // zlib does not write through next_in; its type only lacks the const.
                stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(capacity)
                count = deflate(&stream, Z_FINISH) == Z_STREAM_END ? capacity - Int(stream.avail_out) : 0
            }
        }
        return result.isEmpty ? nil : result
    }
}
