public import HTTPTypes

/// What answers requests. The server has done everything that is HTTP's own: framing, limits, conditions, ranges, codings.
///
/// A handler has three faces, from the cheapest on, and a say where the server refuses. None of them may wait; what a plan has make the answer may.
public protocol HTTPHandler: Sendable {
    /// A finished answer, if there is one. Called on the loop for requests without a body, before anything is made of their bytes:
    /// it must neither wait nor take long. Nil sends the request on to ``deferred(for:peer:)``.
    func finished(for head: borrowing RequestHead) -> FinishedResponse?

    /// An answer that is on its way already. Called on the loop for requests without a body, like ``finished(for:)``. Nil sends the request on
    /// to ``plan(for:peer:)``.
    func deferred(for head: borrowing RequestHead, peer: PeerAddress) -> DeferredAnswer?

    /// Where the request goes, decided once, before its body is read: the plan holds what makes the answer. Called on the loop: it must neither
    /// wait nor take long.
    func plan(for request: HTTPRequest, peer: PeerAddress) -> RequestPlan

    /// What the server says where it refuses a request by itself: for its method, an expectation, or a body that is coded or too long.
    /// A handler that lets only some through, or keeps a record, has its say here. Called on the loop: it must neither wait nor take long.
    func refuse(_ request: HTTPRequest, peer: PeerAddress, with response: ServerResponse) -> ServerResponse

    /// What the server's own refusals carry besides, where there is no whole request to ask ``refuse(_:peer:with:)`` about: it cannot be read,
    /// comes too slowly, or there is no room for it. Called on the loop: it must neither wait nor take long.
    ///
    /// - Parameter field: looks a field up, by its name in lower case, in what has come of the request.
    func refusalFields(_ field: (StaticString) -> String?) -> HTTPFields

    /// Told of each refusal of a request of which there is no whole head: its line or its fields are too long, or it is no HTTP. Called on
    /// the loop: it must neither wait nor take long.
    ///
    /// - Parameter method: nil where not even that was read.
    func refused(_ method: RequestMethod?, peer: PeerAddress, status: Int)
}

extension HTTPHandler {
    public func finished(for head: borrowing RequestHead) -> FinishedResponse? { nil }

    public func deferred(for head: borrowing RequestHead, peer: PeerAddress) -> DeferredAnswer? { nil }

    public func refuse(_ request: HTTPRequest, peer: PeerAddress, with response: ServerResponse) -> ServerResponse { response }

    public func refusalFields(_ field: (StaticString) -> String?) -> HTTPFields { [:] }

    public func refused(_ method: RequestMethod?, peer: PeerAddress, status: Int) {}
}
