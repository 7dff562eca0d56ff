/// Eight bytes of a text, examined together. Why: nearly all texts need no escape, and most are read only to find that out.
package struct EightBytes {
    @usableFromInline let word: UInt64

    @inlinable package init(_ word: UInt64) { self.word = word }

    @inlinable package func hasByte(below limit: UInt8) -> Bool {
        // The highest bit of a byte remains set if the byte is below the limit. This is certain for the lowest such byte.
        (word &- 0x0101_0101_0101_0101 &* UInt64(limit)) & ~word & 0x8080_8080_8080_8080 != 0
    }

    @inlinable package func has(_ byte: UInt8) -> Bool {
        EightBytes(word ^ 0x0101_0101_0101_0101 &* UInt64(byte)).hasByte(below: 1)
    }

    @inlinable package var isASCII: Bool { word & 0x8080_8080_8080_8080 == 0 }

    /// True if one of the eight bytes must be escaped in a JSON string.
    @inlinable package var isEscapedInJSON: Bool { hasByte(below: 0x20) || has(UInt8(ascii: "\"")) || has(UInt8(ascii: "\\")) }
}
