package import FoundationEssentials
internal import IntertwineHTTPServer
internal import Synchronization

/// The image proxy: fetches each image once, caches it in memory and on disk, and aborts downloads without waiters.
package final class ImageNetworkManager: Sendable {
    /// The name of this proxy in `Via`.
    static let viaName = "intertwine-images"

    private let configuration: ImageConfiguration
    private let cache: ImageCache
    private let coordinator: ImageFetchCoordinator
    private let resizer: ResizeCoordinator?
    private let memoryHits = Atomic<Int>(0)

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

    package var resizesImages: Bool { configuration.transformer?.isAvailable == true }

    package func cached(_ source: String, _ sizing: ResizeMode? = nil, _ kinds: AcceptedFormats = .anything) -> CachedImage? {
        guard let image = peek(source, sizing, kinds) else { return nil }
        memoryHits.add(1, ordering: .relaxed)
        return image
    }

    package func peek(_ source: String, _ sizing: ResizeMode? = nil, _ kinds: AcceptedFormats = .anything) -> CachedImage? {
        let found: CachedImage?
        if let sizing, resizesImages {
            found = cache.memory.image(ResizeKey(source, sizing, kinds.made(configuration.formats)))
        } else {
            found = cache.memory.image(source, kinds.accepted)
        }
        return fresh(found, kinds)
    }

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

    func isAtHand(_ request: ImageRequest) -> Bool {
        if request.sizing == nil || !resizesImages, configuration.bundled(request.source) != nil { return true }
        return peek(request.source, request.sizing, request.kinds) != nil
    }

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

    package func cancel(_ id: UUID) async -> Bool {
        let isKnown = await resizer?.cancel(id) ?? false
        return await coordinator.cancel(id) || isKnown
    }

    @discardableResult
    package func viewport(visible: [UUID], gone: [UUID]) async -> Int {
        let resized = await resizer?.viewport(visible: visible, gone: gone) ?? 0
        return await coordinator.viewport(visible: visible, gone: gone) + resized
    }

    @discardableResult
    package func purge(_ selection: ImageSelection) async -> Bool {
        await resizer?.purge(selection)
        return await coordinator.purge(selection)
    }

    package func metrics() async -> ImageMetrics {
        var metrics = await coordinator.metrics
        if let resizer { await resizer.add(to: &metrics) }
        metrics.requests[.hit, default: 0] += memoryHits.load(ordering: .relaxed)
        return metrics
    }

    package func flush() async { await cache.flush() }

    package func shutDown() async {
        await resizer?.shutDown()
        await coordinator.shutDown()
    }
}

package final class ImageLookup: Sendable {
    private static let mostKinds = 4

    package let source: String
    let sizing: ResizeMode?
    private let paths = Mutex<[KeyVariant]>([])

    private struct KeyVariant {
        let kinds: AcceptedFormats
        let key: String
        var index = 0
    }

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
