internal import DequeModule
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineObservability
internal import Synchronization

/// Pages as finished bytes, for one state of the store.
///
/// Looked up on the event loops, by the bytes of the request's target: a hit allocates nothing, asks neither database nor encoder. When
/// the store changes, all pages are stale at once, but for those of which the store knows that nothing on them has changed, and served for as long
/// as configuration permits; when there is no room, those go first that nobody asked for since the last round.
final class FinishedPages: Sendable {
    struct Key: Hashable, Sendable {
        /// The path of its feed.
        var feed: String
        var cursor: ExactText?
        var limit: Int
        var layout: CellLayout
        var width: Int?
        var scale: Int
        var followsChanges: Bool
        /// ``LackingCells/digest``; 0 where the client knows all cells.
        var lacking: UInt64
        var client: String?
        /// ``FeedLanguage/number``; 0 where there are none.
        var language: UInt8

        init(_ request: FeedRequest, of feed: String) {
            self.feed = feed
            cursor = request.cursor.map { ExactText($0) }
            limit = request.limit
            layout = request.layout
            width = request.width
            scale = request.scale
            followsChanges = request.followsChanges
            (lacking, client) = (request.lacking?.digest ?? 0, request.client)
            language = request.language?.number ?? 0
        }
    }

    /// The page after one that was made ahead: told once, to the first who takes that one. A class: pages are looked up by copying them.
    final class Following: Sendable {
        let wish: SharedPages.Wish

        init(_ wish: SharedPages.Wish) {
            self.wish = wish
        }
    }

    /// A page, with a gzip coding once someone has wanted one.
    struct Page: Sendable {
        fileprivate(set) var target: [UInt8]
        /// The store's, and when the page was made, in milliseconds since 1970-01-01 UTC: of the older coding.
        fileprivate var version: StoreVersion
        fileprivate let made: Int64
        private let extent: PageExtent?
        fileprivate(set) var following: Following?
        /// The page as it is; nil where ``negotiable`` has it too.
        private var identity: Coding?
        /// The page in either coding.
        private var negotiable: Coding?
        fileprivate var isWanted = false

        /// Each coding is made in a moment of its own, and ends with that moment's hour.
        private struct Coding {
            var finished: FinishedResponse
            /// Milliseconds since 1970-01-01 UTC.
            var validUntil: Int64

            /// One that is good for longer than a page that is made now was made by a clock that was ahead: its links would not count.
            func isGood(at now: Int64) -> Bool { now < validUntil && validUntil <= CellTokens.endOfBucket(of: now) }
        }

        fileprivate init(target: [UInt8], version: StoreVersion, made: Int64, following: Following?, extent: PageExtent?) {
            (self.target, self.version, self.made, self.following, self.extent) = (target, version, made, following, extent)
        }

        /// Whether it is the page of that state of the store. It was made of another one, if nothing on it has changed since.
        fileprivate mutating func isPage(of current: StoreVersion, _ isUntouched: IsUntouched) -> Bool {
            if version == current { return true }
            guard let extent, isUntouched(extent, version, current) else { return false }
            version = current
            return true
        }

        /// Whether it can be served although something was written since.
        fileprivate func isRecent(_ now: Int64, _ stale: Int64, since horizon: Int64) -> Bool {
            // A clock that was set back says nothing about age.
            stale > 0 && made > horizon && made <= now && now.subtractingReportingOverflow(made).partialValue < stale
        }

        /// The answer to whoever accepts gzip, or to whoever does not; nil where it is not made, or made in an hour that is over.
        func finished(gzip: Bool, now: Int64) -> FinishedResponse? {
            if !gzip, let identity, identity.isGood(at: now) { return identity.finished }
            guard let negotiable, negotiable.isGood(at: now) else { return nil }
            return negotiable.finished
        }

        fileprivate mutating func keep(_ finished: FinishedResponse, hasGzip: Bool, until validUntil: Int64) {
            let coding = Coding(finished: finished, validUntil: validUntil)
            if hasGzip { (identity, negotiable) = (nil, coding) } else { identity = coding }
        }

