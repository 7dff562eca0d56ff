internal import IntertwineHTTPServer

/// What is counted of each request: how many by route, method and status, how long they took and how many bytes they were by route.
///
/// On the event loops, for each request: one look-up by route and four additions. Labels come from fixed sets: the routes there are, the
/// methods the server tells apart, the statuses it knows.
final class RequestMetrics: Sendable {
    static let requests = "intertwine_http_requests_total"
    static let durations = "intertwine_http_request_duration_seconds"
    static let bytes = "intertwine_http_response_bytes_total"

    /// Stands for no route: an unknown path, or bytes that are no request.
    private static let none = "none"
    /// Stands for a route that nobody announced.
    private static let other = "other"

    private let registry: PrometheusRegistry
    private let places: [String: Int]
    /// Made when first needed: a route that nobody asks for has no series.
    private let metrics: LazyTable<RouteMetrics>

    /// - Parameter routes: the patterns of all routes.
    init(registry: PrometheusRegistry, routes: [String]) {
        registry.describe(Self.requests, "Requests answered, by route, method and status.")
        registry.describe(Self.durations, "Time from the end of a request's head to the end of its answer.")
        registry.describe(Self.bytes, "Bytes of answers, heads included.")
        self.registry = registry
        let names = Set(routes).sorted()
        places = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0 + 2) })
        metrics = LazyTable(count: names.count + 2)
    }

    func count(_ record: RequestRecord) {
        let place = record.route.map { places[$0] ?? 1 } ?? 0
        let route = metrics.value(at: place) {
            RouteMetrics(place == 0 ? Self.none : place == 1 ? Self.other : record.route ?? Self.none, registry)
        }
        route?.count(record)
    }
}
