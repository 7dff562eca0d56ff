import Synchronization

/// Things that happened, in order; who waits for one is told when it happens.
public final class EventLog<Event: Sendable>: Sendable {
    private struct State: Sendable {
        var events: [Event] = []
        var waiting: [(isMet: @Sendable ([Event]) -> Bool, resume: CheckedContinuation<[Event], Never>)] = []
    }

    private let state = Mutex(State())

    public init() {}

    public var events: [Event] { state.withLock { $0.events } }

    public func append(_ event: Event) {
        let (events, met) = state.withLock { state in
            state.events.append(event)
            let events = state.events
            let met = state.waiting.filter { $0.isMet(events) }
            state.waiting.removeAll { $0.isMet(events) }
            return (events, met)
        }
        for waiter in met { waiter.resume.resume(returning: events) }
    }

    /// Returns as soon as the condition holds for what has happened so far. Bounded by the test's time limit only.
    @discardableResult
    public func wait(until isMet: @escaping @Sendable ([Event]) -> Bool) async -> [Event] {
        await withCheckedContinuation { continuation in
            let events = state.withLock { state -> [Event]? in
                if isMet(state.events) { return state.events }
                state.waiting.append((isMet, continuation))
                return nil
            }
            if let events { continuation.resume(returning: events) }
        }
    }
}
