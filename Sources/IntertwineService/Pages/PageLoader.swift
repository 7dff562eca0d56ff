internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineImages
internal import IntertwineObservability
internal import IntertwineRouting
internal import Synchronization

/// Pages that are the same for everyone: looked up where they lie ready, made once for all who wait otherwise, and the next one of a feed that
/// somebody walks made before it is asked for, where nothing else is to be read.
struct PageLoader: Sendable {
    /// One page, as it is asked for.
    struct PageRequest: Sendable {
        var request: FeedRequest
        var feed: FeedAssembler
        /// The request's target.
        var target: String
        /// Whether the client takes gzip coding.
        var gzip: Bool
        /// The name of the route in observations.
        var route: String

        /// What the page is found by without being made: the target or, where a field of the request says more, no target at all.
        fileprivate var spelling: String {
            let ending = String(decoding: PageCache.ending(request.language), as: UTF8.self)
            guard request.client == nil, let lacking = request.lacking else { return target + ending }
            return "\(lacking.digest) \(target)\(ending)"
        }

        fileprivate var key: PageCache.Key { PageCache.Key(request, of: feed.path) }

        /// The page after one that was made for this.
        fileprivate func following(_ page: FeedPage) -> PageRequest? {
            guard let href = page.next, let cursor = try? Query(href.split(separator: "?", maxSplits: 1).last ?? "").text("cursor") else {
                return nil
            }
            var wish = self
            wish.request.cursor = cursor
            // What stands before the path is not in requests.
            wish.target = href.firstRange(of: feed.path + "?").map { String(href[$0.lowerBound...]) } ?? href
            return wish
        }
    }

    private struct LoadedPage: Sendable {
        var response: EncodedResponse
        var following: PageRequest?
    }

    private let store: any FeedStore
    private let pages: PageCache
    private let format: PageFormat
    private let metrics: PageMetrics
    /// Makes the pictures of pages that were made ahead.
    private let imagePrefetcher: ImagePrefetcher?
    private let coalescer = PageRequestCoalescer<LoadedPage>()
    /// Whether a page is being made ahead: one at a time.
    private let isPrefetching = Flag()

    private final class Flag: Sendable {
        private let isUp = Atomic(false)

        /// Whether it was down.
        func raise() -> Bool { !isUp.exchange(true, ordering: .acquiring) }

        func lower() { isUp.store(false, ordering: .releasing) }
    }

    init(store: any FeedStore, pages: PageCache, format: PageFormat, metrics: PageMetrics, imagePrefetcher: ImagePrefetcher? = nil) {
        (self.store, self.pages, self.format, self.metrics, self.imagePrefetcher) = (store, pages, format, metrics, imagePrefetcher)
    }

    /// - Throws: as `FeedAssembler.page(_:for:)` does.
    func page(_ wish: PageRequest) async throws -> EncodedResponse {
        if let ready = ready(wish) { return ready }
        let made = try await coalescer.page(
            coalescingKey(wish), version: { store.version }, ready: { ready(wish).map { LoadedPage(response: $0) } }, joined: metrics.join
        ) { version in
            metrics.miss()
            return try await make(wish, for: .request, version)
        }
        // Whoever comes with a cursor is likely to go on.
        if wish.request.cursor != nil, let following = made.following { prefetch(following) }
        return made.response
    }

    /// The same for one who has no task to wait in.
    ///
    /// - Parameters:
    ///   - work: cancels the work that is under way. Whoever waits for the same page makes it then.
    ///   - completion: called once, on whatever thread it happens to be: it must not hold that up.
    func page(_ wish: PageRequest, work: CancellableWork, completion: @escaping @Sendable (Result<EncodedResponse, any Error>) -> Void) {
        work.perform { page(wish, since: coalescer.arrive(), work, completion) }
    }

