package enum JSONText {
    package static func isComplete(_ bytes: [UInt8]) -> Bool {
        let span = bytes.span
        var scanner = JSONScanner()
        scanner.skipWhitespace(span)
        guard (try? scanner.value(span)) != nil else { return false }
        scanner.skipWhitespace(span)
        return scanner.position == span.count
    }

    package static func unescaped(_ bytes: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            guard bytes[index] == UInt8(ascii: "\\"), index + 1 < range.upperBound else {
                result.append(bytes[index])
                index += 1
                continue
            }
            switch bytes[index + 1] {
            case UInt8(ascii: "b"): result.append(0x08)
            case UInt8(ascii: "f"): result.append(0x0C)
            case UInt8(ascii: "n"): result.append(0x0A)
            case UInt8(ascii: "r"): result.append(0x0D)
            case UInt8(ascii: "t"): result.append(0x09)
            case UInt8(ascii: "u"): index += appendCodePoint(bytes, at: index, before: range.upperBound, to: &result) - 2
            case let byte: result.append(byte)
            }
            index += 2
        }
        return String(validating: result, as: UTF8.self) == nil ? Array(String(decoding: result, as: UTF8.self).utf8) : result
    }

    private static func appendCodePoint(_ bytes: Span<UInt8>, at offset: Int, before end: Int, to result: inout [UInt8]) -> Int {
        guard let first = try? JSONScanner.codeUnit(bytes, at: offset) else {
            result.append(contentsOf: "\u{FFFD}".utf8)
            return 2
        }
        var scalar = UInt32(first)
        var length = 6
        if case 0xD800..<0xDC00 = first, offset + 12 <= end, bytes[offset + 6] == UInt8(ascii: "\\"),
            bytes[offset + 7] == UInt8(ascii: "u"),
            let second = try? JSONScanner.codeUnit(bytes, at: offset + 6), case 0xDC00..<0xE000 = second
        {
            scalar = 0x10000 + (scalar - 0xD800) << 10 + (UInt32(second) - 0xDC00)
            length = 12
        }
        result.append(contentsOf: String(Unicode.Scalar(scalar) ?? "\u{FFFD}").utf8)
        return length
    }
}

/// The encoding and the preamble of a JSON text from outside: a byte order mark, UTF-16, UTF-32, a guard against inclusion as a script, or the call of
/// a function (JSONP).
package struct JSONPreamble: Sendable {
    private enum Encoding: Sendable {
        case utf8
        case utf16(isLittleEndian: Bool), utf32(isLittleEndian: Bool)
    }

    /// The maximum length of a guard such as `)]}',` or `while(1);`, or of the beginning of a call, in bytes.
    private static let guardLimit = 256

    private var encoding: Encoding?
    private var rest: [UInt8] = []

    package init() {}

    package static func text(_ bytes: [UInt8], isLatin: Bool = false) -> [UInt8] {
        var text = bytes
        if case .utf8 = encoding(of: bytes) {
            if isLatin, String(validating: bytes, as: UTF8.self) == nil { text = Windows1252.utf8(bytes) }
        } else {
            var preamble = JSONPreamble()
            text = preamble.utf8(bytes, isComplete: true)
        }
        let length = length(of: text[...], isComplete: true) ?? 0
        return length == 0 ? text : Array(text[length...])
    }

    package mutating func utf8(_ bytes: some Collection<UInt8>, isComplete: Bool) -> [UInt8] {
        rest.append(contentsOf: bytes)
        if encoding == nil {
            guard rest.count >= 4 || isComplete else { return [] }
            encoding = Self.encoding(of: rest)
        }
        switch encoding {
        case .utf16(let isLittleEndian):
            var units: [UInt16] = numbers(isLittleEndian)
            if !isComplete, let last = units.last, case 0xD800..<0xDC00 = last { units.removeLast() }
            rest.removeSubrange(..<(units.count * 2))
            return Array(String(decoding: units, as: UTF16.self).utf8)
        case .utf32(let isLittleEndian):
            let units: [UInt32] = numbers(isLittleEndian)
            rest.removeSubrange(..<(units.count * 4))
            return Array(String(decoding: units, as: UTF32.self).utf8)
        case .utf8, nil:
            defer { rest = [] }
            return rest
        }
    }

    private func numbers<Number: FixedWidthInteger>(_ isLittleEndian: Bool) -> [Number] {
        let size = Number.bitWidth / 8
        return stride(from: 0, to: rest.count - size + 1, by: size).map { start in
            let bytes = rest[start..<(start + size)]
            return (isLittleEndian ? Array(bytes.reversed()) : Array(bytes)).reduce(0) { $0 << 8 | Number($1) }
        }
    }

    /// The first character of JSON is ASCII, so that the other bytes of a wider one are zero.
    private static func encoding(of bytes: [UInt8]) -> Encoding {
        if bytes.count >= 4 {
            switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
            case (0xFF, 0xFE, 0, 0): return .utf32(isLittleEndian: true)
            case (0, 0, 0xFE, 0xFF): return .utf32(isLittleEndian: false)
            case (let first, 0, 0, 0) where first != 0: return .utf32(isLittleEndian: true)
            case (0, 0, 0, let last) where last != 0: return .utf32(isLittleEndian: false)
            default: break
            }
        }
        guard bytes.count >= 2 else { return .utf8 }
        switch (bytes[0], bytes[1]) {
        case (0xFF, 0xFE): return .utf16(isLittleEndian: true)
        case (0xFE, 0xFF): return .utf16(isLittleEndian: false)
        case (let first, 0) where first != 0: return .utf16(isLittleEndian: true)
        case (0, let second) where second != 0: return .utf16(isLittleEndian: false)
        default: return .utf8
        }
    }

    /// A guard makes the text an endless loop or an error of syntax as a script, so it has a bracket, a semicolon or an ampersand.
    package static func length(of text: ArraySlice<UInt8>, isComplete: Bool) -> Int? {
        var start = text.startIndex
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        while text[start...].starts(with: mark) { start += mark.count }
        if !isComplete, mark.starts(with: text[start...]) { return nil }
        while start < text.endIndex, isSpace(text[start]) { start += 1 }
        guard let first = start < text.endIndex ? text[start] : nil else { return isComplete ? start - text.startIndex : nil }
        let head = text[start...].prefix(guardLimit)
        let isBracket: (UInt8) -> Bool = { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") }
        guard !isBracket(first), first != UInt8(ascii: "<") else { return start - text.startIndex }
        guard let bracket = head.firstIndex(where: isBracket) else {
            return head.count < guardLimit && !isComplete ? nil : start - text.startIndex
        }
        let before = head[..<bracket]
        // A call, or an assignment to a variable.
        let isScript = before.last { !isSpace($0) }.map { $0 == UInt8(ascii: "(") || $0 == UInt8(ascii: "=") } ?? false
        return (isScript || before.contains { ")];&".utf8.contains($0) } ? bracket : start) - text.startIndex
    }

    package static func isEnd(_ text: some Sequence<UInt8>) -> Bool {
        text.allSatisfy { isSpace($0) || $0 == UInt8(ascii: ")") || $0 == UInt8(ascii: ";") || $0 == 0 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
}
