import Synchronization
import Testing

@testable import IntertwineHTTPServer

@Suite("Body between event loop and reading task")
struct RequestBodyStreamTests {
    @Test("Buffered pieces are delivered as one, and the sender resumes")
    func joined() async throws {
        let resumed = Atomic(0)
        let stream = RequestBodyStream(highWater: 1_000, share: MemoryReservation(of: MemoryBudget(limit: 10_000))) {
            resumed.add(1, ordering: .relaxed)
        }
        let goesOn = (0..<1_000).map { stream.push([UInt8(truncatingIfNeeded: $0)]) }
        #expect(goesOn == Array(repeating: true, count: 999) + [false])
        #expect(try await stream.next() == (0..<1_000).map { UInt8(truncatingIfNeeded: $0) })
        #expect(resumed.load(ordering: .relaxed) == 1)
        _ = stream.push([1, 2])
        stream.finish(.success(()))
        #expect(try await stream.next() == [1, 2])
        #expect(try await stream.next() == nil)
    }

    @Test("Bodies return their memory budget, at the latest on release")
    func budget() {
        let budget = MemoryBudget(limit: 10)
        let first = MemoryReservation(of: budget)
        do {
            let second = MemoryReservation(of: budget)
            #expect(first.reserve(6) && second.reserve(4) && budget.isUsedUp)
            #expect(!second.reserve(1))
        }
        #expect(!budget.isUsedUp && first.reserve(4) && !first.reserve(1))
        first.release(5)
        #expect(first.reserve(4) && !first.reserve(1))
    }
}
