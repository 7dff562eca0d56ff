import Foundation
import Synchronization
import TestSupport
import Testing

@testable import IntertwineHTTPServer
@testable import IntertwineImages

@Suite("Resized images of originals without an end marker", .serialized, .timeLimit(.untilStuck))
struct UnendedTests {
    private static func files() throws -> [(ImageFormat, [UInt8])] {
        let tools = VipsTools()
        try tools.drawn("drawn.ppm", 400, 300)
        try tools.vips("jpegsave", "drawn.ppm", "plain.jpg")
        try tools.vips("jpegsave", "drawn.ppm", "progressive.jpg", "--interlace")
        try tools.vips("pngsave", "drawn.ppm", "plain.png")
        try tools.drawn("frames.ppm", 120, 360)
        try tools.vips("copy", "frames.ppm", "moving.gif[page-height=90]")
        try tools.vips("webpsave", "drawn.ppm", "plain.webp")
        return try [
            (.jpeg, tools.bytes("plain.jpg")), (.jpeg, tools.bytes("progressive.jpg")), (.png, tools.bytes("plain.png")),
            (.gif, tools.bytes("moving.gif")), (.webp, tools.bytes("plain.webp")),
        ]
    }

    private static func house(_ bodies: [String: (ImageFormat, [UInt8])], _ workers: ImageWorkers?) throws -> (Origin, House) {
        let origin = try Origin { request, connection in
            guard let (kind, body) = bodies[request.path] else { return connection.answer(404) }
            connection.answer(200, ["Content-Type: \(kind.contentType)", "Cache-Control: max-age=86400"], body: body)
        }
        return (origin, try House([origin]) { $0.transformer = workers })
    }

    private static func get(_ house: House, _ source: String, _ sizing: String = "50x50-fit") async throws -> Got {
        try await Got(house.manager.image(ImageRequest(source, sizing: ResizeMode(sizing), accept: "image/png")))
    }

    @Test("A JPEG without EOI, a GIF without trailer and a PNG without IEND are resized with one download each")
    func made() async throws {
        // How many bytes less than all.
        let endings: [ImageFormat: [Int]] = [.jpeg: [1, 2], .png: [1, 4, 6, 12], .gif: [1, 2]]
        var bodies: [String: (ImageFormat, [UInt8])] = [:]
        for (number, (kind, whole)) in try Self.files().enumerated() {
            for missing in endings[kind] ?? [] { bodies["/\(number)-\(missing)"] = (kind, Array(whole.dropLast(missing))) }
        }
        let workers = try BuiltWorkers.make()
        let (origin, house) = try Self.house(bodies, workers)
        defer { origin.stop() }
        for path in bodies.keys {
            for round in 0..<3 {
                let got = try await Self.get(house, origin.url(path))
                #expect(got.status == 200 && got.outcome.outcome == (round == 0 ? .miss : .hit), "\(path): \(got.headers)")
                #expect(ImageFormat.sniff(got.body) == .kind(.png) && got.headers["Cache-Control"] == "public, max-age=86400")
            }
            // It was found to be all there.
            #expect(try await Self.get(house, origin.url(path), "60x60-fit").status == 200)
            #expect(try await house.get(origin.url(path)).outcome.outcome == .hit)
        }
        #expect(origin.requests.count == bodies.count)
        await house.stop()
        await workers.shutDown()
    }

    @Test("What is there of a truncated image is served for five minutes, and fetched once; a WebP is 415")
    func halves() async throws {
        var bodies: [String: (ImageFormat, [UInt8])] = [:]
        for (number, (kind, whole)) in try Self.files().enumerated() where kind != .gif {
            bodies["/\(number)"] = (kind, Array(whole.prefix(whole.count / 2)))
        }
        let workers = try BuiltWorkers.make()
        let (origin, house) = try Self.house(bodies, workers)
        defer { origin.stop() }
        for path in bodies.keys {
            for round in 0..<4 {
                let got = try await Self.get(house, origin.url(path), round % 2 == 0 ? "50x50-fit" : "60x60-fit")
                let isPart = bodies[path]?.0 != .webp
                #expect(got.status == (isPart ? 200 : 415) && got.headers["Image-Error"] == "undecodable", "\(path): \(got.headers)")
                #expect(got.headers["Cache-Control"] == (isPart ? "public, max-age=300" : "no-store"), "\(path): \(got.headers)")
            }
            #expect(try await house.get(origin.url(path), accept: "image/*").status == (bodies[path]?.0 != .webp ? 200 : 415))
        }
        #expect(origin.requests.count == bodies.count)
        await house.stop()
        await workers.shutDown()
    }

    @Test("A damaged image is fetched again after five minutes, and shown as a whole once it is one")
    func repaired() async throws {
        let whole = try #require(try Self.files().first).1
        let damaged = Array(whole.prefix(whole.count / 2)) + [0xff, 0xd9]
        let count = Atomic(0)
        let origin = try Origin { _, connection in
            let isDamaged = count.add(1, ordering: .relaxed).newValue <= 2
            connection.answer(200, ["Content-Type: image/jpeg", "Cache-Control: max-age=86400"], body: isDamaged ? damaged : whole)
        }
        defer { origin.stop() }
        let workers = try BuiltWorkers.make()
        let house = try House([origin]) { $0.transformer = workers }
        for downloads in 1...3 {
            for size in ["50x50-fit", "60x60-fit"] {
                let got = try await Self.get(house, origin.url("/a"), size)
                let (error, seconds) = downloads < 3 ? ("undecodable", 300) : (nil, 86_400)
                #expect(got.status == 200 && got.headers["Image-Error"] == error, "\(downloads): \(got.headers)")
                #expect(got.headers["Cache-Control"] == "public, max-age=\(seconds)", "\(downloads): \(got.headers)")
            }
            #expect(origin.requests.count == downloads)
            house.pass(301)
        }
        await house.stop()
        await workers.shutDown()
    }

