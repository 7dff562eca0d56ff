internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import Synchronization

/// After a change of the store it is stale, unless the store knows that nothing on the page has changed.
final class PageCache: Sendable {
    struct Key: Hashable, Sendable {
        var feed: String
        var cursor: ByteString?
        var limit: Int
        var layout: CellLayout
        var width: Int?
        var scale: Int
        var followsChanges: Bool
        var unsupportedCells: UInt64
        var client: String?
        var language: UInt8
        /// As text with escapes, because canonically equivalent values are different ones.
        var filters: String

        init(_ request: FeedRequest, of feed: String) {
            self.feed = feed
            cursor = request.cursor.map { ByteString($0) }
            limit = request.limit
            layout = request.layout
            width = request.width
            scale = request.scale
            followsChanges = request.followsChanges
            (unsupportedCells, client) = (request.unsupportedCells?.digest ?? 0, request.client)
            language = request.language?.number ?? 0
            filters = RowFilter.text(request.filters)
        }
    }

    /// The state of a feed's data sources when a page was made.
    struct SourceState: Sendable {
        let feed: FeedAssembler
        let version: UInt64

        var isCurrent: Bool { feed.sourceVersion == version }
    }

    struct Page: Sendable {
        var response: EncodedResponse
        var version: StoreVersion
        var revision: UInt64 = 0
        /// The time of creation, in milliseconds since 1970-01-01 UTC.
        var renderedAt: Int64
        /// The end of validity, in milliseconds since 1970-01-01 UTC.
        var validUntil: Int64
        var following: PageLoader.PageRequest?
        var dependencies: PageDependencies?
        var sources: SourceState?

        /// Returns true from the start of the hour in which the validity ends, because links do not count before it, until that end.
        fileprivate func isValid(at now: Int64) -> Bool {
            now < validUntil && now >= CellTokens.startOfBucket(of: validUntil.subtractingReportingOverflow(1).partialValue)
        }
    }

    private let pages: ResponseCache<Key, Page>
    /// The maximum staleness in milliseconds.
    private let stale: Int64
    private let isUntouched: IsUntouched
    private let metrics: PageMetrics
    private let imageMetadata: (any ImageMetadataStore)?
    private let last = Mutex<(version: StoreVersion?, revision: UInt64)>((nil, 0))
    private let horizon = Atomic(Int64.min)

    typealias IsUntouched = @Sendable (PageDependencies, StoreVersion, StoreVersion) -> Bool

    init(
        capacity: Int, maxStaleness: Int64 = 0, metrics: PageMetrics, isUnchanged: @escaping IsUntouched = { $1 == $2 },
        imageMetadata: (any ImageMetadataStore)? = nil
    ) {
        (self.stale, self.metrics, self.isUntouched, self.imageMetadata) = (maxStaleness, metrics, isUnchanged, imageMetadata)
        pages = ResponseCache(capacity: capacity)
    }

    var revision: UInt64 { imageMetadata?.revision ?? 0 }

    var isEnabled: Bool { pages.isEnabled }

    /// The number of cached pages and their size in bytes.
    var contents: (pages: Int, bytes: Int) {
        let (count, bytes) = pages.contents
        return (count, bytes)
    }

    func forget(now: Int64) { horizon.store(now, ordering: .relaxed) }

    func has(_ key: Key, version: StoreVersion) -> Bool {
        guard var page = pages.withContent(of: key, { $0 }) else { return false }
        return page.revision == revision && represents(version, &page)
    }

    // MARK: Lookup

    func response(
        for head: borrowing RequestHead, in language: FeedLanguage?, version: StoreVersion, now: Int64,
        onPrefetch: (PageLoader.PageRequest) -> Void
    ) -> EncodedResponse? {
        serve(version, now, onPrefetch) { pages.withContent(for: head, before: Self.ending(language), $0) }
    }

    /// No target contains a space, so the result is unambiguous.
    static func ending(_ language: FeedLanguage?) -> [UInt8] { language.map { Array(" \($0.tag)".utf8) } ?? [] }

    /// Why: after a single request with an unusual form, the usual form must be found on the event loop again.
    func response(
        _ key: Key, target: String, version: StoreVersion, now: Int64, onPrefetch: (PageLoader.PageRequest) -> Void
    ) -> EncodedResponse? {
        serve(version, now, onPrefetch) { pages.withContent(of: key, target: Array(target.utf8), $0) }
    }

    /// The result of a lookup under the lock of an entry: the response, or the page if a store or a data source must be asked about it.
    private enum Found {
        case current(EncodedResponse, following: PageLoader.PageRequest?)
        case undecided(Page)
    }

    /// Stores and data sources are not called there, because an embedding program may implement them: a slow one would stop all event loops
    /// that serve the page.
    private func serve(
        _ version: StoreVersion, _ now: Int64, _ onPrefetch: (PageLoader.PageRequest) -> Void,
        _ withPage: ((inout Page) -> Found?) -> Found?
    ) -> EncodedResponse? {
        let found = withPage { page in
            guard page.revision == revision, page.isValid(at: now) else { return nil }
            guard page.version == version, page.sources == nil else { return .undecided(page) }
            defer { page.following = nil }
            return .current(page.response, following: page.following)
        }
        switch found {
        case nil: return nil
        case .current(let response, let following):
            metrics.hit()
            if let following { onPrefetch(following) }
            return response
        case .undecided(let found):
            var page = found
            let isCurrent = represents(version, &page)
            guard isCurrent || isRecent(page, now) else { return nil }
            metrics.hit()
            if !isCurrent { metrics.stale() }
            let following = withPage { stored in
                guard stored.response === found.response, stored.version == found.version else { return nil }
                stored.version = page.version
                defer { stored.following = nil }
                return .current(page.response, following: stored.following)
            }
            if case .current(_, let following?) = following { onPrefetch(following) }
            return page.response
        }
    }

    private func represents(_ current: StoreVersion, _ page: inout Page) -> Bool {
        if let sources = page.sources, !sources.isCurrent { return false }
        if page.version == current { return true }
        guard let dependencies = page.dependencies, isUntouched(dependencies, page.version, current) else { return false }
        page.version = current
        return true
    }

    private func isRecent(_ page: Page, _ now: Int64) -> Bool {
        // If the clock was set back, the age of the page is unknown.
        stale > 0 && page.renderedAt > horizon.load(ordering: .relaxed) && page.renderedAt <= now
            && now.subtractingReportingOverflow(page.renderedAt).partialValue < stale
    }

    // MARK: Storing

    /// The size of an entry's heads, keys and tables in bytes without its bodies.
    private static let overhead = 2_048

    func store(_ page: Page, as key: Key, target: String, current: StoreVersion) {
        var page = page
        let revision = revision
        guard page.revision == revision, page.sources?.isCurrent ?? true, represents(current, &page) || stale > 0 else { return }
        let last = last.withLock { last in
            defer { last = (current, revision) }
            return last
        }
        // If items were only replaced at their positions, all pages stay, because most of them are unchanged. Eviction removes the others.
        let isReplacement = last.version.map { $0 == current || isUntouched(PageDependencies(), $0, current) } ?? true
        if !isReplacement || last.revision != revision {
            pages.removeAll { old in
                old.revision != revision || !isReplacement && old.version != current && !isRecent(old, page.renderedAt)
            }
        }
        pages.store(page, for: key, target: Array(target.utf8), size: Self.overhead + page.response.size)
    }
}
