internal import CLinux
public import Dispatch
internal import Glibc
internal import Synchronization

/// A serial Dispatch queue with its own epoll descriptor: sockets, timers and actors that live on it never run at the same time.
///
/// One Dispatch source watches the epoll descriptor, so Dispatch pays one event per burst and not one per socket event.
/// Within a burst the loop waits a few milliseconds for the next event before it goes back to Dispatch: a busy loop
/// then costs what a plain epoll loop costs, an idle one nothing at all.
///
/// A loop is alive until ``stop()``. Blocking work must never run on it.
public final class EventLoop: SerialExecutor, @unchecked Sendable {
    // Safety of @unchecked: every stored variable is either immutable, protected by `mailbox`'s lock or atomic, or marked
    // "on the loop" and then touched only by code that runs on `queue`, which is serial.

    /// What other threads ask the loop to run.
    enum Work: Sendable {
        case closure(@Sendable () -> Void)
        case job(UnownedJob)
    }

    struct Mailbox: Sendable {
        var work: [Work] = []
        /// Someone has already been told that there is work.
        var isSignalled = false
        /// The loop waits in the kernel, and is woken through `wakeup`.
        var isWaiting = false
        var isStopped = false
    }

    /// The queue that everything of this loop runs on.
    public let queue: DispatchQueue
    let epoll: Int32
    let timer: Int32
    let wakeup: Int32
    let mailbox = Mutex(Mailbox())
    private let source: any DispatchSourceRead

    // On the loop:
    var registrations = RegistrationTable()
    var wheel: TimerWheel<any TimerHandler>
    var oneShots: [OneShotTimer] = []
    var armed: LoopInstant?
    let events: UnsafeMutableBufferPointer<epoll_event>
    var spareWork: [Work] = []
    /// The clock as read at the beginning of the current batch of events. On the loop.
    public internal(set) var now = LoopInstant.now()

    private static let key = DispatchSpecificKey<ObjectIdentifier>()

    /// - Parameters:
    ///   - label: the queue's name, as debuggers show it.
    ///   - tick: the granularity of coarse timers; 250 ms where nothing is said.
    /// - Throws: ``EventLoopError`` where the process has no descriptor left.
    public init(label: String, tick: Duration = .milliseconds(250)) throws {
        let epoll = clinux_epoll_create()
        if epoll < 0 { throw EventLoopError("epoll_create", errno: -epoll) }
        let timer = clinux_timerfd_create()
        let wakeup = clinux_eventfd_create()
        guard timer >= 0, wakeup >= 0,
            clinux_epoll_control(epoll, EPOLL_CTL_ADD, timer, ReadyEvents.readable.rawValue, Self.timerToken) == 0,
            clinux_epoll_control(epoll, EPOLL_CTL_ADD, wakeup, ReadyEvents.readable.rawValue, Self.wakeupToken) == 0
        else {
            for descriptor in [epoll, timer, wakeup] where descriptor >= 0 { close(descriptor) }
            throw EventLoopError("timerfd_create, eventfd_create", errno: timer < 0 ? -timer : EMFILE)
        }
        self.epoll = epoll
        self.timer = timer
        self.wakeup = wakeup
        self.queue = DispatchQueue(label: label)
        self.wheel = TimerWheel(tick: tick, now: .now())
        self.events = .allocate(capacity: 256)
        self.source = DispatchSource.makeReadSource(fileDescriptor: epoll, queue: queue)
        queue.setSpecific(key: Self.key, value: ObjectIdentifier(self))
        source.setEventHandler { self.drain() }
        source.setCancelHandler {
            for descriptor in [epoll, timer, wakeup] { close(descriptor) }
        }
        source.activate()
    }

    deinit {
        events.deallocate()
    }

    /// Whether the caller runs on this loop.
    public var isOnLoop: Bool { DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(self) }

    /// Traps where the caller does not run on this loop: a programming error, never something a client can cause.
    public func preconditionOnLoop() {
        precondition(isOnLoop, "called off the loop")
    }

    /// Runs `work` on the loop, soon, in the order of the calls. From any thread; also after ``stop()``.
    public func execute(_ work: @escaping @Sendable () -> Void) {
        submit(.closure(work))
    }

    /// Forgets all registrations and timers and closes the loop's own descriptors. Registered descriptors stay open: they are their owners'.
    public func stop() {
        execute { [self] in
            let first = mailbox.withLock { box in
                defer { box.isStopped = true }
                return !box.isStopped
            }
            guard first else { return }
            source.cancel()
            source.setEventHandler(handler: nil)
            registrations.removeAll()
            wheel = TimerWheel(tick: .seconds(1), now: now)
            oneShots = []
        }
    }
}