        fileprivate var size: Int {
            // What an entry costs besides its bodies: heads, keys, tables.
            2_048 + target.count + (identity?.finished.size ?? 0) + (negotiable?.finished.size ?? 0)
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
        /// Pages that were made until then are served of their own version of the store alone.
        var horizon = Int64.min
        /// What was known of the pictures on them, as `PictureMemory.revision` counts.
        var revision: UInt64 = 0
    }

    private let capacity: Int
    /// Milliseconds.
    private let stale: Int64
    private let isUntouched: IsUntouched
    private let metrics: PageMetrics
    private let pictures: (any PictureMemory)?
    private let state = Mutex(State())

    /// ``FeedStore/isUntouched(_:from:to:)``
    typealias IsUntouched = @Sendable (PageExtent, StoreVersion, StoreVersion) -> Bool

    /// - Parameters:
    ///   - capacity: bytes; 0 keeps nothing.
    ///   - stale: milliseconds after it was made for which a page is served although something was written since.
    ///   - isUntouched: what the store knows of changes.
    ///   - pictures: what is known of pictures. Where one turns out to be another than pages tell, no page is served any more.
    init(
        capacity: Int, stale: Int64 = 0, metrics: PageMetrics, isUntouched: @escaping IsUntouched = { $1 == $2 },
        pictures: (any PictureMemory)? = nil
    ) {
        (self.capacity, self.stale, self.metrics, self.isUntouched) = (capacity, stale, metrics, isUntouched)
        self.pictures = pictures
    }

    /// What is known of pictures. Whoever makes a page asks for it before, and says it with the page.
    var revision: UInt64 { pictures?.revision ?? 0 }

    var keepsAny: Bool { capacity > 0 }

    /// Whether there is a page of this state of the store.
    func has(_ key: Key, version: StoreVersion) -> Bool {
        state.withLock { $0.revision == revision && $0.pages[key]?.isPage(of: version, isUntouched) ?? false }
    }

    /// Has no page served any more that was made before something was written, however recent it is.
    ///
    /// - Parameter now: milliseconds since 1970-01-01 UTC.
    func forget(now: Int64) {
        state.withLock { $0.horizon = now }
    }

    /// Pages that are kept, and their bytes.
    var contents: (pages: Int, bytes: Int) {
        state.withLock { ($0.pages.count, $0.size) }
    }
}

extension FinishedPages {
    /// The finished answer to a request, if there is one. On an event loop: takes a lock for a table look-up, and nothing else.
    ///
    /// - Parameters:
    ///   - language: the one that texts are wanted in.
    ///   - walked: called where it is time to make the page after it.
    func finished(
        for head: borrowing RequestHead, in language: FeedLanguage?, version: StoreVersion, now: Int64,
        walked: (SharedPages.Wish) -> Void
    ) -> FinishedResponse? {
        let end = Self.ending(language)
        let hash = RequestHead.hash(ofTarget: end, after: head.targetHash)
        let wantsGzip = head.hasField("accept-encoding")
        guard let page = state.withLock({ $0.page(hash: hash, version: version, revision, isUntouched, now: now, stale: stale) }),
            head.hasTarget(page.target, before: end), let finished = page.finished(gzip: wantsGzip, now: now)
        else { return nil }
        count(page, version)
        if let following = page.following { walked(following.wish) }
        return finished
    }

    /// What stands behind the target of a page by which it is found: no target has a blank in it.
    static func ending(_ language: FeedLanguage?) -> [UInt8] { language.map { Array(" \($0.tag)".utf8) } ?? [] }

    /// A page that was kept under another spelling of its target, or lacks a coding. From now on it is found under this spelling: one that
    /// was asked for once must not keep the usual one off the short way.
    func page(_ key: Key, target: String, version: StoreVersion, now: Int64) -> Page? {
        state.withLock { state in
            guard state.revision == revision, state.served(key, version, isUntouched, now, stale) != nil else { return nil }
            state.spell(key, target)
            let page = state.pages[key]
            state.pages[key]?.following = nil
            return page
        }
    }

