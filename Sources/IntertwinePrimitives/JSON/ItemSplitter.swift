/// A splitter that finds the end of a list's element by brackets and quotes alone, so that an invalid element is one invalid item.
package struct ItemSplitter: Sendable, Equatable {
    private let closing: UInt8
    private var depth = 0
    private var isInString = false
    private var isEscaped = false

    package init(until closing: UInt8 = UInt8(ascii: "]")) {
        self.closing = closing
    }

    package mutating func end(in bytes: Span<UInt8>, from start: Int) -> Int? {
        for index in start..<max(start, bytes.count) {
            let byte = bytes[index]
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0, byte == closing { return index }
                depth = max(0, depth - 1)
                if depth == 0 { return index + 1 }
            case UInt8(ascii: ",") where depth == 0: return index
            default: break
            }
        }
        return nil
    }
}

/// The texts of a list without brackets: lines (NDJSON) that end in LF or CRLF, or in CR alone, or a JSON text sequence (RFC 7464), whose
/// texts may have several lines.
package struct JSONLines: Sendable, Equatable {
    private static let recordSeparator: UInt8 = 0x1E

    /// The byte between two texts.
    package let separator: UInt8
    package var isSequence: Bool { separator == Self.recordSeparator }

    /// Nil if more bytes are needed. The first line decides: a CR without LF after its value ends it.
    package init?(_ bytes: Span<UInt8>, from start: Int = 0, isComplete: Bool = true) {
        var first = start
        while first < bytes.count, bytes[first] <= 0x20, bytes[first] != Self.recordSeparator { first += 1 }
        guard first == bytes.count || bytes[first] != Self.recordSeparator else {
            separator = Self.recordSeparator
            return
        }
        var splitter = ItemSplitter()
        let end = splitter.end(in: bytes, from: first) ?? bytes.count
        for index in first..<bytes.count {
            let isReturn = index >= end && bytes[index] == 0x0D
            guard bytes[index] == 0x0A || isReturn && (isComplete || index + 1 < bytes.count) else { continue }
            separator = isReturn && index + 1 < bytes.count && bytes[index + 1] != 0x0A ? 0x0D : 0x0A
            return
        }
        guard isComplete else { return nil }
        separator = 0x0A
    }

    /// The bytes without the space and the marks of byte order before a text, and the space and commas after it. Nil if nothing is left.
    package static func text(of line: ArraySlice<UInt8>) -> Range<Int>? {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        var rest = line.drop { $0 <= 0x20 }
        while rest.starts(with: mark) { rest = rest.dropFirst(mark.count).drop { $0 <= 0x20 } }
        let end = rest.lastIndex { $0 > 0x20 && $0 != UInt8(ascii: ",") }
        return end.map { rest.startIndex..<$0 + 1 }
    }
}
