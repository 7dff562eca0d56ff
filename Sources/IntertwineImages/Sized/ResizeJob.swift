internal import FoundationEssentials
internal import IntertwineFetch

/// The key of a resized image.
struct ResizeKey: Sendable, Hashable {
    let source: String
    let sizing: ResizeMode
    /// The formats in which the image may be encoded for the client.
    let formats: AcceptedFormats.Set
    let key: String

    init(_ source: String, _ sizing: ResizeMode, _ formats: AcceptedFormats.Set) {
        self.source = source
        self.sizing = sizing
        self.formats = formats
        key = CachedImage.key(source, formats, sizing)
    }
}

/// A job that produces one resized image, with its waiters. All access is on the event loop of its ``ResizeCoordinator``.
final class ResizeJob {
    struct Waiter {
        let isCollapsed: Bool
        let kinds: AcceptedFormats
        var priority: ImagePriority
        let reply: @Sendable (ImageResponse) -> Void
    }

    let key: ResizeKey
    /// The name of the request for the original.
    let id = UUID()
    /// The waiter number of the request for the original.
    let ticket = ImageCancellation.next()
    /// A Boolean value indicating that the cache requested the image (stale-while-revalidate). The job then completes without waiters.
    let isOwned: Bool
    var waiters: [UInt64: Waiter] = [:]
    var stale: CachedImage?
    var isPurged = false
    var awaitsOriginal = false
    /// The known failure of the image, if any.
    var failure: ImageError?
    /// The cache outcome of the failure.
    var failureOutcome = CacheStatus.Outcome.miss
    var task: Task<Void, Never>?
    /// The priority of the most urgent waiter, which the transformer observes.
    let urgency: TransformPriority

    init(_ resizeKey: ResizeKey, stale: CachedImage?, isOwned: Bool) {
        self.key = resizeKey
        self.stale = stale
        self.isOwned = isOwned
        urgency = TransformPriority(.prefetch, origin: (try? FetchURL(resizeKey.source))?.authority)
    }

    var priority: ImagePriority { waiters.values.map(\.priority).max() ?? .prefetch }
}

/// The store of resized images in the memory and disk caches of their originals.
struct ResizedImageStore: Sendable {
    let memoryCache: MemoryCache
    let disk: DiskCache?

    func image(_ resizeKey: ResizeKey) -> CachedImage? { memoryCache.image(resizeKey) }

    /// Reads a resized image from the disk cache.
    ///
    /// - Parameter done: Called immediately, or on the queue of the disk cache.
    func read(_ resizeKey: ResizeKey, done: @escaping @Sendable (CachedImage?) -> Void) {
        if let disk { disk.read(resizeKey, done: done) } else { done(nil) }
    }

    func found(_ resizeKey: ResizeKey) async -> CachedImage? {
        guard let disk, disk.contains(resizeKey) else { return nil }
        return await withCheckedContinuation { continuation in disk.read(resizeKey) { continuation.resume(returning: $0) } }
    }

    func insertInMemory(_ image: CachedImage) { memoryCache.insert(image) }

    func store(_ image: CachedImage) {
        memoryCache.insert(image)
        disk?.write(image)
    }

    func accepts(_ image: CachedImage) -> Bool { memoryCache.accepts(image.body.count) || disk?.accepts(image.body.count) == true }
}
