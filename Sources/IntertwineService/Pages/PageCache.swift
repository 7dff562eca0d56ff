internal import DequeModule
internal import IntertwineCells
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineItems
internal import IntertwineLedger
internal import IntertwineObservability
internal import Synchronization

/// A cache of encoded pages for the current version of the store.
///
/// Event loops look a page up by the bytes of the request's target. A cache hit allocates nothing and uses neither database nor encoder.
/// After a change of the store a page is stale, unless the store knows that nothing on the page has changed. Stale pages are served as long as
/// configuration permits. Eviction is second-chance (CLOCK): pages without a request since the last round are evicted first.
final class PageCache: Sendable {
    struct Key: Hashable, Sendable {
        /// The path of the page's feed.
        var feed: String
        var cursor: ByteString?
        var limit: Int
        var layout: CellLayout
        var width: Int?
        var scale: Int
        var followsChanges: Bool
        /// The digest ``UnsupportedCells/digest``; 0 if the client supports all cells.
        var lacking: UInt64
        var client: String?
        /// The language's ``FeedLanguage/number``; 0 if no language is declared.
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

    /// The request for the page after a prefetched one, given once to the first client that takes the prefetched page.
    ///
    /// A class, because lookups copy the reference, and most pages have none.
    final class PrefetchHint: Sendable {
        let request: PageLoader.PageRequest

        init(_ pageRequest: PageLoader.PageRequest) {
            self.request = pageRequest
        }
    }

    /// The state of a feed's data sources when a page was made.
    struct SourceState: Sendable {
        let feed: FeedAssembler
        let version: UInt64

        var isCurrent: Bool { feed.sourceVersion == version }
    }

    /// A page in both content codings. It is used within the lock only.
    fileprivate final class Page {
        let key: Key
        var target: [UInt8]
        /// The store's version of the page. `renderedAt` is the time of its creation in milliseconds since 1970-01-01 UTC.
        private(set) var version: StoreVersion
        private var renderedAt: Int64
        private var dependencies: PageDependencies?
        private var following: PrefetchHint?
        /// The state of the feed's data sources; nil if the page depends on the store only.
        var sources: SourceState?
        /// The response and the hour in which it is valid, in milliseconds since 1970-01-01 UTC. Links do not count before that hour begins.
        private var response: (encoded: EncodedResponse, hour: Range<Int64>)?
        var referenceBit = false

        init(
            _ key: Key, target: [UInt8], version: StoreVersion, renderedAt: Int64, prefetchHint: PrefetchHint?,
            dependencies: PageDependencies?
        ) {
            (self.key, self.target, self.version) = (key, target, version)
            (self.renderedAt, self.following, self.dependencies) = (renderedAt, prefetchHint, dependencies)
        }

        /// Resets the entry for a new version of the page, and keeps its target.
        func renew(_ version: StoreVersion, renderedAt: Int64, prefetchHint: PrefetchHint?, dependencies: PageDependencies?) {
            (self.version, self.renderedAt, self.following, self.dependencies) = (version, renderedAt, prefetchHint, dependencies)
            (response, referenceBit) = (nil, false)
        }

        /// Returns true if the page represents a version of the store: it was made of that version, or nothing on it has changed since.
        func isPage(of current: StoreVersion, _ isUntouched: IsUntouched) -> Bool {
            if let sources, !sources.isCurrent { return false }
            if version == current { return true }
            guard let dependencies, isUntouched(dependencies, version, current) else { return false }
            version = current
            return true
        }

        /// Returns true if the page may be served as stale.
        func isRecent(_ now: Int64, _ stale: Int64, since horizon: Int64) -> Bool {
            // If the clock was set back, the age of the page is unknown.
            stale > 0 && renderedAt > horizon && renderedAt <= now && now.subtractingReportingOverflow(renderedAt).partialValue < stale
        }

        /// Returns the response; nil if the page was made in an hour that is over.
        func response(now: Int64) -> EncodedResponse? {
            guard let response, response.hour.contains(now) else { return nil }
            return response.encoded
        }

        /// Returns the request for the next page, to the first caller only.
        func takePrefetchHint() -> PrefetchHint? {
            defer { following = nil }
            return following
        }

        func store(_ encoded: EncodedResponse, until validUntil: Int64) {
            let start = CellTokens.startOfBucket(of: validUntil.subtractingReportingOverflow(1).partialValue)
            response = (encoded, min(start, validUntil)..<validUntil)
        }

        var size: Int {
            // The constant is the size of an entry's heads, keys and tables without its bodies.
            2_048 + target.count + (response?.encoded.size ?? 0)
        }
    }

