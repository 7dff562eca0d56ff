import TestSupport
import Testing

@testable import IntertwineImages

@Suite("Clients get accepted formats only", .timeLimit(.untilStuck))
struct FormatTests {
    @Test(
        "The Accept field of origin requests: new formats if named, old ones unless excluded",
        arguments: [
            (nil, "image/png,image/jpeg,image/gif"), ("", "image/png,image/jpeg,image/gif"), ("*/*", "image/png,image/jpeg,image/gif"),
            ("image/*", "image/png,image/jpeg,image/gif"),
            ("image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8", "image/avif,image/webp,image/png,image/jpeg,image/gif"),
            ("image/webp, */*", "image/webp,image/png,image/jpeg,image/gif"), ("IMAGE/JPEG ; q=0.5", "image/jpeg"),
            ("image/avif;q=0, image/webp;q=0.001, image/png;q=0.0;x=1, */*", "image/webp,image/jpeg,image/gif"),
            ("image/webp;x=1;q=0, */*", "image/png,image/jpeg,image/gif"), ("image/*;q=0, image/png", "image/png"), ("text/html", ""),
            ("image/pngx, ,,image/gif,", "image/gif"),
        ] as [(String?, String)])
    func wanted(_ accept: String?, _ asked: String) {
        #expect(AcceptedFormats.field(AcceptedFormats(accept).accepted) == asked)
    }

    @Test("A wildcard accepts the formats that it covers")
    func permitted() {
        #expect(ImageFormat.allCases.allSatisfy { AcceptedFormats(nil).permits($0) && AcceptedFormats("image/*;q=0.1").permits($0) })
        let kinds = AcceptedFormats("image/avif;q=0, image/*")
        #expect(!kinds.permits(.avif) && kinds.permits(.webp))
        #expect(!AcceptedFormats("image/jpeg").permits(.png) && !AcceptedFormats("application/json").isPossible)
    }

    @Test("A negotiating origin gets the client's formats, and each variant is cached in memory and on disk")
    func negotiated() async throws {
        let folder = TemporaryFolder()
        let origin = try Origin { request, connection in
            let isNew = request.headers["accept"]?.contains("image/avif") == true
            connection.answer(
                200, ["Content-Type: image/\(isNew ? "avif" : "png")", "Vary: Accept, Accept-Encoding"],
                body: isNew ? TestImage.avif : TestImage.png())
        }
        defer { origin.stop() }
        let first = try House([origin], folder: folder.path)
        let source = origin.url("/a")
        for _ in 0..<2 {
            for (accept, body) in [("image/avif,*/*", TestImage.avif), ("*/*", TestImage.png()), ("image/webp,*/*", TestImage.png())] {
                let got = try await first.get(source, accept: accept)
                #expect(got.body == body && got.headers["Vary"] == "Accept")
            }
        }
        #expect(origin.requests.count == 3)
        await first.manager.flush()
        await first.stop()
        let second = try House([origin], folder: folder.path)
        await second.manager.flush()
        #expect(try await second.get(source, accept: "image/avif,*/*").body == TestImage.avif)
        #expect(try await second.get(source, accept: "*/*").body == TestImage.png())
        #expect(second.manager.cached(source, nil, AcceptedFormats("image/avif,*/*"))?.kind == .avif)
        #expect(origin.requests.count == 3)
        await second.manager.purge(.source(source))
        await second.manager.flush()
        #expect(folder.files.isEmpty && second.manager.cached(source) == nil)
        await second.stop()
    }

    @Test("Concurrent requests of two formats are two independent fetches")
    func atOnce() async throws {
        let gate = Gate()
        let origin = try Origin { request, connection in
            gate.wait()
            let isNew = request.headers["accept"]?.contains("image/avif") == true
            connection.answer(
                200, ["Content-Type: image/\(isNew ? "avif" : "png")", "Vary: accept"], body: isNew ? TestImage.avif : TestImage.png())
        }
        defer { origin.stop() }
        let house = try House([origin])
        async let new = house.get(origin.url("/a"), accept: "image/avif")
        async let old = house.get(origin.url("/a"))
        await origin.requested(2)
        gate.open()
        #expect(try await new.body == TestImage.avif)
        #expect(try await old.body == TestImage.png())
        await house.stop()
    }

    @Test("An origin with one format is fetched once; a client that does not accept it gets 406")
    func fixed() async throws {
        let origin = try Origin { _, connection in connection.answer(200, ["Content-Type: image/webp"], body: TestImage.webp) }
        defer { origin.stop() }
        let house = try House([origin])
        let source = origin.url("/a")
        let refused = try await house.get(source, accept: "image/jpeg, image/png")
        #expect(refused.status == 406 && refused.failure?.code == "not-acceptable" && refused.body.isEmpty)
        for accept in ["*/*", "image/webp", "image/avif,image/*", nil] {
            #expect(try await house.get(source, accept: accept).body == TestImage.webp)
        }
        #expect(try await house.get(source, accept: "image/jpeg").status == 406)
        #expect(try await house.get(origin.url("/b"), accept: "text/html").status == 406)
        #expect(origin.requests.count == 1)
        await house.stop()
    }
}
