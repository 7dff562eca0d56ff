import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends by `URLSession`, the same way on every system: FoundationNetworking has no `bytes(for:)`.
public final class URLSessionTransport: Transport {
    private let session: URLSession
    private let receiver = Receiver()

    /// - Parameters:
    ///   - timeout: for how many seconds an answer may stand still. A live stream stands still between its heartbeats.
    ///   - connections: to one host, at once.
    public init(timeout: Double = 60, connections: Int = 8) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = timeout
        configuration.httpMaximumConnectionsPerHost = connections
        // What is kept is kept by `FeedClient` and `ImageLoader`, by their own rules.
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        session = URLSession(configuration: configuration, delegate: receiver, delegateQueue: nil)
    }

    deinit {
        // A session keeps its delegate, and itself, until it is told that there is nothing more to do.
        session.invalidateAndCancel()
    }

    public func send(_ request: URLRequest, limit: Int) async throws -> HTTPAnswer {
        let stream = try await open(request, limit: limit)
        var body = Data()
        for try await chunk in stream.chunks { body.append(chunk) }
        // A stream that is cancelled ends like one that is complete.
        try Task.checkCancellation()
        return HTTPAnswer(status: stream.status, fields: stream.fields, body: body)
    }

    public func stream(_ request: URLRequest) async throws -> HTTPStream {
        try await open(request, limit: .max)
    }

    private func open(_ request: URLRequest, limit: Int) async throws -> HTTPStream {
        try Task.checkCancellation()
        let task = session.dataTask(with: request)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                receiver.expect(task, limit: limit, head: continuation)
                task.resume()
                // Called off before anybody was expected.
                if Task.isCancelled { receiver.callOff(task) }
            }
        } onCancel: {
            receiver.callOff(task)
        }
    }
}

/// A body is longer than it may be.
struct BodyTooLong: Error {}

/// Gives what comes for each task to whoever waits for it.
private final class Receiver: NSObject, URLSessionDataDelegate, Sendable {
    private struct Exchange {
        var head: CheckedContinuation<HTTPStream, any Error>?
        var body: AsyncThrowingStream<Data, any Error>.Continuation?
        var room: Int
        var isTooLong = false
    }

    private let exchanges = Locked<[Int: Exchange]>([:])

    func expect(_ task: URLSessionTask, limit: Int, head: CheckedContinuation<HTTPStream, any Error>) {
        exchanges.withLock { $0[task.taskIdentifier] = Exchange(head: head, room: limit) }
    }

    /// Ends it for whoever waits for its head, without waiting for the session: that of Linux may tell nothing of a task that was cancelled
    /// around its start.
    func callOff(_ task: URLSessionTask) {
        let head = exchanges.withLock { exchanges -> CheckedContinuation<HTTPStream, any Error>? in
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
            exchange.room -= min(data.count, exchange.room)
            exchange.isTooLong = exchange.room == 0
            exchanges[dataTask.taskIdentifier] = exchange
            return exchange.isTooLong ? nil : exchange.body
        }
        if let body { body.yield(data) } else { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        // Of an answer that is nothing but a redirect, Linux may tell the end alone.
        if error == nil, let response = task.response { begin(task, response) }
        guard let exchange = exchanges.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        let error = exchange.isTooLong ? BodyTooLong() : (error as? URLError)?.code == .cancelled ? CancellationError() : error
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
        let head = exchanges.withLock { exchanges -> CheckedContinuation<HTTPStream, any Error>? in
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
        head.resume(returning: HTTPStream(status: response.statusCode, fields: fields, chunks: chunks))
    }
}
