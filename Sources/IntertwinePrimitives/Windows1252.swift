/// The encoding that browsers read under the names windows-1252, ISO-8859-1 and US-ASCII (the encoding standard of WHATWG).
package enum Windows1252 {
    package static let labels: Set<String> = [
        "ansi_x3.4-1968", "ascii", "cp1252", "cp819", "csisolatin1", "ibm819", "iso-8859-1", "iso-ir-100", "iso8859-1", "iso88591",
        "iso_8859-1", "iso_8859-1:1987", "l1", "latin1", "us-ascii", "windows-1252", "x-cp1252",
    ]

    /// The characters of the bytes from 0x80 to 0x9F.
    package static let high = Array(
        "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ".unicodeScalars)

    package static func utf8(_ bytes: [UInt8]) -> [UInt8] {
        var text = String.UnicodeScalarView()
        for byte in bytes { text.append((0x80..<0xA0).contains(byte) ? high[Int(byte) - 0x80] : Unicode.Scalar(byte)) }
        return Array(String(text).utf8)
    }
}
