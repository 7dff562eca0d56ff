import Foundation
import Synchronization
import TestSupport
import Testing

@testable import IntertwineImages

@Suite("Slow images and their neighbours", .timeLimit(.untilStuck))
struct NeighbourTests {
    /// Three prefetched ones keep what prefetching may have of a host, and a fourth waits; it has to start before any of them ends.
    @Test("A queued prefetch starts at once when the image is requested or becomes visible", arguments: [false, true])
    func raised(_ isByViewport: Bool) async throws {
        let gate = Gate()
        let origin = try Origin { _, connection in
            gate.wait()
            connection.answer(200, ["Content-Type: image/png"], body: TestImage.png(1))
        }
        defer { origin.stop() }
        let house = try House([origin]) { $0.queueTimeout = .seconds(40) }
        let names = (0..<4).map { _ in UUID() }
        var tasks = names.enumerated().map { number, name in
            Task { try await Got(house.manager.image(ImageRequest(origin.url("/\(number)"), id: name, priority: .prefetch))).status }
        }
        await origin.requested(3)
        while await house.manager.metrics().queued < 1 { await Task.yield() }
        if isByViewport {
            await house.manager.viewport(visible: names, gone: [])
        } else {
            tasks += (0..<4).map { number in Task { try await house.get(origin.url("/\(number)")).status } }
        }
        await origin.requested(4)
        gate.open()
        for task in tasks { #expect(try await task.value == 200) }
        await house.stop()
    }

    @Test("A large image is a hit directly after its fetch")
    func pending() async throws {
        let folder = TemporaryFolder()
        let body = TestImage.png(1, bytes: 4_000_000)
        let origin = try Origin { _, connection in connection.answer(200, ["Content-Type: image/png"], body: body) }
        defer { origin.stop() }
        let house = try House([origin], folder: folder.path)
        for number in 0..<4 {
            #expect(try await house.get(origin.url("/\(number)")).outcome.isStored)
            let again = try await house.get(origin.url("/\(number)"))
            #expect(again.outcome.outcome == .hit && again.body.count == body.count)
        }
        #expect(origin.requests.count == 4)
        await house.manager.flush()
        #expect(await house.manager.metrics().diskEntries == 4)
        await house.stop()
    }

    @Test("A slow reader does not block other images")
    func slowReader() async throws {
        let body = TestImage.png(1, bytes: 1_200_000)
        let origin = try Origin { _, connection in connection.answer(200, ["Content-Type: image/png"], body: body) }
        defer { origin.stop() }
        let house = try House([origin]) { $0.bufferBytes = 1_800_000 }
        let slow = await house.manager.image(ImageRequest(origin.url("/slow")))
        while await house.manager.metrics().inFlight > 0 { await Task.yield() }
        for number in 0..<3 {
            let got = try await house.get(origin.url("/\(number)"))
            #expect(got.body == body && got.failure == nil)
        }
        #expect(try await Got(slow).failure?.reason == .buffersFull)
        // What a body took from the budget comes back once, whoever gave it back.
        while await house.manager.metrics().bufferBytes != 0 { await Task.yield() }
        await house.stop()
    }

    @Test("The limit per host includes redirects from other hosts")
    func redirectedTo() async throws {
        let gate = Gate()
        let atOnce = Atomic<Int>(0)
        let most = Atomic<Int>(0)
        let target = try Origin { _, connection in
            most.max(atOnce.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
            gate.wait()
            atOnce.subtract(1, ordering: .relaxed)
            connection.answer(200, ["Content-Type: image/png"], body: TestImage.png(1))
        }
        defer { target.stop() }
        let origins = try (0..<3).map { _ in
            try Origin { request, connection in connection.answer(302, ["Location: \(target.url(request.path))"]) }
        }
        defer { origins.forEach { $0.stop() } }
        let house = try House(origins + [target]) { $0.queueTimeout = .seconds(40) }
        let tasks = origins.enumerated().flatMap { host, origin in
            (0..<4).map { number in Task { try await house.get(origin.url("/\(host)\(number)")).body } }
        }
        for origin in origins { await origin.requested(4) }
        await target.requested(6)
        while await house.manager.metrics().queued < 6 { await Task.yield() }
        #expect(await house.manager.metrics().inFlight == 6)
        gate.open()
        for task in tasks { #expect(try await task.value == TestImage.png(1)) }
        #expect(most.load(ordering: .relaxed) <= 6)
        await house.stop()
    }

    @Test("A lookup without a request is not counted as a hit")
    func peeked() async throws {
        let origin = try Origin { _, connection in connection.answer(200, ["Content-Type: image/png"], body: TestImage.png(1)) }
        defer { origin.stop() }
        let house = try House([origin])
        _ = try await house.get(origin.url("/a"))
        #expect(house.manager.peek(origin.url("/a")) != nil)
        #expect(await house.manager.metrics().requests[.hit, default: 0] == 0)
        #expect(house.manager.cached(origin.url("/a")) != nil)
        #expect(await house.manager.metrics().requests[.hit] == 1)
        await house.stop()
    }
}
