import FoundationEssentials
import Synchronization
import TestSupport
import Testing

@testable import IntertwineImages

@Suite("Resized images", .timeLimit(.untilStuck))
struct SizedTests {
    private static func sizing(_ text: String = "150x150") throws -> ResizeMode { try #require(ResizeMode(text)) }

    private static func origin(_ fields: [String] = ["Cache-Control: max-age=3600"]) throws -> Origin {
        try Origin { _, connection in connection.answer(200, ["Content-Type: image/png"] + fields, body: TestImage.png()) }
    }

    private static func get(
        _ house: House, _ source: String, _ sizing: String = "150x150", accept: String? = nil, id: UUID? = nil, cacheControl: String? = nil
    ) async throws -> Got {
        try await Got(
            house.manager.image(
                ImageRequest(source, sizing: try Self.sizing(sizing), id: id, cacheControl: cacheControl, accept: accept)))
    }

    @Test("All sizes and formats use one download, each is computed once, and clients get accepted formats")
    func formats() async throws {
        let origin = try Self.origin()
        defer { origin.stop() }
        let maker = FakeTransformer()
        let house = try House([origin]) { $0.transformer = maker }
        let source = origin.url("/a.png")
        let browser = "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8"
        let wishes = [
            (browser, "150x150", "150x150.fill.avif"), ("image/webp,*/*", "150x150", "150x150.fill.webp"),
            ("*/*", "150x150", "150x150.fill.png"), ("image/jpeg", "150x150", "150x150.fill.jpeg"),
            ("image/gif", "150x150@2x", "300x300.fill.gif"), ("*/*", "150x150-attention@3x", "450x450.fill-attention.png"),
            ("*/*", "220x100-fit", "220x100.fit.png"),
        ]
        for round in 0..<2 {
            for (accept, sizing, made) in wishes {
                let got = try await Self.get(house, source, sizing, accept: accept)
                #expect(got.status == 200 && got.body == Array(made.utf8) && got.headers["Vary"] == "Accept")
                #expect(got.headers["Content-Type"] == "image/" + (made.split(separator: ".").last ?? ""))
                #expect(got.headers["Cache-Control"] == "public, max-age=3600" && got.headers["ETag"]?.count == 24)
                #expect(got.outcome.outcome == (round == 0 ? .miss : .hit))
            }
        }
        #expect(maker.recipes == wishes.map(\.2))
        #expect(origin.requests.count == 1 && origin.requests.first?.headers["accept"] == "image/png,image/jpeg,image/gif")
        #expect(try await Self.get(house, source, accept: "text/html").status == 406)
        let metrics = await house.manager.metrics()
        #expect(metrics.sizedMade == wishes.count && metrics.requests[.miss] == wishes.count)
        await house.stop()
    }

    @Test("The last cancelled waiter ends the download or the resize")
    func shared() async throws {
        let origin = try Self.origin()
        defer { origin.stop() }
        let maker = FakeTransformer(isHeld: true)
        let house = try House([origin]) { $0.transformer = maker }
        let source = origin.url("/a.png")
        let ids = [UUID(), UUID(), UUID()]
        let waiting = ids.map { id in Task { try await Self.get(house, source, id: id) } }
        _ = await maker.events.wait { $0.count == 1 }
        while await house.manager.metrics().waiters < 3 { await Task.yield() }
        #expect(await house.manager.viewport(visible: [ids[0]], gone: [ids[1]]) == 1)
        #expect(try await waiting[1].value.status == 499)
        #expect(await house.manager.cancel(ids[2]) && maker.events.events == ["150x150.fill.png"])
        waiting[0].cancel()
        _ = await maker.events.wait { $0 == ["150x150.fill.png", "left"] }
        #expect(await house.manager.metrics().sizedAborted == 1)
        // Nobody is told of the one that was given up.
        maker.release()
        #expect(try await Self.get(house, source).status == 200)
        #expect(origin.requests.count == 1)
        await house.stop()
    }

    @Test("Background work gets the priority of a waiter that joins", arguments: [false, true])
    func raised(_ isByViewport: Bool) async throws {
        let origin = try Self.origin()
        defer { origin.stop() }
        let maker = FakeTransformer(isHeld: true)
        let house = try House([origin]) { $0.transformer = maker }
        let (source, sizing, id) = (origin.url("/a.png"), try Self.sizing(), UUID())
        let ahead = Task { await house.manager.image(ImageRequest(source, sizing: sizing, id: id, priority: .prefetch)).status }
        _ = await maker.events.wait { $0.count == 1 }
        let joined = isByViewport ? nil : Task { try await Self.get(house, source).status }
        if isByViewport { await house.manager.viewport(visible: [id], gone: []) }
        #expect(await maker.raises.wait { !$0.isEmpty } == [.visible])
        maker.release()
        #expect(await ahead.value == 200)
        if let joined { #expect(try await joined.value == 200) }
        await house.stop()
    }

    @Test("A cancellation during the download ends it")
    func originalLeft() async throws {
        let gate = Gate()
        let origin = try Origin { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 200000\r\n\r\n")
            connection.send(TestImage.png())
            connection.waitForClose()
            gate.open()
        }
        defer { origin.stop() }
        let house = try House([origin]) {
            $0.transformer = FakeTransformer()
            $0.grace = .milliseconds(1)
        }
        let task = Task { try await Self.get(house, origin.url("/a.png")) }
        await origin.requested(1)
        task.cancel()
        #expect(try await task.value.status == 499)
        _ = await origin.closed(1)
        await house.stop()
    }

    @Test("A resized image has the freshness of its original, and is computed again if the original changed")
    func freshness() async throws {
        let version = Atomic<Int>(0)
        let origin = try Origin { request, connection in
            let now = version.load(ordering: .relaxed)
            let fields = ["Content-Type: image/png", "Cache-Control: max-age=600", "ETag: \"\(now)\""]
            if request.headers["if-none-match"] == "\"\(now)\"" { return connection.answer(304, fields) }
            connection.answer(200, fields, body: TestImage.png(now))
        }
        defer { origin.stop() }
        let maker = FakeTransformer()
        let house = try House([origin]) { $0.transformer = maker }
        let source = origin.url("/a.png")
        _ = try await Self.get(house, source)
        house.pass(601)
        let confirmed = try await Self.get(house, source)
        #expect(confirmed.outcome.outcome == .revalidated && maker.recipes.count == 1 && origin.requests.count == 2)
        #expect(try await Self.get(house, source).outcome.outcome == .hit)
        version.store(1, ordering: .relaxed)
        house.pass(601)
        #expect(try await Self.get(house, source).outcome.outcome == .miss && maker.recipes.count == 2)
        await house.stop()
    }

    @Test("Stale resized images are served during revalidation, within the permitted time")
    func staleness() async throws {
        let version = Atomic<Int>(0)
        let gate = Gate()
        let origin = try Origin { _, connection in
            let now = version.add(1, ordering: .relaxed).newValue
            if now == 2 { gate.wait() }
            let fields = ["Content-Type: image/png", "Cache-Control: max-age=10, stale-while-revalidate=20", "ETag: \"\(now)\""]
            connection.answer(200, fields, body: TestImage.png(now))
        }
        defer { origin.stop() }
        let maker = FakeTransformer()
        let house = try House([origin]) {
            $0.transformer = maker
            $0.freshness.minTTL = 0
        }
        let source = origin.url("/a.png")
        _ = try await Self.get(house, source)
        house.pass(11)
        for _ in 0..<3 { #expect(try await Self.get(house, source).outcome.outcome == .stale) }
        await origin.requested(2)
        #expect(maker.recipes.count == 1)
        gate.open()
        _ = await maker.events.wait { $0.count == 2 }
        while try await Self.get(house, source).outcome.outcome == .stale { await Task.yield() }
        #expect(try await Self.get(house, source).outcome.outcome == .hit && origin.requests.count == 2)
        house.pass(31)
        #expect(try await Self.get(house, source).outcome.outcome == .miss)
        #expect(origin.requests.count == 3 && maker.recipes.count == 3)
        await house.stop()
    }

    @Test("A resized image is stored on disk, removed with its source, and found by only-if-cached")
    func disk() async throws {
        let folder = TemporaryFolder()
        let origin = try Self.origin()
        defer { origin.stop() }
        let source = origin.url("/a.png")
        let first = try House([origin], folder: folder.path) { $0.transformer = FakeTransformer() }
        for sizing in ["150x150", "150x150@2x"] { _ = try await Self.get(first, source, sizing, accept: "image/webp,*/*") }
        await first.manager.flush()
        await first.stop()
        #expect(folder.files.count == 3)
        let maker = FakeTransformer()
        let second = try House([origin], folder: folder.path) { $0.transformer = maker }
        await second.manager.flush()
        let stored = try await Self.get(second, source, "150x150@2x", accept: "image/webp,*/*", cacheControl: "only-if-cached")
        #expect(stored.outcome.outcome == .hit && stored.body == Array("300x300.fill.webp".utf8))
        #expect(try await Self.get(second, source, accept: "image/webp,*/*").outcome.outcome == .hit)
        #expect(try await Self.get(second, source, "151x150", cacheControl: "only-if-cached").status == 504)
        #expect(maker.recipes.isEmpty && origin.requests.count == 1)
        await second.manager.purge(.source(source))
        await second.manager.flush()
        let gone = second.manager.cached(source, try Self.sizing(), AcceptedFormats("image/webp,*/*"))
        #expect(gone == nil && folder.files.isEmpty)
        await second.stop()
    }

    @Test("A resized image of an uncacheable original is not stored")
    func passing() async throws {
        let origin = try Self.origin(["Cache-Control: no-store"])
        defer { origin.stop() }
        let maker = FakeTransformer()
        let house = try House([origin]) { $0.transformer = maker }
        for _ in 0..<2 {
            let got = try await Self.get(house, origin.url("/a"))
            #expect(got.status == 200 && got.headers["Cache-Control"] == "no-store")
        }
        #expect(maker.recipes.count == 2)
        await house.stop()
    }

    @Test("Failures have a reason: overload is not cached, an image that kills two workers is")
    func failures() async throws {
        let origin = try Self.origin()
        defer { origin.stop() }
        let maker = FakeTransformer()
        let house = try House([origin]) { $0.transformer = maker }
        maker.failure = ImageError(.overloaded, retryAfter: 2)
        let overloaded = try await Self.get(house, origin.url("/a.png"))
        #expect(overloaded.status == 503 && overloaded.headers["Retry-After"] == "2" && overloaded.headers["Image-Error"] == "overloaded")
        maker.failure = ImageError(.workerFailed)
        for _ in 0..<2 {
            let killed = try await Self.get(house, origin.url("/a.png"))
            #expect(
                killed.status == 502 && killed.headers["Image-Error"] == "worker-failed" && killed.headers["Cache-Control"] == "no-store")
            #expect(killed.outcome.outcome != .negative)
        }
        maker.failure = nil
        #expect(try await Self.get(house, origin.url("/a.png"), "10x10").outcome.outcome == .negative)
        await house.manager.purge(.source(origin.url("/a.png")))
        #expect(try await Self.get(house, origin.url("/a.png"), "10x10").status == 200)
        await house.stop()
    }

    @Test("An undecodable image is not served at its original URL either, until a purge")
    func undecodable() async throws {
        let origin = try Self.origin()
        defer { origin.stop() }
        let folder = TemporaryFolder()
        let maker = FakeTransformer()
        let house = try House([origin], folder: folder.path) { $0.transformer = maker }
        let source = origin.url("/a.png")
        #expect(try await house.get(source).status == 200)
        await house.manager.flush()
        maker.failure = ImageError(.undecodable)
        #expect(try await Self.get(house, source).status == 415)
        await house.manager.flush()
        #expect(house.manager.cached(source) == nil && folder.files.isEmpty)
        for accept in [nil, "image/png,image/webp"] {
            let got = try await house.get(source, accept: accept)
            #expect(got.status == 415 && got.headers["Image-Error"] == "undecodable", "\(got)")
        }
        #expect(origin.requests.count == 1)
        await house.manager.purge(.source(source))
        #expect(try await house.get(source).status == 200)
        await house.stop()
    }

    @Test("A configured fallback is served for half a minute, with the reason")
    func fallbacks() async throws {
        let origin = try Origin { _, connection in connection.answer(404, [], body: []) }
        defer { origin.stop() }
        let maker = FakeTransformer()
        let house = try House([origin]) {
            $0.transformer = maker
            $0.fallbacks = ["avatar": TestImage.png(8), "content": TestImage.png(9)]
        }
        for sizing in ["150x150~avatar", "150x150-fit~content", "150x150~avatar@2x"] {
            for round in 0..<2 {
                let got = try await Self.get(house, origin.url("/a.png"), sizing)
                #expect(got.status == 200 && got.headers["Image-Error"] == "upstream-404" && got.headers["Content-Type"] == "image/png")
                #expect(got.headers["Cache-Control"] == "public, max-age=30")
                #expect(got.headers["Cache-Status"]?.contains("detail=fallback") == true, "\(round) \(got.headers)")
            }
        }
        // Made once, and asked for once.
        #expect(maker.recipes == ["150x150.fill.png", "150x150.fit.png", "300x300.fill.png"] && origin.requests.count == 1)
        #expect(maker.originals[0] == TestImage.png(8) && maker.originals[1] == TestImage.png(9))
        for sizing in ["150x150", "150x150~other"] {
            #expect(try await Self.get(house, origin.url("/a.png"), sizing).status == 404)
        }
        await house.stop()
    }

    @Test("A too large animation gives its first frame, marked so, also from memory and disk")
    func still() async throws {
        let origin = try Origin { _, connection in
            let fields = ["Content-Type: image/gif", "Cache-Control: max-age=3600"]
            connection.answer(200, fields, body: Frames.gif(8, 8, frames: 3))
        }
        defer { origin.stop() }
        let folder = TemporaryFolder()
        let source = origin.url("/a.gif")
        for outcome in [CacheStatus.Outcome.miss, .hit] {
            let house = try House([origin], folder: folder.path) { $0.transformer = FakeTransformer(makesAnimations: false) }
            // What the folder holds is read in the background.
            await house.manager.flush()
            let got = try await Self.get(house, source, accept: "image/webp,image/png")
            #expect(got.status == 200 && got.outcome.outcome == outcome && got.headers["Image-Error"] == "too-many-frames")
            #expect(!String(decoding: got.body, as: UTF8.self).contains("animated"))
            let again = try await Self.get(house, source, accept: "image/webp,image/png")
            #expect(again.outcome.outcome == .hit && again.headers["Image-Error"] == "too-many-frames")
            await house.manager.flush()
            await house.stop()
        }
    }

    @Test("An original in an unaccepted format is converted once, in its size")
    func converted() async throws {
        let origin = try Self.origin()
        defer { origin.stop() }
        let maker = FakeTransformer()
        let house = try House([origin]) { $0.transformer = maker }
        let source = origin.url("/a.png")
        for (round, accept) in ["image/jpeg", "image/jpeg", "image/gif;q=0.5, image/png;q=0", "image/webp"].enumerated() {
            let got = try await house.get(source, accept: accept)
            let made = ["x.fit.jpeg", "x.fit.jpeg", "x.fit.gif", "x.fit.webp"][round]
            #expect(got.status == 200 && got.body == Array(made.utf8) && got.headers["Vary"] == "Accept", "\(accept): \(got)")
            #expect(got.headers["Content-Type"] == "image/\(made.split(separator: ".").last ?? "")")
        }
        #expect(maker.recipes == ["x.fit.jpeg", "x.fit.gif", "x.fit.webp"])
        #expect(try await house.get(source, accept: "image/png").body == TestImage.png())
        #expect(try await house.get(source, accept: "text/html").status == 406)
        await house.stop()
    }

    @Test("Without workers the original is served")
    func without() async throws {
        let origin = try Self.origin()
        defer { origin.stop() }
        for transformer in [nil, FakeTransformer(isAvailable: false)] {
            let house = try House([origin]) { $0.transformer = transformer }
            #expect(try await Self.get(house, origin.url("/a.png"), "150x150@2x", accept: "image/webp,*/*").body == TestImage.png())
            #expect(try await Self.get(house, origin.url("/a.png"), accept: "image/webp").status == 406)
            await house.stop()
        }
    }
}
