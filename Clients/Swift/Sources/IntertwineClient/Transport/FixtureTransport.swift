#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A transport that responds to requests without a server, for previews and tests.
///
/// ```swift
/// let transport = FixtureTransport(page: #"{"cells": [{"id": "user:ann", "identifier": "UserTableViewCell"}], "page": {}}"#)
/// let client = FeedClient(base: URL(string: "https://preview.invalid")!, transport: transport)
/// ```
public final class FixtureTransport: Transport {
    private let respond: @Sendable (URLRequest) async throws -> HTTPResponse
    private let received = LockedBox<[URLRequest]>([])

    /// Creates a transport with a closure that returns the response to each request, or throws if the connection fails.
    ///
    /// ```swift
    /// let transport = FixtureTransport { request in
    ///     HTTPResponse(status: request.httpMethod == "GET" ? 503 : 204)
    /// }
    /// ```
    public init(_ respond: @escaping @Sendable (URLRequest) async throws -> HTTPResponse) {
        self.respond = respond
    }

    /// Creates a transport with one page, as JSON. Actions succeed without content, and all other requests are 404.
    public convenience init(page: String) {
        self.init { request in
            guard request.httpMethod == "GET" else { return HTTPResponse(status: 204) }
            let path = request.url?.path ?? ""
            guard path == "/feed" || path.hasPrefix("/feeds/"), !path.hasSuffix("/changes") else { return HTTPResponse(status: 404) }
            return HTTPResponse(status: 200, fields: ["Content-Type": "application/json"], body: Data(page.utf8))
        }
    }

    /// The received requests, in order.
    ///
    /// ```swift
    /// transport.requests.last?.url?.path  // "/feed"
    /// ```
    public var requests: [URLRequest] { received.withLock { $0 } }

    /// Records the request and returns the response of the closure. The limit has no effect.
    public func send(_ request: URLRequest, limit: Int) async throws -> HTTPResponse {
        received.withLock { $0.append(request) }
        return try await respond(request)
    }

    /// Records the request and returns the response of the closure, with its body as one chunk.
    public func stream(_ request: URLRequest) async throws -> HTTPResponseStream {
        let response = try await send(request, limit: .max)
        let (chunks, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
        continuation.yield(response.body)
        continuation.finish()
        return HTTPResponseStream(status: response.status, fields: response.fields, chunks: chunks)
    }
}
