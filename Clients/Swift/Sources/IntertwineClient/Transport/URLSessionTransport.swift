#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A transport with `URLSession` and a delegate on every system, because FoundationNetworking lacks `bytes(for:)`.
///
/// ```swift
/// let transport = URLSessionTransport(timeout: 30, connections: 4)
/// let client = FeedClient(base: base, transport: transport)
/// ```
public final class URLSessionTransport: Transport {
    private let session: URLSession
    private let receiver = Receiver()

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - timeout: The maximum seconds without received bytes. A live stream is idle between its heartbeats.
    ///   - connections: The maximum number of connections to one host.
    public init(timeout: Double = 60, connections: Int = 8) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = timeout
        configuration.httpMaximumConnectionsPerHost = connections
        // `FeedClient` and `ImageLoader` have caches of their own.
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        #if canImport(FoundationNetworking)
            // The session of Linux names curl, a program whose events the service does not count.
            configuration.httpAdditionalHeaders = ["User-Agent": "\(ProcessInfo.processInfo.processName) IntertwineClient"]
        #endif
        session = URLSession(configuration: configuration, delegate: receiver, delegateQueue: nil)
    }

    deinit {
        // A session retains its delegate and itself until it is invalidated.
        session.invalidateAndCancel()
    }

    /// Sends a request and returns the complete response.
    ///
    /// - Throws: An error if the connection fails, or if the body has more than `limit` bytes; `CancellationError` if the task is
    ///   cancelled.
    public func send(_ request: URLRequest, limit: Int) async throws -> HTTPResponse {
        let stream = try await open(request, limit: limit)
        var body = Data()
        for try await chunk in stream.chunks { body.append(chunk) }
        // A cancelled stream ends like a complete one.
        try Task.checkCancellation()
        return HTTPResponse(status: stream.status, fields: stream.fields, body: body)
    }

    /// Sends a request and returns the response after its head. The length of the body is not limited.
    public func stream(_ request: URLRequest) async throws -> HTTPResponseStream {
        try await open(request, limit: .max)
    }

    private func open(_ request: URLRequest, limit: Int) async throws -> HTTPResponseStream {
        try Task.checkCancellation()
        let task = session.dataTask(with: request)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                receiver.expect(task, limit: limit, head: continuation)
                task.resume()
                // The task may have been cancelled before it was registered.
                if Task.isCancelled { receiver.cancel(task) }
            }
        } onCancel: {
            receiver.cancel(task)
        }
    }
}

/// An error for a body that exceeds its limit.
struct BodyTooLongError: Error {}

/// A session delegate that forwards received data to the continuation of each task.
private final class Receiver: NSObject, URLSessionDataDelegate, Sendable {
    private struct Exchange {
        var head: CheckedContinuation<HTTPResponseStream, any Error>?
        var body: AsyncThrowingStream<Data, any Error>.Continuation?
        var room: Int
        var isTooLong = false
    }

    private let exchanges = LockedBox<[Int: Exchange]>([:])

    func expect(_ task: URLSessionTask, limit: Int, head: CheckedContinuation<HTTPResponseStream, any Error>) {
        exchanges.withLock { $0[task.taskIdentifier] = Exchange(head: head, room: limit) }
    }

    /// Cancels a task and fails its waiting caller at once. Why: the URLSession of Linux may not report a task cancelled around its start.
    func cancel(_ task: URLSessionTask) {
        let head = exchanges.withLock { exchanges -> CheckedContinuation<HTTPResponseStream, any Error>? in
            guard let head = exchanges[task.taskIdentifier]?.head else { return nil }
            exchanges[task.taskIdentifier] = nil
            return head
        }
        task.cancel()
        head?.resume(throwing: CancellationError())
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        begin(dataTask, response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let body = exchanges.withLock { exchanges -> AsyncThrowingStream<Data, any Error>.Continuation? in
            guard var exchange = exchanges[dataTask.taskIdentifier] else { return nil }
            exchange.isTooLong = data.count > exchange.room
            exchange.room -= min(data.count, exchange.room)
            exchanges[dataTask.taskIdentifier] = exchange
            return exchange.isTooLong ? nil : exchange.body
        }
        if let body { body.yield(data) } else { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        // For a redirect, the URLSession of Linux may only report completion.
        if error == nil, let response = task.response { begin(task, response) }
        guard let exchange = exchanges.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        let error = exchange.isTooLong ? BodyTooLongError() : (error as? URLError)?.code == .cancelled ? CancellationError() : error
        exchange.head?.resume(throwing: error ?? URLError(.badServerResponse))
        exchange.body?.finish(throwing: error)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    private func begin(_ task: URLSessionTask, _ response: URLResponse) {
        guard let response = response as? HTTPURLResponse else { return }
        let (chunks, body) = AsyncThrowingStream<Data, any Error>.makeStream()
        let head = exchanges.withLock { exchanges -> CheckedContinuation<HTTPResponseStream, any Error>? in
            defer {
                exchanges[task.taskIdentifier]?.head = nil
                if exchanges[task.taskIdentifier]?.body == nil { exchanges[task.taskIdentifier]?.body = body }
            }
            return exchanges[task.taskIdentifier]?.head
        }
        guard let head else { return }
        body.onTermination = { if case .cancelled = $0 { task.cancel() } }
        var fields: [String: String] = [:]
        for (name, value) in response.allHeaderFields {
            if let name = name as? String, let value = value as? String { fields[name.lowercased()] = value }
        }
        head.resume(returning: HTTPResponseStream(status: response.statusCode, fields: fields, chunks: chunks))
    }
}
