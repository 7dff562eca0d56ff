import Testing

@testable import IntertwineFeed
@testable import IntertwinePrimitives

@Suite("JSON objects")
struct JSONTests {
    // The first cases of each list are RFC 8259's grammar; the others are common mistakes.
    @Test(
        "The parser accepts the grammar of RFC 8259",
        arguments: [
            "{}", " \t\r\n{ } \n", #"{"a":1}"#, #"{"a":-0}"#, #"{"a":0.5e+10}"#, #"{"a":1E-2}"#, #"{"a":[]}"#, #"{"a":[{},[[]],""]}"#,
            #"{"a":true,"b":false,"c":null}"#, #"{"":""}"#, #"{"a":"\"\\\/\b\f\n\r\t\u00e9\uD83D\ude00"}"#, #"{"a":"é😀\u0000"}"#,
            #"{"a":{"b":{"c":[1,2,{"d":[]}]}},"e":"}"}"#, #"{"a":1,"a":2}"#,
        ])
    func accepted(_ text: String) throws {
        _ = try JSONObject(Array(text.utf8))
    }

    @Test(
        "Invalid JSON objects are refused with the reason and offset",
        arguments: [
            ("", .endOfText, 0), ("[]", .expectedObject, 0), ("{", .endOfText, 1), (#"{"a""#, .endOfText, 4), (#"{"a":"#, .endOfText, 5),
            (#"{"a":1"#, .endOfText, 6), (#"{"a":1,}"#, .trailingComma, 7), (#"{,}"#, .expectedName, 1), (#"{a:1}"#, .expectedName, 1),
            (#"{"a" 1}"#, .expectedColon, 5), (#"{"a":1 "b":2}"#, .expectedCommaOrEnd, 7), (#"{"a":1]"#, .expectedCommaOrEnd, 6),
            (#"{"a":[1}"#, .expectedCommaOrEnd, 7), (#"{} {}"#, .trailingBytes, 3), (#"{"a":01}"#, .badNumber, 5),
            (#"{"a":-}"#, .badNumber, 6),
            (#"{"a":1.}"#, .badNumber, 7), (#"{"a":.5}"#, .expectedValue, 5), (#"{"a":+1}"#, .expectedValue, 5),
            (#"{"a":1e}"#, .badNumber, 7),
            (#"{"a":NaN}"#, .expectedValue, 5), (#"{"a":tru}"#, .badLiteral, 5), (#"{"a":'b'}"#, .expectedValue, 5),
            ("{\"a\":\"\n\"}", .controlCharacter, 6), (#"{"a":"\x"}"#, .badEscape, 6), (#"{"a":"\u12g4"}"#, .badEscape, 6),
            (#"{"a":"\ud800"}"#, .loneSurrogate, 6), (#"{"a":"\udc00"}"#, .loneSurrogate, 6), (#"{"a":"\ud800\u0041"}"#, .loneSurrogate, 6),
            (#"{"a":"b"#, .endOfText, 7), (#"{"a":"\"#, .endOfText, 6), ("\u{FEFF}{}", .expectedObject, 0),
            (#"{"a":[1,]}"#, .expectedValue, 8),
        ] as [(String, JSONError.Reason, Int)])
    func refused(_ text: String, _ reason: JSONError.Reason, _ offset: Int) {
        #expect(throws: JSONError(reason, at: offset)) { try JSONObject(Array(text.utf8)) }
    }

    // RFC 3629 §4
    @Test(
        "Invalid UTF-8 is refused",
        arguments: [
            [0x80], [0xC0, 0xAF], [0xC1, 0xBF], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80], [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80],
            [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xC3], [0xE2, 0x82], [0xF0, 0x9F, 0x98],
        ] as [[UInt8]])
    func notUTF8(_ bytes: [UInt8]) {
        let text = Array(#"{"a":""#.utf8) + bytes + Array(#""}"#.utf8)
        #expect(throws: JSONError(.badUTF8, at: 6)) { try JSONObject(text) }
    }

    @Test("Nesting is limited without recursion")
    func nesting() throws {
        let deep = { (depth: Int) in
            Array((#"{"a":"# + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}").utf8)
        }
        _ = try JSONObject(deep(64))
        #expect(throws: JSONError(.tooDeep, at: 5 + 64)) { try JSONObject(deep(65)) }
        #expect(throws: JSONError(.tooDeep, at: 5 + 64)) {
            try JSONObject(Array(#"{"a":"#.utf8) + [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000))
        }
    }

    @Test("Escapes are decoded, and equal strings are written with equal bytes")
    func escapes() throws {
        let object = try JSONObject(Array(#"{"a":"\"\\\/\b\f\n\r\t\u00e9\uD83D\ude00"}"#.utf8))
        let characters = object.characters(of: object.members[0].value)
        #expect(String(decoding: characters, as: UTF8.self) == "\"\\/\u{8}\u{C}\n\r\té😀")
        var bytes: [UInt8] = []
        bytes.append(jsonString: characters)
        #expect(String(decoding: bytes, as: UTF8.self) == #""\"\\/\u0008\u000c\n\r\té😀""#)
    }
}

@Suite("JSON arrays")
struct JSONArrayTests {
    @Test(
        "Array elements are returned unchanged",
        arguments: [
            ("[]", []), (" [ ]\n", []), ("[1]", ["1"]), (#"[ {"a":[1, 2]} , "b\"" ,null]"#, [#"{"a":[1, 2]}"#, #"b\""#, "null"]),
            ("[[],[[]]]", ["[]", "[[]]"]),
        ])
    func elements(text: String, elements: [String]) throws {
        let array = try JSONArray(Array(text.utf8))
        #expect(array.elements.map { String(decoding: array.bytes(of: $0), as: UTF8.self) } == elements)
    }

    @Test(
        "Invalid JSON arrays are refused with the reason and offset",
        arguments: [
            ("", .endOfText, 0), ("{}", .expectedArray, 0), ("[", .endOfText, 1), ("[1", .endOfText, 2), ("[1,", .endOfText, 3),
            ("[1,]", .expectedValue, 3), ("[,]", .expectedValue, 1), ("[1 2]", .expectedCommaOrEnd, 3), ("[1}", .expectedCommaOrEnd, 2),
            ("[] []", .trailingBytes, 3),
        ] as [(String, JSONError.Reason, Int)])
    func refused(text: String, reason: JSONError.Reason, offset: Int) {
        #expect(throws: JSONError(reason, at: offset)) { try JSONArray(Array(text.utf8)) }
    }

    @Test("A comma before the end of a lenient object is left out")
    func trailingComma() throws {
        for text in [#"{"a":1,}"#, #"{"a":1 , }"#] {
            #expect(try JSONObject(Array(text.utf8), isLenient: true).members.count == 1)
            #expect(throws: JSONError.self) { try JSONObject(Array(text.utf8)) }
        }
        for text in ["{,}", #"{"a":1,,}"#, #"{"a":1,"#] {
            #expect(throws: JSONError.self) { try JSONObject(Array(text.utf8), isLenient: true) }
        }
        for text in ["[1,]", "[1 , ]"] {
            #expect(try JSONArray(Array(text.utf8), isLenient: true).elements.count == 1)
            #expect(throws: JSONError.self) { try JSONArray(Array(text.utf8)) }
        }
        for (text, kinds) in [("[,]", [.invalid]), ("[1,,]", [.number, .invalid]), ("[,1]", [.invalid, .number])]
            as [(String, [JSONToken.Kind])]
        {
            #expect(try JSONArray(Array(text.utf8), isLenient: true).elements.map(\.kind) == kinds)
            #expect(throws: JSONError.self) { try JSONArray(Array(text.utf8)) }
        }
        for text in ["[1,", "[1,,", "[1 2]"] {
            #expect(throws: JSONError.self) { try JSONArray(Array(text.utf8), isLenient: true) }
        }
        #expect(try JSONArray(Array("[ ]".utf8)).elements.isEmpty)
    }
}

@Suite("Byte checks in words of eight bytes")
struct EightBytesTests {
    @Test("Each byte value is classified correctly at every offset", arguments: 0...17)
    func bytes(offset: Int) {
        let start = [UInt8](repeating: UInt8(ascii: "a"), count: offset)
        for byte in UInt8.min ... .max {
            let text = start + [byte] + Array("xxxxxxxxx".utf8)
            let isPlain = (0x20..<0x80).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
            #expect(((try? JSONObject(Array(#"{"a":""#.utf8) + text + Array(#""}"#.utf8))) != nil) == isPlain, "\(byte)")
            let isOfURLs = (0x21..<0x7F).contains(byte) && !#""<>\"#.utf8.contains(byte)
            #expect((ItemURL.error(in: (Array("http://a.example/".utf8) + text)[...]) == nil) == isOfURLs, "\(byte)")
            guard byte < 0x80 else { continue }
            var writer = JSONWriter(capacity: 64)
            writer.write(String(decoding: text, as: UTF8.self))
            let isEscaped = byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
            #expect((writer.bytes.count > text.count + 2) == isEscaped, "\(byte)")
        }
    }
}
