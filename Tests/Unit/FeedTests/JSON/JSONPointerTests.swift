import Testing

@testable import IntertwineFeed
@testable import IntertwinePrimitives

@Suite("JSON Pointer (RFC 6901)")
struct JSONPointerTests {
    @Test(
        "Pointers resolve the examples of the RFC",
        arguments: [
            ("/foo", #"["bar", "baz"]"#), ("/foo/0", "bar"), ("/", "0"), ("/a~1b", "1"), ("/c%d", "2"), ("/e^f", "3"), ("/g|h", "4"),
            (#"/i\j"#, "5"), (#"/k"l"#, "6"), ("/ ", "7"), ("/m~0n", "8"), ("/deep/1/x", "9"), ("/foo/2", nil), ("/foo/-", nil),
            ("/foo/00", nil), ("/nope", nil), ("/a~1b/c", nil), ("/deep/0/x", nil),
        ])
    func examples(pointer: String, expected: String?) throws {
        let text =
            #"{"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8, "deep": [[], {"x": 9}]}"#
        let object = try JSONObject(Array(text.utf8))
        let token = try JSONPointer(pointer)?.value(in: object)
        #expect(token.map { String(decoding: object.bytes[$0.range], as: UTF8.self) } == expected)
    }

    @Test("A malformed pointer is refused", arguments: ["foo", "/a~", "/a~2", "/~~0", "#/foo"])
    func malformed(text: String) {
        #expect(JSONPointer(text) == nil)
    }

    @Test("A member's name becomes one token and round-trips through the text", arguments: ["a/b", "m~n", "", "~1"])
    func member(name: String) {
        let pointer = JSONPointer(member: name)
        #expect(pointer.tokens == [name])
        #expect(JSONPointer(pointer.description) == pointer)
    }

    @Test("A duplicate name on the path is an error")
    func twice() throws {
        let object = try JSONObject(Array(#"{"a":{"b":1,"b":2}}"#.utf8))
        let pointer = try #require(JSONPointer("/a/b"))
        #expect(throws: ItemError.self) { try pointer.value(in: object) }
    }
}
