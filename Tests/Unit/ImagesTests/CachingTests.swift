import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import IntertwineImages

@Suite("Cached responses", .timeLimit(.untilStuck))
struct CachingTests {
    /// Answers as the test says for each request in turn; the last answer stays.
    private func origin(_ answers: [@Sendable (Origin.Request, OriginConnection) -> Void]) throws -> Origin {
        let count = Mutex(0)
        return try Origin { request, connection in
            let number = count.withLock { count in
                defer { count += 1 }; return count
            }
            answers[min(number, answers.count - 1)](request, connection)
        }
    }

    private static func image(_ number: Int, _ fields: String...) -> @Sendable (Origin.Request, OriginConnection) -> Void {
        { _, connection in connection.answer(200, ["Content-Type: image/png"] + fields, body: TestImage.png(number)) }
    }

    private static func status(_ status: Int, _ fields: String...) -> @Sendable (Origin.Request, OriginConnection) -> Void {
        { _, connection in connection.answer(status, fields) }
    }

    @Test("A miss and hits have the correct fields")
    func hit() async throws {
        let origin = try origin([
            Self.image(1, "ETag: \"origin\"", "Set-Cookie: a=b", "Server: secret", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT")
        ])
        defer { origin.stop() }
        let house = try House([origin])
        let miss = try await house.get(origin.url("/a.png"))
        #expect(miss.outcome.outcome == .miss && miss.outcome.isStored)
        #expect(miss.headers["Cache-Status"] == "Intertwine; fwd=miss; fwd-status=200; stored")
        house.pass(10)
        let hit = try await house.get(origin.url("/a.png"))
        #expect(hit.body == TestImage.png(1))
        #expect(hit.headers["Cache-Status"] == "Intertwine; hit; ttl=86390")
        #expect(hit.headers["Age"] == "10")
        #expect(hit.headers["Content-Type"] == "image/png")
        #expect(hit.headers["X-Content-Type-Options"] == "nosniff")
        #expect(hit.headers["Content-Security-Policy"] == "default-src 'none'; sandbox")
        #expect(hit.headers["Cache-Control"] == "public, max-age=86400")
        #expect(hit.headers["ETag"] != nil && hit.headers["ETag"] != "\"origin\"")
        #expect(hit.headers["Last-Modified"] == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(hit.headers["Set-Cookie"] == nil && hit.headers["Server"] == nil)
        #expect(house.manager.cached(origin.url("/a.png"))?.body.bytes == TestImage.png(1))
        #expect(origin.requests.count == 1)
        let metrics = await house.manager.metrics()
        #expect(metrics.requests == [.miss: 1, .hit: 2])
        await house.stop()
    }

    @Test("No client data and no credentials are sent to the origin (CVE-2025-57752)")
    func anonymous() async throws {
        let origin = try origin([Self.image(1)])
        defer { origin.stop() }
        let house = try House([origin])
        _ = try await house.get(origin.url("/a.png"))
        let sent = try #require(origin.requests.first?.headers)
        #expect(Set(sent.keys) == ["host", "accept", "accept-encoding", "user-agent", "via"])
        #expect(sent["accept-encoding"] == "identity" && sent["via"] == "1.1 intertwine-images")
        await house.stop()
    }

    @Test(
        "Private responses are not cached",
        arguments: ["Vary: Cookie, *", "Vary: *", "Cache-Control: private", "Cache-Control: no-store"])
    func unstored(_ field: String) async throws {
        let origin = try origin([Self.image(1, field), Self.image(2, field)])
        defer { origin.stop() }
        let house = try House([origin])
        let first = try await house.get(origin.url("/a.png"))
        let second = try await house.get(origin.url("/a.png"))
        #expect(first.body == TestImage.png(1) && second.body == TestImage.png(2))
        #expect(first.headers["Cache-Control"] == "no-store" && !first.outcome.isStored)
        #expect(origin.requests.count == 2)
        await house.stop()
    }

    @Test("Stale-while-revalidate: served stale at once, fresh soon after")
    func staleWhileRevalidate() async throws {
        let origin = try origin([Self.image(1, "Cache-Control: max-age=1000, stale-while-revalidate=60"), Self.image(2)])
        defer { origin.stop() }
        let house = try House([origin])
        _ = try await house.get(origin.url("/a.png"))
        house.pass(1_001)
        #expect(house.manager.cached(origin.url("/a.png")) == nil)
        let stale = try await house.get(origin.url("/a.png"))
        #expect(stale.body == TestImage.png(1) && stale.outcome.outcome == .stale)
        await origin.requested(2)
        while house.manager.cached(origin.url("/a.png")) == nil { await house.settle() }
        #expect(try await house.get(origin.url("/a.png")).body == TestImage.png(2))
        #expect(origin.requests.count == 2)
        await house.stop()
    }

    @Test("A stale image is revalidated and confirmed by 304")
    func revalidated() async throws {
        let origin = try origin([
            Self.image(1, "Cache-Control: max-age=1000, must-revalidate", "ETag: \"v1\""),
            Self.status(304, "Cache-Control: max-age=500, must-revalidate"),
            Self.image(2, "ETag: \"v2\""),
        ])
        defer { origin.stop() }
        let house = try House([origin])
        _ = try await house.get(origin.url("/a.png"))
        house.pass(1_001)
        let confirmed = try await house.get(origin.url("/a.png"))
        #expect(confirmed.body == TestImage.png(1) && confirmed.outcome.outcome == .revalidated)
        #expect(origin.requests.last?.headers["if-none-match"] == "\"v1\"")
        house.pass(400)
        #expect(try await house.get(origin.url("/a.png")).outcome.outcome == .hit)
        house.pass(200)
        #expect(try await house.get(origin.url("/a.png")).body == TestImage.png(2))
        #expect(origin.requests.count == 3)
        await house.stop()
    }

    @Test(
        "Stale-if-error: served stale if the origin fails, unless forbidden",
        arguments: [
            ("max-age=1000, stale-if-error=60", true), ("max-age=1000, must-revalidate, stale-if-error=60", false),
            ("s-maxage=1000, stale-if-error=60", false), ("max-age=1000", false),
        ])
    func staleIfError(_ control: String, _ isServed: Bool) async throws {
        let origin = try origin([Self.image(1, "Cache-Control: \(control)"), Self.status(500, "ETag: \"error\"")])
        defer { origin.stop() }
        let house = try House([origin])
        _ = try await house.get(origin.url("/a.png"))
        house.pass(1_001)
        for _ in 0..<2 {
            let got = try await house.get(origin.url("/a.png"))
            #expect(got.status == (isServed ? 200 : 502))
            if isServed { #expect(got.body == TestImage.png(1) && got.outcome.outcome == .stale) }
        }
        #expect(origin.requests.count == 2)
        await house.stop()
    }

    @Test(
        "An error has no validators, is cached briefly, and is never confirmed as an image",
        arguments: [(404, 404), (500, 502), (403, 403), (429, 503), (304, 502), (206, 502)])
    func errors(_ upstream: Int, _ status: Int) async throws {
        let origin = try origin([
            Self.status(upstream, "ETag: \"x\"", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", "Cache-Control: max-age=99999")
        ])
        defer { origin.stop() }
        let house = try House([origin])
        let first = try await house.get(origin.url("/a.png"))
        #expect(first.status == status)
        #expect(first.headers["ETag"] == nil && first.headers["Last-Modified"] == nil && first.headers["Cache-Control"] == "no-store")
        #expect(first.headers["Image-Error"] == "upstream-\(upstream)")
        let second = try await house.get(origin.url("/a.png"))
        #expect(second.status == status && second.outcome.outcome == .negative)
        #expect(second.headers["Cache-Status"]?.hasPrefix("Intertwine; hit") == true)
        #expect(second.headers["Retry-After"] != nil)
        #expect(origin.requests.count == 1)
        await house.stop()
    }

    @Test("An image with 404 or 410 is removed, and not served stale")
    func gone() async throws {
        let folder = TemporaryFolder()
        let origin = try origin([Self.image(1, "Cache-Control: max-age=1000"), Self.status(410)])
        defer { origin.stop() }
        let house = try House([origin], folder: folder.path)
        _ = try await house.get(origin.url("/a.png"))
        house.pass(1_001)
        #expect(try await house.get(origin.url("/a.png")).status == 410)
        await house.manager.flush()
        #expect(folder.files.isEmpty)
        await house.stop()
    }

    @Test("A purge affects the next request, also during a download")
    func purge() async throws {
        let folder = TemporaryFolder()
        let gate = Gate()
        let origin = try origin([
            Self.image(1),
            { _, connection in
                connection.send("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 2000\r\n\r\n")
                connection.send(Array(TestImage.png(2).prefix(100)))
                gate.wait()
                connection.send(Array(TestImage.png(2).dropFirst(100)))
            }, Self.image(3),
        ])
        defer { origin.stop() }
        let house = try House([origin], folder: folder.path)
        let source = origin.url("/a.png")
        _ = try await house.get(source)
        await house.manager.purge(.source(source))
        #expect(house.manager.cached(source) == nil)
        let old = await house.manager.image(ImageRequest(source))
        await house.manager.purge(.source(source))
        let new = try await house.get(source)
        #expect(new.body == TestImage.png(3))
        gate.open()
        #expect(try await Got(old).body == TestImage.png(2))
        await house.manager.flush()
        #expect(try await house.get(source).body == TestImage.png(3))
        let again = try House([origin], folder: folder.path)
        await again.manager.flush()
        #expect(try await again.get(source).body == TestImage.png(3))
        await house.stop()
        await again.stop()
    }

    @Test("A purge is not confirmed while a file remains")
    func refusedPurge() async throws {
        let folder = TemporaryFolder()
        let origin = try origin([Self.image(1)])
        defer { origin.stop() }
        let house = try House([origin], folder: folder.path)
        let source = origin.url("/a.png")
        _ = try await house.get(source)
        await house.manager.flush()
        // A folder in its place, which is not removed as a file is.
        let file = try #require(folder.files.first)
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        for selection in [ImageSelection.source(source), .source(source), .all] { #expect(await !house.manager.purge(selection)) }
        try FileManager.default.removeItem(at: file)
        #expect(await house.manager.purge(.source(source)))
        await house.stop()
    }

    @Test("Images and their freshness survive a restart")
    func restart() async throws {
        let folder = TemporaryFolder()
        let origin = try origin([Self.image(1, "Cache-Control: max-age=1000, stale-if-error=172800", "ETag: \"v1\"")])
        let first = try House([origin], folder: folder.path)
        let source = origin.url("/a.png")
        _ = try await first.get(source)
        await first.manager.flush()
        await first.stop()
        origin.stop()
        let second = try House([origin], folder: folder.path)
        await second.manager.flush()
        let hit = try await second.get(source)
        #expect(hit.body == TestImage.png(1) && hit.outcome.outcome == .hit)
        #expect(second.manager.cached(source) != nil)
        await second.stop()
        let third = try House([origin], folder: folder.path)
        third.pass(1_001 + 86_400)
        await third.manager.flush()
        let stale = try await third.get(source)
        #expect(stale.body == TestImage.png(1) && stale.outcome.outcome == .stale)
        await third.stop()
    }

    @Test("A small fast image is sent completely, with its entity tag")
    func smallAtOnce() async throws {
        let origin = try Origin { request, connection in
            let body = TestImage.png(1, bytes: request.path == "/large" ? (1 << 20) + 1 : 70_000)
            connection.answer(200, ["Content-Type: image/png"], body: body)
        }
        defer { origin.stop() }
        let house = try House([origin])
        let small = await house.manager.image(ImageRequest(origin.url("/small")))
        guard case .complete(let image) = small.body else {
            Issue.record("streamed")
            return
        }
        #expect(image.body.bytes == TestImage.png(1, bytes: 70_000))
        #expect(small.headers[.eTag] == image.etag)
        #expect(small.cacheStatus.field == "Intertwine; fwd=miss; fwd-status=200; stored")
        #expect(house.manager.cached(origin.url("/small")) === image)
        let large = await house.manager.image(ImageRequest(origin.url("/large")))
        if case .complete = large.body { Issue.record("held back") }
        #expect(try await Got(large).body.count == (1 << 20) + 1)
        await house.stop()
    }

    @Test("A small image that fails is an error, not a partial image")
    func smallBrokenOff() async throws {
        let origin = try Origin { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 2000\r\n\r\n")
            connection.send(Array(TestImage.png().prefix(500)))
            connection.finish()
        }
        defer { origin.stop() }
        let house = try House([origin])
        let got = try await house.get(origin.url("/a.png"))
        #expect(got.failure == ImageError(.fetch(.truncated)))
        await house.stop()
    }

    @Test("only-if-cached: from memory, from disk, or 504 without a request to the origin")
    func onlyIfCached() async throws {
        let folder = TemporaryFolder()
        let origin = try origin([Self.image(1, "Cache-Control: max-age=1000"), Self.status(500)])
        defer { origin.stop() }
        let house = try House([origin], folder: folder.path)
        let source = origin.url("/a.png")
        let wish = ImageRequest(source, cacheControl: "max-stale, Only-If-Cached")
        let missing = try await Got(house.manager.image(wish))
        #expect(missing.status == 504 && missing.failure?.code == "not-stored" && origin.requests.isEmpty)
        _ = try await house.get(source)
        #expect(try await Got(house.manager.image(wish)).outcome.outcome == .hit)
        await house.manager.flush()
        let again = try House([origin], folder: folder.path)
        await again.manager.flush()
        #expect(try await Got(again.manager.image(wish)).body == TestImage.png(1))
        let later = try House([origin], folder: folder.path)
        await later.manager.flush()
        later.pass(1_001)
        #expect(try await Got(later.manager.image(wish)).status == 504)
        #expect(await later.manager.metrics().waiters == 0)
        later.pass(1)
        #expect(try await Got(later.manager.image(wish)).status == 504)
        #expect(origin.requests.count == 1)
        for house in [house, again, later] { await house.stop() }
    }

    @Test("Cache-Status reports storage correctly: after stale, and without capacity")
    func status() async throws {
        let origin = try Origin { request, connection in
            let body = TestImage.png(1, bytes: request.path == "/large" ? 600_000 : 2_000)
            connection.answer(200, ["Content-Type: image/png", "Cache-Control: max-age=1000"], body: body)
        }
        defer { origin.stop() }
        let house = try House([origin]) { $0.memoryBytes = 300_000 }
        #expect(try await house.get(origin.url("/large")).outcome.field == "Intertwine; fwd=miss; fwd-status=200")
        _ = try await house.get(origin.url("/a.png"))
        house.pass(1_001)
        #expect(try await house.get(origin.url("/a.png")).outcome.field == "Intertwine; fwd=stale; fwd-status=200; stored")
        await house.stop()
    }

    @Test("An image beyond the memory limit is served from disk")
    func large() async throws {
        let folder = TemporaryFolder()
        let body = TestImage.png(4, bytes: 600_000)
        let origin = try Origin { _, connection in connection.answer(200, ["Content-Type: image/png"], body: body) }
        defer { origin.stop() }
        let house = try House([origin], folder: folder.path) { $0.memoryBytes = 300_000 }
        #expect(try await house.get(origin.url("/a.png")).body == body)
        await house.manager.flush()
        let again = try await house.get(origin.url("/a.png"))
        #expect(again.body == body && again.outcome.outcome == .hit)
        #expect(origin.requests.count == 1)
        #expect(house.manager.cached(origin.url("/a.png")) == nil)
        await house.stop()
    }
}
