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
final class PageCache: Sendable {
    struct Key: Hashable, Sendable {
        /// The path of its feed.
        var feed: String
        var cursor: ByteString?
        var limit: Int
        var layout: CellLayout
        var width: Int?
        var scale: Int
        var followsChanges: Bool
        /// ``UnsupportedCells/digest``; 0 where the client knows all cells.
        var lacking: UInt64
        var client: String?
        /// ``FeedLanguage/number``; 0 where there are none.
        var language: UInt8

        init(_ request: FeedRequest, of feed: String) {
            self.feed = feed
            cursor = request.cursor.map { ByteString($0) }
            limit = request.limit
            layout = request.layout
            width = request.width
            scale = request.scale
            followsChanges = request.followsChanges
            (lacking, client) = (request.lacking?.digest ?? 0, request.client)
            language = request.language?.number ?? 0
        }
    }

    /// The page after one that was made ahead: told once, to the first who takes that one. A class: what is found is copied, and mostly has none.
    final class PrefetchHint: Sendable {
        let request: PageLoader.PageRequest

        init(_ wish: PageLoader.PageRequest) {
            self.request = wish
        }
    }

    /// A page, in both codings. It is used within the lock alone.
    fileprivate final class Page {
        let key: Key
        var target: [UInt8]
        /// The store's, and when the page was made, in milliseconds since 1970-01-01 UTC.
        private(set) var version: StoreVersion
        private var made: Int64
        private var dependencies: PageDependencies?
        private var following: PrefetchHint?
        /// Good for the hour in which it was made, in milliseconds since 1970-01-01 UTC. By a clock before that hour, its links would not count.
        private var response: (finished: EncodedResponse, hour: Range<Int64>)?
        var referenceBit = false

        init(_ key: Key, target: [UInt8], version: StoreVersion, made: Int64, prefetchHint: PrefetchHint?, dependencies: PageDependencies?)
        {
            (self.key, self.target, self.version) = (key, target, version)
            (self.made, self.following, self.dependencies) = (made, prefetchHint, dependencies)
        }

        /// Begins anew, under the target that it has.
        func renew(_ version: StoreVersion, made: Int64, prefetchHint: PrefetchHint?, dependencies: PageDependencies?) {
            (self.version, self.made, self.following, self.dependencies) = (version, made, prefetchHint, dependencies)
            (response, referenceBit) = (nil, false)
        }

        /// Whether it is the page of that state of the store. It was made of another one, if nothing on it has changed since.
        func isPage(of current: StoreVersion, _ isUntouched: IsUntouched) -> Bool {
            if version == current { return true }
            guard let dependencies, isUntouched(dependencies, version, current) else { return false }
            version = current
            return true
        }

        /// Whether it can be served although something was written since.
        func isRecent(_ now: Int64, _ stale: Int64, since horizon: Int64) -> Bool {
            // A clock that was set back says nothing about age.
            stale > 0 && made > horizon && made <= now && now.subtractingReportingOverflow(made).partialValue < stale
        }

        /// Nil if the page was made in an hour that is over.
        func response(now: Int64) -> EncodedResponse? {
            guard let response, response.hour.contains(now) else { return nil }
            return response.finished
        }

        /// What comes after it, for the first who is told.
        func takePrefetchHint() -> PrefetchHint? {
            defer { following = nil }
            return following
        }

        func store(_ finished: EncodedResponse, until validUntil: Int64) {
            let start = CellTokens.startOfBucket(of: validUntil.subtractingReportingOverflow(1).partialValue)
            response = (finished, min(start, validUntil)..<validUntil)
        }

        var size: Int {
            // What an entry costs besides its bodies: heads, keys, tables.
            2_048 + target.count + (response?.finished.size ?? 0)
        }
    }

    fileprivate struct State {
        var version: StoreVersion?
        var pages: [Key: Page] = [:]
        /// By the hash of the target. Two targets with one hash take turns; the loser is made anew.
        var targets: [UInt64: Page] = [:]
        /// In the order in which room is made.
        var order: Deque<Page> = []
        var size = 0
        /// Pages that were made until then are served of their own version of the store alone.
        var horizon = Int64.min
        /// What was known of the pictures on them, as `ImageMetadataStore.revision` counts.
        var revision: UInt64 = 0
    }

    private let capacity: Int
    /// Milliseconds.
    private let stale: Int64
    private let isUntouched: IsUntouched
    private let metrics: PageMetrics
    private let imageMetadata: (any ImageMetadataStore)?
    private let state = Mutex(State())

    /// ``FeedStore/isUntouched(_:from:to:)``
    typealias IsUntouched = @Sendable (PageDependencies, StoreVersion, StoreVersion) -> Bool

    /// - Parameters:
    ///   - capacity: bytes; 0 keeps nothing.
    ///   - stale: milliseconds after it was made for which a page is served although something was written since.
    ///   - isUntouched: what the store knows of changes.
    ///   - pictures: what is known of pictures. Where one turns out to be another than pages tell, no page is served any more.
    init(
        capacity: Int, maxStaleness: Int64 = 0, metrics: PageMetrics, isUnchanged: @escaping IsUntouched = { $1 == $2 },
        imageMetadata: (any ImageMetadataStore)? = nil
    ) {
        (self.capacity, self.stale, self.metrics, self.isUntouched) = (capacity, maxStaleness, metrics, isUnchanged)
        self.imageMetadata = imageMetadata
    }

    /// What is known of pictures. Whoever makes a page asks for it before, and says it with the page.
    var revision: UInt64 { imageMetadata?.revision ?? 0 }

