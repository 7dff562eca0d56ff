/// It is valid only as long as the buffer; it is never stored or passed to a handler.
struct ByteView {
    let bytes: UnsafeBufferPointer<UInt8>

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    init(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
        self.bytes = UnsafeBufferPointer(rebasing: bytes[range.clamped(to: 0..<bytes.count)])
    }

    var count: Int { bytes.count }
    var isEmpty: Bool { bytes.isEmpty }

    @inline(__always)
    subscript(index: Int) -> UInt8? { index >= 0 && index < bytes.count ? bytes[index] : nil }

    func part(_ range: Range<Int>) -> ByteView { ByteView(bytes, range) }

    func isEqualIgnoringCase(_ other: StaticString) -> Bool {
        guard other.utf8CodeUnitCount == count else { return false }
        let start = other.utf8Start
        for index in 0..<count where bytes[index].lowercased != start[index] { return false }
        return true
    }

    func isEqual(_ other: StaticString) -> Bool {
        guard other.utf8CodeUnitCount == count else { return false }
        let start = other.utf8Start
        for index in 0..<count where bytes[index] != start[index] { return false }
        return true
    }

    func isEqual(_ other: [UInt8]) -> Bool { bytes.elementsEqual(other) }

    var trimmed: ByteView {
        var (start, end) = (0, count)
        while start < end, bytes[start].isBlank { start += 1 }
        while end > start, bytes[end - 1].isBlank { end -= 1 }
        return part(start..<end)
    }

    func forEachElement(limit: Int = .max, quoting: Bool = true, _ body: (ByteView) -> Bool) {
        var (start, index, seen, isQuoted) = (0, 0, 0, false)
        while index <= count {
            let byte = self[index]
            if byte == nil || (byte == .comma && !isQuoted) {
                if seen == limit { return }
                seen += 1
                if !body(part(start..<index).trimmed) { return }
                start = index + 1
            } else if byte == .quote, quoting {
                isQuoted.toggle()
            }
            index += 1
        }
    }

    /// Nil for any other text and on overflow.
    var decimal: Int? {
        if isEmpty || count > 19 { return nil }
        var value = 0
        for byte in bytes {
            guard ByteClass.of(byte).contains(.digit) else { return nil }
            let (product, isLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, isLarger) = product.addingReportingOverflow(Int(byte &- 0x30))
            if isLarge || isLarger { return nil }
            value = sum
        }
        return value
    }

    func lineValue(of name: StaticString) -> String? {
        for line in bytes.split(separator: .lineFeed).dropFirst() {
            let line = ByteView(UnsafeBufferPointer(rebasing: line))
            let length = name.utf8CodeUnitCount
            guard line[length] == .colon, line.part(0..<length).isEqualIgnoringCase(name) else { continue }
            let value = line.part(length + 1..<line.count)
            return (value[value.count - 1] == .carriageReturn ? value.part(0..<value.count - 1) : value).trimmed.string
        }
        return nil
    }

    var string: String { String(decoding: bytes, as: UTF8.self) }
}

/// The classes of a byte in a request head, looked up in one table.
struct ByteClass: OptionSet {
    let rawValue: UInt8

    /// The characters of a method or a field name (RFC 9110, 5.6.2).
    static let token = ByteClass(rawValue: 1)
    static let target = ByteClass(rawValue: 2)
    /// The characters of a field value: HTAB, SP, visible characters and obs-text (RFC 9110, 5.5).
    static let value = ByteClass(rawValue: 4)
    static let host = ByteClass(rawValue: 8)
    static let digit = ByteClass(rawValue: 16)

    /// Literal numbers are part of the program's data; a table that is initialized lazily would be checked for initialization for each byte
    /// of a request.
    static let table: [UInt8] = [
        0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        4, 7, 6, 7, 7, 7, 7, 7, 6, 6, 7, 7, 6, 15, 15, 6,
        31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 6, 6, 6, 6, 6, 6,
        6, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
        15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 6, 6, 6, 7, 15,
        7, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
        15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 6, 7, 6, 15, 0,
        6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
        6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
        6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
        6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
        6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
        6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
        6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
        6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
    ]

    @inline(__always)
    static func of(_ byte: UInt8) -> ByteClass { ByteClass(rawValue: table[Int(byte)]) }
}

extension UInt8 {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20
    static let quote: UInt8 = 0x22
    static let comma: UInt8 = 0x2C
    static let slash: UInt8 = 0x2F
    static let colon: UInt8 = 0x3A
    static let semicolon: UInt8 = 0x3B
    static let equals: UInt8 = 0x3D

    @inline(__always)
    var isBlank: Bool { self == .space || self == .tab }

    @inline(__always)
    var lowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}
