internal import CIntertwineZlib

/// Bytes in the gzip coding (RFC 1952), at the fastest level.
public func gzipped(_ bytes: [UInt8]) -> [UInt8] {
    var stream = z_stream()
    guard czlib_gzip_init(&stream, 1) == Z_OK else { return [] }
    defer { deflateEnd(&stream) }
    let capacity = Int(deflateBound(&stream, UInt(bytes.count)))
    return [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
        bytes.withUnsafeBufferPointer { input in
            // zlib does not write through next_in; its type only lacks the const.
            stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.avail_in = UInt32(input.count)
            stream.next_out = output.baseAddress
            stream.avail_out = UInt32(capacity)
            count = deflate(&stream, Z_FINISH) == Z_STREAM_END ? capacity - Int(stream.avail_out) : 0
        }
    }
}

/// What was coded with gzip, up to 1 MiB; nothing where it is no whole gzip.
///
/// - Parameter isWhole: false for what is the beginning of a gzip.
public func gunzipped(_ bytes: [UInt8], isWhole: Bool = true) -> [UInt8] {
    var stream = z_stream()
    guard czlib_inflate_init(&stream, 15 + 16) == Z_OK else { return [] }
    defer { inflateEnd(&stream) }
    let capacity = 1 << 20
    return [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
        bytes.withUnsafeBufferPointer { input in
            stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.avail_in = UInt32(input.count)
            stream.next_out = output.baseAddress
            stream.avail_out = UInt32(capacity)
            let status = inflate(&stream, isWhole ? Z_FINISH : Z_SYNC_FLUSH)
            count = status == Z_STREAM_END || !isWhole && status == Z_OK ? capacity - Int(stream.avail_out) : 0
        }
    }
}
