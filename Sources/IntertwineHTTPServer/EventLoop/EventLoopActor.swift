package protocol EventLoopActor: Actor {
    nonisolated var loop: EventLoop { get }
}

extension EventLoopActor {
    nonisolated package func execute(_ body: @escaping @Sendable (isolated Self) -> Void) {
        loop.execute { self.assumeIsolated(body) }
    }

    package func timer(_ action: @escaping @Sendable (isolated Self) -> Void) -> OneShotTimer {
        OneShotTimer(on: loop) { [weak self] in self?.assumeIsolated(action) }
    }

    package func watch(
        _ descriptor: Int32, for events: ReadyEvents, onReady: @escaping @Sendable (isolated Self, ReadyEvents) -> Void
    ) throws(EventLoopError) -> Registration {
        let watch = DescriptorWatch { [weak self] events in self?.assumeIsolated { onReady($0, events) } }
        return try loop.register(descriptor, for: events, handler: watch)
    }
}

private final class DescriptorWatch: EventHandler {
    private let onReady: (ReadyEvents) -> Void

    init(onReady: @escaping (ReadyEvents) -> Void) {
        self.onReady = onReady
    }

    func ready(_ events: ReadyEvents) { onReady(events) }
}
