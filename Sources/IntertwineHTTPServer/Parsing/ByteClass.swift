/// What a byte may stand for in a request head, looked up in one table.
struct ByteClass: OptionSet {
    let rawValue: UInt8

    /// May be part of a method or a field name (RFC 9110, 5.6.2).
    static let token = ByteClass(rawValue: 1)
    /// May be part of a request target. Excluded are controls, space, bytes above 0x7E and `"` `#` `<` `>` `\`.
    static let target = ByteClass(rawValue: 2)
    /// May be part of a field value: HTAB, SP, visible characters and obs-text (RFC 9110, 5.5).
    static let value = ByteClass(rawValue: 4)
    /// May be part of a host name: letters, digits, `-`, `.`, `_`, `~`.
    static let host = ByteClass(rawValue: 8)
    static let digit = ByteClass(rawValue: 16)

    static let table: [UInt8] = (0...255).map { number in
        let byte = UInt8(number)
        let isLetter = (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        let isDigit = (0x30...0x39).contains(byte)
        var classes: ByteClass = []
        if isLetter || isDigit || Array("!#$%&'*+-.^_`|~".utf8).contains(byte) { classes.insert(.token) }
        if (0x21...0x7E).contains(byte), !Array("\"#<>\\".utf8).contains(byte) { classes.insert(.target) }
        if byte == 0x09 || (byte >= 0x20 && byte != 0x7F) { classes.insert(.value) }
        if isLetter || isDigit || Array("-._~".utf8).contains(byte) { classes.insert(.host) }
        if isDigit { classes.insert(.digit) }
        return classes.rawValue
    }

    @inline(__always)
    static func of(_ byte: UInt8) -> ByteClass { ByteClass(rawValue: table[Int(byte)]) }
}

extension UInt8 {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20
    static let quote: UInt8 = 0x22
    static let asterisk: UInt8 = 0x2A
    static let comma: UInt8 = 0x2C
    static let slash: UInt8 = 0x2F
    static let colon: UInt8 = 0x3A
    static let semicolon: UInt8 = 0x3B
    static let equals: UInt8 = 0x3D

    @inline(__always)
    var isBlank: Bool { self == .space || self == .tab }

    /// Lower case for A to Z, itself for every other byte.
    @inline(__always)
    var lowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}
