import Foundation
import TestSupport
import Testing

@Suite("Images in the size of their cell", .timeLimit(.untilStuck))
struct SizedImageTests {
    private static let images = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../Sources/IntertwineSample/files/images")
        .standardized
        .path

    private static func start(_ settings: [String] = [], names: [String] = ["avatar-0", "none"]) throws -> (
        service: RunningService, origin: SpawnedProcess
    ) {
        let port = try freePort()
        let origin = try SpawnedProcess([BuiltProduct.path("sample-origin"), "--port", "\(port)", images])
        _ = try origin.line(containing: "listening on")
        let users = names.map { name in
            #"{"kind":"user","id":"\#(name)","username":"Ann Bee","avatarUrl":"http://127.0.0.1:\#(port)/\#(name).png","type":"featured"}"#
                + "\n"
        }
        let service = try RunningService(
            items: users.joined(), settings: ["images.allowed-networks=127.0.0.1/32", "images.allowed-ports=\(port)"] + settings)
        return (service, origin)
    }

    private static func avatars(_ service: RunningService, _ query: String = "") throws -> [JSON] {
        try JSON(try service.get("/feed" + query).text)["cells"]?.list.compactMap {
            $0["actions"]?["configuration"]?["bindings"]?["avatar"]
        } ?? []
    }

    /// Returns the width and height in a PNG header.
    private static func size(_ png: [UInt8]) -> (Int, Int)? {
        guard png.count > 24, png.starts(with: [0x89, 0x50, 0x4e, 0x47]) else { return nil }
        return (Int(png[18]) << 8 | Int(png[19]), Int(png[22]) << 8 | Int(png[23]))
    }

