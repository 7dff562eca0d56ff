public import FoundationEssentials
internal import Glibc
internal import IntertwineEventLoop
public import IntertwineFetch
public import Logging
internal import Synchronization

/// The image proxy: fetches each image once, caches it in memory and on disk, and aborts downloads without waiters.
///
/// ```
/// let request = ImageRequest("https://example.com/a.jpg")
/// let response = await manager.image(request)
/// if case .complete(let image) = response.body { print(image.etag) }
/// ```
public final class ImageNetworkManager: Sendable {
    /// The name of this proxy in `Via`. A request with this name has passed through the service before.
    public static let viaName = "intertwine-images"

    private let configuration: ImageConfiguration
    private let transfers: CurlClient
    private let memoryCache: MemoryCache
    private let coordinator: ImageFetchCoordinator
    /// The coordinator of resized images; nil if images are served unchanged.
    private let sized: ResizeCoordinator?
    private let memoryHits = Atomic<Int>(0)

    public init(_ configuration: ImageConfiguration, transfers: CurlClient) {
        self.configuration = configuration
        self.transfers = transfers
        memoryCache = MemoryCache(capacity: configuration.memoryBytes)
        let budget = ByteBudget(limit: configuration.bufferBytes)
        let disk = configuration.folder.map {
            DiskCache(folder: $0, capacity: configuration.diskBytes, budget: budget, logger: configuration.logger)
        }
        let flights = ImageFetchCoordinator(configuration, client: transfers, memoryCache: memoryCache, disk: disk, budget: budget)
        self.coordinator = flights
        let store = ResizedImageStore(memoryCache: memoryCache, disk: disk)
        sized = configuration.transformer.map {
            ResizeCoordinator(configuration, $0, loop: transfers.loop, coordinator: flights, store: store)
        }
    }

    /// True if images can be resized.
    public var resizesImages: Bool { configuration.transformer?.isAvailable == true }

    /// Returns the coordinator of resized images and the mode, if the request has one and images can be resized.
    private func sizing(_ request: ImageRequest) -> (ResizeCoordinator, ResizeMode)? {
        guard let sized, let sizing = request.sizing, resizesImages else { return nil }
        return (sized, sizing)
    }

    /// Returns the fresh image from memory in an accepted format, without blocking or copying. Thread-safe.
    ///
    /// The result may be served until its `freshness` expires, or until the next `purge(_:)`.
    public func cached(_ source: String, _ sizing: ResizeMode? = nil, _ kinds: AcceptedFormats = .anything) -> CachedImage? {
        guard let image = peek(source, sizing, kinds) else { return nil }
        memoryHits.add(1, ordering: .relaxed)
        return image
    }

    /// Returns the fresh image from memory like ``cached(_:_:_:)``, without counting a cache hit.
    public func peek(_ source: String, _ sizing: ResizeMode? = nil, _ kinds: AcceptedFormats = .anything) -> CachedImage? {
        let found: CachedImage?
        if let sizing, resizesImages {
            found = memoryCache.image(ResizeKey(source, sizing, kinds.made(configuration.formats)))
        } else {
            found = memoryCache.image(source, kinds.accepted)
        }
        return fresh(found, kinds)
    }

    /// Returns the fresh image from memory for a reusable lookup, like ``cached(_:_:_:)``.
    public func cached(_ lookup: ImageLookup, _ kinds: AcceptedFormats) -> CachedImage? {
        guard let sizing = lookup.sizing, resizesImages else { return cached(lookup.source, nil, kinds) }
        let found = lookup.image(in: memoryCache, kinds) { ResizeKey(lookup.source, sizing, kinds.made(configuration.formats)).key }
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
    public func image(_ request: ImageRequest) async -> ImageResponse {
        if request.isLoop { return ImageResponse(ImageError(.loop), CacheStatus(.bypass)) }
        if let image = cached(request.source, request.sizing, request.kinds) {
            return ImageResponse(image, CacheStatus(.hit), now: configuration.clock())
        }
        if let (sized, sizing) = sizing(request) { return await image(request, sizing, by: sized) }
        let answer = await original(request)
        // The client does not accept the format of the original, and accepts another one.
        guard case .failure(let failure) = answer.body, failure.reason == .notAcceptable, request.kinds.isPossible, let sized, resizesImages
        else { return answer }
        return await image(request, .original, by: sized)
    }

    private func image(_ request: ImageRequest, _ sizing: ResizeMode, by sized: ResizeCoordinator) async -> ImageResponse {
        let ticket = ImageCancellation.next()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                onLoop(sized) { $0.subscribe(request, sizing, ticket) { continuation.resume(returning: $0) } }
            }
        } onCancel: {
            ticket.cancel()
            onLoop(sized) { $0.unsubscribe(ticket.number) }
        }
    }

    private func original(_ request: ImageRequest) async -> ImageResponse {
        let ticket = ImageCancellation.next()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                onLoop { $0.subscribe(request, ticket) { continuation.resume(returning: $0) } }
            }
        } onCancel: {
            ticket.cancel()
            onLoop { $0.unsubscribe(ticket.number) }
        }
    }

    /// Cancels all requests with this name. Each gets 499, or its body fails. Returns false if there were none.
    public func cancel(_ id: UUID) async -> Bool {
        let isKnown = await run(sized) { $0.cancel(id) } ?? false
        return await run { $0.cancel(id) } || isKnown
    }

    /// Updates the viewport of a client that scrolls: raises the priority of visible images, and cancels those out of view.
    ///
    /// Unknown names are ignored.
    ///
    /// - Returns: The number of cancelled requests.
    @discardableResult
    public func viewport(visible: [UUID], gone: [UUID]) async -> Int {
        let made = await run(sized) { $0.viewport(visible: visible, gone: gone) } ?? 0
        return await run { $0.viewport(visible: visible, gone: gone) } + made
    }

    /// Purges images from all caches. Running downloads are served to their waiters and not stored. Returns after the removal.
    ///
    /// - Returns: False if some images could not be deleted from disk: the next process would find them again.
    @discardableResult
    public func purge(_ selection: ImageSelection) async -> Bool {
        _ = await run(sized) { $0.purge(selection) }
        await run { $0.forgetReviews(of: selection) }
        configuration.facts?.forget(selection)
        return await withCheckedContinuation { continuation in
            onLoop { $0.purge(selection) { continuation.resume(returning: $0) } }
        }
    }

    public func metrics() async -> ImageMetrics {
        var metrics = await run { $0.snapshot() }
        if let all = await run(sized, { [metrics] sized in sized.reported(metrics) }) { metrics = all }
        metrics.requests[.hit, default: 0] += memoryHits.load(ordering: .relaxed)
        return metrics
    }

    /// Returns once all images stored so far are on disk.
    public func flush() async {
        await coordinator.flush()
    }

    /// Cancels all requests and downloads. The owner of the transfer client shuts it down.
    public func shutDown() async {
        _ = await run(sized) { $0.shutDown() }
        await run { $0.shutDown() }
    }

    private func onLoop(_ body: @escaping @Sendable (isolated ImageFetchCoordinator) -> Void) {
        transfers.loop.execute { [coordinator] in coordinator.assumeIsolated(body) }
    }

    private func onLoop(_ sized: ResizeCoordinator, _ body: @escaping @Sendable (isolated ResizeCoordinator) -> Void) {
        transfers.loop.execute { sized.assumeIsolated(body) }
    }

    private func run<Value: Sendable>(
        _ sized: ResizeCoordinator?, _ body: @escaping @Sendable (isolated ResizeCoordinator) -> Value
    ) async -> Value? {
        guard let sized else { return nil }
        return await withCheckedContinuation { continuation in
            onLoop(sized) { continuation.resume(returning: body($0)) }
        }
    }

    private func run<Value: Sendable>(_ body: @escaping @Sendable (isolated ImageFetchCoordinator) -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            onLoop { continuation.resume(returning: body($0)) }
        }
    }
}

