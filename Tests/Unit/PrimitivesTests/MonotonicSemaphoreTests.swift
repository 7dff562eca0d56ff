import Foundation
import Testing

@testable import IntertwinePrimitives

@Suite("Monotonic semaphores")
struct MonotonicSemaphoreTests {
    @Test("A wait ends at a signal, and each signal ends one wait")
    func signals() async {
        let (semaphore, ended) = (MonotonicSemaphore(), MonotonicSemaphore())
        for _ in 0..<3 {
            Thread.detachNewThread {
                semaphore.wait()
                ended.signal()
            }
        }
        for _ in 0..<3 {
            semaphore.signal()
            let isEnded = await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: ended.wait(for: .seconds(60))) }
            }
            #expect(isEnded)
        }
        #expect(!ended.wait(for: .zero))
    }

    @Test("A timed wait takes at least its time, and takes no later signal")
    func timeouts() {
        let semaphore = MonotonicSemaphore()
        for time in [Duration.milliseconds(20), .nanoseconds(999_999_999 / 100), .zero, .seconds(-5)] {
            let begun = ContinuousClock.now
            #expect(!semaphore.wait(for: time))
            #expect(begun.duration(to: .now) >= time)
        }
        semaphore.signal()
        #expect(semaphore.wait(for: .seconds(Int64.max)))
        #expect(!semaphore.wait(for: .zero))
    }
}
