import Foundation
import Glibc
import Synchronization
import Testing

@testable import IntertwineEventLoop

@Suite("Event loop")
struct EventLoopTests {
    /// A loop that is stopped at the end of the test.
    private func withLoop(tick: Duration = .milliseconds(10), _ body: (EventLoop) async throws -> Void) async throws {
        let loop = try EventLoop(label: "test", tick: tick)
        defer { loop.stop() }
        try await body(loop)
    }

    @Test("runs work in the order it was given, on the loop, from any thread")
    func order() async throws {
        try await withLoop { loop in
            let seen = Mutex<[Int]>([])
            for number in 0..<1000 {
                loop.execute { seen.withLock { $0.append(loop.isOnLoop ? number : -1) } }
            }
            try await loop.run {}
            #expect(seen.withLock { $0 } == Array(0..<1000))
            #expect(!loop.isOnLoop)
        }
    }

    @Test("reports readiness of a registered descriptor until it is deregistered")
    func readiness() async throws {
        try await withLoop { loop in
            let (reading, writing) = try makePipe()
            defer { close(reading); close(writing) }
            let events = AsyncStream<UInt8>.makeStream()
            let box = try await loop.run { RegistrationBox(loop: loop, descriptor: reading, continuation: events.continuation) }
            try await loop.run { try box.register() }
            var iterator = events.stream.makeAsyncIterator()
            for byte in UInt8(0)..<50 {
                #expect(write(writing, [byte], 1) == 1)
                #expect(await iterator.next() == byte)
            }
            try await loop.run { box.deregister() }
            #expect(write(writing, [99], 1) == 1)
            try await loop.run { events.continuation.finish() }
            #expect(await iterator.next() == nil)
        }
    }

    @Test("an event of a finished registration never reaches the one that took its slot or its descriptor")
    func generations() throws {
        var table = RegistrationTable()
        let (one, two) = (Recorder(), Recorder())
        let first = table.insert(one, descriptor: 7)
        #expect(table.remove(first) == 7)
        let second = table.insert(two, descriptor: 7)
        #expect(second.slot == first.slot)
        #expect(table.handler(of: Registration(token: first.token)) == nil)
        #expect(table.handler(of: Registration(token: second.token)) === two)
        #expect(table.remove(first) == nil)
        #expect(table.count == 1)
    }

    @Test("an actor lives on the loop, and a handler enters it without a hop")
    func actorIsolation() async throws {
        try await withLoop { loop in
            let counter = Counter(loop: loop)
            await counter.increment()
            loop.execute { counter.assumeIsolated { $0.value += 10 } }
            #expect(await counter.value == 11)
            #expect(await counter.runsOnLoop)
        }
    }

    /// A clock that stands still until it is told to go on.
    private final class ManualClock: Sendable {
        private let instant = Mutex(LoopInstant.now())

        var now: LoopInstant { instant.withLock { $0 } }

        func advance(by duration: Duration) { instant.withLock { $0 = $0.advanced(by: duration) } }
    }

    @Test("whatever a rested loop is woken by finds the present: work, an actor's job, an event, a timer that is armed")
    func rested() async throws {
        let clock = ManualClock()
        let loop = try EventLoop(label: "rested", clock: { clock.now })
        defer { loop.stop() }
        let counter = Counter(loop: loop)
        let (reading, writing) = try makePipe()
        defer { close(reading); close(writing) }
        let (events, event) = AsyncStream<LoopInstant>.makeStream()
        let watcher = try await loop.run { ClosureHandler { event.yield(loop.now) } }
        let registration = try await loop.run { try loop.register(reading, for: .readable, handler: watcher) }

        clock.advance(by: .seconds(3600))
        #expect(try await loop.run { loop.now } == clock.now)
        clock.advance(by: .seconds(3600))
        #expect(await counter.now == clock.now)
        clock.advance(by: .seconds(3600))
        let deadline = try await loop.run {
            let timer = OneShotTimer(on: loop) {}
            timer.arm(after: .seconds(5))
            defer { timer.disarm() }
            return timer.deadline
        }
        #expect(deadline == clock.now.advanced(by: .seconds(5)))
        clock.advance(by: .seconds(3600))
        #expect(write(writing, [1], 1) == 1)
        var iterator = events.makeAsyncIterator()
        #expect(await iterator.next() == clock.now)
        try await loop.run { loop.deregister(registration) }
    }

    @Test("a one-shot timer fires once, not before its time, and not after it was disarmed")
    func oneShot() async throws {
        try await withLoop { loop in
            let fired = AsyncStream<LoopInstant>.makeStream()
            let start = LoopInstant.now()
            let box = try await loop.run {
                OneShotBox(
                    due: OneShotTimer(on: loop) { fired.continuation.yield(.now()) },
                    never: OneShotTimer(on: loop) { fired.continuation.yield(start) })
            }
            try await loop.run {
                box.due.arm(after: .seconds(60))
                box.due.arm(after: .milliseconds(20))
                box.never.arm(after: .milliseconds(5))
                box.never.disarm()
            }
            var iterator = fired.stream.makeAsyncIterator()
            let instant = try #require(await iterator.next())
            #expect(instant.since(start) >= .milliseconds(20))
            #expect(try await loop.run { box.due.deadline } == nil)
        }
    }

