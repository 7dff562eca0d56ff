/// Is told what the server does, for logs and metrics. Called on the loops: it must neither wait nor take long.
///
/// Without an observer nothing is measured.
public protocol HTTPServerObserver: Sendable {
    /// Whether records are to carry what the request says of itself. Asked once per request: it can change at any time.
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
