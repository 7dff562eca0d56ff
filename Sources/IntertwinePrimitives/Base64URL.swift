/// Base64 for URLs (RFC 4648 §5), without padding.
/// Decoding accepts only the canonical encoding of a value, so two different texts never decode to equal bytes. A signed value with a
/// changed encoding is refused even if only the unused bits of its last character differ.
package enum Base64URL {
    private static let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

    private static let values: [UInt8] = {
        var values = [UInt8](repeating: invalid, count: 256)
        alphabet.withUTF8Buffer { for (value, character) in $0.enumerated() { values[Int(character)] = UInt8(value) } }
        return values
    }()

    private static let invalid: UInt8 = 0xFF

    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        bytes.withContiguousStorageIfAvailable(encode) ?? Array(bytes).withUnsafeBufferPointer(encode)
    }

    package static func length(of count: Int) -> Int { (count * 4 + 2) / 3 }

    package static func encode(_ bytes: UnsafeRawBufferPointer, to output: UnsafeMutableRawBufferPointer) {
        precondition(output.count == length(of: bytes.count))
        // Three bytes are encoded as four characters.
        let alphabet = UnsafeRawPointer(alphabet.utf8Start)
        func character(_ value: UInt32) -> UInt8 { alphabet.load(fromByteOffset: Int(value & 0x3F), as: UInt8.self) }
        var (read, written) = (0, 0)
        while read + 3 <= bytes.count {
            let group = UInt32(bytes[read]) << 16 | UInt32(bytes[read + 1]) << 8 | UInt32(bytes[read + 2])
            output[written] = character(group >> 18)
            output[written + 1] = character(group >> 12)
            output[written + 2] = character(group >> 6)
            output[written + 3] = character(group)
            (read, written) = (read + 3, written + 4)
        }
        switch bytes.count - read {
        case 1:
            let rest = UInt32(bytes[read]) << 16
            output[written] = character(rest >> 18)
            output[written + 1] = character(rest >> 12)
        case 2:
            let rest = UInt32(bytes[read]) << 16 | UInt32(bytes[read + 1]) << 8
            output[written] = character(rest >> 18)
            output[written + 1] = character(rest >> 12)
            output[written + 2] = character(rest >> 6)
        default: break
        }
    }

    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        text.withContiguousStorageIfAvailable(decode) ?? Array(text).withUnsafeBufferPointer(decode)
    }

    private static func encode(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        let count = length(of: bytes.count)
        return String(unsafeUninitializedCapacity: count) { output in
            encode(UnsafeRawBufferPointer(bytes), to: UnsafeMutableRawBufferPointer(start: output.baseAddress, count: count))
            return count
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
        // One left-over character carries no whole byte. Left-over bits must be the zeros that encoding writes.
        guard bits < 6, buffer == 0 else { return nil }
        return bytes
    }
}
