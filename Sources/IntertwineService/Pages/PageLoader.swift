internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineImages
internal import Synchronization

/// Loads pages: from the cache, from a load in progress, or by an assembly, after which the page is encoded, compressed and cached.
final class PageLoader: Sendable {
    /// A class, because lookups of cached pages copy the reference.
    final class PageRequest: Sendable {
        let request: FeedRequest
        let feed: FeedAssembler
        let target: String
        let gzip: Bool
        let route: String
        fileprivate let key: PageCache.Key

        init(_ request: FeedRequest, of feed: FeedAssembler, target: String, gzip: Bool, route: String) {
            (self.request, self.feed, self.target, self.gzip, self.route) = (request, feed, target, gzip, route)
            key = PageCache.Key(request, of: feed.path)
        }

        fileprivate var spelling: String {
            let ending = String(decoding: PageCache.ending(request.language), as: UTF8.self)
            guard request.client == nil, let unsupportedCells = request.unsupportedCells else { return target + ending }
            return "\(unsupportedCells.digest) \(target)\(ending)"
        }

        fileprivate var coalescingKey: PageRequestCoalescer<LoadedPage>.Key {
            .init(page: key, validUntil: CellTokens.endOfBucket(of: request.now))
        }

        fileprivate func following(_ page: FeedPage) -> PageRequest? {
            guard let href = page.next, let cursor = try? Query(href.split(separator: "?", maxSplits: 1).last ?? "").text("cursor") else {
                return nil
            }
            var next = request
            next.cursor = cursor
            // Requests contain the path only, without the preceding part of the href.
            let target = href.firstRange(of: feed.path + "?").map { String(href[$0.lowerBound...]) } ?? href
            return PageRequest(next, of: feed, target: target, gzip: gzip, route: route)
        }
    }

    /// Nil for a page that no one else may get.
    fileprivate typealias LoadedPage = (response: EncodedResponse, following: PageRequest?)?

    /// Called once with the response, on an arbitrary thread; it must not block.
    typealias Completion = @Sendable (Result<EncodedResponse, any Error>) -> Void

    private let store: any FeedStore
    private let pages: PageCache
    private let format: PageFormat
    private let metrics: PageMetrics
    private let imagePrefetcher: ImagePrefetcher?
    private let coalescer = PageRequestCoalescer<LoadedPage>()
    /// True during a prefetch, so that one runs at a time.
    private let isPrefetching = Atomic(false)

    init(store: any FeedStore, pages: PageCache, format: PageFormat, metrics: PageMetrics, imagePrefetcher: ImagePrefetcher? = nil) {
        (self.store, self.pages, self.format, self.metrics, self.imagePrefetcher) = (store, pages, format, metrics, imagePrefetcher)
    }

    func cachedPage(for head: borrowing RequestHead, in language: FeedLanguage?, now: Int64) -> EncodedResponse? {
        pages.response(for: head, in: language, version: store.version, now: now) { prefetch($0) }
    }

    // MARK: Loading

    func page(
        _ request: FeedRequest, of feed: FeedAssembler, for client: PageClient, gzip: Bool, completion: @escaping Completion
    ) -> HandlerResult.CancellationHandler? {
        feed.page(request, for: client) { [format, metrics] page in
            completion(
                page.map { page in
                    metrics.count(page.omissions)
                    return format.encoded(page, isShared: false, gzip: gzip)
                })
        }
    }

    func page(
        _ request: PageRequest, for client: PageClient, completion: @escaping Completion
    ) -> HandlerResult.CancellationHandler {
        let work = CancellableWork()
        let arrival = coalescer.arrive()
        work.perform { sharedPage(request, for: client, since: arrival, work, completion) }
        return work.cancel
    }

