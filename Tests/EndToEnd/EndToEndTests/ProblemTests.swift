import Foundation
import TestSupport
import Testing

@Suite("Problem details from outside", .timeLimit(.untilStuck))
struct ProblemTests {
    /// An invalid request, and the locations and codes of its problem.
    struct Invalid: Sendable, CustomTestStringConvertible {
        var method: String
        var path: String
        var body = ""
        var fields: [String] = []
        var status = 400
        var errors: [String]

        var testDescription: String { "\(method) \(path) \(body.prefix(60)) \(fields)" }
    }

    private static let requests = [
        Invalid(method: "GET", path: "/feed?limit=0", errors: ["limit out-of-range"]),
        Invalid(
            method: "GET", path: "/feed?limit=x&layout=round&width=0", errors: ["limit invalid", "layout unknown", "width out-of-range"]),
        Invalid(method: "GET", path: "/feed?limit=1&limit=2", errors: ["limit duplicate"]),
        Invalid(method: "GET", path: "/feed?limit=%ff", errors: ["limit invalid"]),
        Invalid(method: "GET", path: "/feed?cursor=abc", errors: ["cursor invalid"]),
        Invalid(method: "GET", path: "/feed?cursor=a&cursor=b", errors: ["cursor duplicate"]),
        Invalid(method: "GET", path: "/feed?client=abc", errors: ["client unknown"]),
        Invalid(method: "GET", path: "/feed?client=AAAAAAAAAAAAAAAA", errors: ["client unknown"]),
        Invalid(method: "GET", path: "/feed", fields: ["Accept-Cells: ("], errors: ["Accept-Cells invalid"]),
        Invalid(
            method: "GET", path: "/feed", fields: ["X-Viewer-ID: \(String(repeating: "v", count: 257))"], errors: ["X-Viewer-ID too-long"]),
        Invalid(method: "GET", path: "/feed", fields: ["X-Viewer-ID: .."], errors: ["X-Viewer-ID invalid"]),
        Invalid(
            method: "POST", path: "/cells/user:u0/selection", fields: ["Idempotency-Key: a b"], errors: ["Idempotency-Key invalid"]),
        Invalid(method: "POST", path: "/cells/user:u0/selection?token=a&token=b", errors: ["token duplicate"]),
        Invalid(method: "POST", path: "/events", body: "[]", errors: ["# invalid"]),
        Invalid(method: "POST", path: "/events", body: "{", errors: ["# invalid"]),
        Invalid(method: "POST", path: "/events", body: "{}", errors: ["#/events required"]),
        Invalid(method: "POST", path: "/events", body: #"{"events":{}}"#, errors: ["#/events invalid"]),
        Invalid(method: "PUT", path: "/clients/1x", body: #"{"cells":"*"}"#, errors: ["name invalid"]),
        Invalid(method: "PUT", path: "/clients/ios", body: "{}", errors: ["#/cells required"]),
        Invalid(method: "PUT", path: "/clients/ios", body: #"{"cells":"("}"#, errors: ["#/cells invalid"]),
        Invalid(method: "POST", path: "/images/viewport", body: #"{"visible":[1]}"#, errors: ["#/visible/0 invalid"]),
    ]

    private static let administration = [
        Invalid(method: "PUT", path: "/admin/items/user/x", body: "{", errors: ["# invalid"]),
        Invalid(method: "PUT", path: "/admin/items/user/x", body: "[]", status: 422, errors: ["# invalid"]),
        Invalid(
            method: "PUT", path: "/admin/items/user/x", body: #"{"type":"odd","username":"Y","avatarUrl":"https://a.example/a.png"}"#,
            status: 422, errors: ["#/type unknown"]),
        Invalid(
            method: "PUT", path: "/admin/items/user/x", body: #"{"type":"featured","avatarUrl":"https://a.example/a.png"}"#, status: 422,
            errors: ["#/username required"]),
        Invalid(
            method: "PUT", path: "/admin/items/user/x",
            body: #"{"id":"y","type":"featured","username":"Y","avatarUrl":"https://a.example/a.png"}"#, status: 422,
            errors: ["#/id conflict"]),
        Invalid(method: "PUT", path: "/admin/items/user/x", body: "{}", status: 422, errors: ["#/username required"]),
        Invalid(method: "DELETE", path: "/admin/items/user/u0", fields: ["If-Match: x"], errors: ["If-Match invalid"]),
        Invalid(
            method: "POST", path: "/admin/items", body: #"[{"kind":"user","id":"1"}]"#, status: 422, errors: ["#/0/username required"]),
        Invalid(method: "PUT", path: "/admin/takedowns/user:u0", body: #"{"reason":7}"#, status: 422, errors: ["#/reason invalid"]),
        Invalid(
            method: "PUT", path: "/admin/takedowns/user:u0", body: #"{"reason":"\#(String(repeating: "r", count: 257))"}"#, status: 422,
            errors: ["#/reason too-long"]),
        Invalid(method: "PUT", path: "/admin/takedowns/u0", errors: ["id invalid"]),
        Invalid(method: "GET", path: "/admin/reports?from=2026-02-30", errors: ["from invalid"]),
        Invalid(method: "GET", path: "/admin/reports?from=2026-02-02&to=2026-02-01", errors: ["from conflict", "to conflict"]),
        Invalid(method: "DELETE", path: "/admin/images", errors: ["url required", "prefix required", "host required", "all required"]),
        Invalid(method: "DELETE", path: "/admin/images?url=x", errors: ["url invalid"]),
        Invalid(method: "GET", path: "/admin/explain?viewer=", errors: ["viewer invalid"]),
        Invalid(
            method: "DELETE", path: "/admin/viewers/\(String(repeating: "v", count: 257))", errors: ["id too-long"]),
    ]

    private static func check(_ response: RawResponse, _ request: Invalid) throws {
        #expect(response.status == request.status, "\(response.text)")
        let problem = try JSON(response.text)
        let found = (problem["errors"]?.list ?? []).map { error in
            let location = error["parameter"]?.text ?? error["pointer"]?.text.map { "#\($0)" } ?? ""
            return "\(location) \(error["code"]?.text ?? "")"
        }
        #expect(found == request.errors, "\(response.text)")
        let id = try #require(response["x-request-id"])
        #expect(problem["instance"]?.text == "urn:intertwine:request:\(id)")
    }

    @Test("Problem details name each invalid parameter and each invalid value of a body")
    func errors() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(2), settings: [RunningService.tokenSetting])
            for request in Self.requests {
                let response = try service.ask(
                    request.method, request.path, fields: ["User-Agent: tests"] + request.fields, body: request.body)
                try Self.check(response, request)
            }
            for request in Self.administration {
                try Self.check(
                    try service.admin(request.method, request.path, with: request.fields, body: request.body), request)
            }
        }
    }

    @Test("The instance of a problem has the request id of the access log")
    func instance() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(1), settings: ["log.requests=true"])
            let problem = try JSON(try service.get("/feed?limit=0", fields: ["User-Agent: tests", "X-Request-ID: a#1"]).text)
            #expect(problem["instance"]?.text == "urn:intertwine:request:a%231")
            while !service.process.lines.contains(where: { $0.contains("request_id=a#1") || $0.contains(#""request_id":"a#1""#) }) {
                _ = try #require(try service.process.nextLine())
            }
        }
    }
}
