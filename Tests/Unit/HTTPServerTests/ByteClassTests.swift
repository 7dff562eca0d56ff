import Testing

@testable import IntertwineHTTPServer

@Suite("Classes of bytes")
struct ByteClassTests {
    @Test("Each byte is valid exactly where the standards allow it", arguments: UInt8.min ... .max)
    func table(byte: UInt8) {
        let isLetter = (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        let isDigit = (0x30...0x39).contains(byte)
        let classes = ByteClass.of(byte)
        #expect(classes.contains(.token) == (isLetter || isDigit || "!#$%&'*+-.^_`|~".utf8.contains(byte)))
        #expect(classes.contains(.target) == (byte > 0x20 && byte != 0x7F))
        #expect(classes.contains(.value) == (byte == 0x09 || (byte >= 0x20 && byte != 0x7F)))
        #expect(classes.contains(.host) == (isLetter || isDigit || "-._~".utf8.contains(byte)))
        #expect(classes.contains(.digit) == isDigit)
    }
}
