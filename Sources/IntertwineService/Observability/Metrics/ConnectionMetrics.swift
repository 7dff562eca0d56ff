internal import CoreMetrics

/// What is counted of one listener's connections.
final class ConnectionMetrics: Sendable {
    private let open: Meter
    private let accepted: Counter
    private let refused: Counter

    init(registry: PrometheusRegistry, listener: String) {
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
