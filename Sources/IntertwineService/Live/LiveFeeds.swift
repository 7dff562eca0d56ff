internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import Logging
internal import ServiceLifecycle
internal import Synchronization

/// Server-sent events that keep lists up to date: clients with equal pages form one group, and changes are computed once per group.
/// Groups of feeds with items of a data source have tasks of their own, since these may be slow. Why: the cost of event streams stays
/// bounded, independent of the number of subscribers and of writes. Between two changes, a subscriber costs its connection, its
/// ``EventStream`` and an entry in its group.
final class LiveFeeds: ServiceLifecycle.Service, Sendable {
    struct Key: Hashable, Sendable {
        var path: String
        var viewer: ByteString?
        var unsupportedCells: UnsupportedCells?
        var client: String?
        var targeting: TargetingContext?
        var attributes: ViewerAttributes?
        var language: FeedLanguage?
        var syncTokens: String
    }

    fileprivate struct Subscription {
        var streams: [EventStream] = []
        var known: (feed: FeedAssembler, version: FeedVersion)?
        /// A Boolean value indicating whether the changes must be computed even if the feed's version is unchanged.
        var isDirty = false
        var isBusy = false
        var network: Int?
        var round = 0

        mutating func add(_ added: [EventStream], from other: Int?) {
            network = streams.isEmpty || network == other ? other : nil
            streams += added
        }

        /// Returns true if the changes must be computed.
        func isOutdated(by current: (feed: FeedAssembler, version: FeedVersion)?) -> Bool {
            guard !isDirty, let current, let known else { return true }
            return known.feed !== current.feed || known.version != current.version
        }
    }

    fileprivate struct State {
        var groups: [Key: Subscription] = [:]
        var active: Set<ByteString> = []
        /// The streams whose tokens expire, with the time in milliseconds since 1970-01-01 UTC.
        var expiring: [(end: Int64, revocation: Revocation?, stream: EventStream)] = []
        var count = 0
        var round = 0
        var isStopping = false
    }

    private static let tick = Duration.milliseconds(100)
    private static let heartbeat: [UInt8] = Array(":\n\n".utf8)
    private static let heartbeatTicks = 150
    private static let concurrentGroups = 8
    private static let groupsPerNetwork = 32

    private static let activeLimit = 65_536

    private let limit: Int
    private let store: any FeedStore
    private let clock: @Sendable () -> Int64
    private let logger: Logger
    private let ledger: any Ledger
    private let feeds = Mutex<[String: FeedAssembler]>([:])
    private let state = Mutex(State())
    private let sent = Atomic(0)

    init(limit: Int, store: any FeedStore, ledger: any Ledger, clock: @escaping @Sendable () -> Int64, logger: Logger) {
        (self.limit, self.store, self.ledger, self.clock, self.logger) = (limit, store, ledger, clock, logger)
    }

    func serve(_ catalogue: FeedCatalogue) {
        let feeds = Dictionary(catalogue.paths.map { ($0.path, $0.feed) }) { first, _ in first }
        self.feeds.withLock { $0 = feeds }
    }

    private func feed(_ path: String) -> FeedAssembler? { feeds.withLock { $0[path] } }

    var contents: (listeners: Int, events: Int) { (state.withLock { $0.count }, sent.load(ordering: .relaxed)) }

