internal import Crypto
package import IntertwineFeed

/// What an allowance is found by: a digest, so that rows are small whatever a client sends, and tell nobody's name.
package struct AllowanceKey: Hashable, Comparable, Sendable {
    /// Bytes of a key.
    package static let length = 16

    package let high: UInt64
    package let low: UInt64

    package static func repetition(_ text: String) -> AllowanceKey { AllowanceKey("d", text) }
    package static func rate(_ text: String) -> AllowanceKey { AllowanceKey("r", text) }

    private init(_ purpose: Unicode.Scalar, _ text: String) {
        var (hash, text) = (SHA256(), text)
        withUnsafeBytes(of: UInt8(truncatingIfNeeded: purpose.value)) { hash.update(bufferPointer: $0) }
        text.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        (high, low) = hash.finalize().withUnsafeBytes { Self.halves($0) }
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
    package static func < (one: AllowanceKey, other: AllowanceKey) -> Bool { (one.high, one.low) < (other.high, other.low) }

    /// It is a digest: a half of it is as good as all.
    package func hash(into hasher: inout Hasher) { hasher.combine(low) }
}

/// The keys of one event, of which each is made once.
package struct AllowanceKeys: Sendable {
    /// It is a duplicate where one that counted left any of these behind.
    package let repeats: [AllowanceKey]
    /// What it leaves behind itself.
    package let leaves: [AllowanceKey]
    package let required: [AllowanceKey]
    package let rates: [AllowanceKey]

    package init(_ event: LedgerEvent) {
        let texts = (repeats: event.deduplication?.repeats ?? [], leaves: event.deduplication?.keys ?? [])
        let repeats = texts.repeats.map { AllowanceKey.repetition($0) }
        self.repeats = repeats
        leaves = texts.leaves.map { text in
            let known = texts.repeats.firstIndex { ExactText($0) == ExactText(text) }
            return known.map { repeats[$0] } ?? .repetition(text)
        }
        required = (event.requirement?.repeats ?? []).map { AllowanceKey.repetition($0) }
        rates = event.rates.map { AllowanceKey.rate($0.key) }
    }
}
