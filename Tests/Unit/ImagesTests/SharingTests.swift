import Foundation
import Synchronization
import TestSupport
import Testing

@testable import IntertwineImages

@Suite("Coalesced downloads", .timeLimit(.untilStuck))
struct SharingTests {
    private static let image = TestImage.png(1, bytes: 100_000)

    /// Sends the first half of an image, and the rest when the gate opens.
    private func halvingOrigin(_ gate: Gate) throws -> Origin {
        try Origin { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: \(Self.image.count)\r\n\r\n")
            connection.send(Array(Self.image.prefix(50_000)))
            gate.wait()
            connection.send(Array(Self.image.dropFirst(50_000)))
        }
    }

    private func stream(_ answer: ImageResponse) throws -> ImageStream {
        guard case .stream(let stream, _) = answer.body else { throw CancellationError() }
        return stream
    }

    @Test("With two waiters the first leaves: the second gets the complete image by one request")
    func firstLeaves() async throws {
        let gate = Gate()
        let origin = try halvingOrigin(gate)
        defer { origin.stop() }
        let house = try House([origin])
        let source = origin.url("/a.png")
        let first = try stream(await house.manager.image(ImageRequest(source)))
        let second = try stream(await house.manager.image(ImageRequest(source)))
        var iterator = first.makeAsyncIterator()
        #expect(try await iterator.next()?.isEmpty == false)
        first.cancel()
        gate.open()
        var body: [UInt8] = []
        for try await chunk in second { body += chunk }
        #expect(body == Self.image)
        #expect(origin.requests.count == 1)
        await #expect(throws: ImageError(.cancelled)) { _ = try await iterator.next() }
        await house.stop()
    }

    @Test("A thousand waiters share one request and get the same bytes")
    func thousand() async throws {
        let gate = Gate()
        let origin = try halvingOrigin(gate)
        defer { origin.stop() }
        let house = try House([origin])
        let source = origin.url("/a.png")
        try await withThrowingTaskGroup(of: Got.self) { group in
            for number in 0..<1_000 {
                group.addTask { try await Got(house.manager.image(ImageRequest(source, priority: number % 2 == 0 ? .visible : .prefetch))) }
            }
            await origin.requested(1)
            gate.open()
            var collapsed = 0
            for try await got in group {
                #expect(got.status == 200 && got.body == Self.image)
                if got.outcome.isCollapsed { collapsed += 1 }
            }
            #expect(collapsed <= 999)
        }
        #expect(origin.requests.count == 1)
        let metrics = await house.manager.metrics()
        #expect(metrics.requests.values.reduce(0, +) == 1_000)
        #expect(metrics.upstream == ["ok": 1])
        #expect(metrics.bytesReceived == Self.image.count)
        #expect(metrics.waiters == 0 && metrics.inFlight == 0)
        await house.stop()
    }

    @Test("After the last waiter leaves before the head, the connection closes after the grace period")
    func lastLeavesAtHead() async throws {
        let origin = try Origin { _, connection in connection.waitForClose() }
        defer { origin.stop() }
        let house = try House([origin])
        let tasks = (0..<2).map { _ in Task { try await house.get(origin.url("/a.png")) } }
        await origin.requested(1)
        for task in tasks { task.cancel() }
        for task in tasks {
            let got = try await task.value
            #expect(got.status == 499 && got.failure == ImageError(.cancelled))
        }
        await origin.closed(1)
        let metrics = await house.manager.metrics()
        #expect(metrics.aborted == ["headers": 1])
        #expect(metrics.inFlight == 0 && metrics.waiters == 0)
        await house.stop()
    }

    @Test("After the last waiter leaves an endless body, at most 64 KiB are received")
    func lastLeavesBody() async throws {
        let gate = Gate()
        let origin = try Origin { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 8000000\r\n\r\n")
            connection.send(TestImage.png(1, bytes: 100_000))
            gate.wait()
            while connection.send([UInt8](repeating: 1, count: 4_096)) {}
            connection.finish()
        }
        defer { origin.stop() }
        let house = try House([origin]) { $0.grace = .milliseconds(300) }
        let stream = try stream(await house.manager.image(ImageRequest(origin.url("/a.png"))))
        var iterator = stream.makeAsyncIterator()
        _ = try await iterator.next()
        let connection = try #require(origin.connection(1))
        stream.cancel()
        await house.settle()
        let atDeparture = connection.delivered
        gate.open()
        await origin.closed(1)
        let later = connection.delivered - atDeparture
        #expect(later > 0 && later <= 64 * 1_024)
        let metrics = await house.manager.metrics()
        #expect(metrics.aborted == ["body": 1])
        #expect(metrics.bytesWastedAfterCancel <= 64 * 1_024)
        await house.stop()
    }

