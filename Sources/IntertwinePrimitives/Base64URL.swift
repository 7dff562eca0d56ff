/// Base64 for URLs (RFC 4648 §5), without padding.
///
/// Decoding accepts the one canonical spelling of a value and nothing else, so that two different texts never carry the same bytes: a
/// signed value whose spelling was changed is refused even where only the unused bits of its last character differ.
package enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    private static let values: [UInt8] = {
        var values = [UInt8](repeating: invalid, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    private static let invalid: UInt8 = 0xFF

    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        bytes.withContiguousStorageIfAvailable(encode) ?? Array(bytes).withUnsafeBufferPointer(encode)
    }

    /// The bytes, or nil where the text is not the canonical spelling of any.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        text.withContiguousStorageIfAvailable(decode) ?? Array(text).withUnsafeBufferPointer(decode)
    }

    private static func encode(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        let count = bytes.count / 3 * 4 + [0, 2, 3][bytes.count % 3]
        return String(unsafeUninitializedCapacity: count) { output in
            var written = 0
            var buffer: UInt32 = 0
            var bits: UInt32 = 0
            for byte in bytes {
                buffer = buffer << 8 | UInt32(byte)
                bits += 8
                while bits >= 6 {
                    bits -= 6
                    output[written] = alphabet[Int(buffer >> bits & 0x3F)]
                    written += 1
                }
                buffer &= 1 << bits - 1
            }
            if bits > 0 {
                output[written] = alphabet[Int(buffer << (6 - bits) & 0x3F)]
                written += 1
            }
            return written
        }
    }

    private static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 2)
        var buffer: UInt32 = 0
        var bits: UInt32 = 0
        for character in text {
            let value = values[Int(character)]
            guard value != invalid else { return nil }
            buffer = buffer << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> bits))
                buffer &= 1 << bits - 1
            }
        }
        // One left-over character carries no whole byte; left-over bits must be the zeros that encoding writes.
        guard bits < 6, buffer == 0 else { return nil }
        return bytes
    }
}
