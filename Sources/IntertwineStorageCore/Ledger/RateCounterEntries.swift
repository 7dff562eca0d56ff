/// The encoding of recent rate counters in a row of the ledger's log: for each counter the key, the end, and the count, in sequence.
package enum RateCounterEntries {
    private static let stride = RateCounterKey.length + 12

    package static func pack(_ entries: [(key: RateCounterKey, allowance: RecentRateCounters.RateCounter)]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: entries.count * stride) { buffer, count in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            for (key, allowance) in entries {
                key.withBytes { UnsafeMutableRawBufferPointer(rebasing: bytes[count...]).copyMemory(from: $0) }
                bytes.storeBytes(of: allowance.until.bigEndian, toByteOffset: count + RateCounterKey.length, as: Int64.self)
                bytes.storeBytes(of: allowance.used.bigEndian, toByteOffset: count + RateCounterKey.length + 8, as: UInt32.self)
                count += stride
            }
        }
    }

    package static func unpack(
        _ bytes: UnsafeRawBufferPointer, _ entry: (RateCounterKey, RecentRateCounters.RateCounter) throws -> Void
    ) rethrows {
        var start = 0
        while bytes.count - start >= stride {
            defer { start += stride }
            let rest = start + RateCounterKey.length
            guard let key = RateCounterKey(UnsafeRawBufferPointer(rebasing: bytes[start..<rest])) else { return }
            let until = Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: rest, as: Int64.self))
            let used = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: rest + 8, as: UInt32.self))
            try entry(key, RecentRateCounters.RateCounter(until: until, used: used))
        }
    }
}