    @Test(
        "A body that begins during the grace period is read only if a waiter returns",
        arguments: [false, true])
    func bodyInGrace(_ comesBack: Bool) async throws {
        let gate = Gate()
        let body = TestImage.png(1, bytes: 1_000_000)
        let origin = try Origin { _, connection in
            gate.wait()
            // In one piece, as much of which is read as there is.
            connection.send(Array("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body)
        }
        defer { origin.stop() }
        let house = try House([origin]) { $0.grace = comesBack ? .seconds(20) : .seconds(1) }
        let source = origin.url("/a.png")
        let first = Task { try await house.get(source) }
        await origin.requested(1)
        first.cancel()
        #expect(try await first.value.status == 499)
        gate.open()
        if comesBack {
            while try #require(origin.connection(1)).delivered == 0 { await house.settle() }
            #expect(try await house.get(source).body == body)
        } else {
            await origin.closed(1)
        }
        let metrics = await house.manager.metrics()
        #expect(metrics.bytesReceived == (comesBack ? body.count : 0) && metrics.aborted == (comesBack ? [:] : ["body": 1]))
        #expect(origin.requests.count == 1)
        await house.stop()
    }

    @Test("A waiter that returns within the grace period joins the same transfer")
    func rejoin() async throws {
        let gate = Gate()
        let origin = try halvingOrigin(gate)
        defer { origin.stop() }
        let house = try House([origin]) { $0.grace = .seconds(20) }
        let source = origin.url("/a.png")
        let first = try stream(await house.manager.image(ImageRequest(source)))
        first.cancel()
        await house.settle()
        let second = try stream(await house.manager.image(ImageRequest(source)))
        gate.open()
        var body: [UInt8] = []
        for try await chunk in second { body += chunk }
        #expect(body == Self.image)
        #expect(origin.requests.count == 1 && origin.connections == 1)
        await house.stop()
    }

    @Test("A permit needed by others is not held during the grace period")
    func yielded() async throws {
        let origin = try Origin { request, connection in
            if request.path == "/first" { return connection.waitForClose() }
            connection.answer(200, ["Content-Type: image/png"], body: TestImage.png())
        }
        defer { origin.stop() }
        let house = try House([origin]) {
            $0.downloadsPerHost = 1
            $0.grace = .seconds(50)
            $0.queueTimeout = .seconds(50)
        }
        let first = Task { try await house.get(origin.url("/first")) }
        await origin.requested(1)
        first.cancel()
        _ = try await first.value
        #expect(try await house.get(origin.url("/second")).status == 200)
        #expect(await house.manager.metrics().aborted == ["headers": 1])
        await house.stop()
    }

    @Test("A nearly complete transfer is finished for the cache")
    func nearlyDone() async throws {
        let gate = Gate()
        let origin = try Origin { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 2000\r\n\r\n")
            connection.send(Array(TestImage.png().prefix(100)))
            gate.wait()
            connection.send(Array(TestImage.png().dropFirst(100)))
        }
        defer { origin.stop() }
        let house = try House([origin]) { $0.grace = .milliseconds(1) }
        let first = try stream(await house.manager.image(ImageRequest(origin.url("/a.png"))))
        first.cancel()
        gate.open()
        while house.manager.cached(origin.url("/a.png")) == nil { await house.settle() }
        #expect(origin.requests.count == 1)
        let metrics = await house.manager.metrics()
        #expect(metrics.aborted.isEmpty)
        await house.stop()
    }

    @Test("A reset first attempt is retried for all waiters")
    func retried() async throws {
        let origin = try Origin { request, connection in
            if request.connection == 1 {
                connection.reset()
            } else {
                connection.answer(200, ["Content-Type: image/png"], body: TestImage.png())
            }
        }
        defer { origin.stop() }
        let house = try House([origin])
        async let first = house.get(origin.url("/a.png"))
        async let second = house.get(origin.url("/a.png"))
        for got in try await [first, second] { #expect(got.status == 200 && got.body == TestImage.png()) }
        #expect(origin.requests.count == 2)
        #expect(await house.manager.metrics().retries == 1)
        await house.stop()
    }

    @Test("An aborted transfer fails for all waiters, and not for later ones")
    func brokenOff() async throws {
        let origin = try Origin { request, connection in
            if request.connection > 1 { return connection.answer(200, ["Content-Type: image/png"], body: TestImage.png()) }
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 100000\r\n\r\n")
            connection.send(TestImage.png())
            connection.finish()
        }
        defer { origin.stop() }
        let house = try House([origin])
        let got = try await house.get(origin.url("/a.png"))
        #expect(got.failure == ImageError(.fetch(.truncated)))
        #expect(house.manager.cached(origin.url("/a.png")) == nil)
        await house.manager.purge(.source(origin.url("/a.png")))
        #expect(try await house.get(origin.url("/a.png")).body == TestImage.png())
        await house.stop()
    }

    @Test("A request is cancelled by id once, in any state", arguments: [false, true])
    func byName(_ isStreaming: Bool) async throws {
        let gate = Gate()
        defer { gate.open() }
        let origin = try isStreaming ? halvingOrigin(gate) : Origin { _, connection in connection.waitForClose() }
        defer { origin.stop() }
        let house = try House([origin])
        let id = UUID()
        let request = ImageRequest(origin.url("/a.png"), id: id)
        if isStreaming {
            let stream = try stream(await house.manager.image(request))
            #expect(await house.manager.cancel(id))
            await #expect(throws: ImageError(.cancelled)) { for try await _ in stream {} }
        } else {
            let task = Task { await house.manager.image(request) }
            await origin.requested(1)
            #expect(await house.manager.cancel(id))
            #expect(await task.value.status == 499)
        }
        #expect(await house.manager.cancel(id) == false)
        #expect(await house.manager.cancel(UUID()) == false)
        await house.stop()
    }

    @Test("A viewport cancels hidden images and prioritizes visible ones")
    func viewport() async throws {
        let origin = try Origin { _, connection in connection.waitForClose() }
        defer { origin.stop() }
        let house = try House([origin]) {
            $0.downloadsPerHost = 1
            $0.queueTimeout = .seconds(30)
        }
        let ids = (0..<4).map { _ in UUID() }
        var tasks: [Task<ImageResponse, Never>] = []
        for (number, id) in ids.enumerated() {
            let request = ImageRequest(origin.url("/\(number)"), id: id, priority: number == 0 ? .visible : .prefetch)
            tasks.append(Task { await house.manager.image(request) })
            try await poll { await house.manager.metrics().waiters > number }
        }
        // The first one is on its way, and not still on the way out.
        await origin.requested(1)
        // Of those that wait the last one would be next but one; being in view, it is next.
        let count = await house.manager.viewport(visible: [ids[3], UUID()], gone: [ids[0], ids[1], UUID()])
        #expect(count == 2)
        #expect(await tasks[0].value.status == 499)
        #expect(await tasks[1].value.status == 499)
        await origin.requested(2)
        #expect(Set(origin.requests.map(\.path)) == ["/0", "/3"])
        await house.stop()
        for task in tasks { _ = await task.value }
    }

    @Test("Requests named by a viewport are first, in its order")
    func plainViewport() async throws {
        let origin = try Origin { request, connection in
            if request.path == "/0" { return connection.waitForClose() }
            connection.answer(200, ["Content-Type: image/png"], body: TestImage.png())
        }
        defer { origin.stop() }
        let house = try House([origin]) {
            $0.downloadsPerHost = 1
            $0.queueTimeout = .seconds(30)
        }
        let ids = (0..<5).map { _ in UUID() }
        var tasks: [Task<ImageResponse, Never>] = []
        for (number, id) in ids.enumerated() {
            tasks.append(Task { await house.manager.image(ImageRequest(origin.url("/\(number)"), id: id)) })
            try await poll { await house.manager.metrics().waiters > number }
        }
        await origin.requested(1)
        await house.manager.viewport(visible: [ids[1], ids[2]], gone: [ids[0]])
        for task in tasks { _ = await task.value }
        #expect(origin.requests.map(\.path) == ["/0", "/1", "/2", "/4", "/3"])
        await house.stop()
    }

    @Test("Waiters that joined a failed request are served by a second one; a single waiter gets the failure", arguments: [false, true])
    func secondChance(_ isSilent: Bool) async throws {
        let gate = Gate()
        let origin = try Origin { request, connection in
            if request.path == "/alone" { return connection.answer(500) }
            if request.connection > 1 { return connection.answer(200, ["Content-Type: image/png"], body: TestImage.png()) }
            gate.wait()
            if isSilent { connection.waitForClose() } else { connection.answer(500, ["Connection: close"]) }
            connection.finish()
        }
        defer { origin.stop() }
        let house = try House([origin]) { if isSilent { $0.limits.head = .seconds(3) } }
        let tasks = (0..<3).map { _ in Task { try await house.get(origin.url("/a.png")) } }
        try await poll { await house.manager.metrics().collapsed >= 2 }
        gate.open()
        for task in tasks {
            let got = try await task.value
            #expect(got.status == 200 && got.body == TestImage.png())
        }
        #expect(origin.requests.count == 2)
        let metrics = await house.manager.metrics()
        #expect(metrics.retries == 1 && metrics.upstream == ["ok": 1])
        #expect(try await house.get(origin.url("/alone")).status == 502)
        #expect(origin.requests.count == 3)
        await house.stop()
    }

    @Test("A failed second attempt is the last, and all waiters get the failure")
    func noThirdChance() async throws {
        let gate = Gate()
        let origin = try Origin { _, connection in
            gate.wait()
            connection.answer(500)
        }
        defer { origin.stop() }
        let house = try House([origin])
        let tasks = (0..<3).map { _ in Task { try await house.get(origin.url("/a.png")) } }
        try await poll { await house.manager.metrics().collapsed >= 2 }
        gate.open()
        for task in tasks { #expect(try await task.value.status == 502) }
        #expect(origin.requests.count == 2)
        await house.stop()
    }

    @Test("Waiters can cancel while the name server is silent")
    func silentNames() async throws {
        let gate = Gate()
        defer { gate.open() }
        let origin = try Origin { _, _ in }
        defer { origin.stop() }
        let house = try House(
            [origin], adjust: { $0.grace = .milliseconds(1) },
            lookup: { _ in
                gate.wait()
                return .failure(.hostNotFound)
            })
        let tasks = (0..<64).map { number in
            Task { await house.manager.image(ImageRequest("http://h\(number).example:\(origin.port)/a.png")) }
        }
        try await poll { await house.manager.metrics().waiters >= 64 }
        for task in tasks { task.cancel() }
        for task in tasks { #expect(await task.value.status == 499) }
        try await poll { await house.manager.metrics().aborted == ["resolving": 64] }
        #expect(await house.manager.metrics().waiters == 0)
        await house.stop()
    }

    @Test("Two hundred unresolved names do not block other hosts")
    func silentNamesBesideOthers() async throws {
        let gate = Gate()
        let origin = try Origin { _, connection in connection.answer(200, ["Content-Type: image/png"], body: TestImage.png()) }
        defer { origin.stop() }
        let house = try House(
            [origin],
            lookup: { host in
                if host == "good.example" { return .success(["127.0.0.1"].compactMap(IPAddress.init)) }
                gate.wait()
                return .failure(.hostNotFound)
            })
        let tasks = (0..<200).map { number in
            Task { await house.manager.image(ImageRequest("http://h\(number).example:\(origin.port)/a.png")) }
        }
        try await poll { await house.manager.metrics().waiters >= 200 }
        #expect(try await house.get(origin.url("/a.png")).status == 200)
        #expect(try await house.get("http://good.example:\(origin.port)/b.png").status == 200)
        #expect(await house.manager.metrics().inFlight == 0)
        gate.open()
        for task in tasks { #expect([502, 503, 504].contains(await task.value.status)) }
        await house.stop()
    }
}
