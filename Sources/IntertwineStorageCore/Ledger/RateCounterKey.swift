package import IntertwineFeed
internal import IntertwinePrimitives

/// A key of a rate counter: a digest, so that rows have a fixed size and contain no names.
package struct RateCounterKey: Hashable, Comparable, Sendable {
    /// The length of a key in bytes.
    package static let length = 16

    package let high: UInt64
    package let low: UInt64

    package static func repetition(_ text: String) -> RateCounterKey { RateCounterKey("d", text) }
    package static func rate(_ text: String) -> RateCounterKey { RateCounterKey("r", text) }

    private init(_ purpose: Unicode.Scalar, _ text: String) {
        var text = text
        (high, low) = text.withUTF8 { text in
            // All text is hashed in one call, because the fixed cost of each library call equals the cost of hashing this text.
            withUnsafeTemporaryAllocation(byteCount: 1 + text.count, alignment: 1) { bytes in
                bytes[0] = UInt8(truncatingIfNeeded: purpose.value)
                UnsafeMutableRawBufferPointer(rebasing: bytes[1...]).copyMemory(from: UnsafeRawBufferPointer(text))
                return SHA256.hash(data: UnsafeRawBufferPointer(bytes)).withUnsafeBytes { Self.halves($0) }
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

    package func withBytes<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
        try withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { try body($0) }
    }

    package static func < (one: RateCounterKey, other: RateCounterKey) -> Bool { (one.high, one.low) < (other.high, other.low) }

    /// Hashes one half, which suffices because the key is a digest.
    package func hash(into hasher: inout Hasher) { hasher.combine(low) }
}

/// The rate counter keys of one event, in one array, because each click has about six.
package struct RateCounterKeys: Sendable {
    private let all: [RateCounterKey]
    private let ends: (repeats: Int, leaves: Int, required: Int)

    package var repeats: ArraySlice<RateCounterKey> { all[..<ends.repeats] }
    package var recorded: ArraySlice<RateCounterKey> { all[ends.repeats..<ends.leaves] }
    package var rates: ArraySlice<RateCounterKey> { all[ends.required...] }

    /// Calls a closure with the keys of each event that must have been accepted before. The result is true if it returns true for all.
    package func allRequired(by event: LedgerEvent, _ body: (ArraySlice<RateCounterKey>, _ window: Int64) -> Bool) -> Bool {
        var rest = all[ends.leaves..<ends.required]
        return event.requiredPriorEvents.allSatisfy { before in
            defer { rest = rest.dropFirst(before.checkedKeys.count) }
            return body(rest.prefix(before.checkedKeys.count), before.window)
        }
    }

    package static let none = RateCounterKeys(LedgerEvent(at: 0, kind: .impression, cell: ""))

    package var storedCount: Int { recorded.count + rates.count }

    package init(_ event: LedgerEvent) {
        let (repeats, leaves) = (event.deduplication?.checkedKeys ?? [], event.deduplication?.recordedKeys ?? [])
        let required = event.requiredPriorEvents.reduce(0) { $0 + $1.checkedKeys.count }
        ends = (repeats.count, repeats.count + leaves.count, repeats.count + leaves.count + required)
        var all: [RateCounterKey] = []
        all.reserveCapacity(ends.required + event.rates.count)
        for text in repeats { all.append(.repetition(text)) }
        for text in leaves {
            let known = repeats.firstIndex { ByteString($0) == ByteString(text) }
            all.append(known.map { all[$0] } ?? .repetition(text))
        }
        for event in event.requiredPriorEvents { for text in event.checkedKeys { all.append(.repetition(text)) } }
        for rate in event.rates { all.append(.rate(rate.key)) }
        self.all = all
    }
}
