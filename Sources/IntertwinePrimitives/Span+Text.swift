extension Span<UInt8> {
    package func isEqualIgnoringCase(_ other: StaticString) -> Bool {
        guard count == other.utf8CodeUnitCount else { return false }
        return other.withUTF8Buffer { other in
            for index in indices {
                let byte = self[index]
                guard ((65...90).contains(byte) ? byte | 0x20 : byte) == other[index] else { return false }
            }
            return true
        }
    }
}

extension String {
    package init(decoding bytes: Span<UInt8>) {
        self = bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
}