    /// `end`: The time at which the stream ends because the client's token expires, in milliseconds since 1970-01-01 UTC.
    func listen(
        _ key: Key, from network: Int, until end: Int64? = nil, _ revocation: Revocation? = nil
    ) throws(Problem) -> ServerResponse {
        let isFull = state.withLock { state in
            if state.count >= limit { state.forgetGone() }
            return state.count >= limit || state.isStopping
        }
        guard !isFull else {
            throw Problem(
                .serviceUnavailable, nil, "Too many clients are subscribed. Poll for changes instead.",
                fields: [.retryAfter: "30"])
        }
        // The retry delay is random, so that clients do not reconnect at one moment after the service has stopped.
        let preamble = Array("retry: \(Int.random(in: 1_000...5_000))\n\n".utf8)
        var fields: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
        // nginx buffers the response otherwise.
        fields[.xAccelBuffering] = "no"
        fields[.contentLanguage] = key.language?.tag
        var response = ServerResponse(status: .ok, fields: fields) { [self] stream in
            // Other subscribers may have been added since the first check.
            let isIn = state.withLock { state in
                if state.count >= limit { state.forgetGone() }
                guard state.count < limit, !state.isStopping else { return false }
                state.groups[key, default: Subscription()].add([stream], from: network)
                if let end { state.expiring.append((end, revocation, stream)) }
                state.count += 1
                return true
            }
            EventStream.send(preamble, to: [stream], ending: !isIn)
        }
        response.isCompressible = true
        return response
    }

