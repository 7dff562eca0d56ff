import Foundation
import HTTPTypes
import Testing

@testable import IntertwineHTTPServer
@testable import IntertwineService

@Suite("Access to the operators' listener")
struct OperatorAccessTests {
    private func status(
        _ token: String, _ field: String?, method: HTTPRequest.Method = .get, origin: String? = nil, host: String? = "127.0.0.1:8081"
    ) -> Int? {
        var request = HTTPRequest(method: method, scheme: "http", authority: host, path: "/")
        request.headerFields[.authorization] = field
        request.headerFields[.origin] = origin
        return OperatorAccess(token: token).refusal(of: request)?.status.code
    }

    @Test(
        "Only a bearer field with the exact token grants access",
        arguments: [
            ("Bearer opensesame", nil), ("bearer opensesame", nil), ("Bearer opensesam", 401), ("Bearer opensesame1", 401),
            ("Bearer ", 401), ("Bearer   opensesame", nil), ("Bearer   ", 401),
            ("Basic opensesame", 401), ("opensesame", 401), (nil, 401), ("Bearer Opensesame", 401),
        ] as [(String?, Int?)])
    func token(field: String?, expected: Int?) {
        #expect(status("opensesame", field) == expected)
    }

    @Test("Two authorization fields return 401")
    func twice() {
        var request = HTTPRequest(method: .get, scheme: "http", authority: "test", path: "/")
        request.headerFields.append(HTTPField(name: .authorization, value: "Bearer opensesame"))
        request.headerFields.append(HTTPField(name: .authorization, value: "Bearer opensesame"))
        #expect(OperatorAccess(token: "opensesame").refusal(of: request)?.status == .unauthorized)
    }

    @Test("Without a token, reads and writes are permitted, except writes from other origins")
    func pages() {
        #expect(status("", nil) == nil)
        #expect(status("", nil, method: .put) == nil)
        #expect(status("", nil, method: .put, origin: "https://evil.example") == 403)
    }

    @Test(
        "Without a token, only IP addresses and localhost are accepted as Host, against DNS rebinding",
        arguments: [
            ("127.0.0.1:8081", nil), ("127.0.0.1", nil), ("[::1]:8081", nil), ("[::1]", nil), ("localhost:8081", nil), ("LOCALHOST", nil),
            ("10.0.0.7", nil), (nil, nil), ("evil.example", 421), ("evil.example:8081", 421), ("127.0.0.1.evil.example", 421),
            ("localhost.evil.example", 421), ("[evil.example]", 421), ("", 421), ("[", 421), ("]", 421), ("::1", 421), ("2130706433", 421),
        ] as [(String?, Int?)])
    func rebinding(host: String?, expected: Int?) {
        #expect(status("", nil, host: host) == expected)
        #expect(status("", nil, method: .put, host: host) == expected)
        #expect(status("opensesame", "Bearer opensesame", host: host) == nil)
    }

    @Test("The name of a token does not reveal the token")
    func name() {
        let name = OperatorAccess(token: "opensesame").name
        #expect(name.wholeMatch(of: /token:[0-9a-f]{8}/) != nil)
        #expect(name != OperatorAccess(token: "opensesamf").name)
        #expect(OperatorAccess(token: "").name == "loopback")
    }

    @Test(
        "A token is required for an address that is not loopback",
        arguments: [
            ("127.0.0.1", "", true), ("127.1.2.3", "", true), ("::1", "", true), ("localhost", "", true), ("0.0.0.0", "", false),
            ("::", "", false), ("10.0.0.1", "", false), ("127.evil", "", false), ("0.0.0.0", "open-sesame-1234", true),
            ("127.0.0.1", "short-sesame-12", false),
        ])
    func configuration(host: String, token: String, isAllowed: Bool) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID()).yaml").path
        try "".write(toFile: file, atomically: true, encoding: .utf8)
        let sources = try SettingSources(flags: ["admin.host": host, "admin.token": token], environment: [:], file: file)
        var refusal = ""
        do { _ = try ServiceConfiguration(sources) } catch { refusal = "\(error)" }
        #expect(refusal.isEmpty == isAllowed)
        #expect(isAllowed || refusal.hasPrefix(host == "127.evil" ? "admin.host: " : "admin.token: "), "\(refusal)")
        #expect(!refusal.contains("short"))
    }
}
