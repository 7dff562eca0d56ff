internal import Glibc
internal import IntertwinePrimitives

/// A HyperLogLog sketch that estimates the number of unique viewers.
///
/// It has 16,384 registers; each stores the longest run of zeros of the hashes assigned to it. The sketch contains no names. Sketches are merged
/// by the maximum of each register, so the sketches of several days count each viewer once.
package struct UniqueViewersSketch: Sendable, Hashable {
    private static let bits = 14
    private static let registers = 1 << bits
    /// The standard error of an estimate: 1.04 / √16,384. About two thirds of the estimates are within this error.
    package static let error = 0.008_125
    /// The number of used registers above which the dense form needs less memory.
    private static let fewest = 4_096

    /// The sparse form: the used registers by number.
    private var few: [UInt16: UInt8] = [:]
    /// The dense form: all registers. The array is empty while the sparse form is used.
    private var all: [UInt8] = []

    package init() {}

    package mutating func insert(_ viewer: String) {
        let hash = SplitMix64.mix(FNV1a.hash(viewer.utf8))
        let zeros = min((hash << UInt64(Self.bits)).leadingZeroBitCount, 64 - Self.bits)
        raise(UInt16(truncatingIfNeeded: hash >> UInt64(64 - Self.bits)), to: UInt8(truncatingIfNeeded: zeros + 1))
    }

    private mutating func raise(_ register: UInt16, to rank: UInt8) {
        guard all.isEmpty else {
            all[Int(register)] = max(all[Int(register)], rank)
            return
        }
        few[register] = max(few[register] ?? 0, rank)
        guard few.count > Self.fewest else { return }
        all = [UInt8](repeating: 0, count: Self.registers)
        for (register, rank) in few { all[Int(register)] = rank }
        few = [:]
    }

    package mutating func merge(_ other: UniqueViewersSketch) {
        for (register, rank) in other.few { raise(register, to: rank) }
        for (register, rank) in other.all.enumerated() where rank > 0 { raise(UInt16(truncatingIfNeeded: register), to: rank) }
    }

    package var estimate: Int {
        let count = Double(Self.registers)
        var empty = all.isEmpty ? Self.registers - few.count : 0
        var sum = Double(empty)
        for rank in all.isEmpty ? Array(few.values) : all {
            if rank == 0 { empty += 1 }
            sum += Double(sign: .plus, exponent: -Int(rank), significand: 1)
        }
        let raw = 0.7213 / (1 + 1.079 / count) * count * count / sum
        // Small numbers are estimated from the number of empty registers (linear counting).
        let estimate = raw <= 2.5 * count && empty > 0 ? count * log(count / Double(empty)) : raw
        return Int(estimate.rounded())
    }
}

// MARK: Serialization

extension UniqueViewersSketch {
    /// The serialized sketch: three bytes for each used register, or one byte for each of all registers.
    package var bytes: [UInt8] {
        guard all.isEmpty else { return all }
        return few.sorted { $0.key < $1.key }.flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0), $1] }
    }

    /// Returns nil if the bytes are not a valid sketch.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count != Self.registers else {
            all = bytes
            return
        }
        guard bytes.count.isMultiple(of: 3), bytes.count <= Self.fewest * 3 else { return nil }
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let register = UInt16(bytes[start]) << 8 | UInt16(bytes[start + 1])
            guard register < Self.registers else { return nil }
            few[register] = bytes[start + 2]
        }
    }
}
