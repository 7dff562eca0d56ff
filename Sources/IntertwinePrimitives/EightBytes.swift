/// Eight bytes of a text, looked at together: nearly all texts are plain, and most of them are read for nothing but that.
package struct EightBytes {
    @usableFromInline let word: UInt64

    @inlinable package init(_ word: UInt64) { self.word = word }

    /// - Parameter limit: at most 128.
    @inlinable package func hasByte(below limit: UInt8) -> Bool {
        // The highest bit of a byte stays where one is below the limit, the lowest such byte for certain.
        (word &- 0x0101_0101_0101_0101 &* UInt64(limit)) & ~word & 0x8080_8080_8080_8080 != 0
    }

    @inlinable package func has(_ byte: UInt8) -> Bool {
        EightBytes(word ^ 0x0101_0101_0101_0101 &* UInt64(byte)).hasByte(below: 1)
    }

    @inlinable package var isASCII: Bool { word & 0x8080_8080_8080_8080 == 0 }

    /// Whether one of them cannot stand in a JSON string as it is.
    @inlinable package var isEscapedInJSON: Bool { hasByte(below: 0x20) || has(UInt8(ascii: "\"")) || has(UInt8(ascii: "\\")) }
}
