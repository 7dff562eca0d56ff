/// An actor that runs on an event loop. Its methods need no lock, and run in the order of the events of the loop.
///
/// A conforming actor also has `nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }`.
///
/// ```swift
/// actor Counter: EventLoopActor {
///     nonisolated let loop: EventLoop
///     nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
///     var count = 0
///     init(on loop: EventLoop) { self.loop = loop }
/// }
/// ```
package protocol EventLoopActor: Actor {
    /// The loop that runs the actor.
    nonisolated var loop: EventLoop { get }
}

extension EventLoopActor {
    /// Runs a closure on the loop, asynchronously and in the order of the calls. May be called on any thread.
    ///
    /// ```swift
    /// let counter = Counter(on: try EventLoop(label: "counter"))
    /// counter.execute { $0.count += 1 }
    /// ```
    nonisolated package func execute(_ body: @escaping @Sendable (isolated Self) -> Void) {
        loop.execute { self.assumeIsolated(body) }
    }

    /// Creates a timer that is not armed. It does not keep the actor alive.
    package func timer(_ action: @escaping @Sendable (isolated Self) -> Void) -> OneShotTimer {
        OneShotTimer(on: loop) { [weak self] in self?.assumeIsolated(action) }
    }

    /// Watches a descriptor. The registration does not keep the actor alive.
    ///
    /// - Parameter onReady: Called with the events that the descriptor is ready for; see ``EventHandler``.
    package func watch(
        _ descriptor: Int32, for events: ReadyEvents, onReady: @escaping @Sendable (isolated Self, ReadyEvents) -> Void
    ) throws(EventLoopError) -> Registration {
        let watch = DescriptorWatch { [weak self] events in self?.assumeIsolated { onReady($0, events) } }
        return try loop.register(descriptor, for: events, handler: watch)
    }
}

/// An event handler that calls a closure.
private final class DescriptorWatch: EventHandler {
    private let onReady: (ReadyEvents) -> Void

    init(onReady: @escaping (ReadyEvents) -> Void) {
        self.onReady = onReady
    }

    func ready(_ events: ReadyEvents) { onReady(events) }
}
