internal import IntertwineCells
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineImages
internal import IntertwineItems
internal import IntertwineLedger
internal import IntertwineObservability
internal import IntertwineRouting
internal import Synchronization

/// Loads pages that are equal for all viewers.
///
/// A cached page is returned at once. After a cache miss, concurrent requests for a page are coalesced. If a client pages through a feed, its
/// next page is prefetched while the store has no other reads.
struct PageLoader: Sendable {
    /// A request for one page.
    struct PageRequest: Sendable {
        var request: FeedRequest
        var feed: FeedAssembler
        /// The target of the request.
        var target: String
        /// A Boolean value indicating whether the client accepts the gzip coding.
        var gzip: Bool
        /// The name of the route in observations.
        var route: String

        /// The target under which the event loop finds the cached page; empty if request fields beside the target select the page.
        fileprivate var spelling: String {
            let ending = String(decoding: PageCache.ending(request.language), as: UTF8.self)
            guard request.client == nil, let lacking = request.lacking else { return target + ending }
            return "\(lacking.digest) \(target)\(ending)"
        }

        fileprivate var key: PageCache.Key { PageCache.Key(request, of: feed.path) }

        /// Returns the request for the page after a page of this request.
        fileprivate func following(_ page: FeedPage) -> PageRequest? {
            guard let href = page.next, let cursor = try? Query(href.split(separator: "?", maxSplits: 1).last ?? "").text("cursor") else {
                return nil
            }
            var pageRequest = self
            pageRequest.request.cursor = cursor
            // Requests contain the path only, without the preceding part of the href.
            pageRequest.target = href.firstRange(of: feed.path + "?").map { String(href[$0.lowerBound...]) } ?? href
            return pageRequest
        }
    }

    private struct LoadedPage: Sendable {
        /// The response; nil if campaigns choose the ads of the page for each client.
        var response: EncodedResponse?
        var following: PageRequest?
    }

    private let store: any FeedStore
    private let pages: PageCache
    private let format: PageFormat
    private let metrics: PageMetrics
    /// The prefetcher of images on prefetched pages.
    private let imagePrefetcher: ImagePrefetcher?
    private let coalescer = PageRequestCoalescer<LoadedPage>()
    /// A flag that is raised during a prefetch, so that one runs at a time.
    private let isPrefetching = Flag()

    private final class Flag: Sendable {
        private let isUp = Atomic(false)

        /// Raises the flag. Returns true if it was not raised before.
        func raise() -> Bool { !isUp.exchange(true, ordering: .acquiring) }

        func lower() { isUp.store(false, ordering: .releasing) }
    }

    init(store: any FeedStore, pages: PageCache, format: PageFormat, metrics: PageMetrics, imagePrefetcher: ImagePrefetcher? = nil) {
        (self.store, self.pages, self.format, self.metrics, self.imagePrefetcher) = (store, pages, format, metrics, imagePrefetcher)
    }

    /// Returns the encoded page of a request; nil if campaigns choose its ads for each client.
    ///
    /// - Throws: The errors of `FeedAssembler.sharedPage(_:for:)`.
    func page(_ pageRequest: PageRequest) async throws -> EncodedResponse? {
        if let ready = ready(pageRequest) { return ready }
        let loaded = try await coalescer.page(
            coalescingKey(pageRequest), version: { pageRequest.feed.version.combined },
            ready: { ready(pageRequest).map { LoadedPage(response: $0) } },
            joined: metrics.join
        ) { _ in
            metrics.miss()
            return try await make(pageRequest, for: .page)
        }
        // A client that requests a page with a cursor is likely to request the next page.
        if pageRequest.request.cursor != nil, let following = loaded.following { prefetch(following) }
        return loaded.response
    }

    /// Loads the encoded page of a request without a task.
    ///
    /// - Parameters:
    ///   - work: Cancels the current step. If the cancelled step is a load, a waiter for that page loads it instead.
    ///   - completion: Called once on an arbitrary thread; it must not block.
    func page(
        _ pageRequest: PageRequest, work: CancellableWork, completion: @escaping @Sendable (Result<EncodedResponse?, any Error>) -> Void
    ) {
        work.perform { page(pageRequest, since: coalescer.arrive(), work, completion) }
    }

