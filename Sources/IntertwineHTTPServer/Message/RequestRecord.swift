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
    /// Nil where the observer does not want it, or the request could not be read.
    public let trace: RequestTrace?
}
