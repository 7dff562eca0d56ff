package import IntertwineItems

/// A digest of the values of rows, which changes with any bit of one value. It protects against damage, not against intent.
package struct RowDigest {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

    package init() {}

    /// The digest as an integer column stores it.
    package var value: Int64 { Int64(bitPattern: state) }

    package mutating func add(_ number: Int64) { mix(UInt64(bitPattern: number)) }

    package mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    }

    /// Adds bytes and their count.
    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        mix(UInt64(bytes.count))
        var offset = 0
        while offset + 8 <= bytes.count {
            mix(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian)
            offset += 8
        }
        guard offset < bytes.count else { return }
        mix(bytes[offset...].reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// Mixes a word in reversible steps, so that a difference in one word is never lost.
    private mutating func mix(_ word: UInt64) {
        state = (state ^ word) &* 0xD6E8_FEB8_6659_FD93
        state ^= state >> 32
    }

    /// Returns the digest of an item, independent of its position.
    package static func of(_ item: ValidatedItem) -> Int64 {
        var digest = RowDigest()
        for text in [StoredKind.name(of: item.kind), item.id, item.variant] { digest.add(text) }
        item.body.withUnsafeBytes { digest.add($0) }
        return digest.value
    }
}
