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
                case nil: break
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
                "must be an object, is a number", "username: is missing", "must be an object, is a string",
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
        arguments: [
            (#"null"#, nil), ("false", nil), (#""""#, nil), ("17", "17"), (#""x""#, "x"), ("[]", nil), ("{}", nil), ("[ ]", nil),
            ("{\n}", nil),
        ])
    func cursors(value: String, expected: String?) throws {
        #expect(try Self.read(#"{"items":[],"next":\#(value)}"#, items: "/items", cursor: "/next").cursor == expected)
        #expect(try Self.read(#"{"items":[]}"#, items: "/items", cursor: "/next").cursor == nil)
        for wrong in [#"{"a":1}"#, "[1]", "true"] {
            #expect(try Self.read(#"{"next":\#(wrong),"items":[]}"#, items: "/items", cursor: "/next").fault != nil)
        }
    }

    @Test(
        "A page that may be beyond the last one has no items without a list; the first page must have one",
        arguments: [
            "", " \n", "null", "false", "{}", "[]", #""""#, #"{"items":null}"#, #"{"items": false }"#, #"{"items":{}}"#, #"{"items":""}"#,
            #"{"items":0}"#, #"{"a":[1],"items":null,"b":{}}"#,
        ])
    func beyond(_ text: String) throws {
        let items = try #require(JSONPointer("/items"))
        #expect(throws: RemotePageError.self) { try RemotePage(Array(text.utf8), items: items) }
        let page = try RemotePage(Array(text.utf8), items: items, cursor: JSONPointer("/next"), mayEnd: true)
        try page.forEachItem(of: UserKind(), nil) { _ in Issue.record("an item") }
        #expect(page.cursor == nil)
        for wrong in [
            "<html>", "\0\0", "\0", ",", #"{"items":true}"#, #"{"items":{"a":1}}"#, #"{"items":"x"}"#, #"{"items":["#, #"{"data":[1]}"#,
            #"{"error":"later"}"#,
        ] {
            #expect(throws: RemotePageError.self) { try RemotePage(Array(wrong.utf8), items: items, mayEnd: true) }
        }
    }

    @Test("A declared single-byte encoding is decoded, unless the text is UTF-8")
    func latin() throws {
        func name(_ bytes: [UInt8], isLatin: Bool = true) throws -> String {
            let text =
                Array(#"[{"id":"a","avatarUrl":"https://example.com/a","type":"regular","username":""#.utf8) + bytes + Array(#""}]"#.utf8)
            let page = try RemotePage(text, items: try #require(JSONPointer("")), isLatin: isLatin)
            var body = ""
            try page.forEachItem(of: UserKind(), nil) { body = String(decoding: try #require($0).get().body, as: UTF8.self) }
            return body
        }
        #expect(try name(Array("caf".utf8) + [0xE9, 0x20, 0x80, 0x93]).contains("café €“"))
        #expect(try name(Array("café €".utf8)).contains("café €"))
        #expect(try name([0xE9], isLatin: false).contains("\u{FFFD}"))
    }

    @Test(
        "A list of one object for each line is read, and an invalid line is one item",
        arguments: [
            ("A\nB", false), ("A\r\nB\r\n\r\n", false), ("\n  A\n\n  B\n", false), ("A,\nB,\n", false), ("\u{FEFF}A\nB", false),
            ("\u{1E}A\n\u{1E}B\n", false), ("A\nB", true), ("A", true), ("\u{1E}A", true), ("", true), ("[A,B]", true),
            ("[\nA,\nB\n]", true), ("[\nA,\nB\n]", false), ("A\n{\"id\":\nB", false), ("A\n{\"id\":\"x\nB", false),
            ("{\"id\":\nA\nB", false), ("{\"id\":1}}\nA\nB", false),
            ("A\rB", false), ("A\r\rB\r", true), ("\u{FEFF}A\n\u{FEFF}B", false), ("\u{FEFF}A\r\u{FEFF}B", true), ("\u{1E}A", false),
            ("\u{1E}A\u{1E}B", false), ("\u{1E}{\n\"x\":1,\nMA\n\u{1E}{\r\nMB\n", false), ("\u{1E}A\n\u{1E}{\"id\":\n\u{1E}B", true),
            ("A\n1\nB", true), ("x\nA\nB", true), ("A\nB\n{\"id\":\"tr\n", false), ("A\nB\n,\n", false),
            ("A\n{\"id\":007\nB", true), ("A\nB\n{\"id\":1}", true), ("A\rB\r{\"id\":\r", true),
        ])
    func lines(_ form: String, _ areLines: Bool) throws {
        let text = form.replacing("MA", with: Self.user("a").dropFirst()).replacing("MB", with: Self.user("b").dropFirst())
            .replacing("A", with: Self.user("a")).replacing("B", with: Self.user("b"))
        let page = try RemotePage(Array(text.utf8), items: try #require(JSONPointer("")), areLines: areLines)
        var (ids, invalid): ([String], Int) = ([], 0)
        try page.forEachItem(of: UserKind(), nil) { element in
            switch element {
            case .success(let item): ids.append(item.id)
            default: invalid += 1
            }
        }
        let invalidLines = form.split(whereSeparator: \.isNewline).filter { $0.contains("{\"") || $0 == "1" || $0 == "x" }.count
        #expect(ids == ["a", "b"].filter { form.contains($0.uppercased()) } && invalid == invalidLines, "\(ids) \(invalid)")
    }

    @Test(
        "An object that is no list of lines is none",
        arguments: [
            "{}", "{\"error\":\"x\"}", "{\n\"error\":\"x\"\n}\n", "{\"a\":[\n1]}\n", "{\"error\":\n{\"code\":1}}",
            "{\"a\":\n{\"b\":1},\n\"c\":\n{}\n}\n",
        ])
    func noLines(_ text: String) throws {
        #expect(try Self.read(text).fault?.reason == "the document is not an array")
    }

    @Test("An object with an object on its second line is one document, also if it is a list of numbered ones")
    func numberedLines() throws {
        for end in ["", "\n", "\n\0"] {
            let read = try Self.read("{\"0\":\n\(Self.user("a")),\n\"2\":\n\(Self.user("b"))\n}\(end)")
            #expect(read.ids == ["a", "b"] && read.bad.isEmpty && read.fault == nil, "\(read)")
        }
    }

    @Test(
        "A page after a page of lines is one too, also with one line or with none that is valid JSON",
        arguments: ["A", "A\n", "A\n{\"id\":\n", "[A]", #"{"username":"a","avatarUrl":"https://example.com/a","type":"regular"}"#])
    func continuedLines(_ form: String) throws {
        let text = Array(form.replacing("A", with: Self.user("a")).utf8)
        let page = try RemotePage(text, items: try #require(JSONPointer("")), continuesLines: true)
        var ids: [String] = []
        try page.forEachItem(of: UserKind(), nil) { if case .success(let item) = $0 { ids.append(item.id) } }
        #expect(ids == ["a"])
        #expect(throws: RemotePageError.self) { try RemotePage([], items: try #require(JSONPointer("")), continuesLines: true) }
    }

    @Test(
        "Lines of which none is an object with an id are no list",
        arguments: [
            #"{"error":"later"}"#, #"{"message":"later","status":500}"#, "{\n\"error\": \"later\"\n}\n",
            "<html>\n<body>later</body>\n</html>", "later",
            "null", "{}", #"{"error":1}"# + "\n" + #"{"error":2}"#, #"{"id":null}"#, #"{"id":""}"#, #"{"id":"cut"#, "\u{1E}{\"error\":1}",
            "1\n2", "\0\0\n", ",", ",\n,", "\u{1E}\n", ",\0\n,",
        ])
    func errorLines(_ text: String) throws {
        let fields = FieldMapping([
            ("id", .pointer(JSONPointer(member: "id"))), ("username", .pointer(JSONPointer(member: "username"))),
            ("avatarUrl", .constant("https://example.com/a")),
            ("type", .constant("regular")),
        ])
        let condition = SourceCondition(JSONPointer(member: "id"), .present(true))
        for (fields, conditions) in [(nil, []), (fields, []), (fields, [condition])] {
            let page = try RemotePage(Array(text.utf8), items: try #require(JSONPointer("")), areLines: true)
            #expect(throws: RemotePageError.self) {
                try page.forEachItem(of: UserKind(), fields, where: conditions) { _ in Issue.record("an item") }
            }
        }
    }

    @Test(
        "A page of lines whose producer did not finish the last one is no list, as an array without its end is none",
        arguments: [
            "A\nB\n{\"id\":\"c\",\"username\":\"C", "A\nB\n{", "A\r\nB\r\n{\"id\":\"c\"", "A\rB\r{\"id\"", "A\nB\n{\"id\":[1,", "A\nB\nnul",
            "A\nB\n\"x", "A\n{\"id\":\"c\"  ", "\u{1E}A\n\u{1E}{\"id\":", "\u{1E}A\n\u{1E}{\n\"id\":\"c\",\n",
            "A\nB\n{\"id\":\"c\"},{\"id\"",
            "[A,B,{\"id\":\"c\"", "[A,B", "[A,B,",
        ])
    func unfinished(_ form: String) throws {
        let text = Array(form.replacing("A", with: Self.user("a")).replacing("B", with: Self.user("b")).utf8)
        #expect(throws: RemotePageError.self) {
            let page = try RemotePage(text, items: try #require(JSONPointer("")), areLines: true)
            try page.forEachItem(of: UserKind(), nil) { _ in }
        }
    }

    @Test(
        "A list has an item if one is valid, has an id, or is left out by a condition",
        arguments: [
            ("[]", true), (#"[{"error":1}]"#, false), ("[7]", false), ("[null,[]]", false), (#"[{"id":null},{"id":""}]"#, false),
            ("[A]", true),
            (#"[{"error":1},{"id":"a"}]"#, true), (#"[{"id":7}]"#, true), (#"[{"type":"divider"}]"#, true), (#"[{"error":1},A]"#, true),
            (#"{"7":{"error":1}}"#, false), (#"{"7":{"error":1},"8":A}"#, true),
        ])
    func hasItem(_ form: String, _ expected: Bool) throws {
        let text = Array(form.replacing("A", with: Self.user("a")).utf8)
        let page = try RemotePage(text, items: try #require(JSONPointer("")))
        let condition = SourceCondition(JSONPointer(member: "type"), .noneOf(["divider"]))
        #expect(try page.forEachItem(of: UserKind(), nil, where: [condition]) { _ in } == expected)
    }

    @Test(
        "Elements that a condition leaves out are no items if they have neither an id nor a member of a condition",
        arguments: [
            (#"[{"error":{"code":429}}]"#, false), (#"[{"error":1},{"error":2}]"#, false), ("[7]", false), ("[]", true),
            (#"[{"status":"archived"}]"#, true), (#"[{"error":1},{"status":"archived"}]"#, true), (#"[{"username":"x","id":"a"}]"#, true),
            (#"[{"status":null}]"#, true),
        ])
    func leftOut(_ text: String, _ expected: Bool) throws {
        let fields = FieldMapping([("id", .pointer(JSONPointer(member: "id"))), ("username", .pointer(JSONPointer(member: "username")))])
        let page = try RemotePage(Array(text.utf8), items: try #require(JSONPointer("")))
        let condition = SourceCondition(JSONPointer(member: "status"), .anyOf(["active"]))
        #expect(try page.forEachItem(of: UserKind(), fields, where: [condition]) { _ in } == expected)
    }

    @Test("The columns of a row are members with their numbers as names, and a condition leaves out the names")
    func rows() throws {
        let text =
            #"{"values":[["Name","Image"],["a","https://e.example/a",{"x":[1]}],[],["b","https://e.example/b","","more"],["c"],["d",NaN,],[7,"/7"]]}"#
        let fields = FieldMapping([
            ("username", .pointer(try #require(JSONPointer("/0")))), ("id", .pointer(try #require(JSONPointer("/0")))),
            ("avatarUrl", .pointer(try #require(JSONPointer("/1")))), ("type", .constant("regular")),
        ])
        let page = try RemotePage(Array(text.utf8), items: try #require(JSONPointer("/values")), at: "https://e.example/")
        var (ids, errors): ([String], [String]) = ([], [])
        try page.forEachItem(of: UserKind(), fields, where: [SourceCondition(try #require(JSONPointer("/0")), .noneOf(["Name"]))]) {
            element in
            switch element {
            case nil: ids.append("-")
            case .success(let item): ids.append(item.id)
            case .failure(let error): errors.append(error.description)
            }
        }
        #expect(ids == ["-", "a", "b"])
        #expect(errors.count == 4 && errors[0].hasSuffix("is missing"), "\(errors)")
    }

    private static func bodies(_ values: [String], at url: String? = "https://e.example/") throws -> (bodies: [String], omitted: [String]) {
        let kind = try DeclaredKind(
            KindDeclaration(
                name: "thing", fields: [FieldDeclaration("f", .boolean), FieldDeclaration("t", .tags), FieldDeclaration("n", .number)],
                cells: [.collection: [CellDeclaration("Thing", size: .row(height: 1), bindings: [])]]))
        let items = values.enumerated().map { "{\"id\":\($0),\($1)}" }.joined(separator: ",")
        var (bodies, omitted): ([String], [String]) = ([], [])
        for fields in [
            nil, FieldMapping(["id", "f", "t", "n", "draft", "publishAt", "expireAt"].map { ($0, .pointer(JSONPointer(member: $0))) }),
        ] {
            let page = try RemotePage(Array("[\(items)]".utf8), items: #require(JSONPointer("")), at: url)
            let known = bodies
            (bodies, omitted) = ([], [])
            try page.forEachItem(of: kind, fields, leavingOut: { omitted.append($0.description) }) { element in
                switch element {
                case .success(let item): bodies.append(String(decoding: item.body, as: UTF8.self))
                case .failure(let error): bodies.append(String((error.field ?? "").prefix { $0 != " " }))
                case nil: bodies.append("nil")
                }
            }
            #expect(fields == nil || known == bodies)
        }
        return (bodies, omitted)
    }

    @Test(
        "The flags of databases are true and false",
        arguments: [
            ("true", ["1", #""1""#, "1.0", "1e0", #""1.0""#, #""true""#, #""TRUE""#, "true", #""yes""#, #""On""#]),
            ("false", ["0", #""0""#, "0.0", "-0", #""0.0""#, #""false""#, #""False""#, "false", #""no""#, #""OFF""#]),
            (nil, ["2", "-1", "1.5", #""maybe""#, "[]", "[1]", "{}"]), ("", ["null", #""""#]),
        ] as [(String?, [String])])
    func flags(_ expected: String?, _ values: [String]) throws {
        let flags = try Self.bodies(values.map { "\"f\":\($0)" })
        let drafts = try Self.bodies(values.map { "\"draft\":\($0)" })
        switch expected {
        case nil:
            #expect(flags.omitted.count == values.count && Set(flags.bodies) == ["{}"])
            #expect(Set(drafts.bodies) == ["draft"])
        case "": #expect(Set(flags.bodies + drafts.bodies) == ["{}"] && flags.omitted.isEmpty)
        case let flag?:
            #expect(Set(flags.bodies) == ["{\"f\":\(flag)}"] && flags.omitted.isEmpty)
            #expect(Set(drafts.bodies) == [flag == "true" ? "{\"draft\":true}" : "{}"])
        }
    }

    @Test(
        "The schedule of an item has days, and values for no time",
        arguments: [
            (
                #""publishAt":"2026-05-01","expireAt":"2026-05-01""#,
                #"{"publishAt":"2026-05-01T00:00:00Z","expireAt":"2026-05-02T00:00:00Z"}"#
            ),
            (#""publishAt":false,"expireAt":false"#, "{}"), (#""publishAt":0,"expireAt":"""#, "{}"),
            (#""publishAt":null,"expireAt":" ""#, "{}"),
            (#""expireAt":"9999-12-31""#, "{}"), (#""expireAt":"never""#, "{}"), (#""publishAt":"0000-00-00""#, "{}"),
            (#""publishAt":"2026-13-01""#, "publishAt"), (#""publishAt":"soon""#, "publishAt"), (#""publishAt":true"#, "publishAt"),
            (#""expireAt":"2026-05-01 10:00""#, "expireAt"), (#""publishAt":"2026-05-02","expireAt":"2026-05-01""#, "expireAt"),
        ])
    func schedule(_ members: String, _ body: String) throws {
        #expect(try Self.bodies([members]).bodies == [body])
    }

    @Test(
        "An empty tag is left out silently, and an invalid one costs itself",
        arguments: [
            (#"["a",""]"#, ["a"], 0), (#"["a",null]"#, ["a"], 0), (#"[null,"",""]"#, [], 0), (#"["a",7,"b"]"#, ["a", "b"], 1),
            (#"["a","L","b",{"x":1},[1],"\u0000"]"#, ["a", "b", "\u{FFFD}"], 1), (#"["L"]"#, [], 1), (#"["L",""]"#, [], 1),
            (#"["a",NaN]"#, ["a"], 1),
            (#"["a",,"b"]"#, ["a", "b"], 1), ("7", [], 1), (#"["a","a"]"#, ["a"], 0),
            // One text, and a list that lost elements in PHP.
            (#""a""#, ["a"], 0), (#""a, b""#, ["a, b"], 0), (#""L""#, [], 1), (#"{"0":"a","2":"c"}"#, ["a", "c"], 0),
            (#"{"1":"a","3":7,"x":"y"}"#, ["a"], 1), (#"{"a":"b"}"#, [], 1), ("{}", [], 1), ("true", [], 1),
        ] as [(String, [String], Int)])
    func tags(_ list: String, _ tags: [String], _ omitted: Int) throws {
        let list = list.replacing("L", with: String(repeating: "x", count: 65))
        let read = try Self.bodies(["\"t\":\(list),\"n\":1"])
        let quoted = tags.map { "\"\($0)\"" }.joined(separator: ",")
        #expect(read.bodies == [tags.isEmpty ? #"{"n":1}"# : "{\"t\":[\(quoted)],\"n\":1}"])
        #expect(read.omitted.count == omitted, "\(read.omitted)")
    }

    @Test("Of too many tags the first ones are kept, and one omitted value is counted")
    func tooManyTags() throws {
        let texts = (0..<40).map { "\"\($0)\"" }
        let kept = "{\"t\":[\(texts.prefix(32).joined(separator: ","))]}"
        let gaps = texts.enumerated().map { "\"\($0 * 2)\":\($1)" }.joined(separator: ",")
        for list in ["[\(texts.joined(separator: ","))]", "[\"0\",\(texts.joined(separator: ","))]", "{\(gaps)}"] {
            let read = try Self.bodies(["\"t\":\(list)"])
            #expect(read.bodies == [kept] && read.omitted.count == 1, "\(read)")
        }
        let trackers = (0..<40).map { "\"https://e.example/\($0)\"" }.joined(separator: ",")
        let ad =
            #"[{"id":1,"type":"image","contentUrl":"https://a.example/","clickthroughUrl":"https://a.example/","impressionTrackers":[\#(trackers)]}]"#
        let page = try RemotePage(Array(ad.utf8), items: #require(JSONPointer("")), at: "https://e.example/")
        try page.forEachItem(of: AdvertisementKind(), nil, leavingOut: { _ in }) { element in
            let body = String(decoding: try #require(element).get().body, as: UTF8.self)
            #expect(body.split(separator: "https://e.example/").count == 1 + 8, "\(body)")
        }
    }

    @Test("White space is no text", arguments: [#"" ""#, #""\u00a0""#, #""\n""#, "\"\u{2003}\"", #""""#, "null"])
    func blank(_ text: String) throws {
        let read = try Self.bodies(["\"t\":\(text),\"n\":1"])
        #expect(read.bodies == [#"{"n":1}"#] && read.omitted.isEmpty)
        #expect(try Self.bodies(["\"t\":[\"a\",\(text)]"]).bodies == [#"{"t":["a"]}"#])
        let users = #"[{"id":1,"username":\#(text),"avatarUrl":"https://example.com/a","type":"regular"}]"#
        for fields in [nil, FieldMapping(["id", "username", "avatarUrl", "type"].map { ($0, .pointer(JSONPointer(member: $0))) })] {
            let page = try RemotePage(Array(users.utf8), items: #require(JSONPointer("")), at: "https://e.example/")
            try page.forEachItem(of: UserKind(), fields) { element in
                let error = #expect(throws: ItemError.self) { _ = try element?.get() }
                #expect(error?.reason == "is missing")
            }
        }
    }

    @Test("A list of many invalid tags is read in time that grows with its length", .timeLimit(.minutes(1)))
    func manyTags() throws {
        let list = "[\"a\"\(String(repeating: ",7", count: 200_000))]"
        #expect(try Self.bodies(["\"t\":\(list)"]).bodies == [#"{"t":["a"]}"#])
        let many = "[\((0..<50_000).map { "\"\($0)\"" }.joined(separator: ","))]"
        #expect(try Self.bodies(["\"t\":\(many)"]).bodies == ["{\"t\":[\((0..<32).map { "\"\($0)\"" }.joined(separator: ","))]}"])
    }

    @Test("A list with gaps has only items with a number as name")
    func gaps() throws {
        for list in [
            #"{"0":A,"2":B,"meta":{"id":"m","username":"M","avatarUrl":"https://example.com/a","type":"regular"}}"#,
            #"{"0":A,"_links":{"self":{}},"2":B,"total":2,"more":null,"1a":{"id":"x"}}"#,
        ] {
            let text = list.replacing("A", with: Self.user("a")).replacing("B", with: Self.user("b"))
            #expect(try Self.read(text) == Read(ids: ["a", "b"]))
            #expect(try Self.read("{\"d\":\(text)}", items: "/d") == Read(ids: ["a", "b"]))
        }
    }

    @Test(
        "The values of an object are items with their names",
        arguments: [
            (#"{"-Na":{"n":1},"-N\u0062":{}}"#, ["-Na", "-Nb"], 0), (#"{"a":{"id":"own"},"b":{"id":7}}"#, ["own", "7"], 0),
            (#"[{"n":1},null,{}]"#, ["0", "2"], 0), (#"{"a":1,"b":{},"c":null,"d":[]}"#, ["b"], 2), (#"{}"#, [], 0),
            (#"{"a":{"n":NaN}}"#, ["a"], 0),
            (#"{"a":{"x":007}, "b" : { } }"#, ["a", "b"], 0), (#"{"7":{},"8":{}}"#, ["7", "8"], 0), (#"{"a b/ü":{}}"#, ["a b/ü"], 0),
            (#"{"a":{"id":null},"b":{"id":"","n":1},"c":{"n":[1],"id": null , "m":"}"},"d":{"\u0069d":null}}"#, ["a", "b", "c", "d"], 0),
            (#"{"a":{"id":undefined},"b":{"id":[]},"c":{"id":null,"id":""}}"#, ["a", "b", "c"], 0),
            (#"[{"id":null},{"id":"x"}]"#, ["0", "x"], 0),
            (#"{"a":{"id":null,"id":"x"},"b":{"id":false},"c":{"id":{}}}"#, [], 3),
        ])
    func named(_ list: String, _ expected: [String], _ invalid: Int) throws {
        let fields = FieldMapping([
            ("id", .pointer(JSONPointer(member: "id"))), ("username", .constant("x")), ("avatarUrl", .constant("https://example.com/a")),
            ("type", .constant("regular")),
        ])
        for (text, items) in [(list, ""), (#"{"data":\#(list)}"#, "/data")] {
            let page = try RemotePage(Array(text.utf8), items: try #require(JSONPointer(items)), key: "id")
            var (ids, errors): ([String], Int) = ([], 0)
            try page.forEachItem(of: UserKind(), fields) { element in
                switch element {
                case .success(let item): ids.append(item.id)
                default: errors += 1
                }
            }
            #expect(ids == expected && errors == invalid, "\(ids) \(errors)")
        }
        #expect(throws: RemotePageError.self) { try RemotePage(Array("1".utf8), items: try #require(JSONPointer("")), key: "id") }
    }

    @Test("Marks before a list and zero bytes after it are left out")
    func around() throws {
        for text in ["\u{FEFF}\u{FEFF}[\(Self.user("a"))]", "[\(Self.user("a"))]\0\0", "[\(Self.user("a")),]", "[\(Self.user("a")) , ]"] {
            #expect(try Self.read(text) == Read(ids: ["a"]), "\(text)")
        }
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

    @Test("A list in another encoding or behind a guard is read", arguments: ListEncoding.all)
    func encodings(_ encoding: ListEncoding) throws {
        let bytes = encoding.encode(Self.page)
        let page = try RemotePage(bytes, items: try #require(JSONPointer("/data/items")), cursor: JSONPointer("/meta/nextA"))
        var ids: [String] = []
        try page.forEachItem(of: UserKind(), nil) { ids.append(try #require($0).get().id) }
        #expect(ids == ["a", "b", "c"] && page.cursor == "token 1")
    }

    private static func items(_ bytes: [UInt8], leavesOut: Bool) throws -> (items: [ValidatedItem], bad: [String], omitted: [String]) {
        let page = try RemotePage(bytes, items: try #require(JSONPointer("/items")))
        var (items, bad, omitted): ([ValidatedItem], [String], [String]) = ([], [], [])
        try page.forEachItem(of: UserKind(), nil, leavingOut: leavesOut ? { omitted.append($0.description) } : nil) { element in
            switch element {
            case nil: break
            case .success(let item): items.append(item)
            case .failure(let fault): bad.append(fault.description)
            }
        }
        return (items, bad, omitted)
    }

    @Test("A value that no field has, around the list and in its items, costs nothing", arguments: InvalidValue.all)
    func unmapped(_ value: InvalidValue) throws {
        let extra = Self.user("b").dropLast() + ",\"more2\":\(value.json)}"
        let text = #"{"before":\#(value.json),"items":[\#(Self.user("a")),\#(extra),\#(Self.user("c"))],"after":\#(value.json)}"#
        let read = try Self.items(value.bytes(of: text), leavesOut: false)
        #expect(read.items.map(\.id) == ["a", "b", "c"] && read.bad == [] && read.omitted == [])
    }

    @Test("A text with what is no character has U+FFFD in its place", arguments: InvalidValue.strings)
    func replaced(_ value: InvalidValue) throws {
        let text = #"{"items":[{"username":\#(value.json),"id":"a","avatarUrl":"https://example.com/a.png","type":"regular"}]}"#
        let item = try #require(try Self.items(value.bytes(of: text), leavesOut: false).items.first)
        #expect(String(validating: item.body, as: UTF8.self) != nil && !item.body.contains(0))
        #expect(try JSONValue(json: item.body) != .null)
    }

    @Test(
        "An invalid value of an optional field costs the item, or only the field if invalid items are skipped",
        arguments: InvalidValue.others
            + ["7", "false", "true", #""no url""#, #""ftp://example.com/a""#, #""https://u:p@example.com/""#].map(InvalidValue.init))
    func optional(_ value: InvalidValue) throws {
        let bad = Self.user("b").dropLast() + ",\"backgroundUrl\":\(value.json)}"
        let bytes = value.bytes(of: #"{"items":[\#(Self.user("a")),\#(bad),\#(Self.user("c"))]}"#)
        let strict = try Self.items(bytes, leavesOut: false)
        #expect(strict.items.map(\.id) == ["a", "c"] && strict.bad.count == 1 && strict.bad[0].hasPrefix("backgroundUrl: "))
        let lenient = try Self.items(bytes, leavesOut: true)
        #expect(lenient.items.map(\.id) == ["a", "b", "c"] && lenient.bad == [])
        #expect(lenient.omitted == strict.bad)
        #expect(!String(decoding: lenient.items[1].body, as: UTF8.self).contains("backgroundUrl"))
    }

    @Test("An empty text and null are no value of an optional field")
    func empty() throws {
        for value in [#""""#, "null"] {
            let item = Self.user("a").dropLast() + #","backgroundUrl":\#(value),"backgroundAlt":\#(value)}"#
            let read = try Self.items(Array(#"{"items":[\#(item)]}"#.utf8), leavesOut: false)
            #expect(read.items.count == 1 && read.bad == [] && read.omitted == [])
        }
    }
}
