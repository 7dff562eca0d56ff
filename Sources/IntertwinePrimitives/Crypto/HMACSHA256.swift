/// HMAC-SHA256 (RFC 2104) with one key.
/// Why: the generic HMAC of the library is equally secure but takes twice as long.
package struct HMACSHA256: Sendable {
    private final class Blocks: Sendable {
        let inner: SHA256
        let outer: SHA256

        init(key: [UInt8], prefix: [UInt8]) {
            func hash(_ pad: UInt8, _ prefix: [UInt8]) -> SHA256 {
                var hash = SHA256()
                let padding = [UInt8](repeating: pad, count: SHA256.blockByteCount - key.count)
                hash.update(data: key.map { $0 ^ pad } + padding + prefix)
                return hash
            }
            inner = hash(0x36, prefix)
            outer = hash(0x5C, [])
        }
    }

    private let blocks: Blocks

    package init(key: [UInt8], prefix: [UInt8] = []) {
        blocks = Blocks(key: key.count <= SHA256.blockByteCount ? key : Array(SHA256.hash(data: key)), prefix: prefix)
    }

    package func code(of message: UnsafeRawBufferPointer) -> SHA256Digest {
        var hash = SHA256(continuing: blocks.inner)
        hash.update(bufferPointer: message)
        let inner = hash.end()
        hash.restart(continuing: blocks.outer)
        inner.withUnsafeBytes { hash.update(bufferPointer: $0) }
        return hash.end()
    }

    package func code(of message: some Sequence<UInt8>) -> SHA256Digest { Array(message).withUnsafeBytes { code(of: $0) } }

    /// Returns the first half of a message's code: RFC 2104 section 5 permits this truncation.
    package func half(of message: UnsafeRawBufferPointer) -> (UInt64, UInt64) {
        let code = code(of: message)
        return (code.words.0, code.words.1)
    }
}
