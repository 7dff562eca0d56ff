import HTTPTypes
import Testing

@testable import IntertwineFeed
@testable import IntertwineHTTPServer
@testable import IntertwineService
@testable import IntertwineStorage

@Suite("Operations in a request")
struct OperationReaderTests {
    private static let user = #"{"kind":"user","id":"a","username":"A","avatarUrl":"https://example.com/a.png","type":"regular"}"#
    private let reader = OperationReader(kinds: .standard)

    @Test("Each verb is parsed, and keys may contain colons")
    func verbs() throws {
        let item = try ItemKinds.standard.validate(Array(Self.user.utf8))
        let body = """
            {"operations":[{"append":\(Self.user)}, {"insert":\(Self.user),"before":"user:x"}, {"after":"user:x:y","insert":\(Self.user)},
             {"move":"ad:1","after":"ad:2"}, {"update":\(Self.user),"ifMatch":"\\"t\\""}, {"remove":"user:é"},
             {"clear":"main"}]}
            """
        let key = { (kind: String, id: String) in ItemKey(kind: kind, id: id) }
        let expected: [OperationReader.Listed] = [
            .init(operation: .append(item)), .init(operation: .insert(item, .before(key("user", "x")))),
            .init(operation: .insert(item, .after(key("user", "x:y")))),
            .init(operation: .move(key("ad", "1"), .after(key("ad", "2")))),
            .init(operation: .update(item), tag: "\"t\""), .init(operation: .remove(key("user", "é"))),
            .init(operation: .clear(section: "main")),
        ]
        #expect(try reader.read(Array(body.utf8)) == expected)
        #expect(try reader.read(Array(#"{"operations":[]}"#.utf8)).isEmpty)
        #expect(try reader.read(Array(#"{"operations":[{"remove":"user:é"},]}"#.utf8)) == [expected[5]])
    }

    @Test(
        "A body without a list of operations returns 400",
        arguments: [
            "", "{}", "[", "[]", #"{"remove":"user:a"}"#, #"[{"remove":"user:a"}]"#,
            #"{"operations":{"remove":"user:a"}}"#, #"{"operations":null}"#, #"{"operations":[],"operations":[]}"#, #"{"operations":"[]"}"#,
        ])
    func noList(body: String) {
        #expect(throws: Problem.self) { try reader.read(Array(body.utf8)) }
        #expect(status(body) == 400)
    }

    @Test(
        "An invalid operation returns 422 with its index and the reason",
        arguments: [
            ("1", "an object"), ("{}", "must have one of append"), (#"{"remove":"user:a","clear":"main"}"#, "must have one of"),
            (#"{"remove":"user:a","remove":"user:b"}"#, "must have one of"), (#"{"remove":"a"}"#, "kind:id"),
            (#"{"remove":"other:a"}"#, "ad, user"), (#"{"remove":7}"#, "must be a string"), (#"{"remove":null}"#, "missing"),
            (#"{"move":"user:a"}"#, "before or after"), (#"{"move":"user:a","before":"user:b","after":"user:c"}"#, "either"),
            (#"{"move":"user:a","befor":"user:b"}"#, "befor"), (#"{"remove":"user:a","before":"user:b"}"#, "not permitted with"),
            (#"{"append":"user:a"}"#, "must be an item"), (#"{"append":{"kind":"odd"}}"#, "append.kind"),
            (#"{"update":{"kind":"user","username":"A","type":"regular"}}"#, "update.avatarUrl"),
            (#"{"append":\#(user),"ifMatch":"x"}"#, "not permitted with"), (#"{"clear":""}"#, "missing"),
        ])
    func noOperation(operation: String, reason: String) throws {
        #expect(status(#"{"operations":[{"remove":"user:a"},,{"remove":"user:b"}]}"#) == 422)
        let body = #"{"operations":[{"remove":"user:a"},\#(operation)]}"#
        #expect(status(body) == 422)
        let detail = #expect(throws: Problem.self) { try reader.read(Array(body.utf8)) }?.detail
        #expect(detail?.contains("Operation 1,") == true && detail?.contains(reason) == true, "\(detail ?? "")")
    }

    @Test("A list above the operation limit is refused with 422")
    func bound() {
        let list = Array(repeating: #"{"remove":"user:a"}"#, count: StoreOperation.limit + 1)
        #expect(status(#"{"operations":[\#(list.joined(separator: ","))]}"#) == 422)
        #expect(status(#"{"operations":[\#(list.dropLast().joined(separator: ","))]}"#) == nil)
    }

    private func status(_ body: String) -> Int? {
        do {
            _ = try reader.read(Array(body.utf8))
            return nil
        } catch {
            return error.status.code
        }
    }
}