    func viewerDidChange(_ viewer: String?) {
        guard let viewer else { return }
        state.withLock { state in
            guard state.count > 0 else { return }
            state.active.insert(ByteString(viewer))
            guard state.active.count >= Self.activeLimit else { return }
            state.active = []
            for key in state.groups.keys where key.viewer != nil { state.groups[key]?.isDirty = true }
        }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            await withDiscardingTaskGroup { slow in
                var ticks = 0
                while !Task.isCancelled {
                    do { try await Task.sleep(for: Self.tick) } catch { break }
                    ticks += 1
                    let isIdle = state.withLock { $0.groups.isEmpty && $0.expiring.isEmpty }
                    if isIdle { continue }
                    if ticks % 10 == 0 {
                        endExpired(at: clock())
                        sendHeartbeat(ticks / 10 % (Self.heartbeatTicks / 10))
                    }
                    await notify(&slow)
                }
                slow.cancelAll()
            }
        }
        state.withLock { $0.isStopping = true }
    }

    // MARK: Events

    private func notify(_ slow: inout DiscardingTaskGroup) async {
        let current = feeds.withLock { $0 }.mapValues { (feed: $0, version: $0.version) }
        let keys = state.withLock { state in
            for key in state.groups.keys where key.viewer.map(state.active.contains) ?? false { state.groups[key]?.isDirty = true }
            state.active = []
            // Subscribers of a feed with items of a data source leave the bound of these sources to its pages.
            var busy: [String: Int] = [:]
            for (key, group) in state.groups where group.isBusy { busy[key.path, default: 0] += 1 }
            let outdated = state.groups.filter { key, group in !group.isBusy && group.isOutdated(by: current[key.path]) }
            let keys = Self.due(
                outdated.map { (key: $0, size: $1.streams.count, network: $1.network, round: $1.round) }
            ).filter { key in
                guard current[key.path]?.feed.mayWait == true else { return true }
                busy[key.path, default: 0] += 1
                return busy[key.path, default: 0] <= Self.concurrentGroups
            }
            state.round += 1
            for key in keys {
                state.groups[key]?.round = state.round
                state.groups[key]?.isBusy = true
                state.groups[key]?.isDirty = false
            }
            return keys
        }
        for key in keys where !Task.isCancelled {
            if current[key.path]?.feed.mayWait == true {
                slow.addTask { [self] in await notify(key) }
            } else {
                await notify(key)
            }
        }
    }

    /// Why: a client can make a group of each of its connections, for example by `width`. These delay neither the large groups nor other
    /// clients.
    static func due<Key>(_ groups: [(key: Key, size: Int, network: Int?, round: Int)]) -> [Key] {
        var counts: [Int: Int] = [:]
        return groups.sorted { ($1.size, $0.round) < ($0.size, $1.round) }.filter { group in
            guard let network = group.network else { return true }
            counts[network, default: 0] += 1
            return counts[network, default: 0] <= groupsPerNetwork
        }.map(\.key)
    }

    private func notify(_ key: Key) async {
        let changes: FeedChanges
        guard let feed = feed(key.path) else { return reload(key) }
        let known = (feed: feed, version: feed.version)
        do {
            let held = key.syncTokens.split(separator: ",", omittingEmptySubsequences: false)
            let now = clock()
            var request = FeedRequest(now: now, rotationHour: CellTokens.bucket(of: now))
            (request.unsupportedCells, request.client, request.language) = (key.unsupportedCells, key.client, key.language)
            let client = PageClient(key.viewer?.text, in: ledger, targeting: key.targeting, attributes: key.attributes)
            changes = try await feed.changes(since: held, request, for: client)
        } catch {
            // The next tick retries it.
            state.withLock { state in
                state.groups[key]?.isBusy = false
                state.groups[key]?.isDirty = true
            }
            logger.debug("live updates could not be sent", metadata: ["error": "\(error)"])
            return
        }
        guard case .changed(let pages) = changes, let syncTokens = pages.syncTokens else { return reload(key) }
        guard syncTokens != key.syncTokens || pages.changes.count > 0 else {
            state.withLock { state in
                state.groups[key]?.known = known
                state.groups[key]?.isBusy = false
            }
            return
        }
        let streams = state.withLock { state in
            // All subscribers may have gone during the call.
            guard var group = state.groups.removeValue(forKey: key) else { return [EventStream]() }
            let notified = group.streams
            var next = key
            next.syncTokens = syncTokens
            (group.known, group.isBusy) = (known, false)
            if state.groups[next] == nil { state.groups[next] = group } else { state.groups[next]?.add(notified, from: group.network) }
            return notified
        }
        send("changes", id: syncTokens, changes.json(), to: streams)
    }

    /// Tells the subscribers to reload the list and to subscribe again, because its pages are no longer consistent or the feed is gone.
    private func reload(_ key: Key) {
        let streams = state.withLock { state in
            let streams = state.groups.removeValue(forKey: key)?.streams ?? []
            state.count -= streams.count
            return streams
        }
        send("reload", id: nil, FeedChanges.reload.json(), to: streams, ending: true)
    }

    private func send(_ event: String, id: String?, _ data: [UInt8], to streams: [EventStream], ending: Bool = false) {
        let id = id.map { "id: \($0)\n" } ?? ""
        sent.add(streams.count, ordering: .relaxed)
        EventStream.send(Array("\(id)event: \(event)\ndata: ".utf8) + data + Array("\n\n".utf8), to: streams, ending: ending)
    }

    // MARK: Heartbeat

    private func endExpired(at now: Int64) {
        let expired = state.withLock { state in
            let count = state.expiring.partition { $0.end <= now || $0.revocation?.isEffective ?? false }
            let expired = state.expiring[count...].map(\.stream)
            state.expiring.removeSubrange(count...)
            return expired
        }
        if !expired.isEmpty { EventStream.send(Self.heartbeat, to: expired, ending: true) }
    }

    /// Sends a heartbeat to one part of the subscribers. Why: proxies do not close the connection as idle, and closed connections are detected.
    private func sendHeartbeat(_ part: Int) {
        let parts = Self.heartbeatTicks / 10
        let streams = state.withLock { state in
            if part == 0 { state.forgetGone() }
            return state.groups.flatMap { group in
                group.value.streams.enumerated().filter { ($0.offset + group.key.hashValue & 0xFFFF) % parts == part }.map(\.element)
            }
        }
        EventStream.send(Self.heartbeat, to: streams)
    }
}

extension LiveFeeds.State {
    fileprivate mutating func forgetGone() {
        expiring.removeAll { !$0.stream.isOpen }
        for (key, group) in groups {
            let open = group.streams.filter(\.isOpen)
            guard open.count != group.streams.count else { continue }
            count -= group.streams.count - open.count
            if open.isEmpty { groups[key] = nil } else { groups[key]?.streams = open }
        }
    }
}
