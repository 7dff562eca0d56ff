/// Is told what the server does, for logs and metrics. Called on the loops: it must neither wait nor take long.
///
/// Without an observer nothing is measured.
public protocol HTTPServerObserver: Sendable {
    /// Whether records are to carry ``RequestRecord/requestID`` and ``RequestRecord/traceParent``. Asked once per request: it can change at any
    /// time.
    var wantsTraces: Bool { get }
    /// An answer has been handed to the kernel, or was given up.
    func requestFinished(_ record: RequestRecord)
    /// A connection was opened; `open` are there now.
    func connectionOpened(open: Int)
    /// A connection was closed; `open` are left.
    func connectionClosed(open: Int)
    /// A connection was refused because there are too many.
    func connectionRefused(peer: PeerAddress)
}

extension HTTPServerObserver {
    public var wantsTraces: Bool { false }
    public func connectionOpened(open: Int) {}
    public func connectionClosed(open: Int) {}
    public func connectionRefused(peer: PeerAddress) {}
}

/// One request, as an ``HTTPServerObserver`` sees it.
public struct RequestRecord: Sendable {
    /// The method; nil where the request could not be read.
    public let method: RequestMethod?
    /// The route's name as the handler gave it. Never the path: that is the client's to choose.
    public let route: String?
    public let status: Int
    /// Bytes of the answer, head included.
    public let bytes: Int
    /// From the end of the request's head to the end of the answer. No `Duration`, whose arithmetic is one of 128 bits: this is made for
    /// every request.
    public let nanoseconds: Int64
    public let peer: PeerAddress
    /// Nil where the observer does not want it.
    public let requestID: RequestID?
    /// The value of `traceparent` (W3C Trace Context, level 1) as it was received: it is not checked. Nil where the observer does not want it,
    /// or it is too long to be one.
    public let traceParent: String?
}
