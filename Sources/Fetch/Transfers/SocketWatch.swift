internal import EventLoop

/// One of curl's sockets, registered with the loop.
final class SocketWatch: EventHandler {
    private weak var transfers: Transfers?
    private let descriptor: Int32
    var registration: Registration?

    init(_ transfers: Transfers, descriptor: Int32) {
        self.transfers = transfers
        self.descriptor = descriptor
    }

    func ready(_ events: ReadyEvents) {
        let descriptor = descriptor
        transfers?.assumeIsolated { $0.socketReady(descriptor, events) }
    }
}
