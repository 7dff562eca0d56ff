/// Writes integers in network byte order.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    mutating func write(_ value: UInt8) {
        bytes.append(value)
    }

    mutating func write(_ value: UInt16) {
        append(UInt64(value), bytes: 2)
    }

    mutating func write(_ value: UInt32) {
        append(UInt64(value), bytes: 4)
    }

    mutating func write(_ value: UInt64) {
        append(value, bytes: 8)
    }

    mutating func write(_ value: Int64) {
        append(UInt64(bitPattern: value), bytes: 8)
    }

    private mutating func append(_ value: UInt64, bytes count: UInt64) {
        for index in stride(from: count, to: 0, by: -1) {
            bytes.append(UInt8(truncatingIfNeeded: value >> ((index - 1) * 8)))
        }
    }
}
