/// A number that tells one content of an item from another: FNV-1a, 64 bits. Not for secrets, nor against forgery.
struct ItemDigest {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    init(variant: String, body: [UInt8]) {
        for byte in variant.utf8 { add(byte) }
        // What no text holds: the variant cannot go on into the body.
        add(0xFF)
        for byte in body { add(byte) }
    }

    private mutating func add(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }

    /// As the database keeps it.
    var stored: Int64 { Int64(bitPattern: value) }
}
