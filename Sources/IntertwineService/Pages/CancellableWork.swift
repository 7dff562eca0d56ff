internal import IntertwineHTTPServer
internal import Synchronization

/// Cancellable work without a task, whose steps replace each other.
///
/// Example: a request waits for a load of another request, and then makes the page itself. Cancellation cancels the current step and all later
/// ones.
final class CancellableWork: Sendable {
    private struct State {
        var isCancelled = false
        /// The number of the last step and the function that cancels it.
        var current: (number: Int, cancel: HandlerResult.CancellationHandler?) = (0, nil)
        var started = 0
    }

    private let state = Mutex(State())

    /// Begins a step, which replaces the previous one. After a cancellation the step is cancelled at once; its completion is called nevertheless.
    ///
    /// - Parameter begin: Begins the step and returns a function that cancels it; nil if it cannot be cancelled.
    func perform(_ begin: () -> HandlerResult.CancellationHandler?) {
        let number = state.withLock { state in
            state.started += 1
            return state.started
        }
        let cancel = begin()
        let isCancelled = state.withLock { state in
            // A later step may have begun already on another thread.
            if number > state.current.number { state.current = (number, cancel) }
            return state.isCancelled
        }
        if isCancelled { cancel?() }
    }

    func cancel() {
        let cancel = state.withLock { state in
            state.isCancelled = true
            return state.current.cancel
        }
        cancel?()
    }
}