/// A reusable lookup of one image. The cache key and the position are computed once for all clients with equal accepted formats.
public final class ImageLookup: Sendable {
    /// The maximum number of remembered sets of accepted formats.
    private static let mostKinds = 4

    public let source: String
    /// The mode; nil for the original.
    let sizing: ResizeMode?
    /// The key and the position for each set of accepted formats.
    private let paths = Mutex<[KeyVariant]>([])

    private struct KeyVariant {
        let kinds: AcceptedFormats
        let key: String
        var index = 0
    }

    public init(_ source: String, _ sizing: ResizeMode?) {
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

/// A cancellation handle of a waiter. It can be cancelled before the event loop receives the request.
final class ImageCancellation: Sendable {
    private static let last = Atomic<UInt64>(0)

    let number: UInt64
    private let cancelled = Atomic<Bool>(false)

    init(_ number: UInt64) {
        self.number = number
    }

    /// Returns a handle with a number that is unique in this process.
    static func next() -> ImageCancellation { ImageCancellation(last.add(1, ordering: .relaxed).newValue) }

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    func cancel() {
        cancelled.store(true, ordering: .releasing)
    }
}

/// The configuration of the image proxy.
public struct ImageConfiguration: Sendable {
    /// The maximum of bytes of cached images in memory.
    public var memoryBytes = 64 * 1_024 * 1_024
    /// The folder of the disk cache; nil for none. `diskBytes` is its maximum size.
    public var folder: String?
    public var diskBytes = 2 * 1_024 * 1_024 * 1_024
    /// The memory budget in bytes of all running downloads together.
    public var bufferBytes = 128 * 1_024 * 1_024
    /// The maximum number of concurrent downloads, in total and per host. `queue` and `queueTimeout` limit the waiting ones.
    public var downloads = 64
    public var downloadsPerHost = 6
    public var queue = 256
    public var queueTimeout: Duration = .seconds(2)
    /// The time for which a download without waiters continues, for example if a user scrolls back.
    public var grace: Duration = .milliseconds(100)
    public var limits = FetchLimits()
    public var freshness = FreshnessPolicy()
    /// The freshness limits of certain hosts; the first match applies.
    public var hostFreshness: [HostFreshness] = []
    /// The local sources of images by URL prefix; the first match applies.
    public var sources: [ImageSource] = []
    /// The transformer that resizes images; nil to serve all of them unchanged.
    public var transformer: (any ImageTransformer)?
    /// Returns the bytes of an image that is bundled with the program; nil for images that are fetched from an origin.
    public var bundled: @Sendable (_ source: String) -> [UInt8]? = { _ in nil }
    /// The fallbacks for unavailable images by part name; empty bytes mean initials.
    public var fallbacks: [String: [UInt8]] = [:]
    /// The output formats among AVIF and WebP, the preferred one first.
    public var formats: [ImageFormat] = [.avif, .webp]
    public var qualities = EncodingQualities()
    /// The table for the metadata of decoded images; nil for none.
    public var facts: ImageMetadataTable?
    public var logger = Logger(label: "intertwine.images")
    public var userAgent = "Intertwine"
    /// Returns seconds since 1970. Tests replace it.
    public var clock: @Sendable () -> Int64 = { Int64(time(nil)) }

    public init() {}
}
