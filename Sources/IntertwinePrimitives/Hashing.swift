package struct FNV1a: Sendable {
    @inlinable package static var basis: UInt64 { 0xCBF2_9CE4_8422_2325 }

    package var value: UInt64

    @inlinable package init(value: UInt64 = basis) { self.value = value }

    @inlinable package mutating func combine(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }

    @inlinable @inline(__always) package static func hash(_ bytes: some Sequence<UInt8>, after start: UInt64 = basis) -> UInt64 {
        var hash = FNV1a(value: start)
        for byte in bytes { hash.combine(byte) }
        return hash.value
    }

    @inlinable @inline(__always) package static func hash32(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var hash: UInt32 = 0x811C_9DC5
        for byte in bytes { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        return hash
    }
}

/// The SplitMix64 generator, which turns consecutive states into independent numbers.
package enum SplitMix64 {
    @inlinable package static var increment: UInt64 { 0x9E37_79B9_7F4A_7C15 }

    @inlinable package static func mix(_ state: UInt64) -> UInt64 {
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
