/// Reads what ``ByteWriter`` wrote; nil where too few bytes are left.
struct ByteReader {
    private(set) var remaining: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        remaining = bytes[...]
    }

    mutating func readByte() -> UInt8? {
        remaining.popFirst()
    }

    mutating func readUInt16() -> UInt16? {
        read(bytes: 2).map { UInt16(truncatingIfNeeded: $0) }
    }

    mutating func readUInt32() -> UInt32? {
        read(bytes: 4).map { UInt32(truncatingIfNeeded: $0) }
    }

    mutating func readUInt64() -> UInt64? {
        read(bytes: 8)
    }

    mutating func readInt64() -> Int64? {
        read(bytes: 8).map { Int64(bitPattern: $0) }
    }

    mutating func readBytes(_ count: Int) -> [UInt8]? {
        guard remaining.count >= count else { return nil }
        defer { remaining = remaining.dropFirst(count) }
        return Array(remaining.prefix(count))
    }

    private mutating func read(bytes count: Int) -> UInt64? {
        guard remaining.count >= count else { return nil }
        let value = remaining.prefix(count).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        remaining = remaining.dropFirst(count)
        return value
    }
}
