internal import HTTPTypes
internal import IntertwineHTTPServer
internal import Synchronization

/// A response that is read as it arrives, at the pace of the reader: its head, then the bytes of its body.
package final class FetchStream: Sendable {
    private static let highWater = 256 * 1_024

    private struct State {
        var id: FetchID?
        var head: FetchHead?
        var bytes: [UInt8] = []
        var end: FetchError??
        var isPaused = false
        var refusal: FetchRejection?
        var waiting: CheckedContinuation<Void, Never>?
    }

    package let url: FetchURL
    private let client: CurlClient
    private let state = Mutex(State())

    fileprivate init(_ request: FetchRequest, on client: CurlClient, reads: @escaping @Sendable (FetchHead) -> Bool) {
        self.client = client
        url = request.url
        let id = client.start(request) { self.handle($0, reads) }
        state.withLock { $0.id = id }
    }

    package var refusal: FetchRejection? { state.withLock { $0.refusal } }

    package func cancel() {
        if let id = state.withLock({ $0.id }) { client.cancel(id) }
    }

    package func head() async throws(FetchError) -> FetchHead {
        while true {
            let (head, end) = state.withLock { ($0.head, $0.end) }
            if let head { return head }
            if let end { throw end ?? .protocolError }
            try await wait { $0.head != nil || $0.end != nil }
        }
    }

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

    /// It runs on the loop after the current call, so the last of several wins.
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
    package nonisolated func open(_ request: FetchRequest, reads: @escaping @Sendable (FetchHead) -> Bool = { _ in true }) -> FetchStream {
        FetchStream(request, on: self, reads: reads)
    }

    package nonisolated func get(_ request: FetchRequest) async throws(FetchError) -> (head: FetchHead, body: [UInt8]) {
        let stream = open(request)
        defer { stream.cancel() }
        let head = try await stream.head()
        var body: [UInt8] = []
        while let bytes = try await stream.next() { body += bytes }
        return (head, body)
    }
}

package struct FetchRejection: Sendable, Hashable {
    package var url: FetchURL
    package var addresses: [IPAddress]
    package var origin: FetchURL?

    package init(url: FetchURL, addresses: [IPAddress] = [], origin: FetchURL? = nil) {
        self.url = url
        self.addresses = addresses
        self.origin = origin
    }
}