    var isEnabled: Bool { capacity > 0 }

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

extension PageCache {
    /// The finished answer to a request, if there is one. On an event loop: takes a lock for a table look-up, and nothing else.
    ///
    /// - Parameters:
    ///   - language: the one that texts are wanted in.
    ///   - walked: called where it is time to make the page after it.
    func response(
        for head: borrowing RequestHead, in language: FeedLanguage?, version: StoreVersion, now: Int64,
        onPrefetch: (PageLoader.PageRequest) -> Void
    ) -> EncodedResponse? {
        let end = Self.ending(language)
        let hash = RequestHead.hash(ofTarget: end, after: head.targetHash)
        return lookUp(version, now, onPrefetch) { state in
            guard let page = state.targets[hash], head.hasTarget(page.target, before: end) else { return nil }
            return page
        }
    }

    /// What stands behind the target of a page by which it is found: no target has a blank in it.
    static func ending(_ language: FeedLanguage?) -> [UInt8] { language.map { Array(" \($0.tag)".utf8) } ?? [] }

    /// A page that was kept under another spelling of its target. From now on it is found under this spelling: one that was asked for once
    /// must not keep the usual one off the short way.
    func response(
        _ key: Key, target: String, version: StoreVersion, now: Int64, onPrefetch: (PageLoader.PageRequest) -> Void
    ) -> EncodedResponse? {
        lookUp(version, now, onPrefetch) { state in
            guard let page = state.pages[key] else { return nil }
            state.reindex(page, target)
            return page
        }
    }

    /// Serves the page that is found, where it may be served, and has it told what comes after it.
    private func lookUp(
        _ version: StoreVersion, _ now: Int64, _ walked: (PageLoader.PageRequest) -> Void, _ find: (inout State) -> Page?
    ) -> EncodedResponse? {
        let taken = state.withLock { state -> (EncodedResponse, PrefetchHint?, isStale: Bool)? in
            guard state.revision == revision, let page = find(&state),
                page.isPage(of: version, isUntouched) || page.isRecent(now, stale, since: state.horizon)
            else { return nil }
            page.referenceBit = true
            guard let finished = page.response(now: now) else { return nil }
            return (finished, page.takePrefetchHint(), isStale: page.version != version)
        }
        guard let (finished, following, isStale) = taken else { return nil }
        metrics.hit()
        if isStale { metrics.stale() }
        if let following { walked(following.request) }
        return finished
    }

    /// - Parameters:
    ///   - version: the store's, as it was before the page was made.
    ///   - current: the store's. A page that is stale already is kept only where stale ones are served.
    ///   - revision: ``revision``, as it was before the page was made.
    ///   - made: when, in milliseconds since 1970-01-01 UTC.
    ///   - validUntil: milliseconds since 1970-01-01 UTC.
    ///   - following: the page after it, where that is to be made once somebody takes this one.
    ///   - extent: what it was read from; nil where any change may be one of it.
    func store(
        _ finished: EncodedResponse, as key: Key, target: String, version: StoreVersion, current: StoreVersion,
        revision looked: UInt64 = 0, made: Int64, validUntil: Int64, prefetchHint: PrefetchHint? = nil,
        dependencies: PageDependencies? = nil
    ) {
        let revision = revision
        let isCurrent = version == current || dependencies.map { isUntouched($0, version, current) } ?? false
        guard capacity > 0, looked == revision, isCurrent || stale > 0 else { return }
        let version = isCurrent ? current : version
        state.withLock { state in
            if state.revision != revision { state = State(horizon: state.horizon, revision: revision) }
            if state.version != current { state.invalidate(to: current, isUntouched, now: made, maxStaleness: stale) }
            let page: Page
            if let old = state.pages[key] {
                page = old
                state.size -= old.size
                if old.version != version { old.renew(version, made: made, prefetchHint: prefetchHint, dependencies: dependencies) }
            } else {
                page = Page(
                    key, target: Array(target.utf8), version: version, made: made, prefetchHint: prefetchHint, dependencies: dependencies)
                state.pages[key] = page
                state.order.append(page)
            }
            page.store(finished, until: validUntil)
            state.size += page.size
            state.targets[RequestHead.hash(ofTarget: page.target)] = page
            state.reindex(page, target)
            state.makeRoom(capacity)
        }
    }
}

extension PageCache.State {
    /// Lets go of what is not served any more now that the store has changed. Where only items were replaced in their places, most pages are, and
    /// the others make room when it is needed.
    fileprivate mutating func invalidate(
        to version: StoreVersion, _ isUntouched: PageCache.IsUntouched, now: Int64, maxStaleness: Int64
    ) {
        if let known = self.version, isUntouched(PageDependencies(), known, version) { return self.version = version }
        let old = order
        self = PageCache.State(version: version, horizon: horizon, revision: revision)
        for page in old where page.isRecent(now, maxStaleness, since: horizon) {
            pages[page.key] = page
            targets[RequestHead.hash(ofTarget: page.target)] = page
            order.append(page)
            size += page.size
        }
    }

    /// Has a page found under another target.
    fileprivate mutating func reindex(_ page: PageCache.Page, _ target: String) {
        guard !page.target.elementsEqual(target.utf8) else { return }
        remove(page)
        size += target.utf8.count - page.target.count
        page.target = Array(target.utf8)
        targets[RequestHead.hash(ofTarget: page.target)] = page
    }

    /// Second chance: what was asked for since the last round goes to the end of the line once.
    fileprivate mutating func makeRoom(_ capacity: Int) {
        while size > capacity, let page = order.popFirst() {
            if page.referenceBit {
                page.referenceBit = false
                order.append(page)
            } else {
                pages[page.key] = nil
                remove(page)
                size -= page.size
            }
        }
    }

    private mutating func remove(_ page: PageCache.Page) {
        let hash = RequestHead.hash(ofTarget: page.target)
        if targets[hash] === page { targets[hash] = nil }
    }
}
