internal import IntertwineHTTPServer
internal import Synchronization

/// Work without a task that may be replaced by other work on its way, such as a page that has to be made after all where another one's was
/// waited for. Cancelling it cancels whatever is under way then, and what would replace it.
final class CancellableWork: Sendable {
    private struct State {
        var isCancelled = false
        /// Of the work that began last, by the number of its beginning.
        var current: (number: Int, cancel: PendingResponse.Cancel?) = (0, nil)
        var begun = 0
    }

    private let state = Mutex(State())

    /// Begins work, in the place of what was under way. Work that begins after the cancellation is cancelled at once: its completion is called
    /// all the same.
    ///
    /// - Parameter begin: begins it, and gives what cancels it; nil if nothing does.
    func perform(_ begin: () -> PendingResponse.Cancel?) {
        let number = state.withLock { state in
            state.begun += 1
            return state.begun
        }
        let cancel = begin()
        let isCancelled = state.withLock { state in
            // What replaces it may have begun already, on another thread.
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
