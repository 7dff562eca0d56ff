import Foundation
import Glibc
import TestSupport
import Testing

@Suite("GET /images from outside")
struct ImageTests {
    private static let images = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../Sources/IntertwineSample/files/images")
        .standardized
        .path

    /// Starts the sample origin on a free port, and a service that may fetch from it.
    private static func start() throws -> (service: RunningService, origin: SpawnedProcess, port: UInt16) {
        let port = try freePort()
        let origin = try SpawnedProcess([BuiltProduct.path("sample-origin"), "--port", "\(port)", images])
        _ = try origin.line(containing: "listening on")
        let user =
            #"{"kind":"user","id":"a","username":"A","avatarUrl":"http://127.0.0.1:\#(port)/avatar-0.png","type":"featured"}"# + "\n"
        let missing =
            #"{"kind":"user","id":"b","username":"B","avatarUrl":"http://127.0.0.1:\#(port)/none.png","type":"featured"}"# + "\n"
        let service = try RunningService(
            items: user + missing,
            settings: ["images.worker-program=/none", "images.allowed-networks=127.0.0.1/32", "images.allowed-ports=\(port)"])
        return (service, origin, port)
    }

    private static func hrefs(_ service: RunningService) throws -> [String] {
        try JSON(try service.get("/feed").text)["cells"]?.list.compactMap {
            $0["actions"]?["configuration"]?["bindings"]?["avatar"]?["href"]?.text
        } ?? []
    }

    @Test("An image comes from the origin first and from the cache afterwards")
    func image() async throws {
        try await offPool {
            let (service, origin, _) = try Self.start()
            let href = try #require(try Self.hrefs(service).first)
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(Self.images)/avatar-0.png")))
            #expect(try service.get(href, fields: ["Cache-Control: only-if-cached"]).status == 504)
            let first = try service.get(href)
            #expect(first["cache-status"]?.contains("fwd=miss") == true && first["accept-ranges"] == "bytes", "\(first)")
            #expect(try service.get(href, fields: ["If-None-Match: \(first["etag"] ?? "")"]).status == 304)
            for _ in 0..<4 {
                let response = try service.get(href)
                #expect(response.status == 200 && response.body == bytes)
                #expect(response["content-type"] == "image/png" && response["x-content-type-options"] == "nosniff")
                #expect(response["content-security-policy"] == "default-src 'none'; sandbox")
            }
            let cached = try service.get(href)
            #expect(cached["cache-status"]?.contains("hit") == true)
            let tag = try #require(cached["etag"])
            #expect(try service.get(href, fields: ["If-None-Match: \(tag)"]).status == 304)
            let part = try service.get(href, fields: ["Range: bytes=0-7"])
            #expect(part.status == 206 && part.body == Array(bytes.prefix(8)))
            #expect(try service.ask("HEAD", href).body.isEmpty)
            origin.signal(9)
            _ = origin.wait()
            #expect(try service.get(href).status == 200)
        }
    }

    @Test("The sample origin exits with code 0 after repeated SIGTERM")
    func endingOrigin() async throws {
        try await offPool {
            let origin = try SpawnedProcess([BuiltProduct.path("sample-origin"), "--port", "0", Self.images])
            let line = try origin.line(containing: "listening on")
            let port = try #require(line.split(separator: ":").last.flatMap { UInt16($0) })
            // An unfinished request delays the exit until the second signal.
            let client = try RawClient(port: port)
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /")
            #expect(try client.response().status == 404)
            origin.signal(SIGTERM)
            try poll { (try? RawClient(port: port)) == nil }
            origin.signal(SIGTERM)
            #expect(origin.wait() == 0)
        }
    }

