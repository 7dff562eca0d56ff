internal import CoreMetrics
internal import IntertwineHTTPServer
internal import Synchronization

final class RouteMetrics: Sendable {
    private static let total = "intertwine_http_requests_total"
    private static let duration = "intertwine_http_request_duration_seconds"
    private static let size = "intertwine_http_response_bytes_total"
    private static let methods: [RequestMethod?] = [.get, .head, .post, .put, .patch, .delete, .options, .connect, .trace, .other, nil]
    private static let statuses = [
        0, 200, 201, 202, 204, 206, 302, 303, 304, 400, 401, 403, 404, 405, 406, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422,
        428,
        429, 431, 499, 500, 501, 502, 503, 504, 505, 508,
    ]
    private static let indexes: [UInt8] = {
        var indexes = [UInt8](repeating: 0, count: 600)
        for (index, status) in statuses.enumerated() { indexes[status] = UInt8(index) }
        return indexes
    }()

    private let route: String
    private let registry: PrometheusRegistry
    private let durations: Timer
    private let bytes: Counter
    /// The counters by method and status, created at first use, because most are never used.
    private let requests = OnceArray<Counter>(count: methods.count * statuses.count)

    static func describe(in registry: PrometheusRegistry) {
        registry.describe(total, "Requests served, by route, method and status.")
        registry.describe(duration, "Time from the arrival of a request's head to the end of its response.")
        registry.describe(size, "Bytes of responses, heads included.")
    }

    init(_ route: String, _ registry: PrometheusRegistry) {
        self.route = route
        self.registry = registry
        durations = Timer(label: Self.duration, dimensions: [("route", route)], factory: registry)
        bytes = Counter(label: Self.size, dimensions: [("route", route)], factory: registry)
    }

    func count(_ record: RequestRecord) {
        let method = record.method.index
        let status = record.status >= 0 && record.status < Self.indexes.count ? Int(Self.indexes[record.status]) : 0
        let counter = requests.value(at: method * Self.statuses.count + status) {
            Counter(
                label: Self.total,
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
    fileprivate var index: Int {
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

/// An array of fixed size whose elements are created at first use.
/// `@unchecked Sendable`: the pointer never changes, and its memory contains atomics, each zero or the address of a retained value.
final class OnceArray<Value: AnyObject & Sendable>: @unchecked Sendable {
    private let indexes: UnsafeMutablePointer<Atomic<UInt>>
    private let count: Int

    init(count: Int) {
        self.count = count
        indexes = .allocate(capacity: count)
        for index in 0..<count { (indexes + index).initialize(to: Atomic(0)) }
    }

    deinit {
        for index in 0..<count { Self.reference(indexes[index].load(ordering: .acquiring))?.release() }
        indexes.deinitialize(count: count)
        indexes.deallocate()
    }

    func value(at index: Int, _ make: () -> Value) -> Value? {
        guard index >= 0, index < count else { return nil }
        if let known = Self.reference(indexes[index].load(ordering: .acquiring)) { return known.takeUnretainedValue() }
        let made = Unmanaged.passRetained(make())
        let (isFirst, winner) = indexes[index].compareExchange(
            expected: 0, desired: UInt(bitPattern: made.toOpaque()), ordering: .acquiringAndReleasing)
        guard !isFirst else { return made.takeUnretainedValue() }
        made.release()
        return Self.reference(winner)?.takeUnretainedValue()
    }

    private static func reference(_ bits: UInt) -> Unmanaged<Value>? {
        UnsafeRawPointer(bitPattern: bits).map { Unmanaged.fromOpaque($0) }
    }
}
