import Fetch
import Foundation
import TestSupport
import Testing

@testable import Images

@Suite("Storms", .serialized, .timeLimit(.minutes(2)))
struct StormTests {
    /// Answers at once, never, or in the middle, by the path.
    private func moodyOrigin() throws -> Origin {
        try Origin { request, connection in
            switch request.path.utf8.last.map({ $0 % 3 }) {
            case 0: connection.answer(200, ["Content-Type: image/png", "Cache-Control: no-store"], body: Picture.png())
            case 1: connection.waitForClose()
            default:
                connection.send("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 500000\r\n\r\n")
                connection.send(Picture.png())
                connection.waitForClose()
            }
        }
    }

    private func storm(_ house: House, _ origin: Origin, requests: Int) async {
        for batch in 0..<(requests / 100) {
            let tasks = (0..<100).map { number in
                Task { await house.manager.image(ImageRequest(origin.url("/\(batch)/\(number)"), id: UUID())) }
            }
            // Some leave before the loop has heard of them, some while they wait, some on the wire.
            if batch % 2 == 1 { await house.settle() }
            for task in tasks { task.cancel() }
            for task in tasks { _ = await task.value }
        }
        while case let metrics = await house.manager.metrics(),
            metrics.inFlight + metrics.queued + metrics.waiters + metrics.bufferBytes > 0
        {
            try? await Task.sleep(for: .milliseconds(2))
        }
    }

    @Test("Ten thousand requests taken back: sockets, threads and memory return to where they were")
    func cancelStorm() async throws {
        let origin = try moodyOrigin()
        defer { origin.stop() }
        let house = try House([origin]) {
            $0.grace = .milliseconds(1)
            $0.downloadsPerHost = 64
        }
        await storm(house, origin, requests: 1_000)
        let before = ProcessFacts.residentKiB
        await storm(house, origin, requests: 10_000)
        let metrics = await house.manager.metrics()
        #expect(metrics.requests.values.reduce(0, +) == 11_000)
        #expect(await house.transfers.count == 0)
        #expect(await house.transfers.openSockets == 0)
        // The origin's record of what it saw is in this process too.
        #expect(ProcessFacts.residentKiB - before < 64 * 1_024)
        await house.stop()
    }

    @Test("Among many who start and leave, those who stay get their pictures")
    func scrolling() async throws {
        let origin = try Origin { _, connection in connection.answer(200, ["Content-Type: image/png"], body: Picture.png(1)) }
        defer { origin.stop() }
        let house = try House([origin]) {
            $0.downloadsPerHost = 16
            $0.patience = .seconds(30)
            $0.queue = 1_000
        }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<600 {
                let task = Task { try await Got(house.manager.image(ImageRequest(origin.url("/\(number)")))) }
                if number % 10 < 7 {
                    group.addTask {
                        task.cancel()
                        _ = try await task.value
                        return true
                    }
                } else {
                    group.addTask { try await task.value.body == Picture.png(1) }
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        await house.stop()
    }
}
