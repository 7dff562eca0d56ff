import Testing

@testable import IntertwineFeed
@testable import IntertwinePrimitives

@Suite("Pages of a JSON API")
struct RemotePageTests {
    struct Read: Equatable {
        var ids: [String] = []
        var bad: [String] = []
        var cursor: String?
        var fault: RemotePageError?
    }

    static func user(_ id: String) -> String {
        #"{"id":"\#(id)","username":"Käthe \"\#(id)\"","avatarUrl":"https://example.com/a.png","type":"regular","more":[1,{"x":[]}]}"#
    }

    static func read(_ text: String, items: String = "", cursor: String? = nil, fields: FieldMapping? = nil) throws -> Read {
        var read = Read()
        do {
            let page = try RemotePage(
                Array(text.utf8), items: try #require(JSONPointer(items)), cursor: try cursor.map { try #require(JSONPointer($0)) })
            try page.forEachItem(of: UserKind(), fields) { element in
                switch element {
                case .success(let item): read.ids.append(item.id)
                case .failure(let fault): read.bad.append(fault.description)
                }
            }
            read.cursor = page.cursor
        } catch let error as RemotePageError {
            read.fault = error
        }
        return read
    }

    static let page =
        #" {"skipped":[{"items":[1,"]"]},{"a":{"b":null}},-1.5e3,true], "data" : {"x":0,"items" : ["#
        + [user("a"), user("b"), user("c")].joined(separator: " , ") + #"], "y":{}}, "meta":{"next\u0041":"to\u006Ben 1"} } "#

    @Test("The list and the next cursor are found among other values")
    func found() throws {
        let read = try Self.read(Self.page, items: "/data/items", cursor: "/meta/nextA")
        #expect(read == Read(ids: ["a", "b", "c"], cursor: "token 1"))
    }

    @Test("A truncated page always fails")
    func truncated() throws {
        let bytes = Array(Self.page.utf8)
        let length = try #require(bytes.lastIndex(of: UInt8(ascii: "}")))
        for end in 0...length {
            let read = try Self.read(String(decoding: bytes[..<end], as: UTF8.self), items: "/data/items")
            #expect(read.fault != nil, "cut off at \(end)")
        }
    }

    @Test(
        "A missing or malformed list fails with its location",
        arguments: [
            (#"{"data":{}}"#, "/data", "byte 8: /data is not an array"), (#"{"data":1}"#, "/data", "byte 8: /data is not an array"),
            (#"{"other":[]}"#, "/data", "byte 12: /data is missing"), (#"[]"#, "/data", "byte 2: /data is missing"),
            (#"{}"#, "", "byte 0: the document is not an array"), (#""text""#, "", "byte 0: a JSON object or array is expected"),
            (#"[] []"#, "", "byte 3: something follows the value"), ("", "", "byte 0: ends too early"),
            (#"{"data":[],"data":[]}"#, "/data", "byte 18: /data occurs twice"),
            (#"{"a":tru}"#, "/data", "byte 9: /data is missing"),
            (#"{"data":[{}{}]}"#, "/data", "byte 11: a comma or the end of the object or array is expected"),
            ("<html>", "", "byte 0: a JSON object or array is expected"),
            (#"{"a":"# + String(repeating: "[", count: 100), "/data", "byte 105: ends too early"),
        ])
    func wrong(text: String, items: String, expected: String) throws {
        #expect(try Self.read(text, items: items).fault?.description == expected)
    }

    @Test("Elements that are not items are reported, and later items are read")
    func elements() throws {
        let read = try Self.read("[1, \(Self.user("a")), [[]], \"x\", null, {\"id\":1}, \(Self.user("b"))]")
        #expect(read.ids == ["a", "b"])
        #expect(
            read.bad == [
                "must be an object, is a number", "must be an object, is an array", "must be an object, is a string",
                "must be an object, is null", "username: is missing",
            ])
    }

    @Test("Arrays may be on the path, and lists may be nested")
    func arrays() throws {
        let text = #"[[0],[{"x":[]},[\#(Self.user("a"))]]]"#
        #expect(try Self.read(text, items: "/1/1").ids == ["a"])
        #expect(try Self.read(#"{"a":{"items":[\#(Self.user("no"))]},"b":{"items":[\#(Self.user("b"))]}}"#, items: "/b/items").ids == ["b"])
    }

    @Test(
        "A missing, null, false or empty cursor ends the pages",
        arguments: [(#"null"#, nil), ("false", nil), (#""""#, nil), ("17", "17"), (#""x""#, "x")])
    func cursors(value: String, expected: String?) throws {
        #expect(try Self.read(#"{"items":[],"next":\#(value)}"#, items: "/items", cursor: "/next").cursor == expected)
        #expect(try Self.read(#"{"items":[]}"#, items: "/items", cursor: "/next").cursor == nil)
        #expect(try Self.read(#"{"next":{},"items":[]}"#, items: "/items", cursor: "/next").fault != nil)
    }

    @Test("Fields come only from their mapped locations")
    func mapping() throws {
        let fields = FieldMapping([
            ("id", .pointer(JSONPointer(member: "key"))), ("username", .pointer(try #require(JSONPointer("/profile/names/1")))),
            ("avatarUrl", .pointer(try #require(JSONPointer("/profile/avatar")))), ("type", .constant("featured")),
        ])
        let good = #"{"id":"no","key":7,"profile":{"names":["x","Ann \"A\""],"avatar":"https://example.com/a.png"}}"#
        let object = try JSONObject(Array(good.utf8))
        let item = try UserKind().validate(try fields.fields(from: object))
        #expect(item.id == "7" && item.variant == "featured")
        #expect(String(decoding: item.body, as: UTF8.self) == #"{"username":"Ann \"A\"","avatarUrl":"https://example.com/a.png"}"#)
        let read = try Self.read("[\(good),{\"key\":8,\"profile\":{\"names\":[1,2]}}]", fields: fields)
        #expect(read.ids == ["7"])
        #expect(read.bad == ["username (from /profile/names/1): must be a string, is a number"])
    }

    @Test("An item beyond the size limit is one invalid item, and so is one that is not JSON")
    func invalid() throws {
        let long = String(repeating: "x", count: ItemReader.itemLimit + 1)
        let broken = [#"{"username":"\(long)"}"#, #"{"id":007}"#, #"{"id":"a" "b"}"#, "{\"id\":\"\u{1}\"}", "NaN"]
        let list = [Self.user("a")] + broken.map { $0.replacing(#"\(long)"#, with: long) } + [Self.user("b")]
        let read = try Self.read(#"{"more":[NaN,007],"items":["# + list.joined(separator: ",") + "]}", items: "/items")
        #expect(
            read.ids == ["a", "b"] && read.bad.count == broken.count && read.fault == nil, "\(read.bad) \(String(describing: read.fault))")
        #expect(read.bad.first == "is longer than 1048576 bytes")
    }
}
