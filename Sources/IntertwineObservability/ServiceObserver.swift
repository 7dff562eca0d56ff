internal import CoreMetrics
package import IntertwineHTTPServer

/// What one listener tells: to the metrics, and to the log.
///
/// A class, because each request takes hold of it: one count instead of one for each part.
package final class ServiceObserver: HTTPServerObserver {
    private let requests: RequestMetrics?
    private let connections: ConnectionMetrics?
    private let log: AccessLog

    package init(requests: RequestMetrics?, connections: ConnectionMetrics?, log: AccessLog) {
        self.requests = requests
        self.connections = connections
        self.log = log
    }

    package var wantsTraces: Bool { log.isOn }

    package func requestFinished(_ record: RequestRecord) {
        requests?.count(record)
        log.write(record)
    }

    package func connectionOpened(open: Int) { connections?.opened(open) }

    package func connectionClosed(open: Int) { connections?.closed(open) }

    package func connectionRefused(peer: PeerAddress) { connections?.refuse() }
}

/// What is counted of one listener's connections.
package final class ConnectionMetrics: Sendable {
    private let open: Meter
    private let accepted: Counter
    private let refused: Counter

    package init(registry: PrometheusRegistry, listener: String) {
        registry.describe("intertwine_http_connections", "Connections that are open.")
        registry.describe("intertwine_http_connections_accepted_total", "Connections that were accepted.")
        registry.describe("intertwine_http_connections_refused_total", "Connections that were refused because there were too many.")
        let dimensions = [("listener", listener)]
        open = Meter(label: "intertwine_http_connections", dimensions: dimensions, factory: registry)
        accepted = Counter(label: "intertwine_http_connections_accepted_total", dimensions: dimensions, factory: registry)
        refused = Counter(label: "intertwine_http_connections_refused_total", dimensions: dimensions, factory: registry)
    }

    func opened(_ open: Int) {
        accepted.increment()
        self.open.set(open)
    }

    func closed(_ open: Int) {
        self.open.set(open)
    }

    func refuse() {
        refused.increment()
    }
}
