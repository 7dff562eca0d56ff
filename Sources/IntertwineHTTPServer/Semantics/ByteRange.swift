/// A Range field that asks for one range of bytes (RFC 9110, 14.1.2).
enum ByteRange: Hashable {
    /// Not bytes, malformed, or several ranges: as if it were not there.
    case ignored
    case part(Range<Int>)
    /// Well-formed, and beyond the end.
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
        // Digits that do not fit are a number beyond every end.
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
    /// A number may be written with any number of them (RFC 9110, 14.1.2).
    fileprivate var withoutLeadingZeros: ByteView {
        let zeros = bytes.prefix { $0 == 0x30 }.count
        return part(min(zeros, max(0, count - 1))..<count)
    }
}
