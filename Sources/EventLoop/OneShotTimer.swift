/// A timer for one instant at a time, good to about a millisecond. Used on its loop only.
///
/// For the few who need precision (a transfer library's own timer); the many use the coarse wheel.
public final class OneShotTimer {
    private unowned let loop: EventLoop
    private let action: () -> Void
    /// When it fires, nil while it is not armed.
    public private(set) var deadline: LoopInstant?

    /// - Parameter action: called on the loop, once per arming.
    public init(on loop: EventLoop, action: @escaping () -> Void) {
        self.loop = loop
        self.action = action
    }

    /// Fires `duration` from now, in place of what was armed before.
    public func arm(after duration: Duration) {
        let instant = LoopInstant.now().advanced(by: duration)
        deadline = instant
        loop.add(self, at: instant)
    }

    /// Forgets what was armed.
    public func disarm() {
        deadline = nil
        loop.remove(self)
    }

    func fire() {
        deadline = nil
        action()
    }
}
