import TestSupport
import Testing

@testable import IntertwineFeed

@Suite("Reading items from a file")
struct ItemReaderTests {
    /// The results in order: ids, and bad items as "line: reason".
    private func read(_ bytes: [UInt8], piece: Int = .max, kinds: ItemKinds = .standard) -> [String] {
        var reader = ItemReader(kinds: kinds)
        var found: [String] = []
        var rest = bytes[...]
        while true {
            switch reader.next() {
            case .item(let item): found.append(item.id)
            case .bad(let item): found.append("\(item.line): \(item.error)")
            case .unreadable(let fault): found.append("unreadable: \(fault)")
            case .finished: return found
            case .needsBytes:
                if rest.isEmpty { reader.end() } else { reader.append(rest.prefix(piece)) }
                rest = rest.dropFirst(piece)
            }
        }
    }

    private func read(_ text: String, kinds: ItemKinds = .standard) -> [String] {
        let whole = read(Array(text.utf8), kinds: kinds)
        for piece in [1, 2, 3, 7, 64] { #expect(read(Array(text.utf8), piece: piece, kinds: kinds) == whole, "in pieces of \(piece)") }
        return whole
    }

    @Test("A list in another encoding, or behind a guard against inclusion as a script, is read", arguments: ListEncoding.all)
    func encodings(_ encoding: ListEncoding) {
        let (name, encode) = (encoding.testDescription, encoding.encode)
        for text in ["[\(user("a")),\n\(user("日本😀"))]", "\(user("a"))\n\(user("日本😀"))"] {
            for piece in [1, 2, 3, 5, .max] {
                #expect(read(encode(text), piece: piece) == ["a", "日本😀"], "\(name) in pieces of \(piece)")
            }
        }
        #expect(read(encode("[]")) == [], "\(name)")
    }

    private func user(_ id: String, _ extra: String = "") -> String {
        #"{"kind":"user","id":"\#(id)","username":"\#(id)","avatarUrl":"http://a/","type":"regular"\#(extra)}"#
    }

    @Test("Multibyte characters across two chunks are read correctly")
    func cutCharacters() {
        #expect(read("[\(user("Käthe")),\(user("日本")),\(user("😀"))]") == ["Käthe", "日本", "😀"])
        #expect(read("\(user("Käthe"))\n\(user("😀"))") == ["Käthe", "😀"])
        // A surrogate pair across two chunks is read correctly too.
        #expect(read("[\(user(#"\uD83D\uDE00"#)),\(user("b"))]") == ["😀", "b"])
    }

    @Test("An array and separate lines are both read")
    func formats() {
        #expect(read("[\(user("a")),\(user("b"))]") == ["a", "b"])
        #expect(read("\u{FEFF} \r\n[\n  \(user("a")) ,\n\t\(user("b"))\n]\n") == ["a", "b"])
        #expect(read("\(user("a"))\n\(user("b"))\n") == ["a", "b"])
        #expect(read("\u{FEFF}\n\(user("a"))\r\n\r\n  \(user("b")) \t\r\n\(user("c"))") == ["a", "b", "c"])
        #expect(read("[\n{\n\"kind\" : \"user\",\n\"username\":\"a\",\"avatarUrl\":\"http://a/\",\"type\":\"regular\"\n}\n]") == ["a"])
    }

    @Test("Objects over several lines, one after another, are read, and an invalid one costs itself")
    func indented() {
        func indented(_ object: String) -> String {
            object.replacing("{", with: "{\n  ").replacing("}", with: "\n}").replacing(",", with: ",\n  ")
        }
        let (a, b, c) = (indented(user("a")), indented(user("b", ",\"more\":{\"x\":[\"}\"]}")), indented(user("c")))
        for separator in ["\n", "\r\n\r\n", "", " ", ",\n"] {
            #expect(read([a, b, c].joined(separator: separator)) == ["a", "b", "c"], "\(separator)")
            #expect(read("\u{FEFF}\n" + [a, b, c].joined(separator: separator) + "\n") == ["a", "b", "c"])
        }
        #expect(read(a) == ["a"] && read(a + "\n" + user("b")) == ["a", "b"])
        #expect(read([a, indented(#"{"kind":"user"}"#), c].joined(separator: "\n")) == ["a", "8: username: is missing", "c"])
        for (broken, reason) in [
            ("{\n \"kind\" \"user\"\n}", "9: a colon"), ("{\n \"kind\": user\n}", "8: kind: must be a string, is not a JSON value"),
            ("{\n \"a\": 1\n \"b\": [2]\n}", "10: a comma"),
            ("]", "8: "), ("7,", "8: "),
        ] {
            let found = read([a, broken, c].joined(separator: "\n"))
            #expect(found.count == 3 && found.first == "a" && found[1].hasPrefix(reason) && found.last == "c", "\(found)")
        }
        #expect(read(a + "\n" + b.dropLast(3)) == ["a", "17: ends too early"])
    }

    @Test("A line of NDJSON that is only a brace costs one item")
    func braceLine() {
        #expect(read(["{", user("b"), user("c")].joined(separator: "\n")) == ["1: ends too early", "b", "c"])
        #expect(read([user("a"), "{", user("c")].joined(separator: "\n")) == ["a", "2: ends too early", "c"])
    }

    @Test("An item needs a known kind")
    func kinds() {
        func ad(_ kind: String) -> String {
            #"{\#(kind)"id":1,"contentUrl":"http://a/","clickthroughUrl":"http://b/","type":"image"}"#
        }
        #expect(read(ad(#""kind":"ad","#)) == ["1"])
        for (kind, error) in [
            (#""klass":"ad","#, "kind: is missing"), (#""kind":null,"#, "kind: is missing"),
            (#""kind":7,"#, "kind: must be a string, is a number"), (#""kind":"ad","kind":"ad","#, "kind: occurs twice"),
            (#""kind":"dog","#, #"kind: must be one of ad, user, is "dog""#),
            (#""kind":"advertisement","#, #"kind: must be one of ad, user, is "advertisement""#),
        ] {
            #expect(read(ad(kind)) == ["1: \(error)"], "\(kind)")
        }
    }

    @Test("An empty file has no items", arguments: ["", " \n\r\n\t", "\u{FEFF}", "[]", "[ \n ] "])
    func empty(_ text: String) {
        #expect(read(text) == [])
    }

    @Test("A bad line is reported with its number, and later lines are read")
    func badLines() {
        let text = [user("a"), #"{"kind":"user"}"#, "nonsense", "", user("b") + " x", #"{"kind":"user","#, user("c"), "[1]", "\"\u{7F}"]
            .joined(separator: "\n")
        #expect(
            read(text) == [
                "a", "2: username: is missing", "3: an object is expected", "5: something follows the value", "6: ends too early", "c",
                "8: an object is expected", "9: an object is expected",
            ])
    }

    @Test("A bad field in an array is reported with its item's first line")
    func badFields() {
        let text = "[\(user("a")),\n{\"kind\":\"user\",\n\"username\":7},\n\(user("b"))]"
        #expect(read(text) == ["a", "2: username: must be a string, is a number", "b"])
    }

    @Test(
        "Reading continues with the next valid item after an element of invalid JSON",
        arguments: [
            ("{\"kind\":\"user\",}", "username"), ("{\"kind\":\"user\",,}", "name"),
            ("{\"kind\":\"user\" \"id\":1}", "comma"), ("{\"kind\":user}", "value"),
            ("{\"kind\":\"us\\er\"}", "username"), ("{\"kind\":\"user\nid\":1}", "comma"),
            ("7", "object"), ("null", "object"), ("nope", "object"), ("\"text\"", "object"), ("[{}]", "object"), ("", "object"),
            ("{\"a\":01}", "kind"), ("{\"kind\":'user', 'a': {'b': 1}}", "name"), ("}", "object"), ("NaN", "object"),
        ])
    func recovers(_ broken: String, _ reason: String) {
        for separator in [",", ",\n", " ,\r\n "] {
            let found = read("[" + [user("a"), broken, user("b"), user("c")].joined(separator: separator) + "]")
            #expect(found.filter { !$0.contains(":") } == ["a", "b", "c"], "\(found)")
            #expect(found.count == 4, "\(found)")
            #expect(found.first { $0.contains(":") }?.contains(reason) == true, "\(found)")
        }
    }

    @Test(
        "An element without its bracket or quote is reported with its line, and what follows belongs to it",
        arguments: [
            "{\"kind\":\"user\"", "{\"kind\":\"user,\"avatarUrl\":\"http://x\"}", "{\"kind:\"user\",\"id\":1}", "{\"a\":[1,2}", "{}] {}",
            "]",
        ])
    func unbalanced(_ broken: String) {
        let found = read("[\([user("a"), broken, user("b")].joined(separator: ",\n"))]")
        #expect(found.first == "a" && found.contains { $0.hasPrefix("2: ") || $0.hasPrefix("3: ") }, "\(found)")
        #expect(found.count(where: { $0.contains(":") }) <= 2, "\(found)")
    }

    @Test("Values that are not fields of the kind are not read", arguments: InvalidValue.all)
    func unmapped(_ value: InvalidValue) {
        for text in [
            "[\(user("a")),\(user("b", ",\"more\":\(value.json)")),\(user("c"))]",
            "[\(user("a")),\(user("b", ",\"m\(value.json.filter { $0 != "\"" })\":1").replacing("\n", with: "\u{1}")),\(user("c"))]",
        ] {
            #expect(read(value.bytes(of: text)).filter { ["a", "b", "c"].contains($0) } == ["a", "b", "c"], "\(text)")
        }
    }

    @Test("A missing comma loses no item")
    func missingComma() {
        #expect(read("[\(user("a"))\n\(user("b"))]") == ["a", "2: a comma or the end of the object or array is expected", "b"])
    }

    @Test("A comma before an end is nothing, and a truncated end is one bad item")
    func ends() {
        #expect(read("[\(user("a")),]") == ["a"])
        #expect(read("[\(user("a")),\n") == ["a", "2: the array is not terminated: the file may be truncated"])
        #expect(read("[\(user("a"))") == ["a", "1: the array is not terminated: the file may be truncated"])
        #expect(read("\(user("a")),\n\(user("b")),") == ["a", "b"] && read("[ , ]").count == 1)
        #expect(read("[\(user("a"))\n,{\"kind\":") == ["a", "2: ends too early"])
        #expect(read("[\(user("a"))]\nx") == ["a", "2: something follows the end of the array"])
    }

    @Test(
        "Each form of lines is read, and an invalid text is one bad item",
        arguments: [
            ("A\rB\r", []), ("A\r\rB", []), ("A,\r\n\r\nB,", []), ("M1\nB", []), ("\u{FEFF}A\n\u{FEFF}B\n", []),
            ("\u{FEFF}\u{FEFF}A\r\u{FEFF}B", []), ("\u{1E}A\n\u{1E}B\n", []), ("\n\u{1E}A\u{1E}B", []),
            ("\u{FEFF}\u{1E}A\n\u{1E}\u{1E}B", []),
            ("\u{1E}{\n\"x\":1,\nMA\n\u{1E}{\r\nMB", []), ("A\n\0\0\nB\0", []), ("A\n,\nB", []), ("A\rx\rB", ["2: an object is expected"]),
            ("\u{1E}A\n\u{1E}{\"kind\":\n\u{1E}B", ["2: ends too early"]), ("A\n{\n\u{FEFF}B", ["2: ends too early"]),
            ("\u{1E}A\n\n\u{1E}7\n\u{1E}B", ["3: an object is expected"]),
        ])
    func lines(_ form: String, _ bad: [String]) {
        let text = form.replacing("MA", with: user("a").dropFirst()).replacing("MB", with: user("b").dropFirst())
            .replacing("M1", with: user("a", ",\"x\":\"\r\"")).replacing("A", with: user("a")).replacing("B", with: user("b"))
        #expect(read(text) == ["a"] + bad + ["b"])
    }

    @Test("An oversized item is skipped, and the next item is read", arguments: [true, false])
    func tooLong(isArray: Bool) {
        let giant = user("giant", #","x":"\#(String(repeating: "{,[ ", count: 400_000))""#)
        let parts = [user("a"), giant, user("b")]
        let text = isArray ? "[\(parts.joined(separator: ","))]" : parts.joined(separator: "\n")
        for piece in [65_536, 1 << 20, .max] {
            #expect(read(Array(text.utf8), piece: piece) == ["a", "\(isArray ? 1 : 2): is longer than 1048576 bytes", "b"])
        }
    }

    @Test("A bad item in a one-line array is reported with index, id and byte")
    func places() {
        let items = (0..<5_000).map { number in
            number == 17 || number == 4_321 ? user("u\(number)").replacing("http://a/", with: "ftp://a/") : user("u\(number)")
        }
        let text = "[\(items.joined(separator: ","))]"
        for piece in [1_000, 65_536, .max] {
            var reader = ItemReader(kinds: .standard)
            var rest = Array(text.utf8)[...]
            var bad: [InvalidItem] = []
            reading: while true {
                switch reader.next() {
                case .item: break
                case .bad(let item): bad.append(item)
                case .unreadable, .finished: break reading
                case .needsBytes:
                    if rest.isEmpty { reader.end() } else { reader.append(rest.prefix(piece)) }
                    rest = rest.dropFirst(piece)
                }
            }
            #expect(bad.map(\.index) == [17, 4_321] && bad.map(\.id) == ["u17", "u4321"] && bad.map(\.line) == [1, 1])
            #expect(bad.map(\.offset) == [17, 4_321].map { 1 + items.prefix($0).reduce(0) { $0 + $1.utf8.count + 1 } })
            #expect(bad.last?.description.hasPrefix("line 1, index 4321 (from 0), id \"u4321\", byte ") == true)
        }
    }

    @Test("Every broken element increments the index")
    func indices() {
        let text = "[\(user("a")),7,{\"kind\":},\(user("b")),{\"kind\":\"user\",\"id\":\"c\"} \(user("d")),,]"
        var reader = ItemReader(kinds: .standard)
        reader.append(Array(text.utf8))
        reader.end()
        var places: [String] = []
        while true {
            let outcome = reader.next()
            if case .bad(let item) = outcome { places.append("\(item.index ?? -1) \(item.id ?? "-")") }
            if outcome == .finished { break }
        }
        #expect(places == ["1 -", "2 -", "4 c", "5 -", "6 -"])
    }

    @Test(
        "A file that begins with something else than a list fails with line and column",
        arguments: [
            ("<!DOCTYPE html><html>", 1, 1), ("\n  <HTML>\n<p>", 2, 3), ("kind,id,username\nuser,a,A\n", 1, 1),
            ("PK\u{3}\u{4}abcdef", 1, 1), ("7", 1, 1), ("oops, this is it: {\n", 1, 1),
        ])
    func unreadable(_ text: String, _ line: Int, _ column: Int) {
        let fault = ItemFileError.notAList(line: line, column: column)
        #expect(read(text) == ["unreadable: \(fault)"])
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        #expect(read(mark + Array(text.utf8)) == ["unreadable: \(line == 1 ? ItemFileError.notAList(line: 1, column: column) : fault)"])
    }

    @Test("An object around the list, or over several lines, is a bad item")
    func wrappers() {
        #expect(read("{\"users\":[{}]}\n\(user("a"))") == ["1: kind: is missing", "a"])
        #expect(read("{\"kind\":\"user\",\n\(user("a"))") == ["1: ends too early", "a"])
        let giant = "{\"users\":[" + Array(repeating: user("a"), count: 20_000).joined(separator: ",") + "]}"
        #expect(read(Array(giant.utf8), piece: 1 << 16) == ["1: is longer than 1048576 bytes"])
    }

    @Test("Random byte changes never cause a trap, and chunk sizes never change the result")
    func mutations() {
        var generator = SeededRandom(seed: 20_261_121)
        let texts = [
            "[" + (0..<6).map { user("u\($0)", #","x":[{"y":"\\\u00e9"}]"#) }.joined(separator: ",\n") + "]",
            (0..<6).map { user("u\($0)") }.joined(separator: "\n"),
            (0..<6).map { user("u\($0)").replacing("{", with: "{\n ").replacing(",", with: ",\n ") }.joined(separator: "\n"),
        ]
        for round in 0..<2_250 {
            var bytes = Array(texts[round % 3].utf8)
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[index] = .random(in: 0...255, using: &generator)
                case 1: bytes.remove(at: index)
                case 2: bytes.insert(Array("{}[]\",:\\\n".utf8).randomElement(using: &generator) ?? 0, at: index)
                default: bytes.removeSubrange(index..<min(index + 9, bytes.count))
                }
            }
            #expect(read(bytes) == read(bytes, piece: Int.random(in: 1...40, using: &generator)), "\(bytes)")
        }
    }
}
