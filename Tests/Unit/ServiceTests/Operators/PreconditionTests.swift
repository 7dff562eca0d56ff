import HTTPTypes
import Testing

@testable import IntertwineFeed
@testable import IntertwineHTTPServer
@testable import IntertwineService

@Suite("Preconditions of writes")
struct PreconditionTests {
    private static let stored = StoredItem(
        ValidatedItem(kind: "user", stream: .content, id: "a", variant: "regular", body: Array("{}".utf8)))
    private static var tag: String { stored.entityTag }

    struct Case: Sendable {
        var match: String?
        var noneMatch: String?
        var isThere: Bool
        var isFree = false
        var status: Int?
    }

    @Test(
        "The conditions of a write and the stored item determine its status",
        arguments: [
            Case(isThere: false, status: nil), Case(isThere: true, status: 428), Case(isThere: true, isFree: true, status: nil),
            Case(match: tag, isThere: true, status: nil), Case(match: "\"other\"", isThere: true, status: 412),
            Case(match: "\"other\", \(tag)", isThere: true, status: nil), Case(match: "\"a,b\" ,\(tag)", isThere: true, status: nil),
            Case(match: "W/\(tag)", isThere: true, status: 412),
            Case(match: "*", isThere: true, status: nil), Case(match: "*", isThere: false, status: 412),
            Case(match: tag, isThere: false, status: 412), Case(match: "\"other\"", isThere: true, isFree: true, status: 412),
            Case(noneMatch: "*", isThere: false, status: nil), Case(noneMatch: "*", isThere: true, status: 412),
            Case(noneMatch: "W/\(tag)", isThere: true, status: 412), Case(noneMatch: "\"other\"", isThere: true, status: nil),
            Case(match: "nonsense", isThere: true, status: 400),
        ])
    func table(of one: Case) {
        var request = HTTPRequest(method: .put, scheme: "http", authority: "test", path: "/")
        request.headerFields[.ifMatch] = one.match
        request.headerFields[.ifNoneMatch] = one.noneMatch
        var status: Int?
        do throws(Problem) {
            try Precondition(request).check(one.isThere ? Self.stored : nil, isFree: { _ in one.isFree })
        } catch {
            status = error.status.code
        }
        #expect(status == one.status)
    }

    @Test("An item without a type has no type member in its JSON")
    func untyped() {
        let item = ValidatedItem(kind: "event", stream: .content, id: "1", variant: "", body: Array(#"{"a":1}"#.utf8))
        #expect(String(decoding: StoredItem(item).json, as: UTF8.self) == #"{"kind":"event","id":"1","a":1}"#)
        #expect(String(decoding: Self.stored.json, as: UTF8.self) == #"{"kind":"user","id":"a","type":"regular"}"#)
    }
}
