internal import CIntertwineLinux
internal import Dispatch
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
    // Safety of @unchecked: every stored variable is either immutable, protected by `mailbox`'s lock, or marked
    // "on the loop" and then touched only by code that runs on `queue`, which is serial.

    /// How long a loop that was busy just now waits for more before it goes back to Dispatch.
    private static let lingerMilliseconds: Int32 = 4
    /// After so many batches the loop goes back to Dispatch even if there is more to do.
    private static let maxBatchesPerTick = 100_000
    private static let key = DispatchSpecificKey<ObjectIdentifier>()

    let poller: EpollSelector
    private let queue: DispatchQueue
    private let source: any DispatchSourceRead
    private let mailbox = Mutex(TaskQueue())
    private let clock: @Sendable () -> MonotonicInstant

    // On the loop:
    private var registrations = RegistrationTable()
    private var wheel: TimerWheel<any TimerHandler>
    private var oneShots: [OneShotTimer] = []
    /// What the kernel's timer is set to.
    private var armed: MonotonicInstant?
    private let events: UnsafeMutableBufferPointer<epoll_event>
    private var spareWork: [TaskQueue.Work] = []
    /// The clock as read when the current batch began, be it of events or of work from elsewhere: never as old as the loop's last rest.
    /// On the loop.
    public private(set) var now: MonotonicInstant

    /// - Parameters:
    ///   - label: the queue's name, as debuggers show it.
    ///   - tick: the granularity of coarse timers; 250 ms where nothing is said.
    ///   - clock: what ``now`` is read from. The timers themselves are the kernel's, whatever this says.
    /// - Throws: ``EventLoopError`` where the process has no descriptor left.
    public init(
        label: String, tick: Duration = .milliseconds(250), clock: @escaping @Sendable () -> MonotonicInstant = { .now() }
    ) throws(EventLoopError) {
        let poller = try EpollSelector()
        self.poller = poller
        self.clock = clock
        now = clock()
        queue = DispatchQueue(label: label)
        wheel = TimerWheel(tick: tick, now: now)
        events = .allocate(capacity: 256)
        source = DispatchSource.makeReadSource(fileDescriptor: poller.epoll, queue: queue)
        queue.setSpecific(key: Self.key, value: ObjectIdentifier(self))
        source.setEventHandler { self.drain() }
        source.setCancelHandler { poller.close() }
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

    /// Forgets all registrations and timers and closes the loop's own descriptors. Registered descriptors stay open: they are their owners'.
    public func stop() {
        execute { [self] in
            guard mailbox.withLock({ $0.stop() }) else { return }
            source.cancel()
            source.setEventHandler(handler: nil)
            registrations.removeAll()
            wheel = TimerWheel(tick: .seconds(1), now: now)
            oneShots = []
        }
    }

    // MARK: Work of other threads

    /// Runs `work` on the loop, soon, in the order of the calls. From any thread; also after ``stop()``.
    public func execute(_ work: @escaping @Sendable () -> Void) {
        submit(.closure(work))
    }

    public func enqueue(_ job: consuming ExecutorJob) {
        submit(.job(UnownedJob(job)))
    }

    public func checkIsolated() {
        preconditionOnLoop()
    }

    public func isIsolatingCurrentContext() -> Bool? {
        isOnLoop
    }

    private func submit(_ work: TaskQueue.Work) {
        switch mailbox.withLock({ $0.add(work) }) {
        case .none: break
        case .kernel: poller.wake()
        case .queue: queue.async { self.runWork() }
        }
    }

    /// Runs what other threads have asked for. New work that arrives meanwhile waits for the next call.
    private func runWork() {
        var batch = spareWork
        spareWork = []
        mailbox.withLock { $0.drain(&batch) }
        // The loop may have rested until now.
        if !batch.isEmpty { now = clock() }
        for work in batch {
            switch work {
            case .closure(let closure): closure()
            case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
            }
        }
        batch.removeAll(keepingCapacity: batch.capacity <= 1024)
        spareWork = batch
    }

    // MARK: Descriptors

    /// Watches a descriptor. On the loop. The loop keeps the handler alive until ``deregister(_:)``.
    ///
    /// - Throws: ``EventLoopError`` where the kernel refuses (the descriptor is a file, is registered already, or is closed).
    public func register(_ descriptor: Int32, for events: ReadyEvents, handler: any EventHandler) throws(EventLoopError) -> Registration {
        preconditionOnLoop()
        let registration = registrations.insert(handler, descriptor: descriptor)
        do {
            try poller.add(descriptor, for: events, token: registration.token)
        } catch {
            _ = registrations.remove(registration)
            throw error
        }
        return registration
    }

    /// Changes what a descriptor is watched for. On the loop. Nothing happens where the registration is over.
    public func update(_ registration: Registration, for events: ReadyEvents) throws(EventLoopError) {
        preconditionOnLoop()
        guard let descriptor = registrations.descriptor(of: registration) else { return }
        try poller.change(descriptor, for: events, token: registration.token)
    }

    /// Stops watching. On the loop, before the descriptor is closed. No event reaches the handler from here on, not even one
    /// that was already fetched from the kernel.
    public func deregister(_ registration: Registration) {
        preconditionOnLoop()
        guard let descriptor = registrations.remove(registration) else { return }
        poller.remove(descriptor)
    }

    /// The same for a descriptor that nobody else has and that is closed next: the kernel then stops watching it by itself.
    public func forget(_ registration: Registration) {
        preconditionOnLoop()
        _ = registrations.remove(registration)
    }

    /// Serves ready descriptors until none has become ready for a while.
    private func drain() {
        for _ in 0..<Self.maxBatchesPerTick {
            runWork()
            // With work that has come meanwhile there is a look at the descriptors all the same, and no waiting for them.
            let mayWait = mailbox.withLock { $0.beginWaiting() }
            if !mayWait, mailbox.withLock({ $0.isStopped }) { return }
            let count = poller.wait(events, milliseconds: mayWait ? Self.lingerMilliseconds : 0)
            if mayWait {
                mailbox.withLock { $0.endWaiting() }
                if count == 0 { break }
            }
            if count > 0 { deliver(count) }
        }
        runWork()
    }

    private func deliver(_ count: Int) {
        now = clock()
        var timersAreDue = false
        for index in 0..<count {
            let token = clinux_event_token(&events[index])
            switch token {
            case EpollSelector.timerToken: timersAreDue = true
            case EpollSelector.wakeupToken: poller.clearWakeup()
            default:
                registrations.handler(of: Registration(token: token))?.ready(ReadyEvents(rawValue: clinux_event_bits(&events[index])))
            }
        }
        if timersAreDue {
            poller.clearTimer()
            runTimers()
        }
    }

    // MARK: Timers

    /// Calls `handler` at the first tick that is not before `instant`. On the loop.
    public func schedule(_ handler: any TimerHandler, at instant: MonotonicInstant) -> TimerToken {
        preconditionOnLoop()
        let token = wheel.insert(handler, at: instant)
        wake(by: instant)
        return token
    }

    /// Moves a coarse timer. On the loop. Nothing happens where it is over.
    public func reschedule(_ token: TimerToken, at instant: MonotonicInstant) {
        preconditionOnLoop()
        if wheel.move(token, to: instant) { wake(by: instant) }
    }

    /// Forgets a coarse timer. On the loop.
    public func cancel(_ token: TimerToken) {
        preconditionOnLoop()
        wheel.remove(token)
    }

    fileprivate func add(_ timer: OneShotTimer, after duration: Duration) -> MonotonicInstant {
        preconditionOnLoop()
        let instant = clock().advanced(by: duration)
        if !oneShots.contains(where: { $0 === timer }) { oneShots.append(timer) }
        arm(at: instant)
        return instant
    }

    fileprivate func remove(_ timer: OneShotTimer) {
        preconditionOnLoop()
        oneShots.removeAll { $0 === timer }
    }

    private func runTimers() {
        armed = nil
        while let (token, handler) = wheel.nextDue(at: now) {
            if let next = handler.timerDue(at: now) { _ = wheel.move(token, to: next) } else { wheel.remove(token) }
        }
        for timer in oneShots where timer.deadline.map({ $0 <= now }) ?? true {
            oneShots.removeAll { $0 === timer }
            timer.fire()
        }
        let precise = oneShots.lazy.compactMap(\.deadline).min()
        if let next = [wheel.nextWake, precise].lazy.compactMap({ $0 }).min() { arm(at: next) }
    }

    /// A coarse deadline is met at the first tick that is not before it.
    private func wake(by instant: MonotonicInstant) {
        let (whole, rest) = max(instant.nanoseconds, now.nanoseconds).quotientAndRemainder(dividingBy: wheel.tickLength)
        let (next, overflow) = (rest > 0 ? whole &+ 1 : whole).multipliedReportingOverflow(by: wheel.tickLength)
        if !overflow { arm(at: MonotonicInstant(nanoseconds: next)) }
    }

    /// Arms the kernel's timer unless it is armed for an earlier instant: a wake-up too early finds nothing to do and arms anew.
    private func arm(at instant: MonotonicInstant) {
        if let armed, armed <= instant { return }
        armed = instant
        poller.arm(at: instant)
    }
}

/// A timer for one instant at a time, good to about a millisecond. Used on its loop only.
///
/// For the few who need precision (a transfer library's own timer); the many use the coarse wheel.
public final class OneShotTimer {
    private unowned let loop: EventLoop
    private let action: () -> Void
    /// When it fires, nil while it is not armed.
    public private(set) var deadline: MonotonicInstant?

    /// - Parameter action: called on the loop, once per arming.
    public init(on loop: EventLoop, action: @escaping () -> Void) {
        self.loop = loop
        self.action = action
    }

    /// Fires `duration` from now, in place of what was armed before.
    public func arm(after duration: Duration) {
        deadline = loop.add(self, after: duration)
    }

    /// Forgets what was armed.
    public func disarm() {
        deadline = nil
        loop.remove(self)
    }

    fileprivate func fire() {
        if deadline == nil { return }
        deadline = nil
        action()
    }
}