    @Test("Forged image URLs return 403, and images that the origin lacks return 404")
    func refusals() async throws {
        try await offPool {
            let (service, origin, _) = try Self.start()
            defer { origin.signal(SIGKILL) }
            let hrefs = try Self.hrefs(service)
            var bytes = Array(try #require(hrefs.first).utf8)
            bytes[12] = bytes[12] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            let forged = try service.get(String(decoding: bytes, as: UTF8.self))
            #expect(forged.status == 403 && forged["content-type"] == "application/problem+json")
            #expect(try service.get("/images/x/y")["image-error"] == "forged")
            #expect(forged["image-error"] == "forged" && forged["cache-control"] == "no-store", "\(forged)")
            #expect(forged["x-content-type-options"] == "nosniff", "\(forged)")
            #expect(forged["content-security-policy"] == "default-src 'none'; sandbox", "\(forged)")
            // A request id that is not a UUID cannot cancel the request, but the response has it.
            let missing = try service.get(try #require(hrefs.last), fields: ["X-Request-ID: 7"])
            #expect(missing["x-request-id"] == "7")
            #expect(missing.status == 404 && missing["image-error"] == "upstream-404" && missing["etag"] == nil, "\(missing)")
            #expect(try service.ask("DELETE", "/images/requests/\(UUID())").status == 404)
            #expect(try service.ask("POST", "/images/viewport", body: #"{"visible":[],"gone":["\#(UUID())"]}"#).status == 200)
            #expect(try service.ask("POST", "/images/viewport", body: "[]").status == 400)
        }
    }

    @Test("Operators purge images by prefix, by host or all, and ambiguous purges return 400")
    func purging() async throws {
        try await offPool {
            let (service, origin, port) = try Self.start()
            defer { origin.signal(SIGKILL) }
            let href = try #require(try Self.hrefs(service).first)
            for query in ["prefix=http://127.0.0.1:\(port)/avatar", "host=127.0.0.1", "all=true"] {
                #expect(try service.get(href)["cache-status"]?.contains("fwd=miss") == true, "\(query)")
                #expect(try service.get(href)["cache-status"]?.contains("hit") == true)
                #expect(try service.admin("DELETE", "/admin/images?\(query)").status == 204)
            }
            _ = try service.get(href)
            for query in ["prefix=http://127.0.0.1:\(port)/other", "host=example.com"] {
                #expect(try service.admin("DELETE", "/admin/images?\(query)").status == 204)
            }
            for query in ["", "all=false", "all=true&host=127.0.0.1", "host=a..b", "prefix=avatar"] {
                #expect(try service.admin("DELETE", "/admin/images?\(query)").status == 400, "\(query)")
            }
            #expect(try service.get(href)["cache-status"]?.contains("hit") == true)
        }
    }

    @Test("An image of a folder source is served, and files outside the folder are refused")
    func folder() async throws {
        try await offPool {
            let users = ["avatar-0.png", "../feed.json"].enumerated().map { number, name in
                #"{"kind":"user","id":"\#(number)","username":"A","avatarUrl":"https://pictures.example/\#(name)","type":"featured"}"#
                    + "\n"
            }
            let service = try RunningService(
                items: users.joined(),
                settings: [
                    "images.sources=https://pictures.example/ folder:\(Self.images)", "images.disk-cache=0", "images.worker-program=/none",
                ])
            let hrefs = try Self.hrefs(service)
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(Self.images)/avatar-0.png")))
            for _ in 0..<2 {
                let answer = try service.get(hrefs[0], fields: ["Accept: image/avif,image/webp,*/*;q=0.8"])
                #expect(answer.status == 200 && answer.body == bytes && answer["vary"]?.contains("Accept") == true, "\(answer)")
            }
            let refused = try service.get(hrefs[0], fields: ["Accept: image/jpeg"])
            #expect(refused.status == 406 && refused["image-error"] == "not-acceptable", "\(refused)")
            #expect([403, 404].contains(try service.get(hrefs[1]).status))
        }
    }

    @Test("An image URL that leads back to the proxy returns 508")
    func loop() async throws {
        try await offPool {
            let port = try freePort()
            let settings = ["images.worker-program=/none", "images.allowed-networks=127.0.0.1/32", "images.allowed-ports=\(port)"]
            let service = try RunningService(settings: settings, port: port)
            func href(_ source: String) throws -> String {
                let minted = try Command.run(
                    ["image-url", "--config", "\(service.folder)/empty.yaml", "--database", service.database, source]
                        + settings.flatMap { ["--set", $0] })
                return try #require(minted.lines.last)
            }
            let inner = try href("http://127.0.0.1:\(port)/a.png")
            let outer = try service.get(try href("http://127.0.0.1:\(port)\(inner)"))
            #expect(outer.status == 502 && outer["image-error"] == "upstream-508", "\(outer)")
            for (via, isLoop) in [("1.1 intertwine-images", true), ("1.0 fred, 1.1 Intertwine-Images (x)", true), ("1.1 other", false)] {
                let answer = try service.get(inner, fields: ["Via: \(via)"])
                #expect((answer.status == 508) == isLoop, "\(via): \(answer)")
                #expect((answer["image-error"] == "loop-detected") == isLoop)
            }
        }
    }

    @Test("DELETE of an image request closes it with 499 and disconnects from the origin")
    func cancelling() async throws {
        try await offPool {
            let listener = try StuckOrigin()
            let user =
                #"{"kind":"user","id":"a","username":"A","avatarUrl":"http://127.0.0.1:\#(listener.port)/a.png","type":"featured"}"# + "\n"
            let service = try RunningService(
                items: user,
                settings: ["images.worker-program=/none", "images.allowed-networks=127.0.0.1/32", "images.allowed-ports=\(listener.port)"])
            let href = try #require(try Self.hrefs(service).first)
            let id = UUID()
            let client = try RawClient(port: service.port)
            try client.send("GET \(href) HTTP/1.1\r\nHost: a\r\nX-Request-ID: \(id)\r\n\r\n")
            let upstream = try listener.accept()
            #expect(try service.ask("DELETE", "/images/requests/\(id)").status == 204)
            let answer = try client.response()
            #expect(answer.status == 499 && answer.closes)
            #expect(try client.isClosedByServer())
            #expect(upstream.waitForEnd(milliseconds: 2_000))
            #expect(try service.ask("DELETE", "/images/requests/\(id)").status == 404)
        }
    }

    @Test("A cached image allows the same methods as an image from the origin")
    func methods() async throws {
        try await offPool {
            let (service, origin, _) = try Self.start()
            defer { origin.signal(SIGKILL) }
            let href = try #require(try Self.hrefs(service).first)
            for _ in 0..<3 { _ = try service.get(href) }
            #expect(try service.get(href)["cache-status"]?.contains("hit") == true)
            for method in ["POST", "PUT", "PATCH", "DELETE"] {
                let answer = try service.ask(method, href)
                #expect(answer.status == 405 && answer["allow"] == "HEAD, GET, OPTIONS", "\(method): \(answer)")
            }
            let options = try service.ask("OPTIONS", href)
            #expect(options.status == 204 && options["allow"] == "HEAD, GET, OPTIONS")
            #expect(try service.get(href, fields: ["Expect: foo"]).status == 417)
            let tag = try #require(try service.get(href)["etag"])
            #expect(try service.get(href, fields: ["Range: bytes=0-7", "If-Range: \(tag)"]).status == 206)
            #expect(try service.get(href, fields: ["Range: bytes=0-7", "If-Range: \(tag), \"x\""]).status == 200)
        }
    }

    @Test("Prefetch requests wait in the queue behind ordinary image requests")
    func prefetch() async throws {
        try await offPool {
            let gate = Gate()
            let origin = try Origin { request, connection in
                if request.path == "/0.png" { gate.wait() }
                connection.answer(404)
            }
            defer { origin.stop() }
            let users = (0..<3).map {
                #"{"kind":"user","id":"\#($0)","username":"\#($0)","avatarUrl":"\#(origin.url("/\($0).png"))","type":"featured"}"#
            }
            let service = try RunningService(
                items: users.joined(separator: "\n") + "\n",
                settings: [
                    "images.worker-program=/none", "images.allowed-networks=127.0.0.1/32", "images.allowed-ports=\(origin.port)",
                    "images.downloads-per-host=1",
                    "images.queue-timeout=30s",
                ])
            func queued(_ count: Int) throws -> Bool {
                try service.admin("GET", "/metrics").text.contains("intertwine_image_downloads_queued \(count)\n")
            }
            let fields = ["", "Purpose: none\r\n", "Sec-Purpose: prefetch;prerender\r\n"]
            var clients: [RawClient] = []
            for (number, href) in try Self.hrefs(service).enumerated() {
                let client = try RawClient(port: service.port)
                try client.send("GET \(href) HTTP/1.1\r\nHost: a\r\n\(fields[number])\r\n")
                try poll { number == 0 ? !origin.requests.isEmpty : try queued(number) }
                clients.append(client)
            }
            gate.open()
            for client in clients { #expect(try client.response().status == 404) }
            #expect(origin.requests.map(\.path) == ["/0.png", "/1.png", "/2.png"])
        }
    }

    @Test("A closed connection cancels the image request at the origin")
    func leaving() async throws {
        try await offPool {
            let listener = try StuckOrigin()
            let user =
                #"{"kind":"user","id":"a","username":"A","avatarUrl":"http://127.0.0.1:\#(listener.port)/a.png","type":"featured"}"# + "\n"
            let service = try RunningService(
                items: user,
                settings: ["images.worker-program=/none", "images.allowed-networks=127.0.0.1/32", "images.allowed-ports=\(listener.port)"])
            let href = try #require(try Self.hrefs(service).first)
            let client = try RawClient(port: service.port)
            try client.send("GET \(href) HTTP/1.1\r\nHost: a\r\n\r\n")
            let upstream = try listener.accept()
            client.close()
            #expect(upstream.waitForEnd(milliseconds: 2_000))
        }
    }
}
