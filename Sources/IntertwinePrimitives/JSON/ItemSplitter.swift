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
