internal import CIntertwineCurl
internal import IntertwineEventLoop

/// The glue between curl's multi interface and the loop.
extension Transfers {
    func readyMulti() throws(FetchFailure) -> CurlMulti {
        if let multi { return multi }
        timer = OneShotTimer(on: loop) { [weak self] in
            self?.assumeIsolated { $0.act(CURL_SOCKET_TIMEOUT, 0) }
        }
        // Unretained: the handle is this actor's own, and silent once it is closed.
        let created = try CurlMulti(
            context: Unmanaged.passUnretained(self).toOpaque(),
            socket: { _, descriptor, what, context, _ in
                Transfers.from(context)?.assumeIsolated { $0.watch(descriptor, what) }
                return 0
            },
            timer: { _, milliseconds, context in
                Transfers.from(context)?.assumeIsolated { $0.arm(milliseconds) }
                return 0
            })
        multi = created
        return created
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> Transfers? {
        context.map { Unmanaged<Transfers>.fromOpaque($0).takeUnretainedValue() }
    }

    func socketReady(_ descriptor: Int32, _ events: ReadyEvents) {
        var mask: Int32 = 0
        if events.contains(.readable) { mask |= CURL_CSELECT_IN }
        if events.contains(.writable) { mask |= CURL_CSELECT_OUT }
        if events.contains(.failed) || events.contains(.hungUp) { mask |= CURL_CSELECT_ERR }
        act(descriptor, mask)
    }

    private func act(_ descriptor: Int32, _ mask: Int32) {
        guard let multi else { return }
        var running: Int32 = 0
        isInCurl = true
        let result = curl_multi_socket_action(multi.handle, descriptor, mask, &running)
        isInCurl = false
        if result != CURLM_OK {
            // curl no longer vouches for any of its transfers.
            for id in Array(transfers.keys) {
                end(id, .internalError)
            }
            return
        }
        collect()
    }

    /// curl must not be called from here: zero means "soon", not "now".
    private func arm(_ milliseconds: Int) {
        if milliseconds < 0 {
            timer?.disarm()
        } else {
            timer?.arm(after: .milliseconds(milliseconds))
        }
    }

    private func watch(_ descriptor: Int32, _ what: Int32) {
        let events: ReadyEvents
        switch what {
        case CURL_POLL_IN: events = .readable
        case CURL_POLL_OUT: events = .writable
        case CURL_POLL_INOUT: events = [.readable, .writable]
        default:
            if let registration = watches.removeValue(forKey: descriptor)?.registration { loop.deregister(registration) }
            return
        }
        // A socket the kernel refuses to watch makes its transfer time out.
        if let registration = watches[descriptor]?.registration {
            try? loop.update(registration, for: events)
        } else {
            let watch = SocketWatch(self, descriptor: descriptor)
            watch.registration = try? loop.register(descriptor, for: events, handler: watch)
            watches[descriptor] = watch
        }
    }
}

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
