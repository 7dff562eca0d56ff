import IntertwineEventLoop
import Testing

@testable import IntertwineImages

@Suite("Circuit breaker and concurrency per origin")
struct OriginGateTests {
    private let start = MonotonicInstant(nanoseconds: 1_000_000_000)

    private func gate(running: Int = 10, perHost: Int = 6) -> OriginGate {
        var limits = ConcurrencyLimiter<UInt64>.Limits()
        limits.running = running
        limits.perHost = perHost
        limits.waiting = 2
        return OriginGate(limits: limits)
    }

    @Test("An unreachable origin is rejected with Retry-After, and others are not")
    func resting() {
        var gate = gate()
        for _ in 0..<10 { gate.record(.unreachable, of: "a.example:80", now: start) }
        let reason = gate.reasonToStay(from: "a.example:80", now: start.advanced(by: .seconds(4)))
        #expect(reason?.code == "host-resting" && reason?.retryAfter == 7 && gate.openCount == 1)
        #expect(gate.reasonToStay(from: "b.example:80", now: start) == nil)
        // The first one after that tries it, alone.
        let later = start.advanced(by: .seconds(11))
        #expect(gate.reasonToStay(from: "a.example:80", now: later) == nil && gate.reasonToStay(from: "a.example:80", now: later) != nil)
        gate.record(.good, of: "a.example:80", now: later)
        #expect(gate.reasonToStay(from: "a.example:80", now: later) == nil && gate.openCount == 0)
    }

    @Test("An origin with bad responses gets two concurrent requests until one succeeds")
    func gentle() {
        var gate = gate()
        for _ in 0..<10 { gate.record(.badResponse, of: "a.example:80", now: start) }
        #expect(gate.reasonToStay(from: "a.example:80", now: start) == nil)
        let verdicts = (1...5).map { gate.acquire($0, origin: "a.example:80", priority: .visible, now: start).verdict }
        #expect(verdicts == [.go, .go, .wait, .wait, .refuse])
        #expect(gate.acquire(6, origin: "b.example:80", priority: .visible, now: start).verdict == .go)
        #expect(gate.next() == nil && gate.hasWaiters(for: 1) && !gate.hasWaiters(for: 6))
        gate.release(1)
        gate.record(.good, of: "a.example:80", now: start)
        #expect(gate.next() == 4 && gate.next() == 3 && gate.next() == nil)
        #expect(gate.runningCount == 4 && gate.waitingCount == 0)
    }
}
