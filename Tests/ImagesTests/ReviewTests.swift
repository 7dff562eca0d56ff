import IntertwineFetch
import TestSupport
import Testing

@testable import IntertwineImages

@Suite("Pictures that are looked at behind their answers", .timeLimit(.minutes(2)))
struct ReviewTests {
    /// What is whole by its structure, and lacks half of what it is made of; and what is whole.
    private static func pictures() throws -> (halves: [String: [UInt8]], whole: [UInt8]) {
        let tools = VipsTools()
        try tools.drawn("drawn.ppm", 400, 300)
        try tools.vips("jpegsave", "drawn.ppm", "plain.jpg")
        try tools.drawn("frames.ppm", 120, 360)
        try tools.vips("copy", "frames.ppm", "moving.gif[page-height=90]")
        let whole = try tools.bytes("plain.jpg")
        let gif = VipsTools.gif(try tools.bytes("moving.gif"), halving: 2)
        return (["jpeg": whole.prefix(whole.count / 2) + [0xff, 0xd9], "gif": gif], whole)
    }

    private static func origin(_ body: [UInt8], _ type: String) throws -> Origin {
        try Origin { _, connection in
            connection.answer(200, ["Content-Type: image/\(type)", "Cache-Control: max-age=86400"], body: body)
        }
    }

    @Test("Half a picture in a whole container is kept no longer than until a worker has looked at it, with no size asked for")
    func undecodable() async throws {
        let workers = try BuiltWorkers.make()
        for (type, body) in try Self.pictures().halves {
            let origin = try Self.origin(body, type)
            defer { origin.stop() }
            let folder = TemporaryFolder()
            let house = try House([origin], folder: folder.path) { $0.transformer = workers }
            let source = origin.url("/a")
            let first = try await house.get(source)
            #expect(first.status == 200 && first.body == body)
            var got = first
            while got.status == 200 {
                await Task.yield()
                got = try await house.get(source)
            }
            #expect(got.status == 415 && got.headers["Image-Error"] == "undecodable", "\(type)")
            await house.manager.flush()
            #expect(house.manager.cached(source) == nil && folder.files.isEmpty && origin.requests.count == 1)
            await house.stop()
        }
        await workers.shutDown()
    }

    @Test("What a picture looks like is known after it was fetched, and it stays")
    func known() async throws {
        let workers = try BuiltWorkers.make()
        let body = try Self.pictures().whole
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
        // The cache has let the first one go, which makes room.
        #expect(queue.add(image(1_000)) { _ in })
        let kept = (0..<ReviewQueue.most).map { image($0) }
        for image in kept { #expect(queue.add(image) { _ in }) }
        #expect(!queue.add(image(2_000)) { _ in })
        let again = image(1)
        #expect(queue.next()?.image.source == image(0).source && queue.finish())
        // Another one has taken its place meanwhile, and waits in its turn.
        #expect(queue.next()?.image.source == again.source && queue.add(again) { _ in } && !queue.finish())
        // It was purged.
        #expect(queue.next()?.image.source == image(2).source)
        queue.forget { $0.source != image(1).source }
        #expect(!queue.finish() && queue.next()?.image === again && queue.finish() && queue.next() == nil)
    }
}