    fileprivate struct State {
        var version: StoreVersion?
        var pages: [Key: Page] = [:]
        /// The pages by the hash of their target. Of two targets with one hash, the last stored page is found; the other is made again.
        var targets: [UInt64: Page] = [:]
        /// The pages in the order of eviction.
        var order: Deque<Page> = []
        var size = 0
        /// The end of stale serving: pages made until this time are served for their own version of the store only.
        var horizon = Int64.min
        /// The revision of image metadata of the cached pages, as `ImageMetadataStore.revision` counts.
        var revision: UInt64 = 0
    }

    private let capacity: Int
    /// The maximum staleness in milliseconds.
    private let stale: Int64
    private let isUntouched: IsUntouched
    private let metrics: PageMetrics
    private let imageMetadata: (any ImageMetadataStore)?
    private let state = Mutex(State())

    /// The type of ``FeedStore/isUntouched(_:from:to:)``.
    typealias IsUntouched = @Sendable (PageDependencies, StoreVersion, StoreVersion) -> Bool

    /// - Parameters:
    ///   - capacity: The capacity in bytes; 0 disables the cache.
    ///   - maxStaleness: The age in milliseconds up to which a stale page is served.
    ///   - isUnchanged: Returns true if the store knows that nothing changed between two versions.
    ///   - imageMetadata: The metadata of images. If metadata changes that cached pages contain, all pages are invalidated.
    init(
        capacity: Int, maxStaleness: Int64 = 0, metrics: PageMetrics, isUnchanged: @escaping IsUntouched = { $1 == $2 },
        imageMetadata: (any ImageMetadataStore)? = nil
    ) {
        (self.capacity, self.stale, self.metrics, self.isUntouched) = (capacity, maxStaleness, metrics, isUnchanged)
        self.imageMetadata = imageMetadata
    }

    /// The current revision of image metadata. The maker of a page reads it first and passes it to `store`.
    var revision: UInt64 { imageMetadata?.revision ?? 0 }

    var isEnabled: Bool { capacity > 0 }

    /// Returns true if the cache contains the page for a version of the store.
    func has(_ key: Key, version: StoreVersion) -> Bool {
        state.withLock { $0.revision == revision && $0.pages[key]?.isPage(of: version, isUntouched) ?? false }
    }

    /// Ends stale serving of all pages that were made until now.
    ///
    /// - Parameter now: Milliseconds since 1970-01-01 UTC.
    func forget(now: Int64) {
        state.withLock { $0.horizon = now }
    }

    /// The number of cached pages and their size in bytes.
    var contents: (pages: Int, bytes: Int) {
        state.withLock { ($0.pages.count, $0.size) }
    }
}

extension PageCache {
    /// Returns the encoded response to a request if it is cached. Called on event loops: takes a lock for one table lookup.
    ///
    /// - Parameters:
    ///   - language: The language of texts.
    ///   - onPrefetch: Called if the page after the returned one is to be prefetched.
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

    /// Returns the suffix that a language adds to the target of a page. No target contains a space, so the result is unambiguous.
    static func ending(_ language: FeedLanguage?) -> [UInt8] { language.map { Array(" \($0.tag)".utf8) } ?? [] }

    /// Returns a page that is cached under another form of its target, and reindexes it under this form.
    ///
    /// Why: after a single request with an unusual form, the usual form must be found on the event loop again.
    func response(
        _ key: Key, target: String, version: StoreVersion, now: Int64, onPrefetch: (PageLoader.PageRequest) -> Void
    ) -> EncodedResponse? {
        lookUp(version, now, onPrefetch) { state in
            guard let page = state.pages[key] else { return nil }
            state.reindex(page, target)
            return page
        }
    }

