/// Writes the binary format that ``ByteReader`` reads: numbers in network byte order, and texts and byte arrays after their length.
package struct ByteWriter: Sendable {
    package private(set) var bytes: [UInt8] = []

    package init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    package mutating func write(_ value: UInt8) {
        bytes.append(value)
    }

    package mutating func write(_ value: UInt16) {
        write(UInt64(value), count: 2)
    }

    package mutating func write(_ value: UInt32) {
        write(UInt64(value), count: 4)
    }

    package mutating func write(_ value: UInt64) {
        write(value, count: 8)
    }

    package mutating func write(_ value: Int64) {
        write(UInt64(bitPattern: value), count: 8)
    }

    package mutating func write(_ value: UInt64, count: Int) {
        for index in stride(from: count - 1, through: 0, by: -1) {
            bytes.append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(index))))
        }
    }

    package mutating func write(_ bytes: some Sequence<UInt8>) {
        self.bytes.append(contentsOf: bytes)
    }

    package mutating func write(_ text: String?) {
        guard let text else { return write(UInt64.max) }
        write(UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    package mutating func write(varying value: Int) {
        var rest = UInt(clamping: value)
        while rest > 0x7F {
            write(UInt8(rest & 0x7F | 0x80))
            rest >>= 7
        }
        write(UInt8(rest))
    }

    package mutating func write(counted bytes: some Collection<UInt8>) {
        write(varying: bytes.count)
        write(bytes)
    }
}

package struct ByteReader: Sendable {
    package private(set) var remaining: ArraySlice<UInt8>

    package init(_ bytes: [UInt8]) {
        remaining = bytes[...]
    }

    package init(_ bytes: ArraySlice<UInt8>) {
        remaining = bytes
    }

    package mutating func readByte() -> UInt8? {
        remaining.popFirst()
    }

    package mutating func readUInt16() -> UInt16? {
        readNumber(2).map { UInt16(truncatingIfNeeded: $0) }
    }

    package mutating func readUInt32() -> UInt32? {
        readNumber(4).map { UInt32(truncatingIfNeeded: $0) }
    }

    package mutating func readUInt64() -> UInt64? {
        readNumber(8)
    }

    package mutating func readInt64() -> Int64? {
        readNumber(8).map { Int64(bitPattern: $0) }
    }

    package mutating func readNumber(_ count: Int) -> UInt64? {
        readBytes(count).map { UInt64(bigEndianBytes: $0) }
    }

    package mutating func readBytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= remaining.count else { return nil }
        defer { remaining = remaining.dropFirst(count) }
        return remaining.prefix(count)
    }

    package mutating func readText() -> String?? {
        guard let length = readInt64() else { return nil }
        if length == -1 { return .some(nil) }
        return Int(exactly: length).flatMap { readBytes($0) }.flatMap { String(validating: $0, as: UTF8.self) }.map { .some($0) }
    }

    /// Returns nil for more than 21 bits, because no length in the format is that large.
    package mutating func readVarying() -> Int? {
        var value = 0
        for shift in stride(from: 0, to: 21, by: 7) {
            guard let byte = readByte() else { return nil }
            value |= Int(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }

    package mutating func readCounted() -> ArraySlice<UInt8>? {
        readVarying().flatMap { readBytes($0) }
    }
}

extension FixedWidthInteger {
    @inlinable package init(bigEndianBytes bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
    }
}
