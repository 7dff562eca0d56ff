/// Writes the binary format that ``ByteReader`` reads: numbers in network byte order, and texts and byte arrays after their length.
///
/// ```swift
/// var writer = ByteWriter()
/// writer.write(UInt16(7))
/// writer.write("seven")
/// writer.bytes.count  // 15: 2 bytes of the number, 8 of the length, 5 of the text
/// ```
package struct ByteWriter: Sendable {
    /// The written bytes.
    package private(set) var bytes: [UInt8] = []

    /// Creates a writer without bytes.
    ///
    /// - Parameter capacity: The number of bytes for which memory is reserved.
    package init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    /// Writes one byte.
    package mutating func write(_ value: UInt8) {
        bytes.append(value)
    }

    /// Writes two bytes, the highest first.
    package mutating func write(_ value: UInt16) {
        write(UInt64(value), count: 2)
    }

    /// Writes four bytes, the highest first.
    package mutating func write(_ value: UInt32) {
        write(UInt64(value), count: 4)
    }

    /// Writes eight bytes, the highest first.
    package mutating func write(_ value: UInt64) {
        write(value, count: 8)
    }

    /// Writes the two's complement in eight bytes, the highest first.
    package mutating func write(_ value: Int64) {
        write(UInt64(bitPattern: value), count: 8)
    }

    /// Writes the lowest `count` bytes of a number, 0 to 8 of them.
    package mutating func write(_ value: UInt64, count: Int) {
        for index in stride(from: count - 1, through: 0, by: -1) {
            bytes.append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(index))))
        }
    }

    /// Writes bytes without their length.
    package mutating func write(_ bytes: some Sequence<UInt8>) {
        self.bytes.append(contentsOf: bytes)
    }

    /// Writes the length of a text in eight bytes, then its UTF-8. Nil, which differs from the empty text, is a length of all ones.
    package mutating func write(_ text: String?) {
        guard let text else { return write(UInt64.max) }
        write(UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    /// Writes a number with seven bits per byte, the lowest first; the highest bit marks a further byte. Negative numbers are written as 0.
    package mutating func write(varying value: Int) {
        var rest = UInt(clamping: value)
        while rest > 0x7F {
            write(UInt8(rest & 0x7F | 0x80))
            rest >>= 7
        }
        write(UInt8(rest))
    }

    /// Writes the number of bytes with `write(varying:)`, then the bytes.
    package mutating func write(counted bytes: some Collection<UInt8>) {
        write(varying: bytes.count)
        write(bytes)
    }
}

/// Reads the output of a ``ByteWriter``. Every method returns nil if too few bytes are left.
///
/// ```swift
/// var reader = ByteReader(bytes)
/// let number = reader.readUInt16()
/// let text = reader.readText()
/// let isComplete = reader.remaining.isEmpty
/// ```
package struct ByteReader: Sendable {
    /// The bytes that are not read yet.
    package private(set) var remaining: ArraySlice<UInt8>

    /// Creates a reader of an array.
    package init(_ bytes: [UInt8]) {
        remaining = bytes[...]
    }

    /// Creates a reader of a part of an array.
    package init(_ bytes: ArraySlice<UInt8>) {
        remaining = bytes
    }

    /// Reads one byte.
    package mutating func readByte() -> UInt8? {
        remaining.popFirst()
    }

    /// Reads a number of two bytes.
    package mutating func readUInt16() -> UInt16? {
        readNumber(2).map { UInt16(truncatingIfNeeded: $0) }
    }

    /// Reads a number of four bytes.
    package mutating func readUInt32() -> UInt32? {
        readNumber(4).map { UInt32(truncatingIfNeeded: $0) }
    }

    /// Reads a number of eight bytes.
    package mutating func readUInt64() -> UInt64? {
        readNumber(8)
    }

    /// Reads a two's complement of eight bytes.
    package mutating func readInt64() -> Int64? {
        readNumber(8).map { Int64(bitPattern: $0) }
    }

    /// Reads a number of `count` bytes, 0 to 8.
    package mutating func readNumber(_ count: Int) -> UInt64? {
        readBytes(count).map { UInt64(bigEndianBytes: $0) }
    }

    /// Reads this number of bytes. Returns nil if it is negative.
    package mutating func readBytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= remaining.count else { return nil }
        defer { remaining = remaining.dropFirst(count) }
        return remaining.prefix(count)
    }

    /// Reads a text. The outer nil means the end of the bytes or a corrupt text; the inner nil means that nil was written.
    package mutating func readText() -> String?? {
        guard let length = readInt64() else { return nil }
        if length == -1 { return .some(nil) }
        return Int(exactly: length).flatMap { readBytes($0) }.flatMap { String(validating: $0, as: UTF8.self) }.map { .some($0) }
    }

    /// Reads a number that `write(varying:)` wrote. Returns nil for more than 21 bits, because no length in the format is that large.
    package mutating func readVarying() -> Int? {
        var value = 0
        for shift in stride(from: 0, to: 21, by: 7) {
            guard let byte = readByte() else { return nil }
            value |= Int(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }

    /// Reads bytes that `write(counted:)` wrote.
    package mutating func readCounted() -> ArraySlice<UInt8>? {
        readVarying().flatMap { readBytes($0) }
    }
}

extension FixedWidthInteger {
    /// Creates a number from bytes in network byte order. If there are more bytes than fit, the last ones count.
    @inlinable package init(bigEndianBytes bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
    }
}
