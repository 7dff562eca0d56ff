/// The FNV-1a hash of bytes. It is equal in every process, unlike `Hasher`, and fast for short texts. It does not resist chosen collisions.
///
/// ```swift
/// var hash = FNV1a()
/// for byte in "feed".utf8 { hash.combine(byte) }
/// hash.value == FNV1a.hash("feed".utf8)  // true
/// ```
package struct FNV1a: Sendable {
    /// The hash of no bytes.
    @inlinable package static var basis: UInt64 { 0xCBF2_9CE4_8422_2325 }

    /// The hash of the bytes so far.
    package var value: UInt64

    /// - Parameter value: The hash of the preceding bytes.
    @inlinable package init(value: UInt64 = basis) { self.value = value }

    /// Adds one byte to the hash.
    @inlinable package mutating func combine(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }

    /// Returns the hash of bytes.
    ///
    /// - Parameter start: The hash of the preceding bytes.
    @inlinable package static func hash(_ bytes: some Sequence<UInt8>, after start: UInt64 = basis) -> UInt64 {
        var hash = FNV1a(value: start)
        for byte in bytes { hash.combine(byte) }
        return hash.value
    }

    /// Returns the hash of bytes in 32 bits.
    @inlinable package static func hash32(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var hash: UInt32 = 0x811C_9DC5
        for byte in bytes { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        return hash
    }
}

/// The SplitMix64 generator, which turns consecutive states into independent numbers. It is not for secrets.
package enum SplitMix64 {
    /// The distance between consecutive states.
    @inlinable package static var increment: UInt64 { 0x9E37_79B9_7F4A_7C15 }

    /// Returns the number of a state. The function is a bijection, and mixes the bits of a weak hash, too.
    @inlinable package static func mix(_ state: UInt64) -> UInt64 {
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
