internal import IntertwinePrimitives

enum Conditions { case met, notModified, failed }

/// Conditional requests for an existing representation (RFC 9110, 13.2.2).
extension RequestHead {
    func conditions(entityTag: [UInt8]?, lastModified: Int64?) -> Conditions {
        if has(.ifMatch) {
            guard names(.ifMatch, entityTag, strongly: true) else { return .failed }
        } else if let date = date(.ifUnmodifiedSince), let lastModified {
            guard lastModified <= date else { return .failed }
        }
        if has(.ifNoneMatch) { return names(.ifNoneMatch, entityTag, strongly: false) ? .notModified : .met }
        if let date = date(.ifModifiedSince), let lastModified { return lastModified <= date ? .notModified : .met }
        return .met
    }

    func allowsRange(entityTag: [UInt8]?, lastModified: Int64?) -> Bool {
        guard has(.ifRange) else { return true }
        let value = value(of: .ifRange)
        if value[0] == .quote { return entityTag.map(value.isEqual) ?? false }
        guard let lastModified, let date = date(.ifRange) else { return false }
        return date == lastModified
    }

    private func names(_ known: KnownField, _ entityTag: [UInt8]?, strongly: Bool) -> Bool {
        var isNamed = false
        forEachValue(of: known) { value in
            isNamed = EntityTags.list(value, names: entityTag, strongly: strongly)
            return !isNamed
        }
        return isNamed
    }

    private func date(_ known: KnownField) -> Int64? {
        has(known) ? HTTPDate.parse(value(of: known).bytes, now: WallClock.coarse() / 1_000) : nil
    }
}

/// Comparison of entity tags (RFC 9110, 8.8.3).
package enum EntityTags {
    /// Returns nil if the field is neither `*` nor a list of entity tags.
    package static func field(_ field: String, names tag: String, strongly: Bool) -> Bool? {
        var field = field
        return field.withUTF8 { bytes in
            let value = ByteView(bytes)
            var isList = true
            if !value.isEqual("*") {
                value.forEachElement { element in
                    isList = element.isEmpty || opaque(element).0 != nil
                    return isList
                }
            }
            return isList ? list(value, names: Array(tag.utf8), strongly: strongly) : nil
        }
    }

    /// Strong comparison never matches a weak tag.
    fileprivate static func list(_ value: ByteView, names tag: [UInt8]?, strongly: Bool) -> Bool {
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

/// A Range field that requests one range of bytes (RFC 9110, 14.1.2).
enum ByteRange: Hashable {
    case ignored
    case part(Range<Int>)
    case unsatisfiable

    init(_ value: ByteView, length: Int) {
        guard value.count > 6, value.part(0..<6).isEqualIgnoringCase("bytes=") else {
            self = .ignored
            return
        }
        let specification = value.part(6..<value.count).trimmed
        guard let dash = specification.bytes.firstIndex(of: 0x2D) else {
            self = .ignored
            return
        }
        let first = specification.part(0..<dash)
        let last = specification.part(dash + 1..<specification.count)
        guard Self.isNumber(first) || first.isEmpty, Self.isNumber(last) || last.isEmpty, !(first.isEmpty && last.isEmpty) else {
            self = .ignored
            return
        }
        // Numbers that overflow count as beyond the end.
        let (start, end) = (first.withoutLeadingZeros.decimal ?? .max, last.withoutLeadingZeros.decimal ?? .max)
        if first.isEmpty {
            self = end == 0 || length == 0 ? .unsatisfiable : .part(max(0, length - min(end, length))..<length)
        } else if end < start {
            self = .ignored
        } else if start >= length {
            self = .unsatisfiable
        } else {
            self = .part(start..<(end >= length ? length : end + 1))
        }
    }

    private static func isNumber(_ text: ByteView) -> Bool {
        !text.isEmpty && text.bytes.allSatisfy { ByteClass.of($0).contains(.digit) }
    }
}

extension ByteView {
    /// The number without leading zeros, of which any number is allowed (RFC 9110, 14.1.2).
    fileprivate var withoutLeadingZeros: ByteView {
        let zeros = bytes.prefix { $0 == 0x30 }.count
        return part(min(zeros, max(0, count - 1))..<count)
    }
}
