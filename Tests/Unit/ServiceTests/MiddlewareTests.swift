import HTTPTypes
import IntertwineTesting
import TestSupport
import Testing

@testable import IntertwineHTTPServer
@testable import IntertwineService

@Suite("Middleware and cached responses")
struct MiddlewareTests {
    /// Changes each public property of a response.
    private struct Changing: ServiceMiddleware {
        func handle(_ head: borrowing RequestHead, peer: PeerAddress, route: String?, next: any HTTPHandler) -> HandlerResult {
            next.handle(head, peer: peer) { request, respond in
                var response = try await respond(request)
                guard request.head.path?.hasPrefix("/feed") == true else { return response }
                let before = response.fields[.cacheControl] ?? "none"
                response.fields[.cacheControl] = "no-store"
                response.fields[.server] = before
                response.entityTag = "\"changed\""
                if request.head.path == "/feed?limit=2" { response.status = .accepted }
                return response
            }
        }
    }

    /// Adds a field without a task.
    private struct Naming: ServiceMiddleware {
        private static let fields = EncodedFields([.server: "tests", .vary: "X-Test"])

        func handle(_ head: borrowing RequestHead, peer: PeerAddress, route: String?, next: any HTTPHandler) -> HandlerResult {
            next.handle(head, peer: peer).adding(Self.fields)
        }
    }

    @Test("Middleware that adds fields keeps cached pages encoded, and adds them to all responses")
    func fields() async throws {
        var extensions = ServiceExtensions()
        extensions.middleware = [Naming()]
        let service = try await TestService(.socket, items: sampleItems(users: 40), extensions: extensions)
        try await offPool {
            for path in ["/feed", "/feed", "/feed?limit=0", "/missing", "/openapi.json"] {
                let response = try service.get(path, fields: ["Accept-Encoding: gzip"])
                #expect(response["server"] == "tests")
                #expect(response["vary"]?.hasSuffix("X-Test") == true, "\(path): \(response["vary"] ?? "")")
            }
        }
        await service.stop()
    }

    @Test("Middleware changes apply to fresh and cached pages, with and without gzip")
    func changes() async throws {
        var extensions = ServiceExtensions()
        extensions.middleware = [Changing()]
        let service = try await TestService(.socket, items: sampleItems(users: 40), extensions: extensions)
        try await offPool {
            for _ in 0..<2 {
                for fields in [[], ["Accept-Encoding: gzip"]] {
                    let page = try service.get("/feed", fields: fields)
                    #expect(page.status == 200 && page["cache-control"] == "no-store" && page["server"] == "no-cache")
                    #expect(page["etag"] == (fields.isEmpty ? "\"changed\"" : "\"changed-gz\""))
                    #expect((page["content-encoding"] == "gzip") == !fields.isEmpty)
                    #expect(try service.get("/feed", fields: fields + ["If-None-Match: \(page["etag"] ?? "")"]).status == 304)
                }
                #expect(try service.get("/feed?limit=2", fields: []).status == 202)
            }
        }
        await service.stop()
    }
}
