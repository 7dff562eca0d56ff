internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import IntertwineRouting
internal import Logging
internal import ServiceLifecycle
internal import Synchronization

/// Keeps lists in step by server-sent events: whoever holds the same pages is one group, for which is found out once what became of them.
///
/// One task looks at the store's version ten times a second, and makes the changes of one group after another, whenever there are new ones:
/// that bounds what listeners cost, however many there are and however often something is written. Between two changes a listener costs its
/// connection, its ``EventStream`` and a place in its group.
final class LiveFeeds: ServiceLifecycle.Service, Sendable {
    /// What the members of a group have in common.
    struct Key: Hashable, Sendable {
        /// Of the feed or section.
        var path: String
        var viewer: String?
        var lacking: UnsupportedCells?
        var client: String?
        /// What campaigns may ask, without a moment.
        var facts: TargetingContext?
        var language: FeedLanguage?
        /// `page.since` of the pages that are held, with commas in between; the id of the last event.
        var since: String
    }

    fileprivate struct Subscription {
        var streams: [EventStream] = []
        /// Whether it has to be found out what became of its pages, whatever the store says.
        var isNew = true
    }

    fileprivate struct State {
        var groups: [Key: Subscription] = [:]
        /// Viewers who did something with cells.
        var active: Set<String> = []
        var count = 0
        var isStopping = false
    }

    private static let tick = Duration.milliseconds(100)
    private static let heartbeat: [UInt8] = Array(":\n\n".utf8)
    private static let heartbeatTicks = 150

    private let limit: Int
    private let store: any FeedStore
    private let clock: @Sendable () -> Int64
    private let logger: Logger
    private let ledger: any Ledger
    /// Those in force, by the path that they are served at.
    private let feeds = Mutex<[String: FeedAssembler]>([:])
    private let state = Mutex(State())
    private let sent = Atomic(0)

    /// - Parameter limit: how many listeners there may be.
    init(limit: Int, store: any FeedStore, ledger: any Ledger, clock: @escaping @Sendable () -> Int64, logger: Logger) {
        (self.limit, self.store, self.ledger, self.clock, self.logger) = (limit, store, ledger, clock, logger)
    }

    /// Puts feeds in force.
    func serve(_ catalogue: FeedCatalogue) {
        let feeds = Dictionary(catalogue.paths.map { ($0.path, $0.feed) }) { first, _ in first }
        self.feeds.withLock { $0 = feeds }
    }

    private func feed(_ path: String) -> FeedAssembler? { feeds.withLock { $0[path] } }

    /// Listeners that are there, as far as is known, and events that were sent to one of them.
    var contents: (listeners: Int, events: Int) { (state.withLock { $0.count }, sent.load(ordering: .relaxed)) }

    /// The answer to one who wants to be told what becomes of pages.
    ///
    /// - Throws: ``Problem`` (503) where there are as many as there may be: polling goes on working.
    func listen(_ key: Key) throws(Problem) -> ServerResponse {
        let isFull = state.withLock { state in
            if state.count >= limit { state.forgetGone() }
            return state.count >= limit || state.isStopping
        }
        guard !isFull else {
            throw Problem(
                .serviceUnavailable, nil, "There are too many listeners. Ask for the changes now and then instead.",
                fields: [.retryAfter: "30"])
        }
        // Each waits for another while: they must not all come back at one moment when the service has stopped.
        let preamble = Array("retry: \(Int.random(in: 1_000...5_000))\n\n".utf8)
        var fields: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
        // nginx would keep back what comes until there is much of it.
        fields[.xAccelBuffering] = "no"
        fields[.contentLanguage] = key.language?.tag
        var response = ServerResponse(status: .ok, fields: fields) { [self] stream in
            // Others may have come in since.
            let isIn = state.withLock { state in
                guard state.count < limit, !state.isStopping else { return false }
                state.groups[key, default: Subscription()].streams.append(stream)
                state.count += 1
                return true
            }
            EventStream.send(preamble, to: [stream], ending: !isIn)
        }
        response.isCompressible = true
        return response
    }

    /// A viewer did something with a cell in this process: what others do is seen with the next change of the store.
    func viewerDidChange(_ viewer: String?) {
        guard let viewer else { return }
        state.withLock { state in
            if state.count > 0 { state.active.insert(viewer) }
        }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            var version = store.version
            var main: FeedAssembler?
            var ticks = 0
            while !Task.isCancelled {
                do { try await Task.sleep(for: Self.tick) } catch { break }
                ticks += 1
                let isIdle = state.withLock { $0.groups.isEmpty }
                if isIdle { continue }
                if ticks % 10 == 0 { sendHeartbeat(ticks / 10 % (Self.heartbeatTicks / 10)) }
                let (current, served) = (store.version, feed("/feed"))
                let isChanged = current != version || served !== main
                (version, main) = (current, served)
                await notify(all: isChanged)
            }
        }
        state.withLock { $0.isStopping = true }
    }

    // MARK: Events

    /// Finds out what became of the pages of some groups, and tells it.
    private func notify(all: Bool) async {
        let keys = state.withLock { state in
            defer { state.active = [] }
            return state.groups.filter { key, group in
                all || group.isNew || key.viewer.map(state.active.contains) ?? false
            }.map(\.key)
        }
        for key in keys where !Task.isCancelled { await notify(key) }
    }

    private func notify(_ key: Key) async {
        let changes: FeedChanges
        do {
            guard let feed = feed(key.path) else { return reload(key) }
            let held = key.since.split(separator: ",", omittingEmptySubsequences: false)
            var request = FeedRequest(of: key.viewer, in: ledger, now: clock())
            (request.lacking, request.client, request.language) = (key.lacking, key.client, key.language)
            request.campaigns = key.facts
            changes = try await feed.changes(since: held, request)
        } catch {
            // To be tried again.
            state.withLock { $0.groups[key]?.isNew = true }
            logger.debug("listeners could not be told", metadata: ["error": "\(error)"])
            return
        }
        guard case .changed(let pages) = changes, let since = pages.since else { return reload(key) }
        guard since != key.since || pages.changes.count > 0 else {
            state.withLock { $0.groups[key]?.isNew = false }
            return
        }
        let streams = state.withLock { state in
            var group = state.groups.removeValue(forKey: key) ?? Subscription()
            let told = group.streams
            var next = key
            next.since = since
            group.isNew = false
            if var other = state.groups[next] {
                other.streams += group.streams
                state.groups[next] = other
            } else {
                state.groups[next] = group
            }
            return told
        }
        send("changes", id: since, changes.json(), to: streams)
    }

    /// The pages do not belong together any more, or there is no feed: the list is to be taken anew, and listened to anew.
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

    /// A part of the listeners hears something, so that what stands in between does not take the connection for dead, and one that is gone is
    /// found out.
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
        for (key, group) in groups {
            let open = group.streams.filter(\.isOpen)
            guard open.count != group.streams.count else { continue }
            count -= group.streams.count - open.count
            if open.isEmpty { groups[key] = nil } else { groups[key]?.streams = open }
        }
    }
}
