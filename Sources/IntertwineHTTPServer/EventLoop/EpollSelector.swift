internal import CIntertwineLinux
internal import Glibc

package struct EventLoopError: Error, Hashable, CustomStringConvertible {
    package let operation: String
    package let errno: Int32

    init(_ operation: String, errno: Int32) {
        self.operation = operation
        self.errno = errno
    }

    package var description: String { "\(operation): \(String(cString: strerror(errno)))" }
}

struct EpollSelector: Sendable {
    /// Generations of registrations start at 1, so no registration has one of these tokens.
    static let timerToken: UInt64 = 0
    static let wakeupToken: UInt64 = 1

    let epoll: Int32
    private let timer: Int32
    let wakeup: Int32

    init() throws(EventLoopError) {
        let epoll = clinux_epoll_create()
        if epoll < 0 { throw EventLoopError("epoll_create", errno: -epoll) }
        let timer = clinux_timerfd_create()
        let wakeup = clinux_eventfd_create()
        guard timer >= 0, wakeup >= 0,
            clinux_epoll_control(epoll, EPOLL_CTL_ADD, timer, ReadyEvents.readable.rawValue, Self.timerToken) == 0,
            clinux_epoll_control(epoll, EPOLL_CTL_ADD, wakeup, ReadyEvents.readable.rawValue, Self.wakeupToken) == 0
        else {
            for descriptor in [epoll, timer, wakeup] where descriptor >= 0 { Glibc.close(descriptor) }
            throw EventLoopError("timerfd_create, eventfd_create", errno: timer < 0 ? -timer : EMFILE)
        }
        (self.epoll, self.timer, self.wakeup) = (epoll, timer, wakeup)
    }

    func close() {
        for descriptor in [epoll, timer] { Glibc.close(descriptor) }
    }

    /// Call it when no thread can call ``wake()`` any more, which would write into a reused descriptor.
    func closeWakeup() { Glibc.close(wakeup) }

    func add(_ descriptor: Int32, for events: ReadyEvents, token: UInt64) throws(EventLoopError) {
        try control(EPOLL_CTL_ADD, descriptor, events.rawValue, token)
    }

    func change(_ descriptor: Int32, for events: ReadyEvents, token: UInt64) throws(EventLoopError) {
        try control(EPOLL_CTL_MOD, descriptor, events.rawValue, token)
    }

    func remove(_ descriptor: Int32) {
        // A failure is ignored: a descriptor that epoll does not watch needs no removal.
        try? control(EPOLL_CTL_DEL, descriptor, 0, 0)
    }

    private func control(_ operation: Int32, _ descriptor: Int32, _ events: UInt32, _ token: UInt64) throws(EventLoopError) {
        let result = clinux_epoll_control(epoll, operation, descriptor, events, token)
        if result < 0 { throw EventLoopError("epoll_ctl", errno: -result) }
    }

    func wait(_ events: UnsafeMutableBufferPointer<epoll_event>, milliseconds: Int32) -> Int {
        min(events.count, Int(max(0, clinux_epoll_wait(epoll, events.baseAddress, Int32(clamping: events.count), milliseconds))))
    }

    func arm(at instant: MonotonicInstant) {
        _ = clinux_timerfd_arm(timer, max(1, instant.nanoseconds))
    }

    func wake() {
        var one: UInt64 = 1
        _ = write(wakeup, &one, 8)
    }

    func clearTimer() { clear(timer) }

    func clearWakeup() { clear(wakeup) }

    private func clear(_ descriptor: Int32) {
        var value: UInt64 = 0
        _ = read(descriptor, &value, 8)
    }
}
