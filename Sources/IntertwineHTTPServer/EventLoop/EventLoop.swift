internal import CIntertwineLinux
internal import Dispatch
internal import Glibc
internal import Synchronization

/// A serial Dispatch queue with its own epoll descriptor. Its sockets, timers and actors never run at the same time.
/// A busy loop then costs as much as a plain epoll loop, and an idle loop uses no CPU time.
/// Blocking work must never run on it.
package final class EventLoop: SerialExecutor, @unchecked Sendable {
    // Safety of @unchecked: every stored variable is either immutable, protected by the lock of `mailbox`, or marked
    // "On the loop". The latter are touched only by code that runs on `queue`, which is serial.

    private static let lingerMilliseconds: Int32 = 4
    /// The number of batches after which the loop returns to Dispatch even if more events are ready.
    private static let maxBatchesPerTick = 100_000
    private static let key = DispatchSpecificKey<ObjectIdentifier>()

    let poller: EpollSelector
    private let queue: DispatchQueue
    private let source: any DispatchSourceRead
    private let mailbox = Mutex(TaskQueue())
    private let clock: @Sendable () -> MonotonicInstant

    // On the loop, as are the following variables:
    private var registrations = RegistrationTable()
    private var wheel: TimerWheel<any TimerHandler>
    private var oneShots: [OneShotTimer] = []
    /// The instant that the kernel's timer is set to, nil if it is not set.
    private var armed: MonotonicInstant?
    private let events: UnsafeMutableBufferPointer<epoll_event>
    private var spareWork: [TaskQueue.Work] = []
    /// It is never as old as the loop's last idle period.
    package private(set) var now: MonotonicInstant

    /// Timers always use the kernel's clock.
    package init(
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
        poller.closeWakeup()
    }

    var isOnLoop: Bool { DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(self) }

    /// Only a programming error causes this, never a client.
    func preconditionOnLoop() {
        precondition(isOnLoop, "called outside the event loop's thread")
    }

    package func stop() {
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

    package func execute(_ work: @escaping @Sendable () -> Void) {
        submit(.closure(work))
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        submit(.job(UnownedJob(job)))
    }

    package func checkIsolated() {
        preconditionOnLoop()
    }

    /// Returns ``isOnLoop``, never nil.
    package func isIsolatingCurrentContext() -> Bool? {
        isOnLoop
    }

    private func submit(_ work: TaskQueue.Work) {
        switch mailbox.withLock({ $0.add(work) }) {
        case .none: break
        case .kernel: poller.wake()
        case .queue: queue.async { self.runWork() }
        }
    }

    private func runWork() {
        var batch = spareWork
        spareWork = []
        mailbox.withLock { $0.drain(&batch) }
        // Refreshes the time, because the loop may have been idle until now.
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

    package func register(_ descriptor: Int32, for events: ReadyEvents, handler: any EventHandler) throws(EventLoopError) -> Registration {
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

    package func update(_ registration: Registration, for events: ReadyEvents) throws(EventLoopError) {
        preconditionOnLoop()
        guard let descriptor = registrations.descriptor(of: registration) else { return }
        try poller.change(descriptor, for: events, token: registration.token)
    }

    /// The handler receives no event after this call, including events that were already fetched from the kernel.
    package func deregister(_ registration: Registration) {
        preconditionOnLoop()
        guard let descriptor = registrations.remove(registration) else { return }
        poller.remove(descriptor)
    }

    /// The kernel then stops watching the descriptor by itself.
    package func forget(_ registration: Registration) {
        preconditionOnLoop()
        _ = registrations.remove(registration)
    }

    private func drain() {
        for _ in 0..<Self.maxBatchesPerTick {
            runWork()
            // If work was submitted meanwhile, the loop still polls the descriptors once, but does not wait for them.
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

    package func schedule(_ handler: any TimerHandler, at instant: MonotonicInstant) -> TimerToken {
        preconditionOnLoop()
        let token = wheel.insert(handler, at: instant)
        wake(by: instant)
        return token
    }

    func reschedule(_ token: TimerToken, at instant: MonotonicInstant) {
        preconditionOnLoop()
        if wheel.move(token, to: instant) { wake(by: instant) }
    }

    package func cancel(_ token: TimerToken) {
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

    private func wake(by instant: MonotonicInstant) {
        let (ticks, rest) = max(instant.nanoseconds, now.nanoseconds).quotientAndRemainder(dividingBy: wheel.tickLength)
        let (next, overflow) = (rest > 0 ? ticks &+ 1 : ticks).multipliedReportingOverflow(by: wheel.tickLength)
        if !overflow { arm(at: MonotonicInstant(nanoseconds: next)) }
    }

    /// Sets the kernel's timer unless it is set to an earlier instant.
    private func arm(at instant: MonotonicInstant) {
        if let armed, armed <= instant { return }
        armed = instant
        poller.arm(at: instant)
    }
}

/// A timer for one instant at a time, precise to about a millisecond.
package final class OneShotTimer {
    private unowned let loop: EventLoop
    private let action: () -> Void
    package private(set) var deadline: MonotonicInstant?

    package init(on loop: EventLoop, action: @escaping () -> Void) {
        self.loop = loop
        self.action = action
    }

    package func arm(after duration: Duration) {
        deadline = loop.add(self, after: duration)
    }

    package func disarm() {
        deadline = nil
        loop.remove(self)
    }

    fileprivate func fire() {
        if deadline == nil { return }
        deadline = nil
        action()
    }
}
