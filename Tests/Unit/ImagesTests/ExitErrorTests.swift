import Synchronization
import TestSupport
import Testing

@testable import IntertwineImages

@Suite("Rejected images", .timeLimit(.untilStuck))
struct ExitErrorTests {
    private static let html = Array("<html><script>alert(1)</script>".utf8)

    @Test(
        "Bytes that do not begin as an image are rejected, with any declared type (CVE-2019-18923)",
        arguments: [
            (["Content-Type: text/html"], html), ([], html), (["Content-Type: image/png"], html),
            (["Content-Type: application/octet-stream"], Array("<svg xmlns=".utf8)),
            (["Content-Type: image/svg+xml"], Array("<svg/>".utf8)),
            (["Content-Type: image/png"], [0x89, 0x50]), (["Content-Type: image/gif"], Array("GIF89".utf8)),
            (["Content-Encoding: gzip"], gzipped(html)), (["Content-Type: image/png"], []),
        ] as [([String], [UInt8])])
    func types(_ fields: [String], _ body: [UInt8]) async throws {
        let code = "type-mismatch"
        let origin = try Origin { _, connection in connection.answer(200, fields, body: body) }
        defer { origin.stop() }
        let house = try House([origin])
        let got = try await house.get(origin.url("/a.png"))
        #expect(got.status == 415 && got.failure?.code == code)
        #expect(got.body.isEmpty && got.headers["Content-Type"] == nil)
        #expect(house.manager.cached(origin.url("/a.png")) == nil)
        await house.stop()
    }

    @Test(
        "An image is served under its own type, however the origin labels it",
        arguments: [
            (200, [], TestImage.jpeg), (200, ["Content-Type: image/*"], TestImage.jpeg),
            (200, ["Content-Type: text/html; charset=utf-8"], TestImage.jpeg),
            (200, ["Content-Type: image/png"], TestImage.jpeg), (200, ["Content-Type: image/apng"], TestImage.png()),
            (200, ["Content-Type: image/png, text/html"], TestImage.png()),
            (200, ["Content-Type: image/png", "Content-Type: text/html"], TestImage.png()),
            (200, ["Content-Type: image/jpeg;"], TestImage.jpeg), (200, ["Content-Type: jpeg"], TestImage.jpeg),
            (200, ["Content-Type: image/svg+xml"], TestImage.png()),
            (200, ["Content-Encoding:"], TestImage.png()), (200, ["Content-Encoding: identity"], TestImage.png()),
            (200, ["Content-Encoding: utf-8"], TestImage.png()),
            (200, ["Content-Encoding: none"], TestImage.png()), (200, ["Content-Encoding: gzip"], TestImage.png()),
            (200, ["Content-Encoding: br"], TestImage.png()),
            (201, [], TestImage.png()), (202, [], TestImage.png()), (203, [], TestImage.png()), (226, [], TestImage.png()),
            (200, ["Content-Encoding: deflate"], TestImage.png()), (200, ["Content-Encoding: deflate"], TestImage.jpeg),
            (200, [": no name", "X Y: 1"], TestImage.png()),
            (206, ["Content-Range: bytes 0-\(TestImage.png().count - 1)/\(TestImage.png().count)"], TestImage.png()),
            (200, ["X-A: b\r\n continued", "X-B: c\r\n\tcontinued\r\n  again"], TestImage.png()),
            (200, ["Vary: Origin, Save-Data, DPR, X-Forwarded-Proto"], TestImage.png()),
        ] as [(Int, [String], [UInt8])])
    func labels(_ status: Int, _ fields: [String], _ body: [UInt8]) async throws {
        let origin = try Origin { _, connection in
            connection.answer(status, ["Cache-Control: max-age=600", "ETag: \"a\""] + fields, body: body)
        }
        defer { origin.stop() }
        let house = try House([origin])
        for _ in 0..<2 {
            let got = try await house.get(origin.url("/a"))
            #expect(got.status == 200 && got.body == body)
            #expect(got.headers["Content-Type"] == (body == TestImage.jpeg ? "image/jpeg" : "image/png"))
        }
        #expect(origin.requests.count == 1)
        await house.stop()
    }

