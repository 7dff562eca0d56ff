import Glibc
import Testing

@testable import IntertwineHTTPServer

/// Calls `body` with a loop that is stopped at the end of it.
func withLoop(tick: Duration = .milliseconds(10), _ body: (EventLoop) async throws -> Void) async throws {
    let loop = try EventLoop(label: "test", tick: tick)
    defer { loop.stop() }
    try await body(loop)
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

/// Two ends, of a pipe or of a connection, that are closed at the end.
final class Ends: Sendable {
    /// Of a pipe the end to read from.
    let one: Int32
    let other: Int32

    init(ofConnection isConnection: Bool = false) throws {
        var ends: [Int32] = [0, 0]
        let isMade = isConnection ? socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) : pipe(&ends)
        try #require(isMade == 0)
        (one, other) = (ends[0], ends[1])
    }

    deinit {
        close(one)
        close(other)
    }

    func send(_ byte: UInt8 = 1) { #expect(write(other, [byte], 1) == 1) }

    func receive() -> UInt8? {
        var byte: UInt8 = 0
        return read(one, &byte, 1) == 1 ? byte : nil
    }
}

// Safety of the @unchecked below: the members are used on the loop only, which the loop itself checks.

/// Does what it is told when its descriptor is ready or its time is over.
final class ClosureHandler: EventHandler, TimerHandler, @unchecked Sendable {
    var registration: Registration?
    private let isReady: (ClosureHandler, ReadyEvents) -> Void
    private let isDue: (MonotonicInstant) -> MonotonicInstant?

    init(
        ready: @escaping (ClosureHandler, ReadyEvents) -> Void = { _, _ in },
        due: @escaping (MonotonicInstant) -> MonotonicInstant? = { _ in nil }
    ) {
        isReady = ready
        isDue = due
    }

    func ready(_ events: ReadyEvents) { isReady(self, events) }

    func timerDue(at now: MonotonicInstant) -> MonotonicInstant? { isDue(now) }
}

/// Something that only a loop's own code touches.
final class Confined<Value>: @unchecked Sendable {
    var value: Value

    init(_ value: Value) { self.value = value }
}