    @Test("A size of a damaged image lives as long as its first one", arguments: ["with its end", "without its end", "only on disk"])
    func laterSize(_ form: String) async throws {
        let whole = try #require(try Self.files().first).1
        let damaged = Array(whole.prefix(whole.count / 2)) + (form == "without its end" ? [] : [0xff, 0xd9])
        let workers = try BuiltWorkers.make()
        let origin = try Origin { _, connection in
            connection.answer(200, ["Content-Type: image/jpeg", "Cache-Control: max-age=86400"], body: damaged)
        }
        defer { origin.stop() }
        let folder = TemporaryFolder()
        let house = try House([origin], folder: folder.path) { configuration in
            configuration.transformer = workers
            if form == "only on disk" { configuration.memoryBytes = 0 }
        }
        for (size, seconds) in [("50x50-fit", 94), ("60x60-fit", 100), ("70x70-fit", 100)] {
            let got = try await Self.get(house, origin.url("/a"), size)
            #expect(got.status == 200 && got.headers["Image-Error"] == "undecodable", "\(size): \(got.headers)")
            #expect(got.headers["Cache-Control"] == "public, max-age=300", "\(size): \(got.headers)")
            await house.manager.flush()
            house.pass(Int64(seconds))
        }
        #expect(origin.requests.count == 1)
        house.pass(7)
        for size in ["60x60-fit", "70x70-fit"] {
            #expect(try await Self.get(house, origin.url("/a"), size).outcome.outcome == .miss, "\(size)")
        }
        await house.stop()
        await workers.shutDown()
    }

    @Test("The truncated original is sent to all from one download, and is not cacheable")
    func originals() async throws {
        var bodies: [String: (ImageFormat, [UInt8])] = [:]
        for (number, (kind, whole)) in try Self.files().enumerated() {
            bodies["/\(number)"] = (kind, Array(whole.prefix(whole.count / 2)))
        }
        let (origin, house) = try Self.house(bodies, nil)
        defer { origin.stop() }
        for (path, (_, body)) in bodies {
            for _ in 0..<3 {
                let got = try await house.get(origin.url(path), accept: "image/*")
                #expect(got.status == 200 && got.body == body && got.headers["Cache-Control"] == "no-store", "\(path): \(got.headers)")
            }
        }
        #expect(origin.requests.count == bodies.count)
        await house.manager.purge(.all)
        for path in bodies.keys { #expect(try await house.get(origin.url(path), accept: "image/*").status == 200) }
        #expect(origin.requests.count == 2 * bodies.count)
        await house.stop()
    }

    @Test("The truncated original of unknown length is sent to all from one download", arguments: [2, 1_000])
    func originalsOfUnknownLength(missing: Int) async throws {
        let whole = try #require(try Self.files().first).1
        let origin = try Origin { _, connection in
            connection.send("HTTP/1.0 200 OK\r\nContent-Type: image/jpeg\r\n\r\n")
            connection.send(Array(whole.dropLast(missing)))
            connection.finish()
        }
        defer { origin.stop() }
        let house = try House([origin])
        for _ in 0..<6 {
            let got = try await house.get(origin.url("/a"), accept: "image/*")
            #expect(got.status == 200 && got.body == Array(whole.dropLast(missing)) && got.headers["Cache-Control"] == "no-store")
        }
        #expect(origin.requests.count == 1)
        await house.stop()
    }

    @Test("Truncated originals are cached for five minutes, in bounded memory")
    func held() {
        func image(_ number: Int) -> CachedImage {
            CachedImage(
                source: "http://example.com/\(number)", kind: .png, body: TestImage.png(number, bytes: 1_000), freshness: Freshness(now: 0),
                validators: .init())
        }
        let start = MonotonicInstant(nanoseconds: 0)
        let wanted = AcceptedFormats.anything.accepted
        let cache = ImageCache(memory: MemoryCache(capacity: 0), disk: nil, unendedBytes: 4_000)
        for number in 0..<5 { cache.holdUnended(image(number), isDelimited: true, now: start) }
        let found = (0..<5).map { cache.unendedImage("http://example.com/\($0)", wanted, now: start.advanced(by: .seconds(299))) != nil }
        #expect(found == [false, false, true, true, true])
        #expect(cache.unendedImage("http://example.com/4", wanted, now: start.advanced(by: .seconds(300))) == nil)
    }

    @Test("A truncated image of unknown length is not fetched again for a while; one without its end marker is resized")
    func unknownLength() async throws {
        let whole = try #require(try Self.files().first).1
        let origin = try Origin { request, connection in
            connection.send("HTTP/1.0 200 OK\r\nContent-Type: image/jpeg\r\n\r\n")
            connection.send(Array(whole.prefix(request.path == "/half" ? whole.count / 2 : whole.count - 2)))
            connection.finish()
        }
        defer { origin.stop() }
        let workers = try BuiltWorkers.make()
        let house = try House([origin]) { $0.transformer = workers }
        for _ in 0..<5 {
            let got = try await Self.get(house, origin.url("/half"))
            #expect(got.status == 502 && got.headers["Image-Error"] == "truncated", "\(got.headers)")
            #expect(try await Self.get(house, origin.url("/unended")).status == 200)
        }
        #expect(origin.requests.count == 2)
        await house.stop()
        await workers.shutDown()
    }
}
