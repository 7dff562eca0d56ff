import Testing

/// A value in an API's list that is not a valid JSON value, or not a valid value of most fields.
struct InvalidValue: Sendable, CustomTestStringConvertible {
    /// The value. `¿` marks a byte that is not UTF-8.
    let json: String

    var testDescription: String { String(json.prefix(40)) }

    /// Returns the bytes of a text with the value in it.
    func bytes(of text: String) -> [UInt8] {
        Array(text.replacing("¿", with: "\u{1A}").utf8).map { $0 == 0x1A ? 0xFF : $0 }
    }

    /// Strings that are texts with U+FFFD in place of what is no character.
    static let strings = [
        #""\ud83d""#, #""a\udE00b""#, #""\udc00\ud800""#, #""\ud83dx\ude00""#, #""\u12""#, #""\u""#, #""\x41""#, #""\'""#, "\"¿\"",
        "\"a¿¿b\"", "\"tab\there\"", "\"bell\u{7}\"", "\"nul\u{0}\"", #""nul\u0000""#, "\"line\u{1}\"",
    ].map(InvalidValue.init)

    /// Values that are no texts, numbers, dates, URLs or booleans.
    static let others = [
        "NaN", "-NaN", "Infinity", "-Infinity", "+1", "007", "-01", "0x1F", "1.", ".5", "1e", "1_000", "1,5".replacing(",", with: "'"),
        "undefined",
        "None", "True", "'text'", "nil", "{}", "[]", "[1,2]", #"{"a":NaN}"#, "[007,'x']", #"["]"]"#,
        String(repeating: "[", count: 80) + String(repeating: "]", count: 80),
        String(repeating: #"{"a":"#, count: 80) + "1" + String(repeating: "}", count: 80),
        String(repeating: "[", count: 5_000) + String(repeating: "]", count: 5_000),
    ].map(InvalidValue.init)

    static let all = strings + others
}

/// An encoding and a preamble of a list, as an API or an editor of another system writes it.
struct ListEncoding: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let encode: @Sendable (String) -> [UInt8]

    init(_ name: String, _ encode: @escaping @Sendable (String) -> [UInt8]) {
        (testDescription, self.encode) = (name, encode)
    }

    static let all = [
        ListEncoding("UTF-8") { Array($0.utf8) }, ListEncoding("UTF-8 with a mark") { [0xEF, 0xBB, 0xBF] + Array($0.utf8) },
        ListEncoding("UTF-16LE with a mark") { [0xFF, 0xFE] + units($0, isLittle: true) },
        ListEncoding("UTF-16LE") { units($0, isLittle: true) },
        ListEncoding("UTF-16BE with a mark") { [0xFE, 0xFF] + units($0, isLittle: false) },
        ListEncoding("UTF-16BE") { units($0, isLittle: false) },
        ListEncoding(")]}',") { Array(")]}',\n\($0)".utf8) }, ListEncoding(")]}'") { Array(")]}'\n\($0)".utf8) },
        ListEncoding("while(1);") { Array("while(1);\($0)".utf8) }, ListEncoding("while (1) ;") { Array("while (1) ;\r\n\($0)".utf8) },
        ListEncoding("for(;;);") { Array("for(;;);\($0)".utf8) }, ListEncoding("throw 1;") { Array("throw 1; <dont be evil> \($0)".utf8) },
        ListEncoding("&&&START&&&") { Array("&&&START&&&\($0)".utf8) },
        ListEncoding("UTF-32LE with a mark") { [0xFF, 0xFE, 0, 0] + scalars($0, isLittle: true) },
        ListEncoding("UTF-32LE") { scalars($0, isLittle: true) },
        ListEncoding("UTF-32BE with a mark") { [0, 0, 0xFE, 0xFF] + scalars($0, isLittle: false) },
        ListEncoding("UTF-32BE") { scalars($0, isLittle: false) },
        ListEncoding("JSONP") { Array("callback(\($0));\n".utf8) },
        ListEncoding("JSONP behind a comment") { Array("/**/ a.b_1 ( \($0) )".utf8) },
        ListEncoding("JSONP behind a test") { Array("/**/typeof callback === 'function' && callback(\($0));".utf8) },
        ListEncoding("an assignment") { Array("window.data = \($0);".utf8) },
        ListEncoding("a mark and a guard") { [0xEF, 0xBB, 0xBF] + Array(" \n)]}',\n\($0)".utf8) },
    ]

    private static func scalars(_ text: String, isLittle: Bool) -> [UInt8] {
        text.unicodeScalars.flatMap { scalar in
            let bytes = stride(from: 24, through: 0, by: -8).map { UInt8(scalar.value >> UInt32($0) & 0xFF) }
            return isLittle ? bytes.reversed() : bytes
        }
    }

    private static func units(_ text: String, isLittle: Bool) -> [UInt8] {
        text.utf16.flatMap { isLittle ? [UInt8($0 & 0xFF), UInt8($0 >> 8)] : [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    }
}