    func response(_ load: (@escaping Completion) -> HandlerResult.CancellationHandler?) async throws -> EncodedResponse {
        let work = CancellableWork()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                work.perform { load { continuation.resume(with: $0) } }
            }
        } onCancel: {
            work.cancel()
        }
    }

    private func sharedPage(
        _ request: PageRequest, for client: PageClient, since arrival: UInt64, _ work: CancellableWork, _ completion: @escaping Completion
    ) -> HandlerResult.CancellationHandler? {
        if let ready = ready(request) {
            completion(.success(ready))
            return nil
        }
        // Completes the request with a loaded page.
        let finish: @Sendable (Result<LoadedPage, any Error>) -> Void = { [self] loaded in
            switch loaded {
            case .failure(let error): completion(.failure(error))
            case .success(let loaded):
                // A client that requests a page with a cursor is likely to request the next page.
                if let loaded {
                    if request.request.cursor != nil, let following = loaded.following { prefetch(following) }
                    return completion(.success(loaded.response))
                }
                // A campaign became active after the first check.
                work.perform { page(request.request, of: request.feed, for: client, gzip: request.gzip, completion: completion) }
            }
        }
        let (key, version) = (request.coalescingKey, request.feed.version)
        let cancel = coalescer.beginOrWait(key, version.combined, since: arrival) { [self] loaded in
            if let loaded { return finish(loaded) }
            work.perform { sharedPage(request, for: client, since: arrival, work, completion) }
        }
        if let cancel {
            metrics.join()
            return cancel
        }
        // A load that completed since the last check has cached its page.
        if let ready = ready(request) {
            coalescer.complete(key, nil)
            completion(.success(ready))
            return nil
        }
        metrics.miss()
        return load(request, for: .page, version, finish)
    }

    private func ready(_ request: PageRequest) -> EncodedResponse? {
        guard pages.isEnabled else { return nil }
        return pages.response(request.key, target: request.spelling, version: store.version, now: request.request.now) { prefetch($0) }
    }

    private func load(
        _ request: PageRequest, for purpose: ReadPurpose, _ version: FeedVersion,
        _ completion: @escaping @Sendable (Result<LoadedPage, any Error>) -> Void
    ) -> HandlerResult.CancellationHandler? {
        let revision = pages.revision
        return request.feed.sharedPage(request.request, for: purpose) { [self] page in
            let loaded = page.map { page in
                guard let page else { return LoadedPage.none }
                metrics.count(page.omissions)
                if purpose == .idle, let imagePrefetcher {
                    let json = page.encoded().json
                    Task(priority: .low) { imagePrefetcher.prefetch(json) }
                }
                return cache(page, request, for: purpose, version, revision)
            }
            coalescer.complete(request.coalescingKey, loaded)
            completion(loaded)
        }
    }

    // MARK: Caching

    /// The time in milliseconds for which a page is cached if metadata of its images is still incomplete.
    private static let awaiting: Int64 = 2_000

    private func cache(
        _ page: FeedPage, _ request: PageRequest, for purpose: ReadPurpose, _ version: FeedVersion, _ revision: UInt64
    ) -> LoadedPage {
        // A cached page is also compressed for later clients that accept gzip. A page that is not cached is compressed only if its client accepts it.
        let response = format.encoded(
            page, isShared: true, isNamed: request.request.client != nil, gzip: request.gzip || pages.isEnabled,
            isCached: pages.isEnabled, route: request.route, now: request.request.now)
        // A page with an age is outdated as soon as the database is back.
        guard pages.isEnabled, page.age == nil else { return (response, nil) }
        let (following, now) = (request.following(page), request.request.now)
        let end = min(page.validUntil, format.end(of: page, now))
        pages.store(
            PageCache.Page(
                response: response, version: version.store, revision: revision, renderedAt: now,
                validUntil: page.isAwaiting ? min(end, now + Self.awaiting) : end,
                following: purpose == .idle ? following : nil, dependencies: page.dependencies,
                sources: request.feed.ordersItself ? .init(feed: request.feed, version: version.sources) : nil),
            as: request.key, target: request.spelling, current: store.version)
        return (response, following)
    }

    /// Makes a page in advance if the store has no other reads, so that a client that pages through the feed gets a cache hit.
    func prefetch(_ request: PageRequest) {
        // A data source that may be slow or remote is read on request only.
        guard pages.isEnabled, !request.feed.readsSources, !isPrefetching.exchange(true, ordering: .acquiring) else { return }
        Task(priority: .low) {
            let version = request.feed.version
            guard !pages.has(request.key, version: version.store), coalescer.begin(request.coalescingKey, version.combined) else {
                return isPrefetching.store(false, ordering: .releasing)
            }
            // If the store has other reads, the page is made when a client requests it.
            _ = load(request, for: .idle, version) { [self] loaded in
                if case .success(_?) = loaded { metrics.recordPrefetch() }
                isPrefetching.store(false, ordering: .releasing)
            }
        }
    }
}
