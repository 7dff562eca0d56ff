/// Texts as strings of JSON: quote, backslash and control characters are escaped, as RFC 8259 §7 says they must be, and everything else stays as
/// it is. So equal texts have equal bytes.
package enum JSONString {
    /// Appends a text with its quotes.
    package static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        append(charactersOf: text, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// The same of a text's UTF-8.
    package static func append(_ characters: some Collection<UInt8>, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        let isContiguous = characters.withContiguousStorageIfAvailable { append($0, to: &bytes) } != nil
        if !isContiguous { Array(characters).withUnsafeBufferPointer { append($0, to: &bytes) } }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends a text without quotes.
    package static func append(charactersOf text: String, to bytes: inout [UInt8]) {
        let isContiguous = text.utf8.withContiguousStorageIfAvailable { append($0, to: &bytes) } != nil
        if !isContiguous {
            var native = text
            native.withUTF8 { append($0, to: &bytes) }
        }
    }

    private static func append(_ characters: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        var start = 0
        while true {
            let end = nextEscaped(in: UnsafeRawBufferPointer(characters), from: start)
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: characters[start..<end]))
            guard end < characters.count else { return }
            append(escapeOf: characters[end], to: &bytes)
            start = end + 1
        }
    }

    /// Where the next character stands that has to be escaped, or the end. Eight are looked at together: nearly all texts have none.
    private static func nextEscaped(in text: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        while index + 8 <= text.count, !EightBytes(text.loadUnaligned(fromByteOffset: index, as: UInt64.self)).isEscapedInJSON {
            index += 8
        }
        while index < text.count {
            let byte = text[index]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
            index += 1
        }
        return index
    }

    private static func append(escapeOf byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0..<0x20:
            bytes.append(contentsOf: "u00".utf8)
            Hexadecimal.append(UInt64(byte), digits: 2, to: &bytes)
        default: bytes.append(byte)
        }
    }
}