    @Test("An image in gzip coding is decoded, also twice, in members and with padding", arguments: [1, 2, 3])
    func coded(_ times: Int) async throws {
        let image = TestImage.png()
        let coded = (0..<times).reduce(image) { bytes, _ in gzipped(bytes) } + [UInt8](repeating: 0, count: 600)
        let origin = try Origin { _, connection in
            connection.answer(
                200, ["Content-Type: image/png", "Content-Encoding: \(Array(repeating: "gzip", count: times).joined(separator: ", "))"],
                body: coded)
        }
        defer { origin.stop() }
        let house = try House([origin])
        let got = try await house.get(origin.url("/a"))
        #expect(got.status == 200 && got.body == image)
        await house.stop()
    }

    @Test("A redirect with several equal fields is followed, one with different fields is not, and a part is no image")
    func locations() async throws {
        let origin = try Origin { request, connection in
            switch request.path {
            case "/same": connection.answer(302, ["Location: /a", "Location: /a"])
            case "/fragments": connection.answer(302, ["Location: /a#a", "Location: http://\(request.headers["host"] ?? "")/a#b"])
            case "/folded": connection.answer(302, ["Location:\r\n /a"])
            case "/different": connection.answer(302, ["Location: /a", "Location: /b"])
            case "/part": connection.answer(206, ["Content-Range: bytes 0-9/99"], body: TestImage.png())
            default: connection.answer(200, body: TestImage.png())
            }
        }
        defer { origin.stop() }
        let house = try House([origin])
        #expect(try await house.get(origin.url("/same")).status == 200)
        #expect(try await house.get(origin.url("/folded")).status == 200)
        #expect(try await house.get(origin.url("/fragments")).status == 200)
        #expect(try await house.get(origin.url("/different")).failure?.code == "protocol-error")
        #expect(try await house.get(origin.url("/part")).failure?.code == "upstream-206")
        await house.stop()
    }

    @Test("The first bytes are checked, without waiting for an endless stream (CVE-2022-41952)")
    func stream() async throws {
        let origin = try Origin { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: audio/mpeg\r\n\r\n")
            while connection.send([UInt8](repeating: 1, count: 4_096)) {}
            connection.finish()
        }
        defer { origin.stop() }
        let house = try House([origin])
        #expect(try await house.get(origin.url("/radio")).failure == ImageError(.typeMismatch))
        await origin.closed(1)
        await house.stop()
    }

    @Test("An image of unknown length truncated by a lost connection is served and not cached")
    func cutOff() async throws {
        let origin = try Origin { request, connection in
            connection.send("HTTP/1.0 200 OK\r\nContent-Type: image/png\r\n\r\n")
            connection.send(request.path == "/whole" ? TestImage.png(1) : Array(TestImage.png(1).dropLast(100)))
            connection.finish()
        }
        defer { origin.stop() }
        let house = try House([origin])
        let cut = try await house.get(origin.url("/cut"))
        #expect(cut.body.count == 1_900 && cut.headers["Cache-Control"] == "no-store" && !cut.outcome.isStored)
        #expect(house.manager.cached(origin.url("/cut")) == nil)
        #expect(try await house.get(origin.url("/whole")).body == TestImage.png(1))
        #expect(house.manager.cached(origin.url("/whole")) != nil)
        await house.stop()
    }

