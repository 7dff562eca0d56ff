internal import FoundationEssentials
internal import IntertwineFetch

/// What one sized picture is known by.
struct ResizeKey: Sendable, Hashable {
    let source: String
    let sizing: ResizeMode
    /// That the client takes.
    let formats: AcceptedFormats.Set
    let key: String

    init(_ source: String, _ sizing: ResizeMode, _ formats: AcceptedFormats.Set) {
        self.source = source
        self.sizing = sizing
        self.formats = formats
        key = CachedImage.key(source, formats, sizing)
    }
}

/// The making of one sized picture, and who waits for it. On the loop of its ``ResizeCoordinator`` only.
final class ResizeJob {
    struct Waiter {
        let isCollapsed: Bool
        let kinds: AcceptedFormats
        var priority: ImagePriority
        let reply: @Sendable (ImageResponse) -> Void
    }

    let key: ResizeKey
    /// The name under which its original is asked for.
    let id = UUID()
    /// And the waiter that asks.
    let ticket = ImageCancellation.next()
    /// The cache itself wants it: it is finished whoever leaves.
    let isOwned: Bool
    var waiters: [UInt64: Waiter] = [:]
    var stale: CachedImage?
    var isPurged = false
    var awaitsOriginal = false
    /// What is known to be wrong with the picture.
    var failure: ImageError?
    /// How it was found out that there is none.
    var failureOutcome = CacheStatus.Outcome.miss
    var task: Task<Void, Never>?
    /// That of the most urgent waiter, for whoever has the work.
    let urgency: TransformPriority

    init(_ wish: ResizeKey, stale: CachedImage?, isOwned: Bool) {
        self.key = wish
        self.stale = stale
        self.isOwned = isOwned
        urgency = TransformPriority(.prefetch, origin: (try? FetchURL(wish.source))?.authority)
    }

    var priority: ImagePriority { waiters.values.map(\.priority).max() ?? .prefetch }
}

/// The sized pictures that are kept, in memory and on disk, beside their originals.
struct ResizedImageStore: Sendable {
    let memoryCache: MemoryCache
    let disk: DiskCache?

    func image(_ wish: ResizeKey) -> CachedImage? { memoryCache.image(wish) }

    /// - Parameter done: called at once, or from the disk's queue.
    func read(_ wish: ResizeKey, done: @escaping @Sendable (CachedImage?) -> Void) {
        if let disk { disk.read(wish, done: done) } else { done(nil) }
    }

    func found(_ wish: ResizeKey) async -> CachedImage? {
        guard let disk, disk.contains(wish) else { return nil }
        return await withCheckedContinuation { continuation in disk.read(wish) { continuation.resume(returning: $0) } }
    }

    func insertInMemory(_ image: CachedImage) { memoryCache.insert(image) }

    func store(_ image: CachedImage) {
        memoryCache.insert(image)
        disk?.write(image)
    }

    func accepts(_ image: CachedImage) -> Bool { memoryCache.accepts(image.body.count) || disk?.accepts(image.body.count) == true }
}
