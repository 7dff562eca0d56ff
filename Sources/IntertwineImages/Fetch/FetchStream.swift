internal import HTTPTypes
internal import IntertwineHTTPServer
internal import Synchronization

/// A response that is read as it arrives, at the pace of the reader: its head, then the bytes of its body. It has one reader.
///
/// The fetch pauses while more than `highWater` bytes wait.
///
/// ```swift
/// let response = client.open(request)
/// defer { response.cancel() }
/// guard try await response.head().status == 200 else { return }
/// while let bytes = try await response.next() { print(bytes.count) }
/// ```
package final class FetchStream: Sendable {
    /// The number of bytes that may wait. One compressed block of 16 KiB may expand beyond it.
    private static let highWater = 256 * 1_024

    private struct State {
        var id: FetchID?
        var head: FetchHead?
        var bytes: [UInt8] = []
        /// The outer nil means that the fetch has not ended.
        var end: FetchError??
        var isPaused = false
        var refusal: FetchRejection?
        var waiting: CheckedContinuation<Void, Never>?
    }

    /// The URL of the request, before redirects.
    package let url: FetchURL
    private let client: CurlClient
    private let state = Mutex(State())

    fileprivate init(_ request: FetchRequest, on client: CurlClient, reads: @escaping @Sendable (FetchHead) -> Bool) {
        self.client = client
        url = request.url
        let id = client.start(request) { self.handle($0, reads) }
        state.withLock { $0.id = id }
    }

    /// The forbidden target of the fetch, if that is the reason of its failure.
    package var refusal: FetchRejection? { state.withLock { $0.refusal } }

    /// Cancels the fetch, which ends with `cancelled`. Does nothing if the fetch has ended.
    package func cancel() {
        if let id = state.withLock({ $0.id }) { client.cancel(id) }
    }

    /// Waits for the head of the response.
    ///
    /// ```swift
    /// let head = try await client.open(request).head()
    /// print(head.status, head.url.text)
    /// ```
    ///
    /// - Throws: The ``FetchError`` of the fetch; `cancelled` if the task is cancelled.
    package func head() async throws(FetchError) -> FetchHead {
        while true {
            let (head, end) = state.withLock { ($0.head, $0.end) }
            if let head { return head }
            if let end { throw end ?? .protocolError }
            try await wait { $0.head != nil || $0.end != nil }
        }
    }

    /// Returns the next bytes of the body; nil at its end.
    ///
    /// ```swift
    /// let response = client.open(request)
    /// var body: [UInt8] = []
    /// while let bytes = try await response.next() { body += bytes }
    /// ```
    ///
    /// - Throws: The ``FetchError`` of the fetch; `cancelled` if the task is cancelled.
    package func next() async throws(FetchError) -> [UInt8]? {
        while true {
            let (bytes, end) = state.withLock { state in
                defer { state.bytes = [] }
                return (state.bytes, state.end)
            }
            if !bytes.isEmpty {
                adjust()
                return bytes
            }
            if let end {
                if let end { throw end }
                return nil
            }
            try await wait { !$0.bytes.isEmpty || $0.end != nil }
        }
    }

    private func wait(_ isReady: @Sendable (borrowing State) -> Bool) async throws(FetchError) {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let resumes = state.withLock { state in
                    if isReady(state) { return true }
                    state.waiting = continuation
                    return false
                }
                if resumes { continuation.resume() }
            }
        } onCancel: {
            cancel()
        }
        if Task.isCancelled { throw .cancelled }
    }

    private func wake(_ body: (inout State) -> Void) {
        let waiting = state.withLock { state in
            body(&state)
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }

    /// Pauses or resumes the fetch by the state at that time. It runs on the loop after the current call, so the last of several wins.
    private func adjust() {
        client.execute { [self] client in
            let pause = state.withLock { state -> (FetchID, Bool)? in
                let isPaused = state.bytes.count > Self.highWater
                guard isPaused != state.isPaused, let id = state.id else { return nil }
                state.isPaused = isPaused
                return (id, isPaused)
            }
            if let (id, isPaused) = pause { client.setPaused(isPaused, id) }
        }
    }

    private func handle(_ event: FetchEvent, _ reads: (FetchHead) -> Bool) -> Bool {
        switch event {
        case .reached, .repeated, .redirected: break
        case .refused(let url, let addresses): state.withLock { $0.refusal = FetchRejection(url: url, addresses: addresses) }
        case .head(let head):
            wake { $0.head = head }
            return reads(head)
        case .bytes(let bytes):
            var isFull = false
            wake { state in
                state.bytes.append(contentsOf: bytes)
                isFull = state.bytes.count > Self.highWater && !state.isPaused
            }
            if isFull { adjust() }
        case .ended(let failure): wake { $0.end = .some(failure) }
        }
        return true
    }
}

extension CurlClient {
    /// Starts a fetch whose response the caller reads as it arrives.
    ///
    /// ```swift
    /// let response = client.open(request) { head in head.status == 200 }
    /// defer { response.cancel() }
    /// while let bytes = try await response.next() { print(bytes.count) }
    /// ```
    ///
    /// - Parameter reads: Returns false for a response whose body is not read.
    package nonisolated func open(_ request: FetchRequest, reads: @escaping @Sendable (FetchHead) -> Bool = { _ in true }) -> FetchStream {
        FetchStream(request, on: self, reads: reads)
    }

    /// Fetches a response with its complete body, which ``FetchLimits/bodyBytes`` limits.
    ///
    /// ```swift
    /// let request = FetchRequest(try FetchURL("https://example.com/feed.json"))
    /// let (head, body) = try await client.get(request)
    /// print(head.status, body.count)
    /// ```
    ///
    /// - Throws: The ``FetchError`` of the fetch; `cancelled` if the task is cancelled.
    package nonisolated func get(_ request: FetchRequest) async throws(FetchError) -> (head: FetchHead, body: [UInt8]) {
        let stream = open(request)
        defer { stream.cancel() }
        let head = try await stream.head()
        var body: [UInt8] = []
        while let bytes = try await stream.next() { body += bytes }
        return (head, body)
    }
}

/// A target of a fetch that the address policy forbids.
package struct FetchRejection: Sendable, Hashable {
    /// The forbidden URL.
    package var url: FetchURL
    /// The addresses of the host, if they are forbidden.
    package var addresses: [IPAddress]
    /// The URL that redirects to the target; nil if the fetch itself names the target.
    package var origin: FetchURL?

    /// Creates a rejection from its parts.
    package init(url: FetchURL, addresses: [IPAddress] = [], origin: FetchURL? = nil) {
        self.url = url
        self.addresses = addresses
        self.origin = origin
    }
}