    @Test("Images have the scale and format of the client, and placeholders survive a restart")
    func sized() async throws {
        try await offPool {
            let (service, origin) = try Self.start()
            defer { origin.signal(9) }
            let before = try #require(try Self.avatars(service).first)
            let href = try #require(before["href"]?.text)
            #expect(before["width"]?.number == 120 && before["placeholder"] == nil)
            #expect(try Self.avatars(service, "?scale=2").first?["href"]?.text == href + "@2x")
            for (scale, suffix) in [(1, ""), (2, "@2x")] {
                let png = try service.get(href + suffix, fields: ["Accept: image/png"])
                #expect(png.status == 200 && png["content-type"] == "image/png" && png["vary"] == "Accept", "\(png)")
                let size = try #require(Self.size(png.body))
                #expect(size == (120 * scale, 120 * scale))
            }
            let webP = try service.get(href, fields: ["Accept: image/webp,*/*"])
            #expect(webP["content-type"] == "image/webp" && webP.body.starts(with: Array("RIFF".utf8)))
            #expect(webP["cache-status"]?.contains("stored") == true)
            let again = try service.get(href, fields: ["Accept: image/webp,*/*"])
            #expect(again.body == webP.body && again["cache-status"]?.contains("hit") == true)
            #expect(try service.get(href, fields: ["Accept: image/webp,*/*", "If-None-Match: \(again["etag"] ?? "")"]).status == 304)
            #expect(try service.get(href + "@4x").status == 403)
            var known = before
            while known["placeholder"] == nil { known = try #require(try Self.avatars(service).first) }
            #expect(known["color"]?.text?.count == 7 && (known["original"]?["width"]?.number ?? 0) == 512)
            let likeness = try #require(known["placeholder"]?.text.flatMap { Data(base64Encoded: $0) })
            #expect((5...40).contains(likeness.count))
            try service.killAndRestart()
            var restarted = before
            while restarted["placeholder"] == nil { restarted = try #require(try Self.avatars(service).first) }
            #expect(restarted["placeholder"]?.text == known["placeholder"]?.text)
        }
    }

    @Test("Prefetch renders images of the next page in the format of the client")
    func ahead() async throws {
        try await offPool {
            let (service, origin) = try Self.start(["images.prefetch-percent=50"], names: (0..<12).map { "avatar-\($0)" })
            defer { origin.signal(9) }
            let hrefs = try Self.avatars(service, "?limit=100").compactMap { $0["href"]?.text }
            #expect(hrefs.count == 12 && Set(hrefs).count == 12)
            let webP = ["Accept: image/webp,*/*"]
            #expect(try service.get(hrefs[0], fields: webP).status == 200)
            var next: String? = "/feed?limit=2"
            var made: [String] = []
            // A page is prefetched only while no other read is active, so possibly not at the first step.
            while made.isEmpty, let path = next {
                next = try JSON(service.get(path).text)["page"]?["next"]?.text
                for _ in 0..<200 where made.isEmpty {
                    usleep(5_000)
                    made = try hrefs.dropFirst().filter {
                        try service.get($0, fields: webP + ["Cache-Control: only-if-cached"]).status == 200
                    }
                }
            }
            // No ordinary request has rendered this image.
            let image = try service.get(try #require(made.first), fields: webP)
            #expect(image["content-type"] == "image/webp" && image["cache-status"]?.contains("hit") == true)
        }
    }

    @Test("A file of the configuration replaces an unavailable image")
    func fallback() async throws {
        try await offPool {
            let (service, origin) = try Self.start(["images.fallbacks=avatar=\(Self.images)/avatar-1.png"])
            defer { origin.signal(9) }
            let hrefs = try Self.avatars(service, "?scale=2").compactMap { $0["href"]?.text }
            let substitute = try service.get(hrefs[1], fields: ["Accept: image/png"])
            #expect(substitute.status == 200 && substitute["image-error"] == "upstream-404", "\(substitute)")
            #expect(substitute["cache-control"] == "public, max-age=30" && substitute["cache-status"]?.contains("detail=fallback") == true)
            #expect(hrefs[1].hasSuffix("~avatar@2x"))
            let size = try #require(Self.size(substitute.body))
            #expect(size == (240, 240))
        }
    }

    /// Returns an origin with a square image at every path.
    private static func origin() throws -> Origin {
        let image = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(images)/avatar-0.png")))
        return try Origin { _, connection in
            connection.answer(200, ["Content-Type: image/png", "Cache-Control: max-age=3600"], body: image)
        }
    }

    @Test("A purge by prefix removes sized images and originals of that prefix alone")
    func forgotten() async throws {
        try await offPool {
            let origin = try Self.origin()
            defer { origin.stop() }
            let paths = ["/p/a", "/p/b.png", "/p/q/c", "/pq/a", "/p.png", "/"]
            let users = paths.enumerated().map { number, path in
                #"{"kind":"user","id":"\#(number)","username":"A","avatarUrl":"\#(origin.url(path))","type":"featured"}"# + "\n"
            }
            let service = try RunningService(
                items: users.joined(), settings: ["images.allowed-networks=127.0.0.1/32", "images.allowed-ports=\(origin.port)"])
            let hrefs = try Self.avatars(service, "?limit=10").compactMap { $0["href"]?.text }
            try #require(hrefs.count == paths.count)
            for href in hrefs { #expect(try service.get(href, fields: ["Accept: image/png"]).status == 200) }
            #expect(origin.requests.count == paths.count)
            #expect(try service.admin("DELETE", "/admin/images?prefix=\(origin.url("/p/"))").status == 204)
            let stored = try hrefs.map { try service.get($0, fields: ["Accept: image/png"])["cache-status"]?.contains("; hit") }
            #expect(stored == [false, false, false, true, true, true])
            // The purge removed their originals as well.
            #expect(origin.requests.dropFirst(paths.count).map(\.path).sorted() == ["/p/a", "/p/b.png", "/p/q/c"])
        }
    }

    /// Returns an animation with frames of one pixel.
    private static func animation(_ frames: Int) -> [UInt8] {
        func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
            let size = withUnsafeBytes(of: UInt32(content.count).littleEndian) { Array($0) }
            return Array(name.utf8) + size + content + [UInt8](repeating: 0, count: content.count % 2)
        }
        // One black pixel in lossless coding.
        let pixel = chunk("VP8L", [0x2f, 0, 0, 0, 0, 0x07, 0x10, 0x11, 0xfd, 0x0f, 0x44, 0x44, 0xff, 0x03])
        let frame = chunk("ANMF", [UInt8](repeating: 0, count: 12) + [10, 0, 0, 0] + pixel)
        let head = chunk("VP8X", [2] + [UInt8](repeating: 0, count: 9)) + chunk("ANIM", [UInt8](repeating: 0, count: 6))
        return chunk("RIFF", Array("WEBP".utf8) + head + [[UInt8]](repeating: frame, count: frames).joined())
    }

    @Test("Animations with too many frames return 415 without a worker failure")
    func frames() async throws {
        try await offPool {
            let good = try Self.origin()
            // Made once, because it takes longer than the time limit of a response's head on a busy machine.
            let animation = Self.animation(100_000)
            let bad = try Origin { _, connection in
                connection.answer(200, ["Content-Type: image/webp", "Cache-Control: max-age=3600"], body: animation)
            }
            defer {
                good.stop()
                bad.stop()
            }
            let urls = (0..<6).map { bad.url("/\($0)") } + [good.url("/good")]
            let users = urls.enumerated().map { number, url in
                #"{"kind":"user","id":"\#(number)","username":"A","avatarUrl":"\#(url)","type":"featured"}"# + "\n"
            }
            let service = try RunningService(
                items: users.joined(),
                settings: ["images.allowed-networks=127.0.0.1/32", "images.allowed-ports=\(good.port),\(bad.port)"])
            let hrefs = try Self.avatars(service, "?limit=10").compactMap { $0["href"]?.text }
            try #require(hrefs.count == urls.count)
            for _ in 0..<2 {
                for href in hrefs.dropLast() {
                    let refused = try service.get(href, fields: ["Accept: image/webp"])
                    #expect(refused.status == 415 && refused["image-error"] == "too-many-frames", "\(refused)")
                }
                #expect(try service.get(try #require(hrefs.last), fields: ["Accept: image/png"]).status == 200)
            }
            #expect(bad.requests.count == 6)
            let metrics = try service.admin("GET", "/metrics").text
            #expect(!metrics.contains("worker-failed"))
        }
    }

    private static let spots = """
        kinds:
          spot:
            fields: {image: {type: image, required: true}, x: number, y: number}
            cells:
              collection: {identifier: SpotCell, size: 60x120, bind: {avatar: {image: image, size: cell, focus: [x, y]}}}
            actions: {selection: [analytics]}
        """

    @Test("A focus outside the image keeps the nearest edge, and an invalid one is left out")
    func focused() async throws {
        try await offPool {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("spots-\(UUID()).yaml").path
            try Self.spots.write(toFile: file, atomically: true, encoding: .utf8)
            defer { try? FileManager.default.removeItem(atPath: file) }
            let origin = try Self.origin()
            defer { origin.stop() }
            let service = try RunningService(
                settings: ["kinds.file=\(file)", "images.allowed-networks=127.0.0.1/32", "images.allowed-ports=\(origin.port)"])
            let points = [("-1", "2"), ("1e300", "-1e300"), ("0.25", "0.5"), ("NaN", "0"), ("\"NaN\"", "0"), ("1e999", "0")]
            let items = points.enumerated().map { number, point in
                #"{"kind":"spot","id":\#(number),"image":"\#(origin.url("/a"))","x":\#(point.0),"y":\#(point.1)}"# + "\n"
            }
            let lines = try service.importItems(items.joined(), arguments: ["--set", "kinds.file=\(file)", "--on-error", "skip"])
            #expect(lines.contains { $0.contains("added 6, replaced 0, skipped 0, omitted values 3") }, "\(lines)")
            let hrefs = try Self.avatars(service).compactMap { $0["href"]?.text }
            let focused = ["60x120-0-1000", "60x120-1000-0", "60x120-250-500"].map { Substring($0) }
            #expect(hrefs.compactMap { $0.split(separator: "/").last } == focused + Array(repeating: "60x120-attention", count: 3))
            for href in hrefs {
                let image = try service.get(href, fields: ["Accept: image/png"])
                #expect(image.status == 200 && Self.size(image.body).map { [$0.0, $0.1] } == [60, 120])
            }
        }
    }
}
