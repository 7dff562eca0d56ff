import Foundation
import TestSupport
import Testing

@Suite("API description and CORS from outside")
struct DescriptionCrossOriginTests {
    private static let origin = "Origin: https://app.example.com"

    private static func service(_ settings: [String] = ["cors.origins=https://app.example.com"]) throws -> RunningService {
        try RunningService(items: Items.users(3) + Items.advertisement(1), settings: settings)
    }

    @Test("The description and the schema have a media type, ETag and gzip coding", arguments: ["/openapi.json", "/schemas/cell.json"])
    func description(path: String) async throws {
        try await offPool {
            let service = try Self.service([])
            let answer = try service.get(path)
            #expect(answer.status == 200)
            #expect(answer["content-type"] == (path == "/openapi.json" ? "application/json" : "application/schema+json"))
            let tag = try #require(answer["etag"])
            #expect(try service.get(path, fields: ["If-None-Match: \(tag)"]).status == 304)
            #expect(try service.get(path, fields: ["Accept-Encoding: gzip"])["content-encoding"] == "gzip")
            #expect(try service.ask("HEAD", path)["content-length"] == answer["content-length"])
        }
    }

    @Test("Responses have no CORS fields by default")
    func off() async throws {
        try await offPool {
            let service = try Self.service([])
            let preflight = ["\(Self.origin)", "Access-Control-Request-Method: POST"]
            for answer in [
                try service.get("/feed", fields: [Self.origin]), try service.get("/feed", fields: [Self.origin]),
                try service.ask("OPTIONS", "/events", fields: preflight),
            ] {
                #expect(answer["access-control-allow-origin"] == nil && answer["access-control-allow-methods"] == nil)
                #expect(answer["vary"]?.contains("Origin") != true)
            }
        }
    }

    @Test("Responses to an allowed origin have CORS fields, cached, 304 and error responses included")
    func answers() async throws {
        try await offPool {
            let service = try Self.service()
            var tag = ""
            for _ in 0..<3 {
                let answer = try service.get("/feed?limit=2", fields: [Self.origin, "Accept-Encoding: gzip"])
                #expect(answer.status == 200)
                #expect(answer["access-control-allow-origin"] == "https://app.example.com")
                #expect(answer["access-control-allow-credentials"] == nil)
                #expect(answer["vary"]?.contains("Origin") == true && answer["vary"]?.contains("X-Viewer-ID") == true)
                for name in ["Link", "ETag", "X-Verdict"] { #expect(answer["access-control-expose-headers"]?.contains(name) == true) }
                tag = try #require(answer["etag"])
            }
            let same = try service.get("/feed?limit=2", fields: [Self.origin, "Accept-Encoding: gzip", "If-None-Match: \(tag)"])
            #expect(same.status == 304 && same["access-control-allow-origin"] == "https://app.example.com")
            for (method, path, status) in [("GET", "/feed?limit=0", 400), ("GET", "/nothing", 404), ("PUT", "/feed", 405)] {
                let answer = try service.ask(method, path, fields: [Self.origin])
                #expect(answer.status == status && answer["access-control-allow-origin"] == "https://app.example.com")
            }
        }
    }

    @Test("Responses to other requests allow no origin and vary by Origin")
    func others() async throws {
        try await offPool {
            let service = try Self.service()
            let fields: [[String]] = [
                ["User-Agent: tests"], ["Origin: https://evil.example.com"], ["Origin: null"], ["Origin: https://app.example.com.evil.com"],
            ]
            for fields in fields + fields {
                let answer = try service.get("/feed", fields: fields)
                #expect(answer.status == 200 && answer["access-control-allow-origin"] == nil)
                #expect(answer["vary"]?.contains("Origin") == true)
            }
        }
    }

    @Test("A preflight response has methods, fields and maximum age only for an allowed origin")
    func preflight() async throws {
        try await offPool {
            let service = try Self.service()
            let asked = ["Access-Control-Request-Method: DELETE", "Access-Control-Request-Headers: idempotency-key, x-viewer-id"]
            let answer = try service.ask("OPTIONS", "/cells/user:u1/selection", fields: [Self.origin] + asked)
            #expect(answer.status == 204)
            #expect(answer["access-control-allow-origin"] == "https://app.example.com")
            #expect(answer["access-control-allow-methods"] == "POST, DELETE, OPTIONS")
            let allowed = answer["access-control-allow-headers"]?.components(separatedBy: ", ") ?? []
            let sent = ["Idempotency-Key", "X-Request-ID", "Content-Type", "Accept-Cells", "Last-Event-ID"]
            #expect(allowed.filter((sent + ["X-Viewer-ID", "X-Viewer-Language"]).contains).count == 7, "\(allowed)")
            #expect(!allowed.contains(""), "no field tells campaigns of the viewer")
            #expect(answer["access-control-max-age"] == "600" && answer["vary"]?.contains("Origin") == true)
            let other = try service.ask("OPTIONS", "/cells/user:u1/selection", fields: ["Origin: https://evil.example.com"] + asked)
            #expect(other.status == 204 && other["access-control-allow-origin"] == nil && other["access-control-allow-methods"] == nil)
        }
    }

    @Test("Credentials are allowed for named origins and refused together with a wildcard")
    func credentials() async throws {
        try await offPool {
            let named = try Self.service(["cors.origins=https://app.example.com", "cors.credentials=true"])
            let answer = try named.get("/feed", fields: [Self.origin])
            #expect(answer["access-control-allow-credentials"] == "true")
            #expect(answer["access-control-allow-origin"] == "https://app.example.com")
            let any = try Self.service(["cors.origins=*"])
            let open = try any.get("/feed", fields: [Self.origin])
            #expect(open["access-control-allow-origin"] == "*" && open["access-control-allow-credentials"] == nil)
            let both = try Command.run(["check-config", "--set", "cors.origins=*", "--set", "cors.credentials=true"])
            #expect(both.code != 0 && both.lines.contains { $0.contains("cors.credentials") })
            for origins in ["https://app.example.com,*", "*,https://app.example.com", "*,*"] {
                let refused = try Command.run(["check-config", "--set", "cors.origins=\(origins)"])
                #expect(
                    refused.code != 0 && refused.lines.contains { $0.contains("cors.origins") && $0.contains("* must be the only origin") })
            }
            for origin in ["app.example.com", "https://app.example.com/", "HTTPS://APP.example.com"] {
                #expect(try Command.run(["check-config", "--set", "cors.origins=\(origin)"]).code != 0)
            }
        }
    }

