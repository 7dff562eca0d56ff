import Synchronization
import Testing

@testable import IntertwineFeed
@testable import IntertwineService

@Suite("Readiness")
struct ReadinessTests {
    /// A store whose check takes some time.
    private final class SlowCheck: Sendable {
        private let time = Mutex(Duration.zero)
        private let failure = Mutex<StoreError?>(nil)

        func set(_ time: Duration, _ failure: StoreError? = nil) {
            self.time.withLock { $0 = time }
            self.failure.withLock { $0 = failure }
        }

        func run() async throws -> String {
            try await Task.sleep(for: time.withLock { $0 })
            if let failure = failure.withLock({ $0 }) { throw failure }
            return "ready"
        }
    }

    @Test("The answer comes within 300 ms, from what is known, and a check that hangs is a fault")
    func hangs() async throws {
        let (readiness, check) = (Readiness(), SlowCheck())
        /// Returns the status, and the time in which it came.
        func status() async -> (text: String?, time: Duration) {
            var text: String?
            let time = await ContinuousClock().measure { text = try? await readiness.status { try await check.run() } }
            return (text, time)
        }
        #expect(await status().text == "ready")
        check.set(.milliseconds(1), .unavailable("the disk is full"))
        #expect(await status().text == nil)
        check.set(.zero)
        #expect(await status().text == "ready")
        check.set(.seconds(3))
        let first = await status()
        #expect(first.text == "ready" && first.time < .milliseconds(300), "\(first)")
        try await Task.sleep(for: .milliseconds(900))
        let second = await status()
        #expect(second.text == nil && second.time < .milliseconds(300), "\(second)")
        check.set(.zero)
        try await Task.sleep(for: .seconds(2))
        #expect(await status().text == "ready")
    }

    @Test("The first check may take longer, because nothing is known before it")
    func firstCheck() async throws {
        let (readiness, check) = (Readiness(), SlowCheck())
        check.set(.milliseconds(500))
        #expect(try await readiness.status { try await check.run() } == "ready")
    }

    @Test("A check that takes longer than the first answer is a fault until it ends")
    func unknown() async throws {
        let readiness = Readiness()
        let error = await #expect(throws: StoreError.self) {
            try await readiness.status {
                try await Task.sleep(for: .seconds(5))
                return "ready"
            }
        }
        #expect(error == .unavailable("a store does not respond"))
    }
}
