import TestSupport
import Testing

@testable import IntertwineImages

@Suite("Prefetch of the next page's images", .timeLimit(.untilStuck))
struct ImagePrefetcherTests {
    @Test("Images are prefetched in the sizes of the previous requests only")
    func walked() async throws {
        let origin = try Origin { _, connection in
            connection.answer(200, ["Content-Type: image/png", "Cache-Control: max-age=3600"], body: TestImage.png())
        }
        defer { origin.stop() }
        let maker = FakeTransformer()
        let house = try House([origin]) { $0.transformer = maker }
        let signer = try #require(ImageURLSigner(keys: [Array(repeating: 7, count: 32)]))
        let now: Int64 = 1_800_000_000
        let ahead = ImagePrefetcher(house.manager, signer: signer, share: 50) { now }
        let cell = try #require(ProcessingOptions(width: 150, height: 150, fallback: ImageFallback(part: "avatar")))
        let banner = try #require(ProcessingOptions(width: 320, height: 50))
        func path(_ name: String, _ variant: ProcessingOptions?) throws -> String {
            signer.path(for: try FetchURL(origin.url(name)), variant, now: now)
        }
        let hrefs = [
            try path("/b.png", cell), "https://example.com" + (try path("/c.png", cell)) + "@2x", try path("/d.png", banner),
            try path("/e.png", nil), "/images/forged/b/150x150",
        ]
        let page = Array(("{" + hrefs.map { "\"image\":\"\($0)\"" }.joined(separator: ",") + "}").utf8)
        // Nobody has asked for any.
        ahead.prefetch(page)
        let asked = ImageRequest(origin.url("/a.png"), sizing: ResizeMode(cell, scale: 2), accept: "image/webp,*/*")
        ahead.record(ImageRequest(origin.url("/a.png"), sizing: ResizeMode(banner), priority: .prefetch))
        ahead.record(asked)
        ahead.prefetch(page)
        #expect(await maker.events.wait { $0.count == 2 } == ["300x300.fill.webp", "300x300.fill.webp"])
        for name in ["/b.png", "/c.png"] {
            let wish = ImageRequest(origin.url(name), sizing: ResizeMode(cell, scale: 2), accept: "image/webp,*/*")
            while house.manager.cached(wish.source, wish.sizing, wish.kinds) == nil { await Task.yield() }
        }
        // What is there is not made again, and what was asked for as it is comes so.
        ahead.record(ImageRequest(origin.url("/a.png")))
        ahead.prefetch(page)
        await origin.requested(3)
        #expect(origin.requests.map(\.path) == ["/b.png", "/c.png", "/e.png"] && maker.recipes.count == 2)
        ahead.stop()
        await house.stop()
    }
}