    @Test("Error responses of the HTTP server have CORS fields too")
    func refusals() async throws {
        try await offPool {
            let service = try Self.service([
                "cors.origins=https://app.example.com", "limits.header-timeout=300ms", "limits.total-body-bytes=64",
            ])
            let (long, body) = (String(repeating: "a", count: 18_000), String(repeating: "x", count: 600))
            let cases: [(String, String, Int)] = [
                ("POST /events", "Content-Type: application/json\r\nContent-Length: 9999999\r\n\r\n", 413),
                ("POST /events", "Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc", 415),
                ("GET /feed", "Expect: miracles\r\n\r\n", 417), ("GET /feed", "Host: b\r\n\r\n", 400), ("GET /feed?\(long)", "\r\n", 414),
                ("GET /feed", "X: \(long)\r\n\r\n", 431), ("POST /events", "Transfer-Encoding: gzip, chunked\r\n\r\n", 501),
                ("BREW /feed", "\r\n", 501), ("TRACE /feed", "\r\n", 405), ("GET /feed", "X", 408),
                ("GET /feed", "If-Match: \"x\"\r\n\r\n", 412),
                ("GET /feed", "Accept-Encoding: *;q=0\r\n\r\n", 406),
                ("POST /events", "Content-Type: application/json\r\nContent-Length: 600\r\n\r\n" + body, 503),
            ]
            _ = try service.get("/feed")
            for (line, rest, status) in cases {
                let client = try RawClient(port: service.port)
                client.sendIgnoringClose(Array("\(line) HTTP/1.1\r\nHost: a\r\n\(Self.origin)\r\n\(rest)".utf8))
                let answer = try client.response()
                #expect(answer.status == status, "\(line) \(answer)")
                #expect(answer["access-control-allow-origin"] == "https://app.example.com", "\(line) \(answer)")
                #expect(answer["vary"]?.contains("Origin") == true, "\(line) \(answer)")
                // Responses to TRACE and to unknown methods have the methods of the resource in Allow.
                if line.hasSuffix(" /feed"), [405, 501].contains(status) { #expect(answer["allow"] == "HEAD, GET, OPTIONS") }
            }
        }
    }
}
