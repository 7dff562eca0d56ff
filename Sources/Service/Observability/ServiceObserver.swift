internal import HTTPServer

/// What one listener tells: to the metrics, and to the log.
struct ServiceObserver: HTTPServerObserver {
    let requests: RequestMetrics?
    let connections: ConnectionMetrics?
    let log: AccessLog

    var wantsTraces: Bool { log.isOn }

    func requestFinished(_ record: RequestRecord) {
        requests?.count(record)
        log.write(record)
    }

    func connectionOpened(open: Int) { connections?.opened(open) }

    func connectionClosed(open: Int) { connections?.closed(open) }

    func connectionRefused(peer: PeerAddress) { connections?.refuse() }
}
