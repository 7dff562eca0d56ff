import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineImages
@testable import IntertwinePrimitives
@testable import IntertwineService
@testable import IntertwineStorage

@Suite("Synchronization with a real origin", .timeLimit(.untilStuck))
struct SyncJobTests {
    static let nine = (1...9).map { "u\($0)" }

    @Test(
        "pages are followed to the last, by Link, by a URL or a URI template in the document and by a cursor",
        arguments: ["link", "url", "template", "cursor", "one page"])
    func paging(by way: String) async throws {
        let api = try Api(Self.nine) { $0.perPage = way == "one page" ? 100 : 2 }
        defer { api.origin.stop() }
        let house = try House(api.origin, path: "/users?a=x") { source in
            switch way {
            case "url", "template": source.next = .url(JSONPointer("/meta/\(way)") ?? JSONPointer(member: ""))
            case "cursor": source.next = .cursor(JSONPointer("/meta/next") ?? JSONPointer(member: ""), parameter: "page")
            case "one page": source.next = .none
            default: source.next = .link
            }
        }
        let outcome = try await house.run()
        #expect(outcome.changes?.added == 9)
        #expect(outcome.pages == (way == "one page" ? 1 : 5) && outcome.items == 9)
        #expect(try await house.ids() == Self.nine)
        if way == "cursor" { #expect(api.origin.requests.contains { $0.path == "/users?a=x&page=4" }) }
        await house.stop()
    }

    @Test(
        "A list whose next page begins after its last item is read to a page without items",
        arguments: [
            (["a", "b", "c", "d"], "", nil), (["a", "b", "c", "0"], "", nil), (["a", "b", "c"], "", nil), (["b", "-1", "é &"], "", nil),
            ([], "", nil),
            (["a", "b"], #"{"error":{"code":1}}"#, "page 2"), (["a", "b"], #"{"id":null,"username":"x"}"#, "page 2"),
            (["a", "b"], "7", "page 2"), (["a", "b"], #"{"id":"c","username":7},{"error":1}"#, "the last item has no /id"),
        ] as [([String], String, String?)])
    func afterLast(_ ids: [String], _ last: String, _ failure: String?) async throws {
        let api = try Api([]) { state in
            state.instead = { request, connection in
                let after = request.path.split(separator: "starting_after=").dropFirst().first?.removingPercentEncoding
                let rest = after.flatMap { ids.firstIndex(of: $0) }.map { ids[($0 + 1)...] } ?? ids[...]
                let users = rest.isEmpty ? last : rest.prefix(2).map { Api.user($0, version: 1) }.joined(separator: ",")
                connection.answer(200, body: Array(#"{"data":{"users":[\#(users)]},"has_more":\#(rest.count > 2)}"#.utf8))
                return true
            }
        }
        defer { api.origin.stop() }
        let house = try House(api.origin, path: "/users?a=x") { source in
            (source.next, source.removable, source.policy) = (.after(JSONPointer(member: "id"), parameter: "starting_after"), 1, .skip)
        }
        if let failure {
            #expect(try await house.failure().contains(failure))
        } else if ids.isEmpty {
            _ = try? await house.run()
        } else {
            #expect(try await house.run().items == ids.count)
        }
        #expect(try await house.ids() == (failure == nil ? ids : []))
        if let id = ids.dropFirst().first, id == "b" { #expect(api.origin.requests.contains { $0.path == "/users?a=x&starting_after=b" }) }
        await house.stop()
    }

    @Test("Changes are applied in one transaction, and nothing is written without changes")
    func changes() async throws {
        let api = try Api(Self.nine)
        defer { api.origin.stop() }
        let house = try House(api.origin)
        try await house.run()
        api.publish(["u9", "new"] + Self.nine.dropFirst(4).dropLast())
        let outcome = try await house.run()
        #expect([outcome.changes?.added, outcome.changes?.changed, outcome.changes?.removed] == [1, 5, 4])
        #expect(try await house.ids() == ["u5", "u6", "u7", "u8", "u9", "new"])
        let version = house.store.version
        #expect(try await house.run().changes == nil)
        #expect(house.store.version == version)
        await house.stop()
    }

    @Test("304 for each page means no change, with one request without a body per page")
    func notModified() async throws {
        let api = try Api(Self.nine) { $0.perPage = 3 }
        defer { api.origin.stop() }
        let house = try House(api.origin)
        try await house.run()
        let before = api.origin.requests.count
        let outcome = try await house.run()
        #expect(outcome.changes == nil && outcome.items == 9 && outcome.pages == 3)
        let asked = api.origin.requests.dropFirst(before)
        #expect(asked.map { $0.headers["if-none-match"] } == ["\"v1-0\"", "\"v1-1\"", "\"v1-2\""])
        await house.stop()
    }

    @Test(
        "Foreign changes are reverted without changes at the origin, and nothing is fetched twice",
        arguments: [true, false])
    func restores(hasValidators: Bool) async throws {
        let api = try Api(Self.nine) {
            $0.hasValidators = hasValidators
            $0.perPage = 5
        }
        defer { api.origin.stop() }
        let house = try House(api.origin)
        try await house.run()
        let item = try UserKind().validate(ItemFields(Array(Api.user("u2", version: 99).utf8)))
        _ = try await house.store.put(item)
        _ = try await house.store.remove(kind: "user", id: "u9")
        let outcome = try await house.run()
        #expect([outcome.changes?.added, outcome.changes?.changed, outcome.changes?.unchanged] == [1, 1, 7])
        #expect(Set(try await house.users().map(\.name)) == ["v1"])
        // An item of somebody else's makes the store another one, and is nothing to restore.
        _ = try await house.store.put(UserKind().validate(ItemFields(Array(Api.user("mine", version: 7).utf8))))
        for _ in 0..<2 {
            let (version, requests) = (house.store.version, api.origin.requests.count)
            #expect(try await house.run().changes == nil)
            #expect(house.store.version == version)
            #expect(api.origin.requests.count == requests + 2)
        }
        await house.stop()
    }

    @Test("A source that another process synchronizes is busy, which is not an error")
    func busy() async throws {
        let api = try Api(Self.nine)
        defer { api.origin.stop() }
        let house = try House(api.origin)
        let other = try SourceSnapshot(of: "people", kind: UserKind(), into: house.database)
        do {
            try await house.run()
            Issue.record("there are two at once")
        } catch let failure as SourceError {
            #expect(failure.cause == .busy && "\(failure)".hasPrefix("the source people is already being synchronized"))
        }
        other.discard()
        #expect(try await house.run().items == 9)
        await house.stop()
    }

    @Test("The last success is stored next to the database, also without changes, and survives a failure")
    func record() async throws {
        let api = try Api(Self.nine)
        defer { api.origin.stop() }
        let house = try House(api.origin)
        let started = Int64(Date.now.timeIntervalSince1970 * 1_000)
        #expect(SourceRecord(of: "people", nextTo: house.database) == nil)
        try await house.run()
        let first = try #require(SourceRecord(of: "people", nextTo: house.database))
        #expect(first.items == 9 && first.pages == 5 && first.skipped == 0 && first.lastSuccess >= started)
        try await house.run()
        let second = try #require(SourceRecord(of: "people", nextTo: house.database))
        #expect(second.items == 9 && second.lastSuccess >= first.lastSuccess)
        api.publish([])
        _ = try await house.failure()
        #expect(SourceRecord(of: "people", nextTo: house.database) == second)
        try Data("rubbish".utf8).write(to: URL(fileURLWithPath: house.database + ".synced-people"))
        #expect(SourceRecord(of: "people", nextTo: house.database) == nil)
        await house.stop()
    }

    @Test("304 of the first page is not sufficient: a change on another page is found")
    func lastPageChanged() async throws {
        let api = try Api(Self.nine) { $0.perPage = 8 }
        defer { api.origin.stop() }
        let house = try House(api.origin)
        try await house.run()
        api.change { state in
            state.ids[8] = "other"
            state.instead = { request, connection in
                guard request.headers["if-none-match"] != nil, request.path.hasSuffix("=1") else { return false }
                connection.answer(200, ["ETag: \"changed\""], body: Array(#"{"data":{"users":[]}}"#.utf8))
                return true
            }
        }
        let outcome = try await house.run()
        #expect([outcome.changes?.added, outcome.changes?.removed] == [1, 1])
        #expect(try await house.ids().last == "other")
        await house.stop()
    }

    @Test("An unsolicited 304 is an error")
    func unaskedNotModified() async throws {
        let api = try Api(Self.nine) {
            $0.instead = { _, connection in connection.send("HTTP/1.1 304 Not Modified\r\n\r\n") }
        }
        defer { api.origin.stop() }
        let house = try House(api.origin)
        #expect(try await house.failure() == "page 1: the origin returned 304")
        await house.stop()
    }

    @Test("Without validators unchanged pages are detected by their bytes")
    func sameBytes() async throws {
        let api = try Api(Self.nine) { $0.hasValidators = false }
        defer { api.origin.stop() }
        let house = try House(api.origin)
        try await house.run()
        #expect(try await house.run().changes == nil)
        api.publish(Self.nine)
        #expect(try await house.run().changes?.changed == 9)
        await house.stop()
    }

    @Test("Compressed pages are read, and their decompressed size is bounded")
    func compressed() async throws {
        let api = try Api((0..<5_000).map { "user-\($0)" }) {
            $0.isCompressed = true
            $0.perPage = 5_000
        }
        defer { api.origin.stop() }
        let house = try House(api.origin)
        let outcome = try await house.run()
        #expect(outcome.items == 5_000)
        api.publish(["user-1"])
        house.change { $0.byteLimit = 1_000 }
        api.change { $0.ids = (0..<5_000).map { "user-\($0)" } }
        #expect(try await house.failure() == "the list has more than 1000 bytes; max-bytes allows more")
        await house.stop()
    }

    @Test(
        "Headers of a source are sent to its origin only, and not after a redirect elsewhere and back",
        arguments: [(200, ["secret", "secret"], ["a", "b", "c"]), (302, ["secret", nil], ["c"])])
    func headers(_ status: Int, _ sent: [String?], _ ids: [String]) async throws {
        let other = try Origin("127.0.0.2", port: 0) { _, connection in connection.answer(200, body: []) }
        other.stop()
        let api = try Api(["a"])
        defer { api.origin.stop() }
        @Sendable func answer(_ connection: OriginConnection, _ user: String, next: String) {
            let fields = status == 302 ? ["Location: \(next)"] : ["Link: <\(next)>; rel=next"]
            connection.answer(status, fields, body: Array(#"{"data":{"users":[\#(Api.user(user, version: 1))]}}"#.utf8))
        }
        let back = api.origin.url("/users?page=3")
        let elsewhere = try Origin("127.0.0.2", port: api.origin.port) { _, connection in answer(connection, "b", next: back) }
        defer { elsewhere.stop() }
        let link = elsewhere.url("/users")
        api.change { state in
            state.instead = { request, connection in
                if request.path.hasSuffix("=3") {
                    connection.answer(200, body: Array(#"{"data":{"users":[\#(Api.user("c", version: 1))]}}"#.utf8))
                } else {
                    answer(connection, "a", next: link)
                }
                return true
            }
        }
        let house = try House(api.origin, allowed: ["127.0.0.0/8"]) { $0.headers = [.authorization: "secret"] }
        try await house.run()
        #expect(try await house.ids() == ids)
        #expect(api.origin.requests.map { $0.headers["authorization"] } == sent)
        #expect(elsewhere.requests.count == 1 && elsewhere.requests.allSatisfy { $0.headers["authorization"] == nil })
        await house.stop()
    }

    @Test("A cancelled synchronization ends at once and leaves nothing")
    func cancelled() async throws {
        let gate = Gate()
        let api = try Api(Self.nine) {
            $0.instead = { _, connection in
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
                gate.wait()
                return true
            }
        }
        defer { api.origin.stop() }
        let house = try House(api.origin)
        let task = Task { try await house.run() }
        await api.origin.requested(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        gate.open()
        #expect(try FileManager.default.contentsOfDirectory(atPath: house.folder).filter { $0.contains("source") } == [])
        await house.stop()
    }

    @Test(
        "Pages by number and by offset are read to their end",
        arguments: [
            (NextPage.page(parameter: "page", first: 0, last: nil, pages: nil), 4),
            (.page(parameter: "page", first: 0, last: JSONPointer("/last"), pages: nil), 3),
            (.page(parameter: "page", first: 0, last: nil, pages: JSONPointer("/pages")), 3),
            (.offset(parameter: "start", first: 0, total: nil), 4),
            (.offset(parameter: "start", first: 0, total: JSONPointer("/total")), 3),
            (.page(parameter: "page", first: 0, last: JSONPointer("/missing"), pages: nil), 4),
            // A number below what was read is none.
            (.page(parameter: "page", first: 0, last: JSONPointer("/unknown"), pages: nil), 4),
            (.page(parameter: "page", first: 0, last: nil, pages: JSONPointer("/none")), 4),
            (.offset(parameter: "start", first: 0, total: JSONPointer("/none")), 4),
            (.offset(parameter: "start", first: 0, total: JSONPointer("/unknown")), 4),
            (.page(parameter: "page", first: 0, last: nil, pages: JSONPointer("/fraction")), 3),
            (.page(parameter: "page", first: 0, last: nil, pages: JSONPointer("/text")), 3),
        ])
    func counted(next: NextPage, requests: Int) async throws {
        let ids = ["a", "b", "c", "d", "e"]
        let api = try Api([]) { state in
            state.instead = { request, connection in
                let parts = request.path.split(separator: "=")
                let number = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
                let start = request.path.contains("start=") ? number : number * 2
                let users = ids.dropFirst(start).prefix(2).map { Api.user($0, version: 1) }.joined(separator: ",")
                let counts = #""last":2,"pages":3,"total":5,"none":0,"unknown":-1,"fraction":3.0,"text":"3.0""#
                connection.answer(200, body: Array(#"{"data":{"users":[\#(users)]},\#(counts)}"#.utf8))
                return true
            }
        }
        let house = try House(api.origin) { $0.next = next }
        #expect(try await house.run().items == 5)
        #expect(try await house.ids() == ids)
        #expect(api.origin.requests.count == requests)
        await house.stop()
        api.origin.stop()
    }

    @Test("A last page that names itself ends the list, and an API that ignores its cursor is an error", arguments: [true, false])
    func ownNext(isURL: Bool) async throws {
        for ignoresCursor in [false, true] {
            let api = try Api([]) { state in
                state.instead = { request, connection in
                    let isLast = request.path.contains("c=2") && !ignoresCursor
                    let users = (isLast ? ["c"] : ["a", "b"]).map { Api.user($0, version: 1) }.joined(separator: ",")
                    connection.answer(200, body: Array(#"{"data":{"users":[\#(users)]},"next":"\#(isURL ? "?c=2" : "2")"}"#.utf8))
                    return true
                }
            }
            let pointer = JSONPointer(member: "next")
            let house = try House(api.origin) { $0.next = isURL ? .url(pointer) : .cursor(pointer, parameter: "c") }
            if ignoresCursor {
                #expect(try await !house.failure().isEmpty)
                #expect(try await house.ids().isEmpty)
            } else {
                #expect(try await house.run().items == 3)
                #expect(try await house.ids() == ["a", "b", "c"])
            }
            await house.stop()
            api.origin.stop()
        }
    }

    /// Three pages of two users each, and an answer to the numbers beyond.
    private static func numbered(
        _ beyond: @escaping @Sendable (OriginConnection, _ last: String) -> Void,
        instead: @escaping @Sendable (Origin.Request, OriginConnection) -> Bool = { _, _ in false }
    ) throws -> Api {
        try Api([]) { state in
            state.instead = { request, connection in
                if instead(request, connection) { return true }
                let number =
                    request.path.split(whereSeparator: { "?&".contains($0) }).dropFirst().filter { !$0.contains("size") }
                    .compactMap { Int($0.split(separator: "=").last ?? "") }.last ?? 1
                func page(_ number: Int) -> String {
                    let users = (0..<2).map { Api.user("u\(number)-\($0)", version: 1) }
                    return #"{"data":{"users":[\#(users.joined(separator: ","))]},"asked":"\#(request.path)"}"#
                }
                if number <= 3 {
                    connection.answer(200, ["ETag: \"\(number)\""], body: Array(page(number).utf8))
                } else {
                    beyond(connection, page(3))
                }
                return true
            }
        }
    }

    @Test(
        "A successful answer is a page, also with a range of rows, and a part of the bytes is none",
        arguments: [
            (200, nil, true), (201, nil, true), (203, nil, true), (206, nil, true), (206, "0-1/4", true), (206, "0-1/*", true),
            (206, "items 0-1/4", true), (206, "rows 0-1/2", true), (206, "BYTES 0-LAST/LENGTH", true), (206, "bytes 0-9/99", false),
            (206, "bytes 5-LAST/LENGTH", false), (206, "bytes 0-LAST/*", false), (205, nil, false),
        ])
    func statuses(_ status: Int, _ range: String?, _ isPage: Bool) async throws {
        let api = try Api([]) { state in
            state.instead = { request, connection in
                let start = Int(request.path.split(separator: "=").dropFirst().first ?? "") ?? 0
                let users = (start..<max(start, min(4, start + 2))).map { Api.user("u\($0)", version: 1) }
                let body = Array(#"{"data":{"users":[\#(users.joined(separator: ","))]}}"#.utf8)
                let fields = range.map { range in
                    let range = range.replacing("LAST", with: "\(body.count - 1)").replacing("LENGTH", with: "\(body.count)")
                    return ["Content-Range: \(range)"]
                }
                connection.answer(start < 4 ? status : 416, fields ?? [], body: start < 4 ? body : [])
                return true
            }
        }
        defer { api.origin.stop() }
        let house = try House(api.origin) { $0.next = .offset(parameter: "offset", first: 0, total: nil) }
        if isPage {
            #expect(try await house.run().items == 4)
        } else {
            #expect(try await house.failure() == "page 1: the origin returned \(status)")
        }
        await house.stop()
    }

    @Test("A 206 whose list is not complete fails")
    func truncatedRows() async throws {
        let api = try Api([]) { state in
            state.instead = { _, connection in
                let body = #"{"data":{"users":[\#(Api.user("a", version: 1)),"#
                connection.answer(206, ["Content-Range: 0-0/1"], body: Array(body.utf8))
                return true
            }
        }
        defer { api.origin.stop() }
        let house = try House(api.origin) { $0.next = .none }
        #expect(try await house.failure().hasSuffix("ends too early"))
        await house.stop()
    }

    @Test(
        "A list in numbered pages ends as APIs end it",
        arguments: [
            (204, ""), (400, "{}"), (404, "<html>"), (410, ""), (416, ""), (422, "{}"), (200, ""), (200, "null"), (200, "[]"), (200, "{}"),
            (200, #"{"data":null}"#), (200, #"{"data":[]}"#), (200, #"{"data":{}}"#), (200, #"{"data":{"users":null}}"#),
            (200, #"{"data":{"users":{}}}"#), (200, #"{"data":{"users":false}}"#), (200, #"{"data":{"users":[]}}"#), (200, "the last page"),
        ])
    func ends(_ status: Int, _ body: String) async throws {
        let api = try Self.numbered { connection, last in
            connection.answer(status, body: Array((body == "the last page" ? last : body).utf8))
        }
        let house = try House(api.origin) { $0.next = .page(parameter: "page", first: 1, last: nil, pages: nil) }
        for _ in 0..<2 { #expect(try await house.run().items == 6) }
        #expect(Set(api.origin.requests.map(\.path)) == ["/users", "/users?page=2", "/users?page=3", "/users?page=4"])
        #expect(try await house.ids().count == 6)
        await house.stop()
        api.origin.stop()
    }

    /// Pages that name the next one three times, of which the last is none.
    private static func linked(_ isLast: @escaping @Sendable () -> (Int, String)) throws -> Api {
        try Api([]) { state in
            state.instead = { request, connection in
                let number = Int(request.path.split(separator: "=").dropFirst().first ?? "") ?? 1
                let (status, body) = isLast()
                guard number < 4 else {
                    connection.answer(status, body: Array(body.utf8))
                    return true
                }
                let users = (0..<2).map { Api.user("u\(number)-\($0)", version: 1) }.joined(separator: ",")
                let next = #""url":"/users?page=\#(number + 1)","next":"\#(number + 1)""#
                connection.answer(
                    200, ["Link: </users?page=\(number + 1)>; rel=next"],
                    body: Array(#"{"data":{"users":[\#(users)]},"meta":{\#(next)}}"#.utf8))
                return true
            }
        }
    }

    private static let ways: [NextPage] = [
        .link, .url(JSONPointer("/meta/url") ?? JSONPointer(member: "")),
        .cursor(JSONPointer("/meta/next") ?? JSONPointer(member: ""), parameter: "page"),
    ]

    @Test(
        "A list by link, URL or cursor ends at a page that is missing or empty",
        arguments: [(204, ""), (404, "<html>"), (404, #"{"detail":"Invalid page."}"#), (200, #"{"data":{"users":[]}}"#)])
    func linkedEnds(_ status: Int, _ body: String) async throws {
        for way in Self.ways {
            let api = try Self.linked { (status, body) }
            let house = try House(api.origin) { $0.next = way }
            for _ in 0..<2 { #expect(try await house.run().items == 6) }
            #expect(try await house.ids().count == 6)
            await house.stop()
            api.origin.stop()
        }
    }

    @Test(
        "A page by link, URL or cursor that failed keeps the items",
        arguments: [
            (400, "{}"), (401, ""), (410, ""), (200, ""), (200, "null"), (200, "{}"), (200, #"{"error":"later"}"#),
            (200, #"{"redirect":"/login"}"#), (200, "<html>"),
            (200, #"{"data":{"error":{"code":1}}}"#), (200, #"{"users":[1]}"#), (200, #"{"data":{"users":"x"}}"#),
        ])
    func linkedFailures(_ status: Int, _ body: String) async throws {
        for way in Self.ways {
            let answer = Mutex((204, ""))
            let api = try Self.linked { answer.withLock { $0 } }
            let house = try House(api.origin) { source in
                source.next = way
                source.removable = 1
            }
            #expect(try await house.run().items == 6)
            answer.withLock { $0 = (status, body) }
            for _ in 0..<2 { #expect(try await house.failure().hasPrefix("page 4")) }
            #expect(try await house.ids().count == 6)
            await house.stop()
            api.origin.stop()
        }
    }

    @Test(
        "A page that is no list keeps the items, whatever the form of the list",
        arguments: ["declared lines", "lines", "array", "member", "numbered", "key"])
    func otherForms(_ form: String) async throws {
        @Sendable func page(_ ids: [String]) -> String {
            let users = ids.map { Api.user($0, version: 1) }
            return switch form {
            case "declared lines", "lines": users.map { $0 + "\n" }.joined()
            case "array": "[\(users.joined(separator: ","))]"
            case "member": #"{"data":{"users":[\#(users.joined(separator: ","))]}}"#
            default: "{\(users.enumerated().map { "\"\($0.offset)\":\($0.element)" }.joined(separator: ",\n"))}"
            }
        }
        let errors = [
            #"{"error":"later"}"#, #"{"message":"later","status":500}"#, "<html>\n<body>later</body>\n</html>", "later", "null",
            "{\n\"error\": 1\n}",
            #"{"id":null,"error":1}"#, "", #"[{"error":"later"}]"#, #"[{"message":"later"},{"id":"","code":1}]"#, "[null]",
            #"["later",500]"#, #"{"error":{"code":1}}"#, #"{"errors":[{"code":1}],"meta":{"status":500}}"#,
        ]
        let answer = Mutex("")
        let api = try Api([]) { state in
            state.instead = { request, connection in
                let type = form == "declared lines" ? ["Content-Type: application/x-ndjson"] : []
                let body = request.path.hasSuffix("=2") ? answer.withLock { $0 } : page(["a", "b"])
                connection.answer(200, type + ["Link: </users?page=2>; rel=next"], body: Array(body.utf8))
                return true
            }
        }
        let house = try House(api.origin) { source in
            if form != "member" { source.items = JSONPointer("") ?? JSONPointer(member: "") }
            (source.key, source.removable, source.policy) = (form == "key" ? "id" : nil, 1, .skip)
        }
        answer.withLock { $0 = page(["c"]) }
        #expect(try await house.run().items == 3)
        for error in errors {
            // Under a key null is no item, and no line of a declared type is an empty list.
            if (form, error) == ("key", "[null]") || (form, error) == ("declared lines", "") { continue }
            answer.withLock { $0 = error }
            #expect(try await house.failure().contains("page 2"), "\(error)")
            #expect(try await house.ids() == ["a", "b", "c"], "\(error)")
        }
        if form == "array" {
            answer.withLock { $0 = #"[{"id":"d","username":7}]"# }
            #expect(try await house.run().skipped == 1)
            #expect(try await house.ids() == ["a", "b"])
        }
        await house.stop()
        api.origin.stop()
    }

    @Test("A list of which all items are invalid removes nothing", arguments: ["[E]", "[E,1]", #"{"k":E}"#, #"{"error":"denied"}"#])
    func allInvalid(_ form: String) async throws {
        let api = try Api([]) { state in
            state.instead = { _, connection in
                connection.answer(200, body: Array(#"[\#(Api.user("a", version: 1))]"#.utf8))
                return true
            }
        }
        let house = try House(api.origin) { source in
            (source.items, source.key) = (JSONPointer("") ?? JSONPointer(member: ""), "id")
            (source.removable, source.policy) = (1, .skip)
        }
        try await house.run()
        api.change { state in
            state.instead = { _, connection in
                connection.answer(200, body: Array(form.replacing("E", with: #"{"error":{"code":1}}"#).utf8))
                return true
            }
        }
        for _ in 0..<2 { #expect(try await house.failure().hasPrefix("all items of the list are invalid: page 1, item 1: ")) }
        #expect(try await house.ids() == ["a"])
        await house.stop()
        api.origin.stop()
    }

    @Test(
        "A first page without a list is a failure that says so, and removes nothing",
        arguments: [
            #"{"error":"later"}"#, #"{"redirect":"/login"}"#, #"{"data":{"users":null}}"#, #"{"data":null}"#, "{}", "null", "", "[]",
            #"{"data":{}}"#, #"{"data":{"users":{}}}"#, #"{"data":{"users":false}}"#,
        ])
    func firstWithoutList(_ body: String) async throws {
        for way in Self.ways + [.none, .page(parameter: "page", first: 1, last: nil, pages: nil)] {
            let api = try Api(["a", "b"])
            let house = try House(api.origin) { source in
                source.next = way
                source.removable = 1
                source.policy = .skip
            }
            #expect(try await house.run().items == 2)
            api.change { state in
                state.instead = { _, connection in
                    connection.answer(200, body: Array(body.utf8))
                    return true
                }
            }
            for _ in 0..<2 { #expect(try await house.failure().hasPrefix("page 1, byte ")) }
            #expect(try await house.ids() == ["a", "b"])
            await house.stop()
            api.origin.stop()
        }
    }

    @Test(
        "A page that is missing once is asked for again",
        arguments: [(404, "x"), (400, "{}"), (204, ""), (200, "{}"), (200, #"{"data":null}"#)])
    func passingEnd(_ status: Int, _ body: String) async throws {
        let isPassing = Atomic(true)
        let api = try Self.numbered({ connection, _ in connection.answer(404) }) { request, connection in
            guard request.path.hasSuffix("=2"), isPassing.exchange(false, ordering: .relaxed) else { return false }
            connection.answer(status, body: Array(body.utf8))
            return true
        }
        let house = try House(api.origin) { $0.next = .page(parameter: "page", first: 1, last: nil, pages: nil) }
        #expect(try await house.run().items == 6)
        await house.stop()
        api.origin.stop()
    }

    @Test("A page that had items is missing: one synchronization fails, and the next takes it for the end")
    func shorter() async throws {
        let isMissing = Atomic(false)
        let api = try Self.numbered({ connection, _ in connection.answer(404) }) { request, connection in
            guard request.path.hasSuffix("=2"), isMissing.load(ordering: .relaxed) else { return false }
            connection.answer(404)
            return true
        }
        let house = try House(api.origin) {
            $0.next = .page(parameter: "page", first: 1, last: nil, pages: nil)
            $0.removable = 1
        }
        #expect(try await house.run().items == 6)
        isMissing.store(true, ordering: .relaxed)
        #expect(try await house.failure().hasPrefix("page 2 is missing"))
        isMissing.store(false, ordering: .relaxed)
        #expect(try await house.run().items == 6)
        isMissing.store(true, ordering: .relaxed)
        #expect(try await house.failure().hasPrefix("page 2 is missing"))
        #expect(try await house.run().changes?.removed == 4)
        #expect(try await house.run().items == 2)
        await house.stop()
        api.origin.stop()
    }

    @Test("An empty page before the announced last one is an error", arguments: [#"{"data":{"users":[]},"pages":9}"#, "{}", "[]", ""])
    func emptyBeforeEnd(_ body: String) async throws {
        let api = try Api([]) { state in
            state.instead = { request, connection in
                let isFirst = request.path == "/users"
                let page = #"{"data":{"users":[\#(Api.user("a", version: 1))]},"pages":9}"#
                connection.answer(200, body: Array((isFirst ? page : body).utf8))
                return true
            }
        }
        let house = try House(api.origin) {
            $0.next = .page(parameter: "page", first: 1, last: nil, pages: JSONPointer(member: "pages"))
        }
        #expect(try await house.failure().hasPrefix("page 2 has no items, although"))
        await house.stop()
        api.origin.stop()
    }

    @Test("The number of pages counts from the number in the URL", arguments: ["page", "start"])
    func countedFromZero(_ parameter: String) async throws {
        let ids = ["a", "b", "c", "d"]
        let api = try Api([]) { state in
            state.instead = { request, connection in
                let number = request.path.split(separator: "=").last.flatMap { Int($0) } ?? 0
                let rest = ids.dropFirst(request.path.contains("start=") ? number : number * 2).prefix(2)
                guard !rest.isEmpty else {
                    connection.answer(404)
                    return true
                }
                let users = rest.map { Api.user($0, version: 1) }.joined(separator: ",")
                connection.answer(200, body: Array(#"{"data":{"users":[\#(users)]},"pages":2,"total":4}"#.utf8))
                return true
            }
        }
        let house = try House(api.origin, path: "/users?\(parameter)=0") {
            $0.next =
                parameter == "page"
                ? .page(parameter: parameter, first: 1, last: nil, pages: JSONPointer(member: "pages"))
                : .offset(parameter: parameter, first: 1, total: JSONPointer(member: "total"))
        }
        #expect(try await house.run().items == 4)
        #expect(api.origin.requests.count == 2)
        await house.stop()
        api.origin.stop()
    }

    @Test("A second page with the list of the first is an error")
    func ignoredNumber() async throws {
        let api = try Api([]) { state in
            state.instead = { _, connection in
                connection.answer(200, body: Array(#"{"data":{"users":[\#(Api.user("a", version: 1))]}}"#.utf8))
                return true
            }
        }
        let house = try House(api.origin) { $0.next = .page(parameter: "pgae", first: 1, last: nil, pages: nil) }
        #expect(try await house.failure().hasPrefix("page 2 has the list of page 1"))
        #expect(try await house.ids().isEmpty)
        await house.stop()
        api.origin.stop()
    }

    @Test("Other answers beyond the last page are errors, and so is each on the first page")
    func wrongEnds() async throws {
        for (status, body) in [(401, ""), (403, ""), (418, ""), (200, "<html>"), (200, #"{"data":{"users":true}}"#)] {
            let api = try Self.numbered { connection, _ in connection.answer(status, body: Array(body.utf8)) }
            let house = try House(api.origin) { $0.next = .page(parameter: "page", first: 1, last: nil, pages: nil) }
            #expect(try await house.failure().hasPrefix("page 4"))
            await house.stop()
            api.origin.stop()
        }
        for (status, body) in [(204, ""), (404, ""), (200, "{}"), (200, #"{"data":{"users":null}}"#)] {
            let api = try Api([]) { state in
                state.instead = { _, connection in
                    connection.answer(status, body: Array(body.utf8))
                    return true
                }
            }
            let house = try House(api.origin) { $0.next = .page(parameter: "page", first: 1, last: nil, pages: nil) }
            #expect(try await house.failure().hasPrefix("page 1"))
            await house.stop()
            api.origin.stop()
        }
    }

    @Test(
        "The number in the URL is the first page's",
        arguments: [
            ("/users?page=2", "page", ["/users?page=2", "/users?page=3", "/users?page=4"], 4),
            (
                "/users?page[number]=1&page[size]=2", "page[number]",
                [
                    "/users?page[number]=1&page[size]=2", "/users?page[size]=2&page%5Bnumber%5D=2",
                    "/users?page[size]=2&page%5Bnumber%5D=3", "/users?page[size]=2&page%5Bnumber%5D=4",
                ], 6
            ),
            ("/users?page%5Bnumber%5D=3", "page[number]", ["/users?page%5Bnumber%5D=3", "/users?page%5Bnumber%5D=4"], 2),
            ("/users?page=x", "page", ["/users?page=x", "/users?page=2", "/users?page=3", "/users?page=4"], 6),
        ])
    func firstNumber(_ path: String, _ parameter: String, _ asked: [String], _ items: Int) async throws {
        let api = try Self.numbered { connection, _ in connection.answer(404) }
        let house = try House(api.origin, path: path) { $0.next = .page(parameter: parameter, first: 1, last: nil, pages: nil) }
        #expect(try await house.run().items == items)
        // The end is asked for twice.
        #expect(api.origin.requests.map(\.path) == asked + asked.suffix(1))
        await house.stop()
        api.origin.stop()
    }

    @Test(
        "A cursor that says that there is none is the end",
        arguments: [
            "0", #""0""#, "0.0", "-1", "[]", "{}", "null", "false", #""""#, #""null""#, #""None""#, #""false""#, #""undefined""#, #"" ""#,
        ])
    func lastCursor(_ cursor: String) async throws {
        let api = try Api([]) { state in
            state.instead = { _, connection in
                connection.answer(200, body: Array(#"{"data":{"users":[\#(Api.user("a", version: 1))]},"next":\#(cursor)}"#.utf8))
                return true
            }
        }
        for next in [NextPage.cursor(JSONPointer(member: "next"), parameter: "after"), .url(JSONPointer(member: "next"))] {
            let house = try House(api.origin) { $0.next = next }
            let outcome = try await house.run()
            #expect(outcome.items == 1 && outcome.pages == 1)
            await house.stop()
        }
        api.origin.stop()
    }

    @Test("Invalid values of optional fields and conditions: items are kept, values counted and named")
    func omitted() async throws {
        let list = ["false", "7", #""""#, "NaN", #""https://example.com/b.png""#].enumerated().map { number, value in
            #"{"username":"u\#(number)","avatarUrl":"a.png","type":"regular","backgroundUrl":\#(value),"s":\#(number % 2)}"#
        }
        let api = try Api([]) { state in
            state.instead = { _, connection in
                connection.answer(200, body: Array(#"{"data":{"users":[\#(list.joined(separator: ","))]}}"#.utf8))
                return true
            }
        }
        let house = try House(api.origin) { $0.policy = .skip }
        let outcome = try await house.run()
        #expect(outcome.items == 5 && outcome.skipped == 0 && outcome.omittedValues == 3)
        #expect(
            outcome.invalid.count == 3
                && outcome.invalid[0] == "page 1, item 1: backgroundUrl: must be a string, is a boolean; the value is left out")
        await house.stop()
        let other = try House(api.origin) {
            $0.policy = .skip
            $0.conditions = [SourceCondition(JSONPointer(member: "s"), .anyOf(["0"]))]
        }
        #expect(try await other.run().items == 3)
        #expect(try await other.ids() == ["u0", "u2", "u4"])
        await other.stop()
        api.origin.stop()
    }
}
