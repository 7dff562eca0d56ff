import TestSupport
import Testing

@testable import IntertwineHTTPServer

@Suite("Timer wheel")
struct TimerWheelTests {
    private let tick = Duration.milliseconds(10)

    private func instant(_ milliseconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
    }

    @Test(
        "A deadline fires at the first tick that is not before it",
        arguments: [(5, 10), (10, 10), (11, 20), (5_000, 5_000), (5_001, 5_010)])
    func firstTick(deadline: Int64, expected: Int64) {
        var wheel = TimerWheel<Int>(tick: tick, buckets: 16, now: instant(0))
        _ = wheel.insert(1, at: instant(deadline))
        let early = wheel.nextDue(at: instant(expected - 1))
        let due = wheel.nextDue(at: instant(expected))
        #expect(early == nil)
        #expect(due?.1 == 1)
    }

    @Test("The wheel equals a sorted list under random operations", arguments: 1...20)
    func model(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var wheel = TimerWheel<Int>(tick: tick, buckets: 8, now: instant(0))
        var model: [Int: (token: TimerToken, tick: Int64)] = [:]
        var now: Int64 = 0
        for step in 0..<2_000 {
            switch random.next() % 4 {
            case 0:
                let deadline = now + Int64(random.next() % 400)
                model[step] = (wheel.insert(step, at: instant(deadline)), max((deadline + 9) / 10, now / 10 + 1))
            case 1:
                guard let (key, entry) = model.randomElement(using: &random) else { continue }
                let deadline = now + Int64(random.next() % 400)
                let moved = wheel.move(entry.token, to: instant(deadline))
                #expect(moved)
                model[key]?.tick = max((deadline + 9) / 10, now / 10 + 1)
            case 2:
                guard let (key, entry) = model.randomElement(using: &random) else { continue }
                let removals = (wheel.remove(entry.token), wheel.remove(entry.token))
                #expect(removals == (true, false))
                model[key] = nil
            default:
                now += Int64(random.next() % 150)
                let wake = wheel.nextWake
                let earliest = model.values.map(\.tick).min()
                if let earliest { #expect(wake.map { $0 <= instant(earliest * 10) } == true) } else { #expect(wake == nil) }
                var due: Set<Int> = []
                while let (token, key) = wheel.nextDue(at: instant(now)) {
                    due.insert(key)
                    wheel.remove(token)
                }
                #expect(due == Set(model.filter { $0.value.tick <= now / 10 }.keys))
                model = model.filter { $0.value.tick > now / 10 }
            }
            #expect(wheel.count == model.count)
        }
    }
}
