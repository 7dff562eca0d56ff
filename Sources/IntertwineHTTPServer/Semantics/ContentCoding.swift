internal import CIntertwineZlib
internal import IntertwinePrimitives

/// The two codings that the server has.
enum ContentCoding { case identity, gzip }

extension RequestHead {
    /// The coding to answer in, by the Accept-Encoding fields (RFC 9110, 12.5.3); nil where neither is accepted.
    ///
    /// - Parameter hasGzip: whether there is such an answer. It is given to who wants it at least as much as the other one.
    func coding(hasGzip: Bool) -> ContentCoding? {
        // Weights in thousandths, nil where nothing was said.
        var (saidGzip, saidIdentity, star): (Int?, Int?, Int?)
        forEachValue(of: .acceptEncoding) { value in
            value.bytes.span.forEachWeightedMember { name, weight in
                guard let weight else { return true }
                if name.isEqualIgnoringCase("gzip") || name.isEqualIgnoringCase("x-gzip") {
                    saidGzip = max(saidGzip ?? 0, weight)
                } else if name.isEqualIgnoringCase("identity") {
                    saidIdentity = weight
                } else if name.isEqualIgnoringCase("*") {
                    star = weight
                }
                return true
            }
            return true
        }
        let gzip = saidGzip ?? star ?? 0
        let identity = saidIdentity ?? star
        if hasGzip, gzip > 0, gzip >= identity ?? 0 { return .gzip }
        return identity != 0 || gzip > 0 ? .identity : nil
    }
}

/// The gzip coding (RFC 1952) of bytes that are all there.
enum Gzip {
    /// Below this many bytes the coding saves nothing that a packet would notice.
    private static let minimumLength = 1024

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
        // What is kept has no room for the bytes that were saved.
        return result.isEmpty ? nil : result.withUnsafeBufferPointer(Array.init)
    }
}
