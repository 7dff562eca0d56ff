/// Writes JSON straight into bytes.
///
/// The encoder of Foundation goes through a tree of boxed values and costs several times as much as reading the page's items.
struct JSONWriter {
    private(set) var bytes: [UInt8]

    init(capacity: Int) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Text that is JSON already.
    mutating func raw(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// The same, made before.
    mutating func append(_ json: ArraySlice<UInt8>) {
        bytes.append(contentsOf: json)
    }

    mutating func write(_ value: Int64) {
        bytes.append(contentsOf: String(value).utf8)
    }

    /// A number without a fraction where it is whole; null where it is not finite.
    mutating func write(_ value: Double) {
        if let whole = Int64(exactly: value) {
            write(whole)
        } else if value.magnitude >= 0x1p63, value.magnitude < 1e21, let whole = Int128(exactly: value) {
            bytes.append(contentsOf: String(whole).utf8)
        } else if value.isFinite {
            bytes.append(contentsOf: value.description.utf8)
        } else {
            raw("null")
        }
    }

    mutating func write(_ text: String?) {
        if let text { write(text) } else { raw("null") }
    }

    /// A string in quotes. Quote, backslash and control characters are escaped (RFC 8259 section 7); everything else stays as it is.
    mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        let isContiguous = text.utf8.withContiguousStorageIfAvailable { appendEscaped($0) } != nil
        if !isContiguous {
            var native = text
            native.withUTF8 { appendEscaped($0) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func appendEscaped(_ text: UnsafeBufferPointer<UInt8>) {
        var start = text.startIndex
        for index in text.indices {
            let byte = text[index]
            guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
            bytes.append(contentsOf: text[start..<index])
            appendEscape(of: byte)
            start = index + 1
        }
        bytes.append(contentsOf: text[start...])
    }

    private mutating func appendEscape(of byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): raw(#"\""#)
        case UInt8(ascii: "\\"): raw(#"\\"#)
        case 0x0A: raw(#"\n"#)
        case 0x0D: raw(#"\r"#)
        case 0x09: raw(#"\t"#)
        default:
            raw(#"\u00"#)
            for digit in [byte >> 4, byte & 0xF] {
                bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
    }
}
