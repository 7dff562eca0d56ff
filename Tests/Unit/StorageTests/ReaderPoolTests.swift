import Foundation
import Synchronization
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Reader threads")
struct ReaderPoolTests {
    /// How many reads run, and the most that ever did.
    private final class Running: Sendable {
        private let counts = Mutex((now: 0, most: 0))

        var most: Int { counts.withLock { $0.most } }

        func begin() { counts.withLock { ($0.now, $0.most) = ($0.now + 1, max($0.most, $0.now + 1)) } }

        func end() { counts.withLock { $0.now -= 1 } }
    }

    private func threads(_ count: Int, waiting: Int = 100, patience: Duration = .seconds(30)) -> ReaderPool {
        ReaderPool(ReadLimits(threads: count, waiting: waiting, queueTimeout: patience))
    }

    /// A read that ends when its gate is opened. It has a thread, or waits for one, when this returns.
    private func blocked(
        _ threads: ReaderPool, _ purpose: ReadPurpose = .request, until gate: Gate, running: Int? = nil, waiting: Int? = nil
    ) async throws -> Task<Void, any Error> {
        let task = Task { try await threads.run(for: purpose) { gate.wait() } }
        try await reach(threads, running: running, waiting: waiting)
        return task
    }

    private func reach(_ threads: ReaderPool, running: Int? = nil, waiting: Int? = nil) async throws {
        while true {
            let now = threads.statistics
            if now.running == running ?? now.running, now.waiting == waiting ?? now.waiting { return }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    @Test("Reads use a bounded number of threads, none of them of the task pool", arguments: [1, 3])
    func bound(count: Int) async throws {
        let threads = threads(count, waiting: 200)
        let running = Running()
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<200 {
                group.addTask {
                    try await threads.run(for: .request) {
                        running.begin()
                        usleep(200)
                        running.end()
                        return number
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(sum == 199 * 100)
        #expect(running.most == count)
        let statistics = threads.statistics
        #expect(statistics.finished == 200 && statistics.running == 0 && statistics.waiting == 0 && statistics.refused == 0)
    }

    @Test("Tasks continue while reads block")
    func tasksGoOn() async throws {
        let (threads, gate) = (threads(64), Gate())
        var reads: [Task<Void, any Error>] = []
        for number in 1...64 { reads.append(try await blocked(threads, until: gate, running: number)) }
        gate.open()
        for read in reads { try await read.value }
    }

    @Test("A read that exceeds the queue timeout is rejected, and later reads are not")
    func patience() async throws {
        let (threads, gate) = (threads(1, patience: .milliseconds(100)), Gate())
        let first = try await blocked(threads, until: gate, running: 1)
        let start = ContinuousClock.now
        await #expect(throws: StoreError.overloaded) { try await threads.run(for: .request) {} }
        #expect(start.duration(to: .now) >= .milliseconds(100))
        await #expect(throws: StoreError.overloaded) { try await threads.run(for: .background) {} }
        #expect(threads.statistics.refused == 2 && threads.statistics.waiting == 0)
        gate.open()
        try await first.value
        #expect(try await threads.run(for: .request) { 7 } == 7)
    }

    @Test("A read beyond the queue limit is rejected at once")
    func full() async throws {
        let (threads, gate) = (threads(1, waiting: 1), Gate())
        let first = try await blocked(threads, until: gate, running: 1)
        let second = try await blocked(threads, until: gate, waiting: 1)
        await #expect(throws: StoreError.overloaded) { try await threads.run(for: .request) {} }
        gate.open()
        try await first.value
        try await second.value
    }

    @Test("A cancelled task leaves the queue at once, or never enters it")
    func departure() async throws {
        let (threads, gate) = (threads(1), Gate())
        let first = try await blocked(threads, until: gate, running: 1)
        let ran = Running()
        let second = Task { try await threads.run(for: .request) { ran.begin() } }
        try await reach(threads, waiting: 1)
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(threads.statistics.waiting == 0)
        let third = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await threads.run(for: .request) { ran.begin() }
        }
        await #expect(throws: CancellationError.self) { try await third.value }
        // A read that has begun is brought all the same.
        first.cancel()
        gate.open()
        try await first.value
        #expect(ran.most == 0 && threads.statistics.finished == 1)
    }

    @Test("Background reads leave threads to requests, and are not starved")
    func background() async throws {
        let (threads, gate) = (threads(4), Gate())
        var reads: [Task<Void, any Error>] = []
        for _ in 0..<2 { reads.append(try await blocked(threads, .background, until: gate)) }
        try await reach(threads, running: 2)
        for number in 1...2 { reads.append(try await blocked(threads, .background, until: gate, running: 2, waiting: number)) }
        for number in 0..<8 { #expect(try await threads.run(for: .request) { number } == number) }
        #expect(threads.statistics.running == 2)
        gate.open()
        for read in reads { try await read.value }
    }

    @Test("Prefetch reads run only if no other read waits")
    func idle() async throws {
        let (threads, gate) = (threads(4), Gate())
        for _ in 0..<100 { #expect(try await threads.run(for: .idle) { true }) }
        let first = try await blocked(threads, until: gate, running: 1)
        await #expect(throws: StoreError.overloaded) { try await threads.run(for: .idle) {} }
        #expect(threads.statistics.refused == 0)
        gate.open()
        try await first.value
    }

    @Test("Threads end with their owner")
    func end() async throws {
        func count() -> Int { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0 }
        let (others, many) = (count(), 60)
        var threads: ReaderPool? = threads(many)
        let gate = Gate()
        var reads: [Task<Void, any Error>] = []
        for number in 1...many { reads.append(try await blocked(try #require(threads), until: gate, running: number)) }
        #expect(count() >= others + many / 2)
        gate.open()
        for read in reads { try await read.value }
        reads = []
        threads = nil
        while count() > others + many / 4 { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test("A connection is reused after a failed read, and sees later writes")
    func connections() async throws {
        struct Failure: Error {}
        let scratch = try Scratch()
        let store = try SQLiteStore(path: scratch.path("items.sqlite"), reading: ReadLimits(threads: 1))
        for number in 0..<5 {
            _ = try await store.put(user("u\(number)"))
            await #expect(throws: Failure.self) {
                try await store.read { snapshot in
                    _ = try snapshot.items(in: .content, .forward, of: nil, limit: 1)
                    throw Failure()
                }
            }
            #expect(try await store.ids().count == number + 1)
        }
    }
}
