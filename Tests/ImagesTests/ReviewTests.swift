import IntertwineFetch
import TestSupport
import Testing

@testable import IntertwineImages

@Suite("Pictures that are looked at behind their answers", .timeLimit(.minutes(2)))
struct ReviewTests {
    private static func picture() throws -> [UInt8] {
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

    @Test("What only begins as a picture is served as it came, as often as it is asked for, and looks like nothing")
    func undecodable() async throws {
        let workers = try BuiltWorkers.make()
        let (broken, whole) = (Picture.png(1, bytes: 1_000), try Self.picture())
        let origin = try Origin { request, connection in
            let isBroken = request.path == "/broken"
            let fields = ["Content-Type: image/\(isBroken ? "png" : "jpeg")", "Cache-Control: max-age=86400"]
            connection.answer(200, fields, body: isBroken ? broken : whole)
        }
        defer { origin.stop() }
        let facts = PictureFactsTable(folder: nil, capacity: 10)
        let house = try House([origin]) { ($0.transformer, $0.facts) = (workers, facts) }
        #expect(try await house.get(origin.url("/broken")).body == broken)
        // It is looked at after the first one.
        #expect(try await house.get(origin.url("/whole")).body == whole)
        while facts.facts(of: origin.url("/whole")) == nil { await Task.yield() }
        let again = try await house.get(origin.url("/broken"))
        #expect(
            again.status == 200 && again.outcome.outcome == .hit && again.body == broken && facts.facts(of: origin.url("/broken")) == nil)
        await house.stop()
        await workers.shutDown()
    }

    @Test("What a picture looks like is known after it was fetched, and it stays")
    func known() async throws {
        let workers = try BuiltWorkers.make()
        let body = try Self.picture()
        let origin = try Self.origin(body, "jpeg")
        defer { origin.stop() }
        let facts = PictureFactsTable(folder: nil, capacity: 10)
        let house = try House([origin]) { ($0.transformer, $0.facts) = (workers, facts) }
        let source = origin.url("/a")
        #expect(try await house.get(source).body == body)
        while facts.facts(of: source) == nil { await Task.yield() }
        #expect(facts.facts(of: source).map { [$0.width, $0.height] } == [400, 300])
        #expect(try await house.get(source).outcome.outcome == .hit)
        await house.stop()
        await workers.shutDown()
    }

    @Test("As many wait as may, and what is found counts of the one that is kept")
    func queue() throws {
        func image(_ number: Int) -> CachedImage {
            CachedImage(
                source: "http://example.com/\(number)", kind: .png, body: Picture.png(number, bytes: 100), freshness: Freshness(now: 0),
                validators: .init())
        }
        var queue = ReviewQueue()
        func adds(_ image: CachedImage) -> Bool { queue.add(image) }
        func next() -> CachedImage? { queue.next() }
        func counts() -> Bool { queue.finish() }
        // The cache has let the first one go, which makes room.
        #expect(adds(image(1_000)))
        let kept = (0..<ReviewQueue.most).map { image($0) }
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
