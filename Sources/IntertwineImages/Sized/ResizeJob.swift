internal import FoundationEssentials

struct ResizeKey: Sendable, Hashable {
    let source: String
    let sizing: ResizeMode
    let formats: AcceptedFormats.Set
    let key: String

    init(_ source: String, _ sizing: ResizeMode, _ formats: AcceptedFormats.Set) {
        self.source = source
        self.sizing = sizing
        self.formats = formats
        key = CachedImage.key(source, formats, sizing)
    }
}

final class ResizeJob {
    let key: ResizeKey
    let id = UUID()
    let isOwned: Bool
    var waiters: [UInt64: ImageWaiter] = [:]
    var stale: CachedImage?
    var isPurged = false
    var awaitsOriginal = false
    var failure: ImageError?
    var failureOutcome = CacheStatus.Outcome.miss
    var task: Task<Void, Never>?
    let urgency: TransformPriority

    init(_ resizeKey: ResizeKey, stale: CachedImage?, isOwned: Bool) {
        self.key = resizeKey
        self.stale = stale
        self.isOwned = isOwned
        urgency = TransformPriority(.prefetch, origin: (try? FetchURL(resizeKey.source))?.authority)
    }

    var priority: ImagePriority { waiters.values.map(\.request.priority).max() ?? .prefetch }
}
