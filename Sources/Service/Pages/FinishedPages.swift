internal import DequeModule
internal import Feed
internal import HTTPServer
internal import Synchronization

/// Pages as finished bytes, for one state of the store.
///
/// Looked up on the event loops, by the bytes of the request's target: a hit allocates nothing, asks neither database nor encoder. When
/// the store changes, all pages are stale at once; when there is no room, those go first that nobody asked for since the last round.
final class FinishedPages: Sendable {
    struct Key: Hashable, Sendable {
        /// The path of its feed.
        var feed: String
        var cursor: ExactText?
        var limit: Int
        var layout: CellLayout
        var width: Int?
        var followsChanges: Bool

        init(_ request: FeedRequest, of feed: String) {
            self.feed = feed
            cursor = request.cursor.map { ExactText($0) }
            limit = request.limit
            layout = request.layout
            width = request.width
            followsChanges = request.followsChanges
        }
    }

    /// A page, with a gzip coding once someone has wanted one.
    struct Page: Sendable {
        fileprivate(set) var target: [UInt8]
        /// The page as it is; nil where ``negotiable`` has it too.
        private var identity: Coding?
        /// The page in either coding.
        private var negotiable: Coding?
        fileprivate var isWanted = false

        /// Each coding is made in a moment of its own, and ends with that moment's hour.
        private struct Coding {
            var canned: CannedResponse
            /// Milliseconds since 1970-01-01 UTC.
            var validUntil: Int64

            /// One that is good for longer than a page that is made now was made by a clock that was ahead: its links would not count.
            func isGood(at now: Int64) -> Bool { now < validUntil && validUntil <= CellTokens.endOfBucket(of: now) }
        }

        fileprivate init(target: [UInt8]) {
            self.target = target
        }

        /// The answer to whoever accepts gzip, or to whoever does not; nil where it is not made, or made in an hour that is over.
        func canned(gzip: Bool, now: Int64) -> CannedResponse? {
            if !gzip, let identity, identity.isGood(at: now) { return identity.canned }
            guard let negotiable, negotiable.isGood(at: now) else { return nil }
            return negotiable.canned
        }

        fileprivate mutating func keep(_ canned: CannedResponse, hasGzip: Bool, until validUntil: Int64) {
            let coding = Coding(canned: canned, validUntil: validUntil)
            if hasGzip { (identity, negotiable) = (nil, coding) } else { identity = coding }
        }

        fileprivate var size: Int {
            // What an entry costs besides its bodies: heads, keys, tables.
            2_048 + target.count + (identity?.canned.size ?? 0) + (negotiable?.canned.size ?? 0)
        }
    }

    fileprivate struct State {
        var version: StoreVersion?
        var pages: [Key: Page] = [:]
        /// By the hash of the target. Two targets with one hash take turns; the loser is made anew.
        var keys: [UInt64: Key] = [:]
        /// In the order in which room is made.
        var order: Deque<Key> = []
        var size = 0
    }

    private let capacity: Int
    private let metrics: PageMetrics
    private let state = Mutex(State())

    /// - Parameter capacity: bytes; 0 keeps nothing.
    init(capacity: Int, metrics: PageMetrics) {
        self.capacity = capacity
        self.metrics = metrics
    }

    /// Pages that are kept, and their bytes.
    var contents: (pages: Int, bytes: Int) {
        state.withLock { ($0.pages.count, $0.size) }
    }
}

extension FinishedPages {
    /// The finished answer to a request, if there is one. On an event loop: takes a lock for a table look-up, and nothing else.
    func canned(for head: borrowing RequestHead, version: StoreVersion, now: Int64) -> CannedResponse? {
        let hash = head.targetHash
        let wantsGzip = head.hasField("accept-encoding")
        guard let page = state.withLock({ $0.page(hash: hash, version: version) }), head.hasTarget(page.target),
            let canned = page.canned(gzip: wantsGzip, now: now)
        else { return nil }
        metrics.hit()
        return canned
    }

    /// A page that was kept under another spelling of its target, or lacks a coding. From now on it is found under this spelling: one that
    /// was asked for once must not keep the usual one off the short way.
    func page(_ key: Key, target: String, version: StoreVersion) -> Page? {
        state.withLock { state in
            guard state.version == version, state.pages[key] != nil else { return nil }
            state.spell(key, target)
            return state.pages[key]
        }
    }

    /// - Parameter validUntil: milliseconds since 1970-01-01 UTC; of this coding alone.
    func keep(_ canned: CannedResponse, hasGzip: Bool, as key: Key, target: String, version: StoreVersion, validUntil: Int64) {
        guard capacity > 0 else { return }
        state.withLock { state in
            if state.version != version { state = State(version: version) }
            var page = state.pages[key] ?? Page(target: Array(target.utf8))
            if let old = state.pages[key] { state.size -= old.size } else { state.order.append(key) }
            page.keep(canned, hasGzip: hasGzip, until: validUntil)
            state.pages[key] = page
            state.size += page.size
            state.keys[RequestHead.hash(ofTarget: page.target)] = key
            state.spell(key, target)
            state.makeRoom(capacity)
        }
    }
}

extension FinishedPages.State {
    fileprivate mutating func page(hash: UInt64, version: StoreVersion) -> FinishedPages.Page? {
        guard self.version == version, let key = keys[hash], let page = pages[key] else { return nil }
        if !page.isWanted { pages[key]?.isWanted = true }
        return page
    }

    /// Has a page found under another target.
    fileprivate mutating func spell(_ key: FinishedPages.Key, _ target: String) {
        guard let old = pages[key]?.target, !old.elementsEqual(target.utf8) else { return }
        let hash = RequestHead.hash(ofTarget: old)
        if keys[hash] == key { keys[hash] = nil }
        pages[key]?.target = Array(target.utf8)
        keys[RequestHead.hash(ofTarget: Array(target.utf8))] = key
        size += target.utf8.count - old.count
    }

    /// Second chance: what was asked for since the last round goes to the end of the line once.
    fileprivate mutating func makeRoom(_ capacity: Int) {
        while size > capacity, let key = order.popFirst() {
            guard let page = pages[key] else { continue }
            if page.isWanted {
                pages[key]?.isWanted = false
                order.append(key)
            } else {
                pages[key] = nil
                keys[RequestHead.hash(ofTarget: page.target)] = nil
                size -= page.size
            }
        }
    }
}
