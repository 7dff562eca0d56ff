/// Its methods are called on the loops: they must be fast and must not block.
package protocol HTTPServerObserver: Sendable {
    var wantsTraces: Bool { get }
    /// Receives a request whose response has been handed to the kernel or was abandoned.
    func requestFinished(_ record: RequestRecord)
    func requestRefused(_ refusal: RefusedRequest)
    func connectionOpened(open: Int)
    func connectionClosed(open: Int)
    /// Receives the address of a connection that was refused because a connection limit was reached.
    func connectionRefused(peer: PeerAddress)
}

extension HTTPServerObserver {
    package var wantsTraces: Bool { false }
    package func requestRefused(_ refusal: RefusedRequest) {}
    package func connectionOpened(open: Int) {}
    package func connectionClosed(open: Int) {}
    package func connectionRefused(peer: PeerAddress) {}
}

package struct RequestRecord: Sendable {
    package let method: RequestMethod?
    /// It is never the path, which the client chooses.
    package let route: String?
    package let status: Int
    package let bytes: Int
    /// Why not `Duration`: its 128-bit arithmetic is too slow for a value that is computed for every request.
    package let nanoseconds: Int64
    /// The address of the client, or of the last proxy.
    package let peer: PeerAddress
    package let requestID: RequestID?
    package let traceParent: String?
}

/// A request that the server refused itself: its head is malformed, or its body is too long for the handler's task.
package struct RefusedRequest: Sendable {
    package let method: RequestMethod?
    package let path: String?
    /// The address of the client, or of the last proxy.
    package let peer: PeerAddress
    package let status: Int
    package let sender: String?
}
