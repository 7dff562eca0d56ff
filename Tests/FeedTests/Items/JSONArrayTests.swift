import Testing

@testable import IntertwineFeed

@Suite("JSON arrays")
struct JSONArrayTests {
    @Test(
        "gives the elements as they stand there",
        arguments: [
            ("[]", []), (" [ ]\n", []), ("[1]", ["1"]), (#"[ {"a":[1, 2]} , "b\"" ,null]"#, [#"{"a":[1, 2]}"#, #"b\""#, "null"]),
            ("[[],[[]]]", ["[]", "[[]]"]),
        ])
    func elements(text: String, elements: [String]) throws {
        let array = try JSONArray(Array(text.utf8))
        #expect(array.elements.map { String(decoding: array.bytes(of: $0), as: UTF8.self) } == elements)
    }

    @Test(
        "refuses everything else, and says why and where",
        arguments: [
            ("", .endOfText, 0), ("{}", .expectedArray, 0), ("[", .endOfText, 1), ("[1", .endOfText, 2), ("[1,", .endOfText, 3),
            ("[1,]", .expectedValue, 3), ("[,]", .expectedValue, 1), ("[1 2]", .expectedCommaOrEnd, 3), ("[1}", .expectedCommaOrEnd, 2),
            ("[] []", .trailingBytes, 3),
        ] as [(String, JSONFault.Reason, Int)])
    func refused(text: String, reason: JSONFault.Reason, offset: Int) {
        #expect(throws: JSONFault(reason, at: offset)) { try JSONArray(Array(text.utf8)) }
    }
}
