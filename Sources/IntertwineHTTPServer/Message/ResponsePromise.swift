internal import Synchronization

package struct ResponsePromise: Sendable {
    private enum Destination: Sendable {
        case exchange(Exchange)
        case memory(ResponseFuture)
    }

    private let destination: Destination

    init(_ exchange: Exchange) { destination = .exchange(exchange) }

    init(_ future: ResponseFuture) { destination = .memory(future) }

    /// Called on the event loop: it must be fast and must not block.
    package func complete(_ make: @escaping @Sendable () throws -> HandlerResponse) {
        switch destination {
        case .exchange(let exchange): exchange.complete(make)
        case .memory(let future): future.complete(Result { try make() })
        }
    }
}

final class ResponseFuture: Sendable {
    private enum State {
        case waiting(CheckedContinuation<HandlerResponse, any Error>?)
        case complete(Result<HandlerResponse, any Error>)
    }

    private let state = Mutex(State.waiting(nil))

    func complete(_ result: Result<HandlerResponse, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<HandlerResponse, any Error>? in
            guard case .waiting(let continuation) = state else { return nil }
            state = .complete(result)
            return continuation
        }
        continuation?.resume(with: result)
    }

    func value() async throws -> HandlerResponse {
        try await withCheckedThrowingContinuation { continuation in
            let result = state.withLock { state -> Result<HandlerResponse, any Error>? in
                if case .complete(let result) = state { return result }
                state = .waiting(continuation)
                return nil
            }
            if let result { continuation.resume(with: result) }
        }
    }
}
