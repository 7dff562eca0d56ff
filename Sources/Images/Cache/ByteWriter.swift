/// Writes what ``ByteReader`` reads: numbers in big-endian order, text with its length before it.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ byte: UInt8) {
        bytes.append(byte)
    }

    mutating func append(_ number: UInt64) {
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    /// Nil is not the empty text.
    mutating func append(_ text: String?) {
        guard let text else { return append(UInt64.max) }
        append(UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }
}
