internal import FoundationEssentials

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
    let key: ResizeKey
    /// The name of the request for the original.
    let id = UUID()
    /// A Boolean value indicating that the cache requested the image (stale-while-revalidate). The job then completes without waiters.
    let isOwned: Bool
    var waiters: [UInt64: ImageWaiter] = [:]
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

    var priority: ImagePriority { waiters.values.map(\.request.priority).max() ?? .prefetch }
}
