package import FoundationEssentials
internal import IntertwineHTTPServer
internal import Synchronization

/// The image proxy: fetches each image once, caches it in memory and on disk, and aborts downloads without waiters.
///
/// ```
/// let request = ImageRequest("https://example.com/a.jpg")
/// let response = await manager.image(request)
/// if case .complete(let image) = response.body { print(image.etag) }
/// ```
package final class ImageNetworkManager: Sendable {
    /// The name of this proxy in `Via`. A request with this name has passed through the service before.
    static let viaName = "intertwine-images"

    private let configuration: ImageConfiguration
    private let cache: ImageCache
    private let coordinator: ImageFetchCoordinator
    /// The coordinator of resized images; nil if images are served unchanged.
    private let resizer: ResizeCoordinator?
    private let memoryHits = Atomic<Int>(0)

    /// Creates a manager, and indexes the files of the disk cache in the background.
    ///
    /// ```swift
    /// let client = CurlClient(on: try EventLoop(label: "images"), policy: AddressPolicy())
    /// let manager = ImageNetworkManager(ImageConfiguration(), transfers: client)
    /// ```
    ///
    /// - Parameter transfers: The client for downloads, which the caller shuts down after the manager.
    package init(_ configuration: ImageConfiguration, transfers: CurlClient) {
        self.configuration = configuration
        let budget = MemoryBudget(limit: configuration.bufferBytes)
        let disk = configuration.folder.map {
            DiskCache(folder: $0, capacity: configuration.diskBytes, budget: budget, logger: configuration.logger)
        }
        cache = ImageCache(memory: MemoryCache(capacity: configuration.memoryBytes), disk: disk)
        coordinator = ImageFetchCoordinator(configuration, client: transfers, cache: cache, budget: budget)
        resizer = configuration.transformer.map { [cache, coordinator] in
            ResizeCoordinator(configuration, $0, loop: transfers.loop, coordinator: coordinator, cache: cache)
        }
    }

    /// True if images can be resized.
    package var resizesImages: Bool { configuration.transformer?.isAvailable == true }

    /// Returns the fresh image from memory in an accepted format, without blocking or copying. Thread-safe.
    ///
    /// The result may be served until its `freshness` expires, or until the next `purge(_:)`.
    ///
    /// ```swift
    /// let kinds = AcceptedFormats("image/webp,*/*")
    /// if let image = manager.cached("https://example.com/a.jpg", nil, kinds) { print(image.etag) }
    /// ```
    package func cached(_ source: String, _ sizing: ResizeMode? = nil, _ kinds: AcceptedFormats = .anything) -> CachedImage? {
        guard let image = peek(source, sizing, kinds) else { return nil }
        memoryHits.add(1, ordering: .relaxed)
        return image
    }

    /// Returns the fresh image from memory like ``cached(_:_:_:)``, without counting a cache hit.
    package func peek(_ source: String, _ sizing: ResizeMode? = nil, _ kinds: AcceptedFormats = .anything) -> CachedImage? {
        let found: CachedImage?
        if let sizing, resizesImages {
            found = cache.memory.image(ResizeKey(source, sizing, kinds.made(configuration.formats)))
        } else {
            found = cache.memory.image(source, kinds.accepted)
        }
        return fresh(found, kinds)
    }

    /// Returns the fresh image from memory for a reusable lookup, like ``cached(_:_:_:)``.
    ///
    /// ```swift
    /// let lookup = ImageLookup("https://example.com/a.jpg", nil)
    /// let first = manager.cached(lookup, .anything)
    /// let second = manager.cached(lookup, AcceptedFormats("image/png"))
    /// ```
    package func cached(_ lookup: ImageLookup, _ kinds: AcceptedFormats) -> CachedImage? {
        guard let sizing = lookup.sizing, resizesImages else { return cached(lookup.source, nil, kinds) }
        let found = lookup.image(in: cache.memory, kinds) { ResizeKey(lookup.source, sizing, kinds.made(configuration.formats)).key }
        guard let image = fresh(found, kinds) else { return nil }
        memoryHits.add(1, ordering: .relaxed)
        return image
    }

    private func fresh(_ found: CachedImage?, _ kinds: AcceptedFormats) -> CachedImage? {
        guard let found, kinds.permits(found.kind), found.freshness.isFresh(at: configuration.clock()) else { return nil }
        return found
    }

    /// Returns true if no prefetch is necessary: the image is in memory or bundled with the program.
    func isAtHand(_ request: ImageRequest) -> Bool {
        if request.sizing == nil || !resizesImages, configuration.bundled(request.source) != nil { return true }
        return peek(request.source, request.sizing, request.kinds) != nil
    }

    /// Returns the response to a request once its head is known. A body that is still arriving is a stream.
    ///
    /// Cancelling the task cancels the request, as does releasing the stream.
    ///
    /// ```swift
    /// let response = await manager.image(ImageRequest("https://example.com/a.jpg"))
    /// print(response.status, response.cacheStatus.field)
    /// let bytes = try await response.bytes()
    /// ```
    package func image(_ request: ImageRequest) async -> ImageResponse {
        if request.isLoop { return ImageResponse(ImageError(.loop), CacheStatus(.bypass)) }
        if let image = cached(request.source, request.sizing, request.kinds) {
            return ImageResponse(image, CacheStatus(.hit), now: configuration.clock())
        }
        if let resizer, let sizing = request.sizing, resizesImages { return await resizer.response(to: request, sizing) }
        let response = await coordinator.response(to: request)
        // The client does not accept the format of the original, and accepts another one.
        guard case .failure(let failure) = response.body, failure.reason == .notAcceptable, request.kinds.isPossible, let resizer,
            resizesImages
        else { return response }
        return await resizer.response(to: request, .original)
    }

    /// Cancels all requests with this name. Each gets 499, or its body fails. Returns false if there were none.
    ///
    /// ```swift
    /// let id = UUID()
    /// let task = Task { await manager.image(ImageRequest("https://example.com/a.jpg", id: id)) }
    /// let wasKnown = await manager.cancel(id)
    /// ```
    package func cancel(_ id: UUID) async -> Bool {
        let isKnown = await resizer?.cancel(id) ?? false
        return await coordinator.cancel(id) || isKnown
    }

    /// Updates the viewport of a client that scrolls: raises the priority of visible images, and cancels those out of view.
    ///
    /// Unknown names are ignored.
    ///
    /// ```swift
    /// let (first, second) = (UUID(), UUID())  // the names of two requests
    /// let cancelled = await manager.viewport(visible: [first], gone: [second])
    /// print(cancelled, "requests were cancelled")
    /// ```
    ///
    /// - Returns: The number of cancelled requests.
    @discardableResult
    package func viewport(visible: [UUID], gone: [UUID]) async -> Int {
        let resized = await resizer?.viewport(visible: visible, gone: gone) ?? 0
        return await coordinator.viewport(visible: visible, gone: gone) + resized
    }

    /// Purges images from all caches. Running downloads are served to their waiters and not stored. Returns after the removal.
    ///
    /// ```swift
    /// await manager.purge(.source("https://example.com/a.jpg"))
    /// let isComplete = await manager.purge(.all)
    /// ```
    ///
    /// - Returns: False if some images could not be deleted from disk: the next process would find them again.
    @discardableResult
    package func purge(_ selection: ImageSelection) async -> Bool {
        await resizer?.purge(selection)
        return await coordinator.purge(selection)
    }

    /// Returns the counters since the start and the current gauges.
    package func metrics() async -> ImageMetrics {
        var metrics = await coordinator.metrics
        if let resizer { await resizer.add(to: &metrics) }
        metrics.requests[.hit, default: 0] += memoryHits.load(ordering: .relaxed)
        return metrics
    }

    /// Returns once all images stored so far are on disk.
    package func flush() async { await cache.flush() }

    /// Cancels all requests and downloads. The owner of the transfer client shuts it down.
    ///
    /// ```swift
    /// await manager.flush()
    /// await manager.shutDown()
    /// await client.shutDown()
    /// ```
    package func shutDown() async {
        await resizer?.shutDown()
        await coordinator.shutDown()
    }
}

