import Testing

@testable import IntertwineHTTPServer

@Suite("Timers on an event loop")
struct TimerTests {
    @Test("A one-shot timer fires once, not early, and not after disarming")
    func oneShot() async throws {
        try await withLoop { loop in
            let (instants, fired) = AsyncStream<MonotonicInstant>.makeStream()
            let start = MonotonicInstant.now()
            let timers = try await loop.run {
                let due = OneShotTimer(on: loop) { fired.yield(.now()) }
                let never = OneShotTimer(on: loop) { fired.yield(start) }
                due.arm(after: .seconds(60))
                due.arm(after: .milliseconds(20))
                never.arm(after: .milliseconds(5))
                never.disarm()
                return Confined([due, never])
            }
            var iterator = instants.makeAsyncIterator()
            let instant = try #require(await iterator.next())
            #expect(instant.since(start) >= .milliseconds(20))
            #expect(try await loop.run { timers.value[0].deadline } == nil)
        }
    }

    @Test("One-shot timers fire in order, and can be armed and disarmed while one fires")
    func oneShots() async throws {
        try await withLoop { loop in
            let (names, fired) = AsyncStream<String>.makeStream()
            let timers = Confined<[OneShotTimer]>([])
            try await loop.run {
                let late = OneShotTimer(on: loop) {
                    fired.yield("late")
                    fired.finish()
                }
                let disarmed = OneShotTimer(on: loop) { fired.yield("disarmed") }
                let again = Confined<OneShotTimer?>(nil)
                let early = OneShotTimer(on: loop) {
                    fired.yield("early")
                    disarmed.disarm()
                    again.value?.arm(after: .milliseconds(10))
                }
                again.value = OneShotTimer(on: loop) { fired.yield("again") }
                late.arm(after: .milliseconds(60))
                disarmed.arm(after: .milliseconds(30))
                early.arm(after: .milliseconds(10))
                timers.value = [late, disarmed, early]
            }
            var seen: [String] = []
            for await name in names { seen.append(name) }
            #expect(seen == ["early", "again", "late"])
            try await loop.run { timers.value = [] }
        }
    }

    @Test("Coarse timers fire in order and not early, moved ones at the new time, cancelled ones never")
    func order() async throws {
        try await withLoop { loop in
            let (calls, call) = AsyncStream<(String, Bool)>.makeStream()
            try await loop.run {
                func timer(_ name: String, _ milliseconds: Int) -> TimerToken {
                    let deadline = loop.now.advanced(by: .milliseconds(milliseconds))
                    return loop.schedule(Self.handler { call.yield((name, $0 >= deadline)) }, at: deadline)
                }
                _ = timer("third", 60)
                _ = timer("first", 20)
                let cancelled = timer("cancelled", 20)
                let later = timer("last", 20)
                let sooner = timer("second", 100_000)
                loop.reschedule(later, at: loop.now.advanced(by: .milliseconds(80)))
                loop.reschedule(sooner, at: loop.now.advanced(by: .milliseconds(40)))
                loop.cancel(cancelled)
                loop.reschedule(cancelled, at: loop.now)
            }
            var seen: [String] = []
            for await (name, isInTime) in calls {
                seen.append(name)
                #expect(isInTime || name == "second", "\(name)")
                if name == "last" { break }
            }
            #expect(seen == ["first", "second", "third", "last"])
        }
    }

    @Test("A timer repeats as long as it requests it")
    func again() async throws {
        try await withLoop { loop in
            let (calls, call) = AsyncStream<Int>.makeStream()
            let count = Confined(0)
            try await loop.run {
                let handler = ClosureHandler(due: { now in
                    count.value += 1
                    call.yield(count.value)
                    if count.value < 3 { return now.advanced(by: .milliseconds(10)) }
                    call.finish()
                    return nil
                })
                _ = loop.schedule(handler, at: loop.now.advanced(by: .milliseconds(15)))
            }
            var seen: [Int] = []
            for await call in calls { seen.append(call) }
            #expect(seen == [1, 2, 3])
        }
    }

    @Test("A timer that another due one cancels is not called")
    func cancelledByAnother() async throws {
        try await withLoop { loop in
            let (calls, call) = AsyncStream<String>.makeStream()
            try await loop.run {
                let tokens = Confined<[TimerToken]>([])
                let deadline = loop.now.advanced(by: .milliseconds(20))
                for _ in 0..<2 {
                    let handler = Self.handler { _ in
                        call.yield("one")
                        for token in tokens.value { loop.cancel(token) }
                    }
                    tokens.value.append(loop.schedule(handler, at: deadline))
                }
                let end = Self.handler { _ in call.finish() }
                _ = loop.schedule(end, at: deadline.advanced(by: .milliseconds(20)))
            }
            var seen = 0
            for await _ in calls { seen += 1 }
            #expect(seen == 1)
        }
    }

    @Test("The token of an ended timer does not move its successor")
    func staleToken() async throws {
        try await withLoop { loop in
            let (calls, call) = AsyncStream<String>.makeStream()
            try await loop.run {
                let stale = loop.schedule(Self.handler { _ in call.yield("stale") }, at: loop.now)
                loop.cancel(stale)
                _ = loop.schedule(Self.handler { _ in call.yield("new") }, at: loop.now)
                loop.cancel(stale)
                loop.reschedule(stale, at: loop.now.advanced(by: .seconds(60)))
            }
            var iterator = calls.makeAsyncIterator()
            #expect(await iterator.next() == "new")
        }
    }

    private static func handler(_ action: @escaping (MonotonicInstant) -> Void) -> ClosureHandler {
        ClosureHandler(due: {
            action($0)
            return nil
        })
    }
}
