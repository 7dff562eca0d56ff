internal import FoundationEssentials
internal import IntertwineFetch

/// What one sized picture is known by.
struct SizedWish: Sendable, Hashable {
    let source: String
    let sizing: PictureSizing
    /// That the client takes.
    let formats: AcceptedKinds.Set
    let key: String

    init(_ source: String, _ sizing: PictureSizing, _ formats: AcceptedKinds.Set) {
        self.source = source
        self.sizing = sizing
        self.formats = formats
        key = CachedImage.key(source, formats, sizing)
    }
}

/// The making of one sized picture, and who waits for it. On the loop of its ``SizedFlights`` only.
final class SizedMaking {
    struct Waiter {
        let isCollapsed: Bool
        let kinds: AcceptedKinds
        var priority: ImagePriority
        let reply: @Sendable (ImageAnswer) -> Void
    }

    let wish: SizedWish
    /// The name under which its original is asked for.
    let id = UUID()
    /// And the waiter that asks.
    let ticket = ImageTicket.next()
    /// The cache itself wants it: it is finished whoever leaves.
    let isOwned: Bool
    var waiters: [UInt64: Waiter] = [:]
    var stale: CachedImage?
    var isPurged = false
    var awaitsOriginal = false
    /// What is known to be wrong with the picture.
    var failure: ImageFailure?
    /// How it was found out that there is none.
    var failureOutcome = CacheStatus.Outcome.miss
    var task: Task<Void, Never>?
    /// That of the most urgent waiter, for whoever has the work.
    let urgency: PictureUrgency

    init(_ wish: SizedWish, stale: CachedImage?, isOwned: Bool) {
        self.wish = wish
        self.stale = stale
        self.isOwned = isOwned
        urgency = PictureUrgency(.prefetch, origin: (try? FetchURL(wish.source))?.authority)
    }

    var priority: ImagePriority { waiters.values.map(\.priority).max() ?? .prefetch }
}

/// The sized pictures that are kept, in memory and on disk, beside their originals.
struct SizedStore: Sendable {
    let memory: MemoryCache
    let disk: DiskCache?

    func image(_ wish: SizedWish) -> CachedImage? { memory.image(wish) }

    /// - Parameter done: called at once, or from the disk's queue.
    func read(_ wish: SizedWish, done: @escaping @Sendable (CachedImage?) -> Void) {
        if let disk { disk.read(wish, done: done) } else { done(nil) }
    }

    func found(_ wish: SizedWish) async -> CachedImage? {
        guard let disk, disk.holds(wish) else { return nil }
        return await withCheckedContinuation { continuation in disk.read(wish) { continuation.resume(returning: $0) } }
    }

    func hold(_ image: CachedImage) { memory.insert(image) }

    func keep(_ image: CachedImage) {
        memory.insert(image)
        disk?.write(image)
    }

    func takes(_ image: CachedImage) -> Bool { memory.takes(image.body.count) || disk?.takes(image.body.count) == true }
}
