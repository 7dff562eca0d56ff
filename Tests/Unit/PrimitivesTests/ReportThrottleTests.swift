import Testing

@testable import IntertwinePrimitives

@Suite("Repeated reports")
struct ReportThrottleTests {
    @Test("A kind is reported at once, and then once a minute with the number of repetitions")
    func repetitions() {
        let throttle = ReportThrottle()
        #expect(throttle.repetitions(of: "a", now: 0) == 0)
        #expect(throttle.repetitions(of: "a", now: 1_000) == nil && throttle.repetitions(of: "a", now: 59_999) == nil)
        #expect(throttle.repetitions(of: "b", now: 2_000) == 0)
        #expect(throttle.repetitions(of: "a", now: 60_000) == 2)
    }

    @Test("Any number of kinds has at most 65 reports a minute, and none is forgotten while it is reported")
    func manyKinds() {
        let throttle = ReportThrottle()
        #expect(throttle.repetitions(of: "first", now: 0) == 0)
        let reported = (0..<10_000).count { throttle.repetitions(of: "kind \($0)", now: 1) != nil }
        #expect(reported == 64)
        #expect(throttle.repetitions(of: "first", now: 2) == nil)
        // After a minute there is room again, and the others are counted together.
        #expect(throttle.repetitions(of: "kind 9999", now: 60_100) == 0)
        let counts = (0..<10_000).compactMap { throttle.repetitions(of: "kind \($0)", now: 60_200) }
        #expect(counts.count == 63 && counts.last == 9_936)
    }
}
