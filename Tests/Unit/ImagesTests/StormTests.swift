import Foundation
import TestSupport
import Testing

@testable import IntertwineImages

@Suite("Request storms", .serialized, .timeLimit(.untilStuck))
struct StormTests {
    /// Answers at once, never, or in the middle, by the path.
    private func moodyOrigin() throws -> Origin {
        try Origin { request, connection in
            switch request.path.utf8.last.map({ $0 % 3 }) {
            case 0: connection.answer(200, ["Content-Type: image/png", "Cache-Control: no-store"], body: TestImage.png())
            case 1: connection.waitForClose()
            default:
                connection.send("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 500000\r\n\r\n")
                connection.send(TestImage.png())
                connection.waitForClose()
            }
        }
    }

    @Test("Ten thousand cancelled requests leak no descriptors, threads or memory")
    func cancelStorm() async throws {
        let origin = try moodyOrigin()
        defer { origin.stop() }
        let facts = try await CacheFiller.run([String(origin.port), "storm", "10000"])
        try #require(facts.count == 2 && facts.allSatisfy { $0.count == 3 })
        // Connections that are kept for the next request and idle threads of the pools come and go.
        #expect(facts[1][0] <= facts[0][0] + 64)
        #expect(facts[1][1] <= facts[0][1] + 4)
        #expect(facts[1][2] <= facts[0][2] + 16 * 1_024)
    }

    @Test("Among many cancellations the remaining waiters get their images")
    func scrolling() async throws {
        let origin = try Origin { _, connection in connection.answer(200, ["Content-Type: image/png"], body: TestImage.png(1)) }
        defer { origin.stop() }
        let house = try House([origin]) {
            $0.downloadsPerHost = 16
            $0.queueTimeout = .seconds(30)
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
                    group.addTask { try await task.value.body == TestImage.png(1) }
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        await house.stop()
    }
}
