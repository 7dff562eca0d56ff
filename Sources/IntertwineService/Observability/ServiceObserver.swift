internal import CoreMetrics
internal import IntertwineHTTPServer

/// The observer of one listener, which updates metrics and writes the access log.
/// A class, because each request retains it: one reference count instead of one for each member.
final class ServiceObserver: HTTPServerObserver {
    private let log: AccessLog
    private let connections: (open: Meter, accepted: Counter, refused: Counter)?
    private let indexes: [String: Int]
    private let metrics: OnceArray<RouteMetrics>
    private let registry: PrometheusRegistry?
    private let onRefusal: @Sendable (RefusedRequest) -> Void

    init(
        listener: String, routes: [String], registry: PrometheusRegistry?, log: AccessLog,
        onRefusal: @escaping @Sendable (RefusedRequest) -> Void = { _ in }
    ) {
        let names = Set(routes).sorted()
        indexes = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0 + 2) })
        metrics = OnceArray(count: names.count + 2)
        (self.registry, self.log, self.onRefusal) = (registry, log, onRefusal)
        connections = registry.map { registry in
            RouteMetrics.describe(in: registry)
            registry.describe("intertwine_http_connections", "Open connections.")
            registry.describe("intertwine_http_connections_accepted_total", "Accepted connections.")
            registry.describe("intertwine_http_connections_refused_total", "Connections rejected because too many were open.")
            func counter(_ label: String) -> Counter { Counter(label: label, dimensions: [("listener", listener)], factory: registry) }
            return (
                Meter(label: "intertwine_http_connections", dimensions: [("listener", listener)], factory: registry),
                counter("intertwine_http_connections_accepted_total"), counter("intertwine_http_connections_refused_total")
            )
        }
    }

    var wantsTraces: Bool { log.isOn }

    func requestFinished(_ record: RequestRecord) {
        if let registry {
            let index = record.route.map { indexes[$0] ?? 1 } ?? 0
            metrics.value(at: index) { RouteMetrics(index == 1 ? "other" : record.route ?? "none", registry) }?.count(record)
        }
        log.write(record)
    }

    func requestRefused(_ refusal: RefusedRequest) { onRefusal(refusal) }

    func connectionOpened(open: Int) {
        connections?.accepted.increment()
        connections?.open.set(open)
    }

    func connectionClosed(open: Int) { connections?.open.set(open) }

    func connectionRefused(peer: PeerAddress) { connections?.refused.increment() }
}
