internal import IntertwineFetch
internal import Synchronization

/// A single call of a tracker URL, which returns only the status of the response.
final class TrackerFetch: FetchDelegate {
    private struct State {
        var status: Int?
        var bodyBytes = 0
        var waiting: CheckedContinuation<Result<Int, FetchError>, Never>?
        var end: Result<Int, FetchError>?
    }

    /// The limit of body bytes that are read. Further bytes are not awaited.
    private static let longestBody = 64 * 1_024

    private let state = Mutex(State())

    private init() {}

    /// Calls a URL and returns the status of the last response after redirects.
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
        // The body is read and discarded, so that the connection can be reused for the next call.
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
            // A status counts as a response, even if the transfer of the body failed.
            let end: Result<Int, FetchError> = state.status.map { .success($0) } ?? .failure(failure ?? .protocolError)
            state.end = end
            defer { state.waiting = nil }
            return state.waiting.map { ($0, end) }
        }
        if let (continuation, end) = waiting { continuation.resume(returning: end) }
    }
}
