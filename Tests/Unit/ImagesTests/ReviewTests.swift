import TestSupport
import Testing

@testable import IntertwineImages

@Suite("Background analysis of images", .timeLimit(.untilStuck))
struct ReviewTests {
    private static func image() throws -> [UInt8] {
        let tools = VipsTools()
        try tools.drawn("drawn.ppm", 400, 300)
        try tools.vips("jpegsave", "drawn.ppm", "plain.jpg")
        return try tools.bytes("plain.jpg")
    }

    private static func origin(_ body: [UInt8], _ type: String) throws -> Origin {
        try Origin { _, connection in
            connection.answer(200, ["Content-Type: image/\(type)", "Cache-Control: max-age=86400"], body: body)
        }
    }

    /// What has its end, and not all before it.
    private static func halves() throws -> [String: [UInt8]] {
        let jpeg = try image()
        return ["jpeg": jpeg.prefix(jpeg.count / 2) + [0xff, 0xd9], "png": TestImage.png(1, bytes: 1_000)]
    }

    @Test("An image that cannot be decoded completely is served for five minutes, then fetched again")
    func undecodable() async throws {
        let workers = try BuiltWorkers.make()
        let (halves, whole) = (try Self.halves(), try Self.image())
        let origin = try Origin { request, connection in
            let type = String(request.path.dropFirst())
            let fields = [
                "Content-Type: image/\(halves[type] == nil ? "jpeg" : type)", "Cache-Control: max-age=86400", "ETag: \"\(type)\"",
            ]
            if request.headers["if-none-match"] != nil { return connection.answer(304, fields) }
            connection.answer(200, fields, body: halves[type] ?? whole)
        }
        defer { origin.stop() }
        let folder = TemporaryFolder()
        let facts = ImageMetadataTable(folder: nil, capacity: 10)
        func open() throws -> House { try House([origin], folder: folder.path) { ($0.transformer, $0.facts) = (workers, facts) } }
        let first = try open()
        for type in halves.keys { #expect(try await first.get(origin.url("/" + type)).body == halves[type]) }
        // It is looked at after the others.
        #expect(try await first.get(origin.url("/whole")).body == whole)
        while facts.facts(of: origin.url("/whole")) == nil { await Task.yield() }
        for type in halves.keys {
            let got = try await first.get(origin.url("/" + type))
            #expect(got.outcome.outcome == .hit && got.body == halves[type], "\(type): \(got)")
            #expect(got.headers["Cache-Control"] == "public, max-age=300", "\(type): \(got)")
            #expect(facts.facts(of: origin.url("/" + type)) == nil)
        }
        await first.manager.flush()
        await first.stop()
        let next = try open()
        await next.manager.flush()
        next.pass(299)
        for path in Array(halves.keys) + ["whole"] { #expect(try await next.get(origin.url("/" + path)).outcome.outcome == .hit) }
        next.pass(2)
        for type in halves.keys {
            let got = try await next.get(origin.url("/" + type))
            #expect(got.outcome.outcome == .miss && got.body == halves[type], "\(type): \(got)")
        }
        #expect(try await next.get(origin.url("/whole")).outcome.outcome == .hit)
        #expect(origin.requests.count == 5 && origin.requests.allSatisfy { $0.headers["if-none-match"] == nil })
        await next.stop()
        await workers.shutDown()
    }

    @Test("Metadata of an image is known after its fetch")
    func known() async throws {
        let workers = try BuiltWorkers.make()
        let body = try Self.image()
        let origin = try Self.origin(body, "jpeg")
        defer { origin.stop() }
        let facts = ImageMetadataTable(folder: nil, capacity: 10)
        let house = try House([origin]) { ($0.transformer, $0.facts) = (workers, facts) }
        let source = origin.url("/a")
        #expect(try await house.get(source).body == body)
        while facts.facts(of: source) == nil { await Task.yield() }
        #expect(facts.facts(of: source).map { [$0.width, $0.height] } == [400, 300])
        #expect(try await house.get(source).outcome.outcome == .hit)
        await house.stop()
        await workers.shutDown()
    }

    @Test("The analysis queue is bounded, and results apply to the cached image")
    func queue() throws {
        func image(_ number: Int) -> CachedImage {
            CachedImage(
                source: "http://example.com/\(number)", kind: .png, body: TestImage.png(number, bytes: 100), freshness: Freshness(now: 0),
                validators: .init())
        }
        var queue = ImageAnalysisQueue()
        func adds(_ image: CachedImage) -> Bool { queue.add(image) }
        func next() -> CachedImage? { queue.next() }
        func counts() -> Bool { queue.finish() }
        // The cache has let the first one go, which makes room.
        #expect(adds(image(1_000)))
        let kept = (0..<ImageAnalysisQueue.most).map { image($0) }
        for image in kept { #expect(adds(image)) }
        #expect(!adds(image(2_000)))
        let again = image(1)
        #expect(next()?.source == image(0).source && counts())
        // Another one has taken its place meanwhile, and waits in its turn.
        #expect(next()?.source == again.source && adds(again) && !counts())
        // It was purged.
        #expect(next()?.source == image(2).source)
        queue.forget { $0.source != image(1).source }
        #expect(!counts() && next() === again && counts() && next() == nil)
    }
}