    private func page(
        _ wish: PageRequest, since arrival: UInt64, _ work: CancellableWork,
        _ completion: @escaping @Sendable (Result<EncodedResponse, any Error>) -> Void
    ) -> PendingResponse.Cancel? {
        if let ready = ready(wish) {
            completion(.success(ready))
            return nil
        }
        let key = coalescingKey(wish)
        var current = store.version
        while !coalescer.begin(key, current) {
            metrics.join()
            let cancel = coalescer.join(key, current, since: arrival) { [self] made in
                guard let made else { return work.perform { page(wish, since: arrival, work, completion) } }
                completion(made.map(\.response))
            }
            if let cancel { return cancel }
            // It has landed meanwhile.
            current = store.version
        }
        let version = current
        if let ready = ready(wish) {
            coalescer.complete(key, nil)
            completion(.success(ready))
            return nil
        }
        metrics.miss()
        let revision = pages.revision
        return wish.feed.page(wish.request) { [self] page in
            let made = page.map { page in
                metrics.count(page.omissions)
                return cache(page, wish, for: .request, version, revision)
            }
            coalescer.complete(key, made)
            if wish.request.cursor != nil, case .success(let made) = made, let following = made.following { prefetch(following) }
            completion(made.map(\.response))
        }
    }

    private func ready(_ wish: PageRequest) -> EncodedResponse? {
        guard pages.isEnabled else { return nil }
        return pages.response(wish.key, target: wish.spelling, version: store.version, now: wish.request.now) { prefetch($0) }
    }

    private func coalescingKey(_ wish: PageRequest) -> PageRequestCoalescer<LoadedPage>.Key {
        .init(page: wish.key, validUntil: CellTokens.endOfBucket(of: wish.request.now))
    }

    private func make(_ wish: PageRequest, for purpose: ReadPurpose, _ version: StoreVersion) async throws -> LoadedPage {
        let revision = pages.revision
        let page = try await wish.feed.page(wish.request, for: purpose)
        metrics.count(page.omissions)
        if purpose == .idle { imagePrefetcher?.prefetch(page.encoded().json) }
        return cache(page, wish, for: purpose, version, revision)
    }

    /// How long, in milliseconds, a page is served that shows pictures of which more may be known soon.
    private static let awaiting: Int64 = 2_000

    /// - Parameters:
    ///   - version: the store's, before the page was made.
    ///   - revision: what was known of pictures then.
    private func cache(
        _ page: FeedPage, _ wish: PageRequest, for purpose: ReadPurpose, _ version: StoreVersion, _ revision: UInt64
    ) -> LoadedPage {
        // Who asks for it next may take gzip coding. A page that is not kept is compressed for the client that has it made.
        let finished = format.encoded(
            page, isShared: true, isNamed: wish.request.client != nil, gzip: wish.gzip || pages.isEnabled, isCached: pages.isEnabled,
            route: wish.route)
        guard pages.isEnabled else { return LoadedPage(response: finished) }
        let following = wish.following(page)
        pages.store(
            finished, as: wish.key, target: wish.spelling, version: version, current: store.version,
            revision: revision, made: wish.request.now,
            validUntil: page.isAwaiting ? min(page.validUntil, wish.request.now + Self.awaiting) : page.validUntil,
            prefetchHint: purpose == .idle ? following.map(PageCache.PrefetchHint.init) : nil, dependencies: page.dependencies)
        return LoadedPage(response: finished, following: following)
    }

    /// Makes a page if nothing else is being read: of use to one who walks the feed, and at the cost of nobody.
    func prefetch(_ wish: PageRequest) {
        guard pages.isEnabled, isPrefetching.raise() else { return }
        Task(priority: .low) {
            defer { isPrefetching.lower() }
            let version = store.version
            guard !pages.has(wish.key, version: version) else { return }
            // Where something else is being read, it is made when it is asked for.
            let made = try? await coalescer.runIfIdle(coalescingKey(wish), version: version) { try await make(wish, for: .idle, version) }
            if made != nil { metrics.recordPrefetch() }
        }
    }
}
