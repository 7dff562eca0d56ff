/// JSON strings: quote, backslash and control characters are escaped, as RFC 8259 §7 requires, and all other characters stay unchanged.
/// Equal texts therefore have equal bytes.
extension [UInt8] {
    package mutating func append(jsonString text: String) {
        append(UInt8(ascii: "\""))
        append(jsonCharactersOf: text)
        append(UInt8(ascii: "\""))
    }

    package mutating func append(jsonString characters: some Collection<UInt8>) {
        append(UInt8(ascii: "\""))
        let isContiguous = characters.withContiguousStorageIfAvailable { append(jsonCharacters: $0) } != nil
        if !isContiguous { Array(characters).withUnsafeBufferPointer { append(jsonCharacters: $0) } }
        append(UInt8(ascii: "\""))
    }

    package mutating func append(jsonCharactersOf text: String) {
        let isContiguous = text.utf8.withContiguousStorageIfAvailable { append(jsonCharacters: $0) } != nil
        if !isContiguous {
            var native = text
            native.withUTF8 { append(jsonCharacters: $0) }
        }
    }

    private mutating func append(jsonCharacters characters: UnsafeBufferPointer<UInt8>) {
        var start = 0
        while true {
            let end = Self.nextEscaped(in: UnsafeRawBufferPointer(characters), from: start)
            append(contentsOf: UnsafeBufferPointer(rebasing: characters[start..<end]))
            guard end < characters.count else { return }
            append(jsonEscapeOf: characters[end])
            start = end + 1
        }
    }

    /// Returns the index of the next character that must be escaped, or the end. It examines eight bytes together, because most texts need no escape.
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

    private mutating func append(jsonEscapeOf byte: UInt8) {
        append(UInt8(ascii: "\\"))
        switch byte {
        case 0x0A: append(UInt8(ascii: "n"))
        case 0x0D: append(UInt8(ascii: "r"))
        case 0x09: append(UInt8(ascii: "t"))
        case 0..<0x20:
            append(contentsOf: "u00".utf8)
            append(hexadecimal: UInt64(byte), digits: 2)
        default: append(byte)
        }
    }
}
