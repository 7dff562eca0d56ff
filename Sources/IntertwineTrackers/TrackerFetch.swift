internal import IntertwineFetch
internal import Synchronization

/// One call of a tracker: its answer's status is all that is wanted.
final class TrackerFetch: FetchDelegate {
    private struct State {
        var status: Int?
        var bodyBytes = 0
        var waiting: CheckedContinuation<Result<Int, FetchError>, Never>?
        var end: Result<Int, FetchError>?
    }

    /// Bytes of a body that are read; the rest is not waited for.
    private static let longestBody = 64 * 1_024

    private let state = Mutex(State())

    private init() {}

    /// The status of the answer that stands at the end of the redirects.
    static func response(_ url: FetchURL, on transfers: CurlClient) async -> Result<Int, FetchError> {
        var request = FetchRequest(url, headers: FetchHeaderFields(["Accept": "*/*", "User-Agent": "intertwine"]))
        request.limits.total = .seconds(10)
        request.limits.bodyBytes = .max
        let fetch = TrackerFetch()
        let id = transfers.start(request, delegate: fetch)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let end = fetch.state.withLock { state in
                    if state.end == nil { state.waiting = continuation }
                    return state.end
                }
                if let end { continuation.resume(returning: end) }
            }
        } onCancel: {
            transfers.cancel(id)
        }
    }

    func fetch(_ id: FetchID, reached stage: FetchStage) {}

    func fetch(_ id: FetchID, received head: FetchHead) -> Bool {
        state.withLock { $0.status = head.status }
        // A body that is read keeps the connection for the next call; nothing is made of it.
        return true
    }

    func fetch(_ id: FetchID, received bytes: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            state.bodyBytes += bytes.count
            return state.bodyBytes <= Self.longestBody
        }
    }

    func fetchEnded(_ id: FetchID, _ failure: FetchError?) {
        let waiting = state.withLock { state in
            // Whatever becomes of the body, there was an answer.
            let end: Result<Int, FetchError> = state.status.map { .success($0) } ?? .failure(failure ?? .protocolError)
            state.end = end
            defer { state.waiting = nil }
            return state.waiting.map { ($0, end) }
        }
        if let (continuation, end) = waiting { continuation.resume(returning: end) }
    }
}