    /// Returns the response of the found page if it may be served, and reports the next page for a prefetch.
    private func lookUp(
        _ version: StoreVersion, _ now: Int64, _ walked: (PageLoader.PageRequest) -> Void, _ find: (inout State) -> Page?
    ) -> EncodedResponse? {
        let cached = state.withLock { state -> (EncodedResponse, PrefetchHint?, isStale: Bool)? in
            guard state.revision == revision, let page = find(&state),
                page.isPage(of: version, isUntouched) || page.isRecent(now, stale, since: state.horizon)
            else { return nil }
            page.referenceBit = true
            guard let encoded = page.response(now: now) else { return nil }
            return (encoded, page.takePrefetchHint(), isStale: page.version != version || page.sources?.isCurrent == false)
        }
        guard let (encoded, following, isStale) = cached else { return nil }
        metrics.hit()
        if isStale { metrics.stale() }
        if let following { walked(following.request) }
        return encoded
    }

    /// Stores an encoded page.
    ///
    /// - Parameters:
    ///   - version: The store's version before the page was made.
    ///   - current: The store's current version. A page that is already stale is stored only if stale pages are served.
    ///   - revision: The value of ``revision`` before the page was made.
    ///   - renderedAt: The time of creation, in milliseconds since 1970-01-01 UTC.
    ///   - validUntil: The end of validity, in milliseconds since 1970-01-01 UTC.
    ///   - prefetchHint: The request for the page after this one, if a client that takes this page triggers a prefetch.
    ///   - dependencies: The reads that the page depends on; nil if any change may affect it.
    ///   - sources: The state of the feed's data sources before the page was made; nil if the page depends on the store only.
    func store(
        _ encoded: EncodedResponse, as key: Key, target: String, version: StoreVersion, current: StoreVersion,
        revision looked: UInt64 = 0, renderedAt: Int64, validUntil: Int64, prefetchHint: PrefetchHint? = nil,
        dependencies: PageDependencies? = nil, sources: SourceState? = nil
    ) {
        let revision = revision
        guard sources?.isCurrent ?? true else { return }
        let isCurrent = version == current || dependencies.map { isUntouched($0, version, current) } ?? false
        guard capacity > 0, looked == revision, isCurrent || stale > 0 else { return }
        let version = isCurrent ? current : version
        state.withLock { state in
            if state.revision != revision { state = State(horizon: state.horizon, revision: revision) }
            if state.version != current { state.invalidate(to: current, isUntouched, now: renderedAt, maxStaleness: stale) }
            let page: Page
            if let old = state.pages[key] {
                page = old
                state.size -= old.size
                if old.version != version {
                    old.renew(version, renderedAt: renderedAt, prefetchHint: prefetchHint, dependencies: dependencies)
                }
            } else {
                page = Page(
                    key, target: Array(target.utf8), version: version, renderedAt: renderedAt, prefetchHint: prefetchHint,
                    dependencies: dependencies)
                state.pages[key] = page
                state.order.append(page)
            }
            page.sources = sources
            page.store(encoded, until: validUntil)
            state.size += page.size
            state.targets[RequestHead.hash(ofTarget: page.target)] = page
            state.reindex(page, target)
            state.makeRoom(capacity)
        }
    }
}

extension PageCache.State {
    /// Removes pages that may no longer be served after a change of the store.
    ///
    /// If items were only replaced at their positions, all pages stay, because most of them are unchanged. Eviction removes the others.
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

    /// Moves a page to another target.
    fileprivate mutating func reindex(_ page: PageCache.Page, _ target: String) {
        guard !page.target.elementsEqual(target.utf8) else { return }
        remove(page)
        size += target.utf8.count - page.target.count
        page.target = Array(target.utf8)
        targets[RequestHead.hash(ofTarget: page.target)] = page
    }

    /// Evicts pages by second chance (CLOCK): a page with a request since the last round moves to the end of the queue once.
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