/// A reusable lookup of one image. The cache key and the position are computed once for all clients with equal accepted formats.
package final class ImageLookup: Sendable {
    /// The maximum number of remembered sets of accepted formats.
    private static let mostKinds = 4

    /// The URL of the image.
    package let source: String
    /// The mode; nil for the original.
    let sizing: ResizeMode?
    /// The key and the position for each set of accepted formats.
    private let paths = Mutex<[KeyVariant]>([])

    private struct KeyVariant {
        let kinds: AcceptedFormats
        let key: String
        var index = 0
    }

    /// Creates a lookup.
    ///
    /// - Parameter sizing: The size; nil for the original.
    package init(_ source: String, _ sizing: ResizeMode?) {
        (self.source, self.sizing) = (source, sizing)
    }

    fileprivate func image(in memory: MemoryCache, _ kinds: AcceptedFormats, _ key: () -> String) -> CachedImage? {
        paths.withLock { variants in
            var variant = variants.firstIndex { $0.kinds == kinds }
            if variant == nil {
                if variants.count >= Self.mostKinds { variants = [] }
                variants.append(KeyVariant(kinds: kinds, key: key()))
                variant = variants.endIndex - 1
            }
            return variant.flatMap { memory.image(variants[$0].key, at: &variants[$0].index) }
        }
    }
}
