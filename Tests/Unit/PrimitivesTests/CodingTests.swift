import Foundation
import TestSupport
import Testing

@testable import IntertwinePrimitives

@Suite("Codings")
struct CodingTests {
    @Test("Base64url equals RFC 4648 at every length")
    func base64() {
        var random = SeededRandom(seed: 3)
        for length in 0..<200 {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            let plain = Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
            #expect(Base64URL.encode(bytes) == plain && Base64URL.encode(bytes.reversed().reversed()) == plain)
            #expect(Base64URL.decode(plain.utf8) == bytes && Base64URL.decode(Array(plain.utf8).reversed().reversed()) == bytes)
        }
        #expect(Base64URL.encode([0xFB, 0xFF, 0xFE]) == "-__-")
    }

    @Test(
        "Base64url is decoded in canonical form only", arguments: ["A", "AB=", "AA==", "A+", "A/", "AB", "AAB", "Ä", "AA A", "AAAAA"])
    func canonical(_ text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }

    @Test("Hexadecimal digits are written in lower case and read in both")
    func hexadecimal() {
        let bytes = (0...255).map { UInt8($0) }
        let text = bytes.map { String(format: "%02x", $0) }.joined()
        #expect(Hexadecimal.text(bytes) == text)
        #expect(Hexadecimal.bytes(text) == bytes && Hexadecimal.bytes(text.uppercased()) == bytes && Hexadecimal.bytes("") == [])
        for bad in ["0", "0g", "g0", "0x00", " 00", "００", "0é"] { #expect(Hexadecimal.bytes(bad) == nil) }
        for byte in UInt8.min...UInt8.max {
            #expect(byte.hexadecimalValue.map(Int.init) == (byte < 0x80 ? Character(UnicodeScalar(byte)).hexDigitValue : nil))
        }
        var digits: [UInt8] = []
        digits.append(hexadecimal: 0xABC, digits: 4)
        digits.append(hexadecimal: .max, digits: 16)
        digits.append(hexadecimal: 0xABC, digits: 2)
        #expect(digits == Array("0abcffffffffffffffffbc".utf8))
    }

    @Test("Decimal digits equal those of Swift")
    func decimal() {
        for number in [0, 7, 10, 99, 100, 4_096, -1, -90, .max, .min] as [Int64] {
            var digits = Array("a".utf8)
            digits.append(decimal: number)
            #expect(String(decoding: digits, as: UTF8.self) == "a\(number)")
        }
    }

    @Test(
        "Percent-encoding escapes all other characters than the allowed ones",
        arguments: [
            ("azAZ09-._~", "azAZ09-._~", "azAZ09-._~"), ("user:a/b", "user%3Aa%2Fb", "user:a%2Fb"),
            ("a b+c%?#", "a%20b%2Bc%25%3F%23", "a%20b%2Bc%25%3F%23"),
            ("é🎈\u{0}\u{7F}", "%C3%A9%F0%9F%8E%88%00%7F", "%C3%A9%F0%9F%8E%88%00%7F"), ("", "", ""),
        ])
    func encoded(text: String, all: String, segment: String) {
        #expect(PercentCoding.encode(text) == all)
        #expect(PercentCoding.encode(text, keeping: .segment) == segment)
        #expect(PercentCoding.decode(all[...]) == text && PercentCoding.decode(segment[...]) == text)
    }

    @Test("In a reference only non-ASCII characters are escaped")
    func ascii() {
        #expect(PercentCoding.encode([UInt8(ascii: "/"), 0x25, 0x32, 0x30, 0x20, 0xE9], keeping: .ascii) == "/%20 %E9")
    }

    @Test(
        "Escapes are decoded once, or not at all",
        arguments: [
            ("%2541", "%41"), ("a%2fb", "a/b"), ("+", "+"), ("%", nil), ("%4", nil), ("%4g", nil), ("%g4", nil), ("%FF", nil), ("%C3", nil),
            ("%C3%A9", "é"), ("%00", "\u{0}"),
        ] as [(String, String?)])
    func decoded(text: String, expected: String?) {
        #expect(PercentCoding.decode(text[...]) == expected)
    }

    @Test(
        "Escapes of unreserved characters are normalized (RFC 3986 §6.2.2.2)",
        arguments: [
            ("/%66eed", "/feed"), ("/%7Ea%2Db%5f", "/~a-b_"), ("/a%2Fb%3A", "/a%2Fb%3A"), ("/%%36", "/%6"), ("/%4", "/%4"),
            ("/é%41", "/éA"),
        ])
    func normalised(text: String, expected: String) {
        #expect(PercentCoding.normalised(text[...]) == expected)
    }
}

@Suite("Bytes")
struct ByteTests {
    @Test("Bytes are written big-endian and read back")
    func all() throws {
        var writer = ByteWriter()
        writer.write(UInt8(0x01))
        writer.write(UInt16(0x0203))
        writer.write(UInt32(0x0405_0607))
        writer.write(UInt64(0x0809_0A0B_0C0D_0E0F))
        writer.write(Int64(-2))
        writer.write(0x1011_1213_1415_1617, count: 3)
        writer.write([0xAA, 0xBB])
        writer.write("é" as String?)
        writer.write("" as String?)
        writer.write(nil as String?)
        for value in [0, 127, 128, 300, 0x1F_FFFF, -1] { writer.write(varying: value) }
        writer.write(counted: [9, 8])
        let expected: [UInt8] =
            (1...15).map { $0 } + [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE, 0x15, 0x16, 0x17, 0xAA, 0xBB]
            + [0, 0, 0, 0, 0, 0, 0, 2, 0xC3, 0xA9] + [UInt8](repeating: 0, count: 8) + [UInt8](repeating: 0xFF, count: 8)
            + [0, 0x7F, 0x80, 0x01, 0xAC, 0x02, 0xFF, 0xFF, 0x7F, 0, 2, 9, 8]
        #expect(writer.bytes == expected)

        var reader = ByteReader(writer.bytes)
        #expect(reader.readByte() == 1 && reader.readUInt16() == 0x0203 && reader.readUInt32() == 0x0405_0607)
        #expect(reader.readUInt64() == 0x0809_0A0B_0C0D_0E0F && reader.readInt64() == -2 && reader.readNumber(3) == 0x15_1617)
        #expect(reader.readBytes(2) == [0xAA, 0xBB])
        #expect(reader.readText() == .some("é") && reader.readText() == .some("") && reader.readText() == .some(nil))
        for value in [0, 127, 128, 300, 0x1F_FFFF, 0] { #expect(reader.readVarying() == value) }
        #expect(reader.readCounted() == [9, 8] && reader.remaining.isEmpty)
    }

    @Test("Too few or corrupt bytes give nothing, and consume nothing")
    func damaged() {
        for count in 0..<8 {
            var reader = ByteReader([UInt8](repeating: 1, count: count))
            #expect(reader.readUInt64() == nil && reader.readInt64() == nil && reader.readText() == nil && reader.remaining.count == count)
            #expect(reader.readBytes(count + 1) == nil && reader.readBytes(-1) == nil)
        }
        var empty = ByteReader([])
        #expect(empty.readByte() == nil && empty.readUInt16() == nil && empty.readUInt32() == nil && empty.readVarying() == nil)
        for bytes: [UInt8] in [[0x80, 0x80, 0x80, 0x01], [0x80], [5, 1, 2]] {
            var reader = ByteReader(bytes[...])
            #expect(reader.readCounted() == nil)
        }
        // A text that is longer than what is left, one of a negative length that is not -1, one that is no UTF-8.
        for length: [UInt8] in [
            [0, 0, 0, 0, 0, 0, 0, 2], [0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE],
            [0, 0, 0, 0, 0, 0, 0, 1],
        ] {
            var reader = ByteReader(length + [0xC3])
            #expect(reader.readText() == nil)
        }
        #expect(UInt32(bigEndianBytes: [1, 2, 3, 4, 5] as [UInt8]) == 0x0203_0405 && UInt64(bigEndianBytes: [] as [UInt8]) == 0)
    }
}
