internal import Crypto
package import IntertwineFeed

/// What an allowance is found by: a digest, so that rows are small whatever a client sends, and tell nobody's name.
package struct RateCounterKey: Hashable, Comparable, Sendable {
    /// Bytes of a key.
    package static let length = 16

    package let high: UInt64
    package let low: UInt64

    package static func repetition(_ text: String) -> RateCounterKey { RateCounterKey("d", text) }
    package static func rate(_ text: String) -> RateCounterKey { RateCounterKey("r", text) }

    private init(_ purpose: Unicode.Scalar, _ text: String) {
        var text = text
        (high, low) = text.withUTF8 { text in
            // In one piece, as each call of the library's costs as much as what it hashes here.
            withUnsafeTemporaryAllocation(byteCount: 1 + text.count, alignment: 1) { bytes in
                bytes[0] = UInt8(truncatingIfNeeded: purpose.value)
                UnsafeMutableRawBufferPointer(rebasing: bytes[1...]).copyMemory(from: UnsafeRawBufferPointer(text))
                var hash = SHA256()
                hash.update(bufferPointer: UnsafeRawBufferPointer(bytes))
                return hash.finalize().withUnsafeBytes { Self.halves($0) }
            }
        }
    }

    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.length else { return nil }
        (high, low) = Self.halves(bytes)
    }

    private static func halves(_ bytes: UnsafeRawBufferPointer) -> (UInt64, UInt64) {
        (
            UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
    }

    package var bytes: [UInt8] { withBytes { [UInt8]($0) } }

    func withBytes<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
        try withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { try body($0) }
    }

    /// As databases order their bytes.
    package static func < (one: RateCounterKey, other: RateCounterKey) -> Bool { (one.high, one.low) < (other.high, other.low) }

    /// It is a digest: a half of it is as good as all.
    package func hash(into hasher: inout Hasher) { hasher.combine(low) }
}

/// The keys of one event, of which each is made once. One list, as each click has half a dozen.
package struct RateCounterKeys: Sendable {
    private let all: [RateCounterKey]
    private let ends: (repeats: Int, leaves: Int, required: Int)

    /// It is a duplicate where one that counted left any of these behind.
    package var repeats: ArraySlice<RateCounterKey> { all[..<ends.repeats] }
    /// What it leaves behind itself.
    package var recorded: ArraySlice<RateCounterKey> { all[ends.repeats..<ends.leaves] }
    package var required: ArraySlice<RateCounterKey> { all[ends.leaves..<ends.required] }
    package var rates: ArraySlice<RateCounterKey> { all[ends.required...] }

    package init(_ event: LedgerEvent) {
        let (repeats, leaves) = (event.deduplication?.checkedKeys ?? [], event.deduplication?.recordedKeys ?? [])
        let required = event.requiredPriorEvent?.checkedKeys ?? []
        ends = (repeats.count, repeats.count + leaves.count, repeats.count + leaves.count + required.count)
        var all: [RateCounterKey] = []
        all.reserveCapacity(ends.required + event.rates.count)
        for text in repeats { all.append(.repetition(text)) }
        for text in leaves {
            let known = repeats.firstIndex { ByteString($0) == ByteString(text) }
            all.append(known.map { all[$0] } ?? .repetition(text))
        }
        for text in required { all.append(.repetition(text)) }
        for rate in event.rates { all.append(.rate(rate.key)) }
        self.all = all
    }
}