    @Test("a coarse timer is called again when it asks to be, and not after it was cancelled")
    func coarse() async throws {
        try await withLoop { loop in
            let calls = AsyncStream<Int>.makeStream()
            let handler = RepeatingHandler(times: 3, continuation: calls.continuation)
            let cancelled = RepeatingHandler(times: 1, continuation: calls.continuation, base: 100)
            try await loop.run {
                let token = loop.schedule(cancelled, at: loop.now)
                _ = loop.schedule(handler, at: loop.now.advanced(by: .milliseconds(15)))
                loop.cancel(token)
            }
            var seen: [Int] = []
            for await call in calls.stream { seen.append(call) }
            #expect(seen == [1, 2, 3])
        }
    }

    @Test("a stopped loop gives its descriptors back and still runs work")
    func stopping() async throws {
        let loops = try (0..<8).map { try EventLoop(label: "stop \($0)") }
        for loop in loops {
            let identity = eventIdentity(of: loop.poller.wakeup)
            #expect(identity != nil)
            loop.stop()
            loop.stop()
            try await loop.run {}
            // Dispatch lets go of the descriptors on a thread of its own, in its own time.
            for _ in 0..<5000 where eventIdentity(of: loop.poller.wakeup) == identity { try await Task.sleep(for: .milliseconds(1)) }
            #expect(eventIdentity(of: loop.poller.wakeup) != identity)
        }
    }
}

extension EventLoop {
    /// Runs `body` on the loop and waits for it.
    func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        let outcome = await withCheckedContinuation { continuation in
            execute { continuation.resume(returning: Swift.Result { try body() }) }
        }
        return try outcome.get()
    }
}

/// What tells one eventfd of this process from every other, nil where the descriptor is none.
private func eventIdentity(of descriptor: Int32) -> String? {
    let lines = try? String(contentsOfFile: "/proc/self/fdinfo/\(descriptor)", encoding: .utf8).split(separator: "\n")
    return lines?.first { $0.hasPrefix("eventfd-id") }.map(String.init)
}

private func makePipe() throws -> (Int32, Int32) {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    return (ends[0], ends[1])
}

private final class Recorder: EventHandler {
    func ready(_ events: ReadyEvents) {}
}

// Safety of the @unchecked below: the members are used on the loop only, which the loop itself checks.

private final class ClosureHandler: EventHandler, TimerHandler, @unchecked Sendable {
    private let action: () -> Void

    init(_ action: @escaping () -> Void) { self.action = action }

    func ready(_ events: ReadyEvents) { action() }

    func timerDue(at now: LoopInstant) -> LoopInstant? {
        action()
        return nil
    }
}

// Safety of the @unchecked below: the members are used on the loop only, which the loop itself checks.

private final class RegistrationBox: EventHandler, @unchecked Sendable {
    private let loop: EventLoop
    private let descriptor: Int32
    private let continuation: AsyncStream<UInt8>.Continuation
    private var registration: Registration?

    init(loop: EventLoop, descriptor: Int32, continuation: AsyncStream<UInt8>.Continuation) {
        self.loop = loop
        self.descriptor = descriptor
        self.continuation = continuation
    }

    func register() throws { registration = try loop.register(descriptor, for: .readable, handler: self) }

    func deregister() { registration.map(loop.deregister) }

    func ready(_ events: ReadyEvents) {
        var byte: UInt8 = 0
        if events.contains(.readable), read(descriptor, &byte, 1) == 1 { continuation.yield(byte) }
    }
}

private final class OneShotBox: @unchecked Sendable {
    let due: OneShotTimer
    let never: OneShotTimer

    init(due: OneShotTimer, never: OneShotTimer) {
        self.due = due
        self.never = never
    }
}

private final class RepeatingHandler: TimerHandler, @unchecked Sendable {
    private let times: Int
    private let base: Int
    private let continuation: AsyncStream<Int>.Continuation
    private var calls = 0

    init(times: Int, continuation: AsyncStream<Int>.Continuation, base: Int = 0) {
        self.times = times
        self.base = base
        self.continuation = continuation
    }

    func timerDue(at now: LoopInstant) -> LoopInstant? {
        calls += 1
        continuation.yield(base + calls)
        if calls < times { return now.advanced(by: .milliseconds(10)) }
        continuation.finish()
        return nil
    }
}

private actor Counter {
    private let loop: EventLoop
    var value = 0

    init(loop: EventLoop) { self.loop = loop }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    func increment() { value += 1 }

    var runsOnLoop: Bool { loop.isOnLoop }

    var now: LoopInstant { loop.now }
}
