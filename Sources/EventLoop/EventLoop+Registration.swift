internal import CLinux
internal import Glibc

extension EventLoop {
    /// Watches a descriptor. On the loop. The loop keeps the handler alive until ``deregister(_:)``.
    ///
    /// - Throws: ``EventLoopError`` where the kernel refuses (the descriptor is a file, is registered already, or is closed).
    public func register(_ descriptor: Int32, for events: ReadyEvents, handler: any EventHandler) throws(EventLoopError) -> Registration {
        preconditionOnLoop()
        let registration = registrations.insert(handler, descriptor: descriptor)
        let result = clinux_epoll_control(epoll, EPOLL_CTL_ADD, descriptor, events.rawValue, registration.token)
        if result < 0 {
            _ = registrations.remove(registration)
            throw EventLoopError("epoll_ctl", errno: -result)
        }
        return registration
    }

    /// Changes what a descriptor is watched for. On the loop. Nothing happens where the registration is over.
    public func update(_ registration: Registration, for events: ReadyEvents) throws(EventLoopError) {
        preconditionOnLoop()
        guard let descriptor = registrations.descriptor(of: registration) else { return }
        let result = clinux_epoll_control(epoll, EPOLL_CTL_MOD, descriptor, events.rawValue, registration.token)
        if result < 0 { throw EventLoopError("epoll_ctl", errno: -result) }
    }

    /// Stops watching. On the loop, before the descriptor is closed. No event reaches the handler from here on, not even one
    /// that was already fetched from the kernel.
    public func deregister(_ registration: Registration) {
        preconditionOnLoop()
        guard let descriptor = registrations.remove(registration) else { return }
        _ = clinux_epoll_control(epoll, EPOLL_CTL_DEL, descriptor, 0, 0)
    }

    /// The same for a descriptor that nobody else has and that is closed next: the kernel then stops watching it by itself.
    public func forget(_ registration: Registration) {
        preconditionOnLoop()
        _ = registrations.remove(registration)
    }
}