    @Test(
        "A JPEG that is truncated at its origin is served and not cached", arguments: [2_000, 200_000])
    func cutAtOrigin(_ size: Int) async throws {
        let body = Frames.jpeg(800, 600) + [UInt8](repeating: 0, count: size)
        let origin = try Origin { _, connection in connection.answer(200, ["Content-Type: image/jpeg"], body: body) }
        defer { origin.stop() }
        let house = try House([origin])
        let got = try await house.get(origin.url("/a"))
        #expect(got.status == 200 && got.body == body)
        if size < 65_536 { #expect(got.headers["Cache-Control"] == "no-store" && !got.outcome.isStored) }
        #expect(house.manager.cached(origin.url("/a")) == nil)
        await house.stop()
    }

    @Test("A complete image is cached, with trailing bytes and at minimal size")
    func keptInFull() async throws {
        let filling = [UInt8](repeating: 0, count: 20_000)
        let bodies: [(String, [UInt8])] = [
            ("png", TestImage.png(1) + filling), ("png", Array("\u{89}PNG\r\n\u{1a}\n".unicodeScalars.map { UInt8($0.value) }) + filling),
            ("jpeg", Frames.jpeg(800, 600) + [0xff, 0xd9] + filling), ("jpeg", [0xff, 0xd8, 0xff, 0xe0] + filling),
        ]
        for (kind, body) in bodies {
            let origin = try Origin { _, connection in connection.answer(200, ["Content-Type: image/\(kind)"], body: body) }
            defer { origin.stop() }
            let house = try House([origin])
            #expect(try await house.get(origin.url("/a")).body == body)
            #expect(house.manager.cached(origin.url("/a")) != nil)
            await house.stop()
        }
    }

    @Test(
        "Small files with gigabytes of pixels are rejected",
        arguments: [
            ("png", Frames.png(20_000, 20_000), "too-many-pixels"), ("jpeg", Frames.jpeg(12_000, 12_000, 0xc2), "too-many-pixels"),
            ("gif", Frames.gif(65_535, 65_535), "too-many-pixels"), ("gif", Frames.gif(1, 1, frame: (60_000, 60_000)), "too-many-pixels"),
            ("avif", Frames.avif((20_000, 20_000)), "too-many-pixels"),
            ("jpeg", Frames.jpeg(12_000, 12_000, 0xc2, before: [0, 0, 0xff, 1, 0xff, 0xd0]), "too-many-pixels"),
            ("webp", Frames.webpExtended(16_777_216, 1), "too-many-pixels"),
            ("gif", Frames.gif(4_000, 3_000, frames: 50), "too-many-pixels"),
            ("png", Frames.apng(100, 100, frames: 50_000), "too-many-pixels"),
            ("webp", Frames.webpAnimated(1, 1, frames: 3_000), "too-many-frames"),
            ("gif", Frames.gif(1, 1, frames: 3_000), "too-many-frames"),
            ("png", Frames.png(0, 0), "type-mismatch"),
        ])
    func bombs(_ kind: String, _ body: [UInt8], _ code: String) async throws {
        let origin = try Origin { _, connection in connection.answer(200, ["Content-Type: image/\(kind)"], body: body) }
        defer { origin.stop() }
        let house = try House([origin])
        let got = try await house.get(origin.url("/a"))
        #expect(got.status == 415 && got.failure?.code == code && got.body.isEmpty)
        #expect(house.manager.cached(origin.url("/a")) == nil)
        await house.stop()
    }

    @Test("A fragment of any format with a matching length is served and not cached", arguments: Frames.real)
    func fragments(_ kind: ImageFormat, _ whole: [UInt8]) async throws {
        let origin = try Origin { request, connection in
            let body = request.path == "/whole" ? whole : Array(whole.dropLast(6))
            connection.answer(200, ["Content-Type: \(kind.contentType)"], body: body)
        }
        defer { origin.stop() }
        let house = try House([origin])
        let cut = try await house.get(origin.url("/cut"), accept: "image/*")
        #expect(cut.status == 200 && cut.headers["Cache-Control"] == "no-store" && !cut.outcome.isStored)
        #expect(house.manager.cached(origin.url("/cut")) == nil)
        #expect(try await house.get(origin.url("/whole")).outcome.isStored)
        #expect(house.manager.cached(origin.url("/whole")) != nil)
        await house.stop()
    }

    @Test("Excessive dimensions found after the head abort the response")
    func lateBomb() async throws {
        let gate = Gate()
        let filler: [UInt8] = [0xff, 0xe1, 0xff, 0xff] + [UInt8](repeating: 7, count: 65_533)
        let origin = try Origin { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\n\r\n")
            connection.send([0xff, 0xd8] + filler)
            gate.wait()
            connection.send(filler + Frames.jpeg(12_000, 12_000, 0xc2).dropFirst(2))
            connection.waitForClose()
        }
        defer { origin.stop() }
        let house = try House([origin])
        let answer = await house.manager.image(ImageRequest(origin.url("/a")))
        #expect(answer.status == 200)
        gate.open()
        let failure = try await Got(answer).failure
        #expect(failure?.reason == .tooManyPixels, "\(String(describing: failure))")
        await house.stop()
    }

    @Test(
        "A denied address gives an error with its reason (jina-ai/reader #1252, linkding #1458)",
        arguments: [
            ("http://127.0.0.2:PORT/", 403, "address-denied"), ("http://10.0.0.1:PORT/", 403, "address-denied"),
            ("http://127.0.0.1:22/", 403, "port-denied"), ("file:///etc/passwd", 403, "scheme-denied"),
            ("http://a@127.0.0.1:PORT/", 403, "userinfo-denied"),
            ("http://nowhere.example:PORT/", 502, "host-not-found"), ("http://127.0.0.1:PORT/inside", 403, "address-denied"),
            ("http://127.0.0.1:PORT/round", 502, "too-many-redirects"),
        ])
    func policy(_ source: String, _ status: Int, _ code: String) async throws {
        let trap = try Origin("127.0.0.2") { _, connection in connection.answer(200) }
        let origin = try Origin { request, connection in
            connection.answer(302, ["Location: \(request.path == "/inside" ? trap.url() : "/round")"])
        }
        defer { origin.stop() }
        let house = try House([origin, trap])
        let got = try await house.get(source.replacing("PORT", with: String(origin.port)))
        #expect(got.status == status && got.failure?.code == code)
        await house.stop()
        trap.stop()
        #expect(trap.connections == 0)
    }

    @Test("Beyond the queue limit: 503 with Retry-After, and the limit per origin holds")
    func overload() async throws {
        let gate = Gate()
        let atOnce = Atomic<Int>(0)
        let most = Atomic<Int>(0)
        let origin = try Origin { _, connection in
            most.max(atOnce.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
            gate.wait()
            atOnce.subtract(1, ordering: .relaxed)
            connection.answer(200, ["Content-Type: image/png"], body: TestImage.png())
        }
        defer { origin.stop() }
        let house = try House([origin]) {
            $0.queue = 10
            $0.queueTimeout = .seconds(30)
        }
        let answers = EventLog<Int>()
        let group = (0..<50).map { number in
            Task {
                let got = try await house.get(origin.url("/\(number)"))
                if got.status == 503 {
                    #expect(got.headers["Retry-After"] == "1" && got.failure == ImageError(.overloaded, retryAfter: 1))
                }
                answers.append(got.status)
            }
        }
        await answers.wait { $0.count == 34 }
        #expect(answers.events.allSatisfy { $0 == 503 })
        #expect(await house.manager.metrics().queued == 10)
        await origin.requested(6)
        while atOnce.load(ordering: .relaxed) < 6 { await Task.yield() }
        gate.open()
        for task in group { try await task.value }
        #expect(answers.events.count { $0 == 200 } == 16)
        #expect(most.load(ordering: .relaxed) == 6)
        await house.stop()
    }

    @Test("A request beyond the queue timeout gets an error")
    func patience() async throws {
        let origin = try Origin { _, connection in connection.waitForClose() }
        defer { origin.stop() }
        let house = try House([origin]) {
            $0.downloads = 1
            $0.queueTimeout = .milliseconds(20)
        }
        let first = Task { try await house.get(origin.url("/1")) }
        await origin.requested(1)
        let second = try await house.get(origin.url("/2"))
        #expect(second.failure == ImageError(.queueTimeout, retryAfter: 1) && second.status == 503)
        first.cancel()
        _ = try await first.value
        await house.stop()
    }

    @Test("Without a specific declared type, the first bytes decide the type")
    func undeclared() async throws {
        let origin = try Origin { request, connection in
            let fields = request.path == "/" ? [] : ["Content-Type: \(request.path.dropFirst())"]
            connection.answer(200, fields, body: request.path == "/image/pjpeg" ? TestImage.jpeg : TestImage.png())
        }
        defer { origin.stop() }
        let house = try House([origin])
        for type in ["", "application/octet-stream", "binary/octet-stream", "image/pjpeg", "image/x-png"] {
            for _ in 0..<2 {
                let got = try await house.get(origin.url("/\(type)"))
                let kind = type == "image/pjpeg" ? "jpeg" : "png"
                #expect(got.status == 200 && got.headers["Content-Type"] == "image/\(kind)", "\(type): \(got)")
                #expect(got.headers["Content-Disposition"] == "inline; filename=\"image.\(kind)\"")
            }
        }
        #expect(origin.requests.count == 5)
        await house.stop()
    }

    @Test("A failing host gets reduced concurrency until one image succeeds; no URL opens the circuit for another")
    func badAnswers() async throws {
        let gate = Gate()
        let origin = try Origin { request, connection in
            if request.path.hasPrefix("/wait") { gate.wait() }
            if request.path.hasPrefix("/bad") { return connection.answer(500) }
            connection.answer(200, ["Content-Type: image/png"], body: TestImage.png())
        }
        defer { origin.stop() }
        let house = try House([origin]) { $0.queueTimeout = .seconds(30) }
        for number in 0..<20 { #expect(try await house.get(origin.url("/bad/\(number)")).status == 502) }
        let waiting = (0..<4).map { number in Task { try await house.get(origin.url("/wait/\(number)")) } }
        await origin.requested(22)
        while await house.manager.metrics().queued < 2 { await Task.yield() }
        #expect(origin.requests.count == 22)
        gate.open()
        for task in waiting { #expect(try await task.value.status == 200) }
        #expect(try await house.get(origin.url("/good.png")).status == 200)
        #expect(await house.manager.metrics().openCircuits == 0)
        await house.stop()
    }

    @Test("An unreachable host opens the circuit")
    func resting() async throws {
        let gone = try Origin { _, connection in connection.answer(500) }
        gone.stop()
        let neighbour = try Origin { _, connection in connection.answer(200, ["Content-Type: image/png"], body: TestImage.png()) }
        defer { neighbour.stop() }
        let house = try House([gone, neighbour])
        for number in 0..<10 { #expect(try await house.get(gone.url("/\(number)")).status == 502) }
        let got = try await house.get(gone.url("/more"))
        #expect(got.status == 503 && got.failure?.reason == .circuitOpen && got.headers["Retry-After"] != nil)
        #expect(got.headers["Cache-Status"]?.contains("hit") == false)
        #expect(await house.manager.metrics().openCircuits == 1)
        // Another port of the same host is another server.
        #expect(try await house.get(neighbour.url("/a.png")).status == 200)
        await house.stop()
    }

    @Test("The total memory of downloads is bounded")
    func budget() async throws {
        let origin = try Origin { _, connection in
            connection.answer(200, ["Content-Type: image/png"], body: TestImage.png(1, bytes: 500_000))
        }
        defer { origin.stop() }
        let house = try House([origin]) { $0.bufferBytes = 300_000 }
        let got = try await house.get(origin.url("/a.png"))
        #expect(got.failure?.reason == .buffersFull)
        try await poll { await house.manager.metrics().bufferBytes <= 0 }
        await house.stop()
    }
}
