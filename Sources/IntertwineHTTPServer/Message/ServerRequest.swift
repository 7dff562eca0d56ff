public import HTTPTypes

/// A request on its way to what its ``RequestPlan`` has make the answer.
public struct ServerRequest: Sendable {
    /// Method, path with query, authority and fields.
    public var head: HTTPRequest
    /// The body as its plan asked for it.
    public let body: RequestBody
    /// Who sent it.
    public let peer: PeerAddress
    /// What the answer names it by, and the log.
    public let id: RequestID

    init(head: HTTPRequest, body: RequestBody, peer: PeerAddress, id: RequestID) {
        self.head = head
        self.body = body
        self.peer = peer
        self.id = id
    }
}
