/// An observer of the server, for logs and metrics. Its methods are called on the loops: they must be fast and must not block.
///
/// Without an observer the server measures nothing.
///
/// ```swift
/// struct Printer: HTTPServerObserver {
///     func requestFinished(_ record: RequestRecord) {
///         print(record.route ?? "-", record.status, record.nanoseconds / 1_000, "µs")
///     }
/// }
/// ```
package protocol HTTPServerObserver: Sendable {
    /// A Boolean value indicating if records carry ``RequestRecord/requestID`` and ``RequestRecord/traceParent``.
    /// It is read once per request and may change at any time.
    var wantsTraces: Bool { get }
    /// Receives a request whose response has been handed to the kernel or was abandoned.
    func requestFinished(_ record: RequestRecord)
    /// Receives a request that the server refused without the handler.
    func requestRefused(_ refusal: RefusedRequest)
    /// Receives the number of open connections after one was opened.
    func connectionOpened(open: Int)
    /// Receives the number of open connections after one was closed.
    func connectionClosed(open: Int)
    /// Receives the address of a connection that was refused because a connection limit was reached.
    func connectionRefused(peer: PeerAddress)
}

extension HTTPServerObserver {
    /// False: the records carry no request id and no trace.
    package var wantsTraces: Bool { false }
    /// Ignores the refused request.
    package func requestRefused(_ refusal: RefusedRequest) {}
    /// Ignores the opened connection.
    package func connectionOpened(open: Int) {}
    /// Ignores the closed connection.
    package func connectionClosed(open: Int) {}
    /// Ignores the refused connection.
    package func connectionRefused(peer: PeerAddress) {}
}

/// The record of one request for an ``HTTPServerObserver``.
package struct RequestRecord: Sendable {
    /// The method; nil if the request could not be read.
    package let method: RequestMethod?
    /// The route's name from the handler. It is never the path, which the client chooses.
    package let route: String?
    /// The status of the response.
    package let status: Int
    /// The bytes of the response, including the head.
    package let bytes: Int
    /// The time from the end of the request's head to the end of the response.
    /// Why not `Duration`: its 128-bit arithmetic is too slow for a value that is computed for every request.
    package let nanoseconds: Int64
    /// The address of the client, or of the last proxy.
    package let peer: PeerAddress
    /// The request id; nil if the observer does not want it.
    package let requestID: RequestID?
    /// The value of `traceparent` (W3C Trace Context, level 1) as received, without validation. Nil if the observer does not want it
    /// or it is too long to be valid.
    package let traceParent: String?
}

/// A request that the server refused itself: its head is malformed, or its body is too long for the handler's task.
package struct RefusedRequest: Sendable {
    /// The method; nil if it was not read.
    package let method: RequestMethod?
    /// The path with its query; nil if the head was not read completely. The handler has accepted a request with a path.
    package let path: String?
    /// The address of the client, or of the last proxy.
    package let peer: PeerAddress
    /// The status of the response.
    package let status: Int
    /// The authenticated sender, as ``RequestTask/sender`` states.
    package let sender: String?
}
