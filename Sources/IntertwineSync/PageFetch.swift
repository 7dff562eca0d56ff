internal import IntertwineEventLoop
internal import IntertwineFetch
internal import Synchronization

/// A fetch of one page with backpressure: its head and body bytes, at the pace of the reader. The transfer pauses while more than
/// ``highWater`` bytes wait.
final class PageFetch: FetchDelegate {
    /// The number of bytes that may wait. One compressed block of 16 KiB may expand beyond it.
    private static let highWater = 256 * 1_024

    private struct State {
        var head: FetchHead?
        var bytes: [UInt8] = []
        /// The outer nil means that the fetch has not ended.
        var end: FetchError??
        var isPaused = false
        var refusal: FetchRejection?
        var waiting: CheckedContinuation<Void, Never>?
    }

    let url: FetchURL
    private let transfers: CurlClient
    private let state = Mutex(State())
    private let id = Mutex<FetchID?>(nil)

    init(_ request: FetchRequest, on transfers: CurlClient) {
        self.transfers = transfers
        url = request.url
        let started = transfers.start(request, delegate: self)
        id.withLock { $0 = started }
    }

    /// The forbidden target of the page, if that is the reason of its failure.
    var refusal: FetchRejection? { state.withLock { $0.refusal } }

    /// Cancels the fetch.
    func cancel() {
        if let id = id.withLock({ $0 }) { transfers.cancel(id) }
    }

    /// Waits for the head of the response.
    func head() async throws -> FetchHead {
        while true {
            let (head, end) = state.withLock { ($0.head, $0.end) }
            if let head { return head }
            if let end { throw end ?? .protocolError }
            try await change { $0.head != nil || $0.end != nil }
        }
    }

    /// Returns the next bytes of the body; nil at its end.
    func next() async throws -> [UInt8]? {
        while true {
            let (bytes, end) = state.withLock { state in
                let bytes = state.bytes
                state.bytes = []
                return (bytes, state.end)
            }
            if !bytes.isEmpty {
                adjust()
                return bytes
            }
            if let end {
                if let end { throw end }
                return nil
            }
            try await change { !$0.bytes.isEmpty || $0.end != nil }
        }
    }

    private func change(_ isThere: @Sendable (borrowing State) -> Bool) async throws {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if isThere(state) { return true }
                    state.waiting = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            cancel()
        }
        try Task.checkCancellation()
    }

    private func wake(_ body: (inout State) -> Void) {
        let waiting = state.withLock { state in
            body(&state)
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }

    /// Pauses or resumes the transfer by the state at that time. It runs on the event loop after the current call, so the last of several wins.
    private func adjust() {
        let transfers = transfers
        transfers.loop.execute { [self] in
            guard let id = id.withLock({ $0 }) else { return }
            let shouldPause = state.withLock { state -> Bool? in
                let shouldPause = state.bytes.count > Self.highWater
                guard shouldPause != state.isPaused else { return nil }
                state.isPaused = shouldPause
                return shouldPause
            }
            if let shouldPause { transfers.assumeIsolated { $0.setPaused(shouldPause, id) } }
        }
    }

    func fetch(_ id: FetchID, reached stage: FetchStage) {}

    func fetch(_ id: FetchID, refused url: FetchURL, at addresses: [IPAddress]) {
        state.withLock { $0.refusal = FetchRejection(url: url, addresses: addresses) }
    }

    /// The bodies of other responses are not read.
    func fetch(_ id: FetchID, received head: FetchHead) -> Bool {
        wake { $0.head = head }
        return head.status == 200 || head.status == 304
    }

    func fetch(_ id: FetchID, received bytes: UnsafeRawBufferPointer) -> Bool {
        var isFull = false
        wake { state in
            state.bytes.append(contentsOf: bytes)
            isFull = state.bytes.count > Self.highWater && !state.isPaused
        }
        if isFull { adjust() }
        return true
    }

    func fetchEnded(_ id: FetchID, _ failure: FetchError?) {
        wake { $0.end = .some(failure) }
    }
}