    private func page(
        _ pageRequest: PageRequest, since arrival: UInt64, _ work: CancellableWork,
        _ completion: @escaping @Sendable (Result<EncodedResponse?, any Error>) -> Void
    ) -> HandlerResult.CancellationHandler? {
        if let ready = ready(pageRequest) {
            completion(.success(ready))
            return nil
        }
        let key = coalescingKey(pageRequest)
        var current = pageRequest.feed.version
        while !coalescer.begin(key, current.combined) {
            metrics.join()
            let cancel = coalescer.join(key, current.combined, since: arrival) { [self] loaded in
                guard let loaded else { return work.perform { page(pageRequest, since: arrival, work, completion) } }
                completion(loaded.map(\.response))
            }
            if let cancel { return cancel }
            // The load completed in the meantime.
            current = pageRequest.feed.version
        }
        let version = current
        if let ready = ready(pageRequest) {
            coalescer.complete(key, nil)
            completion(.success(ready))
            return nil
        }
        metrics.miss()
        let revision = pages.revision
        return pageRequest.feed.sharedPage(pageRequest.request) { [self] page in
            let loaded = page.map { page in
                guard let page else { return LoadedPage() }
                metrics.count(page.omissions)
                return cache(page, pageRequest, for: .page, version, revision)
            }
            coalescer.complete(key, loaded)
            if pageRequest.request.cursor != nil, case .success(let loaded) = loaded, let following = loaded.following {
                prefetch(following)
            }
            completion(loaded.map(\.response))
        }
    }

    private func ready(_ pageRequest: PageRequest) -> EncodedResponse? {
        guard pages.isEnabled else { return nil }
        return pages.response(pageRequest.key, target: pageRequest.spelling, version: store.version, now: pageRequest.request.now) {
            prefetch($0)
        }
    }

    private func coalescingKey(_ pageRequest: PageRequest) -> PageRequestCoalescer<LoadedPage>.Key {
        .init(page: pageRequest.key, validUntil: CellTokens.endOfBucket(of: pageRequest.request.now))
    }

    private func make(_ pageRequest: PageRequest, for purpose: ReadPurpose) async throws -> LoadedPage {
        let version = pageRequest.feed.version
        let revision = pages.revision
        guard let page = try await pageRequest.feed.sharedPage(pageRequest.request, for: purpose) else { return LoadedPage() }
        metrics.count(page.omissions)
        if purpose == .idle { imagePrefetcher?.prefetch(page.encoded().json) }
        return cache(page, pageRequest, for: purpose, version, revision)
    }

    /// The time in milliseconds for which a page is cached if metadata of its images is still incomplete.
    private static let awaiting: Int64 = 2_000

    /// Encodes and caches a page.
    ///
    /// - Parameters:
    ///   - version: The feed's version before the page was made.
    ///   - revision: The revision of image metadata before the page was made.
    private func cache(
        _ page: FeedPage, _ pageRequest: PageRequest, for purpose: ReadPurpose, _ version: FeedVersion, _ revision: UInt64
    ) -> LoadedPage {
        // A cached page is also compressed for later clients that accept gzip. A page that is not cached is compressed only if its client accepts it.
        let encodedResponse = format.encoded(
            page, isShared: true, isNamed: pageRequest.request.client != nil, gzip: pageRequest.gzip || pages.isEnabled,
            isCached: pages.isEnabled,
            route: pageRequest.route)
        // A page with an age is outdated as soon as the database is back.
        guard pages.isEnabled, page.age == nil else { return LoadedPage(response: encodedResponse) }
        let following = pageRequest.following(page)
        pages.store(
            encodedResponse, as: pageRequest.key, target: pageRequest.spelling, version: version.store, current: store.version,
            revision: revision, renderedAt: pageRequest.request.now,
            validUntil: page.isAwaiting ? min(page.validUntil, pageRequest.request.now + Self.awaiting) : page.validUntil,
            prefetchHint: purpose == .idle ? following.map(PageCache.PrefetchHint.init) : nil, dependencies: page.dependencies,
            sources: pageRequest.feed.ordersItself ? .init(feed: pageRequest.feed, version: version.sources) : nil)
        return LoadedPage(response: encodedResponse, following: following)
    }

    /// Makes a page in advance if the store has no other reads, so that a client that pages through the feed gets a cache hit.
    func prefetch(_ pageRequest: PageRequest) {
        // A data source that may be slow or remote is read on request only.
        guard pages.isEnabled, !pageRequest.feed.readsSources, isPrefetching.raise() else { return }
        Task(priority: .low) {
            defer { isPrefetching.lower() }
            let version = pageRequest.feed.version
            guard !pages.has(pageRequest.key, version: version.store) else { return }
            // If the store has other reads, the page is made when a client requests it.
            let loaded = try? await coalescer.runIfIdle(coalescingKey(pageRequest), version: version.combined) {
                try await make(pageRequest, for: .idle)
            }
            if loaded?.response != nil { metrics.recordPrefetch() }
        }
    }
}
