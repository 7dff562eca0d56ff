/// Comparison of entity tags (RFC 9110, 8.8.3).
enum EntityTags {
    /// Whether a list such as `W/"a", "b"` or `*` names the tag. Strong comparison never matches a weak tag.
    static func list(_ value: ByteView, names tag: [UInt8]?, strongly: Bool) -> Bool {
        if value.isEqual("*") { return true }
        guard let tag else { return false }
        let current = tag.withUnsafeBufferPointer { bytes in
            var isNamed = false
            let (own, ownIsWeak) = opaque(ByteView(bytes))
            value.forEachElement { element in
                let (other, otherIsWeak) = opaque(element)
                guard let own, let other, !strongly || (!ownIsWeak && !otherIsWeak) else { return true }
                isNamed = own.bytes.elementsEqual(other.bytes)
                return !isNamed
            }
            return isNamed
        }
        return current
    }

    private static func opaque(_ tag: ByteView) -> (ByteView?, isWeak: Bool) {
        let isWeak = tag[0] == 0x57 && tag[1] == .slash
        let quoted = isWeak ? tag.part(2..<tag.count) : tag
        let isQuoted = quoted.count >= 2 && quoted[0] == .quote && quoted[quoted.count - 1] == .quote
        return (isQuoted ? quoted : nil, isWeak)
    }
}
