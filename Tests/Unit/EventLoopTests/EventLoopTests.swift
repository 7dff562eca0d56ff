import Dispatch
import Foundation
import Glibc
import Synchronization
import Testing

@testable import IntertwineHTTPServer

@Suite("Event loop")
struct EventLoopTests {
    @Test("Work runs in order, on the loop")
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

    @Test("Work of many threads runs in the order of each thread, one at a time")
    func threads() async throws {
        try await withLoop { loop in
            let seen = Confined([[Int]](repeating: [], count: 8))
            let done = DispatchGroup()
            for thread in 0..<8 {
                DispatchQueue.global().async(group: done) {
                    for number in 0..<1000 { loop.execute { seen.value[thread].append(number) } }
                }
            }
            await withCheckedContinuation { continuation in done.notify(queue: .global()) { continuation.resume() } }
            let numbers = try await loop.run { seen.value }
            #expect(numbers == Array(repeating: Array(0..<1000), count: 8))
        }
    }

    @Test("Work that submits more work does not starve descriptors")
    func noStarving() async throws {
        try await withLoop { loop in
            let ends = try Ends()
            let isServed = Confined(false)
            let handler = ClosureHandler(ready: { handler, _ in
                isServed.value = true
                handler.registration.map(loop.deregister)
            })
            try await loop.run { handler.registration = try loop.register(ends.one, for: .readable, handler: handler) }
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                @Sendable func spin() {
                    if isServed.value { continuation.resume() } else { loop.execute(spin) }
                }
                loop.execute {
                    ends.send()
                    spin()
                }
            }
        }
    }

    @Test("An actor runs on the loop, and a handler enters it without a hop")
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
        private let instant = Mutex(MonotonicInstant.now())

        var now: MonotonicInstant { instant.withLock { $0 } }

        func advance(by duration: Duration) { instant.withLock { $0 = $0.advanced(by: duration) } }
    }

    @Test("After a wakeup by work, a job, an event or a timer, the loop's time is current")
    func rested() async throws {
        let clock = ManualClock()
        let loop = try EventLoop(label: "rested", clock: { clock.now })
        defer { loop.stop() }
        let counter = Counter(loop: loop)
        let ends = try Ends()
        let (events, event) = AsyncStream<MonotonicInstant>.makeStream()
        let watcher = ClosureHandler(ready: { _, _ in event.yield(loop.now) })
        let registration = try await loop.run { try loop.register(ends.one, for: .readable, handler: watcher) }

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
        ends.send()
        var iterator = events.makeAsyncIterator()
        #expect(await iterator.next() == clock.now)
        try await loop.run { loop.deregister(registration) }
    }

    @Test("A stopped loop still runs work, and returns its descriptors; the one that other threads write to only with the loop itself")
    func stopping() async throws {
        var wakeups: [(descriptor: Int32, identity: String?)] = []
        do {
            let loops = try (0..<8).map { try EventLoop(label: "stop \($0)") }
            for loop in loops {
                let (wakeup, epoll) = (loop.poller.wakeup, loop.poller.epoll)
                let identity = eventIdentity(of: wakeup)
                #expect(identity != nil)
                wakeups.append((wakeup, identity.map { "\($0)" }))
                loop.stop()
                loop.stop()
                try await loop.run {}
                // Dispatch lets go of the descriptors on a thread of its own, in its own time, and tells nobody.
                func isEpoll() -> Bool {
                    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(epoll)"))?.contains("eventpoll") == true
                }
                for _ in 0..<5000 where isEpoll() { try await Task.sleep(for: .milliseconds(1)) }
                #expect(!isEpoll())
                #expect(eventIdentity(of: wakeup) == identity)
            }
        }
        for (wakeup, identity) in wakeups {
            func isOpen() -> Bool { eventIdentity(of: wakeup).map { "\($0)" } == identity }
            for _ in 0..<5000 where isOpen() { try await Task.sleep(for: .milliseconds(1)) }
            #expect(!isOpen())
        }
    }

    @Test("Work pending at the stop, and later work, is run")
    func stoppingWithWork() async throws {
        for _ in 0..<50 {
            let loop = try EventLoop(label: "pending")
            let seen = Confined<[Int]>([])
            loop.execute {
                seen.value.append(1)
                loop.execute { seen.value.append(4) }
            }
            loop.execute { seen.value.append(2) }
            loop.stop()
            loop.execute { seen.value.append(3) }
            try await loop.run { seen.value.append(5) }
            #expect(try await loop.run { Set(seen.value) } == [1, 2, 3, 4, 5])
            #expect(try await loop.run { seen.value.filter { $0 != 4 } } == [1, 2, 3, 5])
        }
    }

    @Test("A stopped loop calls no timers or handlers, and closes no descriptors")
    func stoppingWithTimers() async throws {
        let (calls, call) = AsyncStream<String>.makeStream()
        let loop = try EventLoop(label: "stopped", tick: .milliseconds(5))
        let ends = try Ends()
        let watcher = ClosureHandler(ready: { _, _ in call.yield("event") })
        let timer = ClosureHandler(due: { _ in
            call.yield("coarse")
            return nil
        })
        let oneShot = try await loop.run {
            _ = try loop.register(ends.one, for: .readable, handler: watcher)
            _ = loop.schedule(timer, at: loop.now.advanced(by: .milliseconds(10)))
            let oneShot = Confined(OneShotTimer(on: loop) { call.yield("precise") })
            oneShot.value.arm(after: .milliseconds(10))
            loop.stop()
            return oneShot
        }
        try await loop.run {}
        ends.send()
        // By another loop's time that of the first is over.
        try await withLoop { other in
            let (ends, end) = AsyncStream<Void>.makeStream()
            let later = try await other.run {
                let later = Confined(OneShotTimer(on: other) { end.finish() })
                later.value.arm(after: .milliseconds(40))
                return later
            }
            for await _ in ends {}
            withExtendedLifetime(later) {}
        }
        try await loop.run {}
        call.finish()
        var iterator = calls.makeAsyncIterator()
        #expect(await iterator.next() == nil)
        #expect(ends.receive() == 1)
        withExtendedLifetime(oneShot) {}
    }
}

/// What tells one eventfd of this process from every other, nil where the descriptor is none.
private func eventIdentity(of descriptor: Int32) -> String? {
    let lines = try? String(contentsOfFile: "/proc/self/fdinfo/\(descriptor)", encoding: .utf8).split(separator: "\n")
    return lines?.first { $0.hasPrefix("eventfd-id") }.map(String.init)
}

private actor Counter {
    private let loop: EventLoop
    var value = 0

    init(loop: EventLoop) { self.loop = loop }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    func increment() { value += 1 }

    var runsOnLoop: Bool { loop.isOnLoop }

    var now: MonotonicInstant { loop.now }
}
