internal import IntertwineHTTPServer

/// What one listener tells: to the metrics, and to the log.
///
/// A class, because each request takes hold of it: one count instead of one for each part.
final class ServiceObserver: HTTPServerObserver {
    let requests: RequestMetrics?
    let connections: ConnectionMetrics?
    let log: AccessLog

    init(requests: RequestMetrics?, connections: ConnectionMetrics?, log: AccessLog) {
        self.requests = requests
        self.connections = connections
        self.log = log
    }

    var wantsTraces: Bool { log.isOn }

    func requestFinished(_ record: RequestRecord) {
        requests?.count(record)
        log.write(record)
    }

    func connectionOpened(open: Int) { connections?.opened(open) }

    func connectionClosed(open: Int) { connections?.closed(open) }

    func connectionRefused(peer: PeerAddress) { connections?.refuse() }
}
