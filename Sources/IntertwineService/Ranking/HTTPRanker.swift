internal import CoreMetrics
internal import Foundation
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineImages
internal import IntertwinePrimitives
internal import Logging
internal import ServiceLifecycle
internal import Synchronization

/// A ranker at a URL: `GET {url}?feed=&viewer=&limit=&cursor=` returns `{"items":[{"id":"event:1","reason":"…"}],"cursor":"…"}`.
struct HTTPRanker: FeedRanker {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private static let items = JSONPointer(member: "items")
    private static let cursor = JSONPointer(member: "cursor")
    private static let longestID = 1_024
    private static let longestReason = 500
    private static let longestCursor = 1_024
    private static let bodyLimit = 256 << 10

    let url: FetchURL
    private let client: RankerClient

    init(at url: FetchURL, through client: RankerClient) { (self.url, self.client) = (url, client) }

    func skeleton(
        of feed: String, for context: FeedContext, limit: Int, after cursor: String?, isPreview: Bool
    ) async throws -> FeedSkeleton {
        var fields = [("feed", feed), ("limit", String(limit))]
        if let viewer = context.viewer { fields.append(("viewer", viewer)) }
        if let cursor { fields.append(("cursor", cursor)) }
        if let language = context.language { fields.append(("locale", language.tag)) }
        for (name, values) in context.attributes.sorted(by: { $0.key < $1.key }) { fields += values.map { ("attribute.\(name)", $0) } }
        if isPreview { fields.append(("preview", "true")) }
        for (name, values) in context.filters.sorted(by: { $0.key < $1.key }) { fields += values.map { ("filter.\(name)", $0) } }
        let query = fields.map { "\($0)=\(Self.encoded($1))" }.joined(separator: "&")
        let separator = url.text.contains("?") ? "&" : "?"
        return try await client.perform(at: url, query: "\(separator)\(query)", bodyLimit: Self.bodyLimit) { body in
            try Self.skeleton(RemotePage(body, items: Self.items, cursor: Self.cursor))
        }
    }

    /// An error in one entry costs that entry, or its reason.
    private static func skeleton(_ page: RemotePage) throws -> FeedSkeleton {
        if let cursor = page.cursor, cursor.utf8.count > longestCursor {
            throw Failure(description: "its cursor is longer than \(longestCursor) bytes")
        }
        var (items, entries): ([FeedSkeleton.Item], Int) = ([], 0)
        try page.forEachItem { entry in
            entries += 1
            guard let entry, let id = try? entry.text("id", limit: longestID) else { return }
            let reason = (try? entry.optionalText("reason", limit: longestReason)) ?? nil
            let text = reason.map { String(decoding: $0, as: UTF8.self) }
            items.append(FeedSkeleton.Item(cell: String(decoding: id, as: UTF8.self), reason: text))
        }
        if items.isEmpty, entries > 0 { throw Failure(description: "none of its items has an id") }
        return FeedSkeleton(items, cursor: page.cursor)
    }

    private static func encoded(_ text: String) -> String {
        let plain = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }
}

final class RankerClient: ServiceLifecycle.Service, Sendable {
    private struct State {
        var transfers: [UInt16: CurlClient] = [:]
        var loop: EventLoop?
        var breaker = CircuitBreaker()
        var running = 0
        var (timeout, requests) = (Duration.milliseconds(300), 64)
        var isStopped = false
    }

    private let userAgent: String?
    private let logger: Logger
    private let state = Mutex(State())
    private let reports = ReportThrottle()
    private let (answered, failed, refused): (Counter, Counter, Counter)

    init(userAgent: String?, registry: PrometheusRegistry, logger: Logger) {
        (self.userAgent, self.logger) = (userAgent, logger)
        let name = "intertwine_ranker_requests_total"
        registry.describe(name, "Requests to the rankers of feeds, by outcome.")
        func counter(_ outcome: String) -> Counter { Counter(label: name, dimensions: [("outcome", outcome)], factory: registry) }
        (answered, failed, refused) = (counter("answered"), counter("failed"), counter("refused"))
    }

    func use(timeout: Duration, requests: Int) {
        state.withLock { ($0.timeout, $0.requests) = (timeout, requests) }
    }

    func run() async throws {
        try? await gracefulShutdown()
        let (transfers, loop) = state.withLock { state in
            state.isStopped = true
            defer { (state.transfers, state.loop) = ([:], nil) }
            return (state.transfers, state.loop)
        }
        for transfers in transfers.values { await transfers.shutDown() }
        loop?.stop()
    }

    func perform<Value>(
        at url: FetchURL, query: String, bodyLimit: Int, _ read: ([UInt8]) throws -> Value
    ) async throws -> Value {
        let host = "\(url.host):\(url.port)"
        // Before the request counts: what a viewer sends is no failure of the ranker.
        let target = try FetchURL(url.text + query)
        let (transfers, timeout): (CurlClient, Duration)
        do { (transfers, timeout) = try begin(url, host) } catch {
            refused.increment()
            throw error
        }
        var outcome: CircuitBreaker.Outcome?
        defer { end(host, outcome) }
        do {
            var request = FetchRequest(target, headers: [.accept: "application/json"])
            request.limits.total = timeout
            request.limits.bodyBytes = bodyLimit
            request.limits.redirects = 0
            request.acceptsCompression = true
            let (head, body) = try await transfers.get(request)
            guard head.status == 200 else {
                if (400..<500).contains(head.status) { outcome = .badResponse }
                throw HTTPRanker.Failure(description: "its status is \(head.status)")
            }
            let value = try read(body)
            outcome = .good
            answered.increment()
            return value
        } catch {
            try Task.checkCancellation()
            failed.increment()
            outcome = outcome ?? .unreachable
            report(host, "\(error)")
            throw error
        }
    }

    private func begin(_ url: FetchURL, _ host: String) throws -> (CurlClient, Duration) {
        try state.withLock { state in
            guard !state.isStopped else { throw HTTPRanker.Failure(description: "the service stops") }
            guard state.running < state.requests else { throw HTTPRanker.Failure(description: "too many requests are in progress") }
            if case .open = state.breaker.ask(host, now: .now()) { throw HTTPRanker.Failure(description: "it failed repeatedly") }
            state.running += 1
            if let transfers = state.transfers[url.port] { return (transfers, state.timeout) }
            let loop = try state.loop ?? EventLoop(label: "rankers")
            state.loop = loop
            // The operator has configured the URL, so its address may be private.
            let networks = ["0.0.0.0/0", "::/0"].compactMap(Network.init)
            let transfers = CurlClient(
                on: loop, policy: AddressPolicy(allowedNetworks: networks, allowedPorts: [url.port]), userAgent: userAgent)
            state.transfers[url.port] = transfers
            return (transfers, state.timeout)
        }
    }

    private func end(_ host: String, _ outcome: CircuitBreaker.Outcome?) {
        state.withLock { state in
            state.running -= 1
            state.breaker.record(host, outcome, now: .now())
        }
    }

    private func report(_ host: String, _ reason: String) {
        guard let repeated = reports.repetitions(of: host, now: MonotonicInstant.now().nanoseconds / 1_000_000) else { return }
        logger.warning(
            "a ranker failed; its feed is shown in another order",
            metadata: ["ranker": "\(host)", "reason": "\(reason)", "since-the-last-line": "\(repeated)"])
    }
}
