public import HTTPTypes

/// A request on its way to ``HTTPHandler/respond(to:)``.
public struct ServerRequest: Sendable {
    /// Method, path with query, authority and fields.
    public let head: HTTPRequest
    /// The body as its plan asked for it.
    public let body: RequestBody
    /// Who sent it.
    public let peer: PeerAddress

    init(head: HTTPRequest, body: RequestBody, peer: PeerAddress) {
        self.head = head
        self.body = body
        self.peer = peer
    }
}
