internal import CLinux

extension EventLoop {
    /// Calls `handler` at the first tick that is not before `instant`. On the loop.
    public func schedule(_ handler: any TimerHandler, at instant: LoopInstant) -> TimerToken {
        preconditionOnLoop()
        let token = wheel.insert(handler, at: instant)
        wake(by: instant)
        return token
    }

    /// Moves a coarse timer. On the loop. Nothing happens where it is over.
    public func reschedule(_ token: TimerToken, at instant: LoopInstant) {
        preconditionOnLoop()
        if wheel.move(token, to: instant) { wake(by: instant) }
    }

    /// Forgets a coarse timer. On the loop.
    public func cancel(_ token: TimerToken) {
        preconditionOnLoop()
        wheel.remove(token)
    }

    func add(_ timer: OneShotTimer, at instant: LoopInstant) {
        preconditionOnLoop()
        if !oneShots.contains(where: { $0 === timer }) { oneShots.append(timer) }
        arm(at: instant)
    }

    func remove(_ timer: OneShotTimer) {
        preconditionOnLoop()
        oneShots.removeAll { $0 === timer }
    }

    func runTimers() {
        armed = nil
        while let (token, handler) = wheel.nextDue(at: now) {
            if let next = handler.timerDue(at: now) { _ = wheel.move(token, to: next) } else { wheel.remove(token) }
        }
        for timer in oneShots where timer.deadline.map({ $0 <= now }) ?? true {
            oneShots.removeAll { $0 === timer }
            if timer.deadline != nil { timer.fire() }
        }
        let precise = oneShots.lazy.compactMap(\.deadline).min()
        if let next = [wheel.nextWake, precise].lazy.compactMap({ $0 }).min() { arm(at: next) }
    }

    /// A coarse deadline is met at the first tick that is not before it.
    private func wake(by instant: LoopInstant) {
        let (whole, rest) = max(instant.nanoseconds, now.nanoseconds).quotientAndRemainder(dividingBy: wheel.tickLength)
        let (next, overflow) = (rest > 0 ? whole &+ 1 : whole).multipliedReportingOverflow(by: wheel.tickLength)
        if !overflow { arm(at: LoopInstant(nanoseconds: next)) }
    }

    /// Arms the kernel's timer unless it is armed for an earlier instant: a wake-up too early finds nothing to do and arms anew.
    private func arm(at instant: LoopInstant) {
        if let armed, armed <= instant { return }
        armed = instant
        _ = clinux_timerfd_arm(timer, max(1, instant.nanoseconds))
    }
}
