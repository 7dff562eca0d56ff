/// Recent allowances as a row of a ledger's log has them, one behind the other: the key, the end, and how much was used.
package enum AllowanceEntries {
    private static let stride = AllowanceKey.length + 12

    package static func pack(_ entries: [(key: AllowanceKey, allowance: RecentAllowances.Allowance)]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: entries.count * stride) { buffer, count in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            for (key, allowance) in entries {
                key.withBytes { UnsafeMutableRawBufferPointer(rebasing: bytes[count...]).copyMemory(from: $0) }
                bytes.storeBytes(of: allowance.until.bigEndian, toByteOffset: count + AllowanceKey.length, as: Int64.self)
                bytes.storeBytes(of: allowance.used.bigEndian, toByteOffset: count + AllowanceKey.length + 8, as: UInt32.self)
                count += stride
            }
        }
    }

    package static func unpack(
        _ bytes: UnsafeRawBufferPointer, _ entry: (AllowanceKey, RecentAllowances.Allowance) throws -> Void
    ) rethrows {
        var start = 0
        while bytes.count - start >= stride {
            defer { start += stride }
            let rest = start + AllowanceKey.length
            guard let key = AllowanceKey(UnsafeRawBufferPointer(rebasing: bytes[start..<rest])) else { return }
            let until = Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: rest, as: Int64.self))
            let used = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: rest + 8, as: UInt32.self))
            try entry(key, RecentAllowances.Allowance(until: until, used: used))
        }
    }
}