    /// Counts a page that is served.
    func count(_ page: Page, _ version: StoreVersion) {
        metrics.hit()
        if page.version != version { metrics.stale() }
    }

    /// - Parameters:
    ///   - version: the store's, as it was before the page was made.
    ///   - current: the store's. A page that is stale already is kept only where stale ones are served.
    ///   - revision: ``revision``, as it was before the page was made.
    ///   - made: when, in milliseconds since 1970-01-01 UTC.
    ///   - validUntil: milliseconds since 1970-01-01 UTC; of this coding alone.
    ///   - following: the page after it, where that is to be made once somebody takes this one.
    ///   - extent: what it was read from; nil where any change may be one of it.
    func keep(
        _ finished: FinishedResponse, hasGzip: Bool, as key: Key, target: String, version: StoreVersion, current: StoreVersion,
        revision looked: UInt64 = 0, made: Int64, validUntil: Int64, following: Following? = nil, extent: PageExtent? = nil
    ) {
        let revision = revision
        var new = Page(target: Array(target.utf8), version: version, made: made, following: following, extent: extent)
        guard capacity > 0, looked == revision, new.isPage(of: current, isUntouched) || stale > 0 else { return }
        state.withLock { state in
            if state.revision != revision { state = State(horizon: state.horizon, revision: revision) }
            if state.version != current { state.turn(to: current, isUntouched, now: made, stale: stale) }
            let old = state.pages[key]
            if let old { new.target = old.target }
            var page = old.flatMap { $0.version == new.version ? $0 : nil } ?? new
            if let old { state.size -= old.size } else { state.order.append(key) }
            page.keep(finished, hasGzip: hasGzip, until: validUntil)
            state.pages[key] = page
            state.size += page.size
            state.keys[RequestHead.hash(ofTarget: page.target)] = key
            state.spell(key, target)
            state.makeRoom(capacity)
        }
    }
}

extension FinishedPages.State {
    /// The page, where it may be served.
    fileprivate mutating func served(
        _ key: FinishedPages.Key, _ version: StoreVersion, _ isUntouched: FinishedPages.IsUntouched, _ now: Int64, _ stale: Int64
    ) -> FinishedPages.Page? {
        guard var page = pages[key] else { return nil }
        if page.version == version { return page }
        if page.isPage(of: version, isUntouched) {
            pages[key] = page
            return page
        }
        return page.isRecent(now, stale, since: horizon) ? page : nil
    }

    fileprivate mutating func page(
        hash: UInt64, version: StoreVersion, _ revision: UInt64, _ isUntouched: FinishedPages.IsUntouched, now: Int64, stale: Int64
    ) -> FinishedPages.Page? {
        guard self.revision == revision, let key = keys[hash], let page = served(key, version, isUntouched, now, stale) else { return nil }
        if !page.isWanted || page.following != nil {
            pages[key]?.isWanted = true
            pages[key]?.following = nil
        }
        return page
    }

    /// Lets go of what is not served any more now that the store has changed. Where only items were replaced in their places, most pages are, and
    /// the others make room when it is needed.
    fileprivate mutating func turn(
        to version: StoreVersion, _ isUntouched: FinishedPages.IsUntouched, now: Int64, stale: Int64
    ) {
        if let known = self.version, isUntouched(PageExtent(), known, version) { return self.version = version }
        let old = self
        self = FinishedPages.State(version: version, horizon: old.horizon, revision: old.revision)
        guard stale > 0 else { return }
        for key in old.order {
            guard let page = old.pages[key], page.isRecent(now, stale, since: horizon), pages[key] == nil else { continue }
            pages[key] = page
            keys[RequestHead.hash(ofTarget: page.target)] = key
            order.append(key)
            size += page.size
        }
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
