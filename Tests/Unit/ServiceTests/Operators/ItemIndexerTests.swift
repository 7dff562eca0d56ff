import Synchronization
import TestSupport
import Testing

@testable import IntertwineService

@Suite("The builder of the operators' index", .timeLimit(.untilStuck))
struct ItemIndexerTests {
    private struct Timeout: Error {}

    /// Changed items of a store whose statements time out beyond a number of them.
    private final class Backlog: Sendable {
        let left: Mutex<Int>
        let steps = Mutex<[Int]>([])
        let most: Int

        init(_ count: Int, most: Int) {
            left = Mutex(count)
            self.most = most
        }

        func update(_ limit: Int) throws -> Int {
            steps.withLock { $0.append(limit) }
            return try left.withLock { left in
                let count = min(left, limit)
                guard count <= most else { throw Timeout() }
                left -= count
                return count
            }
        }
    }

    @Test("A step that takes too long is divided until it succeeds", arguments: [1, 3, 300, 1_999, 2_000, 5_000])
    func smallerSteps(most: Int) async throws {
        let backlog = Backlog(2_500, most: most)
        try await ItemIndexer { try backlog.update($0) }.catchUp()
        #expect(backlog.left.withLock { $0 } == 0)
        #expect(backlog.steps.withLock { $0.count } <= 2_500 / most * 2 + 13)
    }

    @Test("A store that is away fails the request after a few steps")
    func unavailable() async throws {
        let backlog = Backlog(2_500, most: 0)
        await #expect(throws: Timeout.self) { try await ItemIndexer { try backlog.update($0) }.catchUp() }
        #expect(backlog.steps.withLock { $0.last == 1 && $0.count < 15 })
    }
}
