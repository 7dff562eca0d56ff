internal import CoreMetrics
internal import IntertwineHTTPServer

/// The metrics of one route.
final class RouteMetrics: Sendable {
    private static let methods: [RequestMethod?] = [.get, .head, .post, .put, .patch, .delete, .options, .connect, .trace, .other, nil]
    private static let statuses = [
        0, 200, 201, 202, 204, 206, 302, 303, 304, 400, 401, 403, 404, 405, 406, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 422, 428,
        429, 431, 499, 500, 501, 502, 503, 504, 505, 508,
    ]
    /// The place of each status below 600 in ``statuses``; that of 0 where it is not there.
    private static let places: [UInt8] = {
        var places = [UInt8](repeating: 0, count: 600)
        for (place, status) in statuses.enumerated() { places[status] = UInt8(place) }
        return places
    }()

    private let route: String
    private let registry: PrometheusRegistry
    private let durations: Timer
    private let bytes: Counter
    /// By method and status; made when first needed, as most never are.
    private let requests = LazyTable<Counter>(count: methods.count * statuses.count)

    init(_ route: String, _ registry: PrometheusRegistry) {
        self.route = route
        self.registry = registry
        durations = Timer(label: RequestMetrics.durations, dimensions: [("route", route)], factory: registry)
        bytes = Counter(label: RequestMetrics.bytes, dimensions: [("route", route)], factory: registry)
    }

    func count(_ record: RequestRecord) {
        let method = record.method.place
        let status = record.status >= 0 && record.status < Self.places.count ? Int(Self.places[record.status]) : 0
        let counter = requests.value(at: method * Self.statuses.count + status) {
            Counter(
                label: RequestMetrics.requests,
                dimensions: [
                    ("route", route), ("method", record.method.label), ("status", status == 0 ? "other" : String(Self.statuses[status])),
                ], factory: registry)
        }
        counter?.increment()
        durations.recordNanoseconds(record.nanoseconds)
        bytes.increment(by: record.bytes)
    }
}

extension RequestMethod? {
    fileprivate var place: Int {
        switch self {
        case .get: 0
        case .head: 1
        case .post: 2
        case .put: 3
        case .patch: 4
        case .delete: 5
        case .options: 6
        case .connect: 7
        case .trace: 8
        case .other: 9
        case nil: 10
        }
    }

    /// `other` is the client's word, `none` no word at all.
    var label: String {
        switch self {
        case .get: "GET"
        case .head: "HEAD"
        case .post: "POST"
        case .put: "PUT"
        case .patch: "PATCH"
        case .delete: "DELETE"
        case .options: "OPTIONS"
        case .connect: "CONNECT"
        case .trace: "TRACE"
        case .other: "other"
        case nil: "none"
        }
    }
}
