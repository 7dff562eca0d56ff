internal import IntertwineHTTPServer
internal import Synchronization

/// Cancellable work without a task, whose steps replace each other.
final class CancellableWork: Sendable {
    private let state = Mutex<(isCancelled: Bool, started: Int, current: (number: Int, cancel: HandlerResult.CancellationHandler?))>(
        (false, 0, (0, nil)))

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
