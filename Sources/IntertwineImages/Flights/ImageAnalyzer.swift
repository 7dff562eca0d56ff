internal import IntertwineEventLoop
internal import IntertwineFetch

/// Looks at pictures that were fetched and are kept, once each and behind their answers: what they look like. One that cannot be decoded to its end
/// looks like nothing. It is served as it came, for minutes: what is missing may be there then, and what decodes pictures does not know them all.
///
/// Lives on the loop of its ``ImageFetchCoordinator``. One picture at a time, behind all others that workers have to do.
actor ImageAnalyzer {
    /// Seconds for which one is kept that cannot be decoded, where its origin says no less.
    private static let doubtfulTime: Int64 = 300

    private nonisolated let loop: EventLoop
    private let transformer: any ImageTransformer
    private let facts: ImageMetadataTable
    private let store: ImageStore
    private let clock: @Sendable () -> Int64
    private var queue = ImageAnalysisQueue()
    private var work: Task<Void, Never>?
    private var isShutDown = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// - Parameter clock: seconds since 1970.
    init(
        _ transformer: any ImageTransformer, facts: ImageMetadataTable, store: ImageStore, loop: EventLoop,
        clock: @escaping @Sendable () -> Int64
    ) {
        (self.transformer, self.facts, self.store, self.loop, self.clock) = (transformer, facts, store, loop, clock)
    }

    func add(_ image: CachedImage) {
        guard !isShutDown, transformer.isAvailable, queue.add(image), work == nil else { return }
        work = Task { await self.runNext() }
    }

    /// Nothing that is found out about them from here on counts.
    func forget(_ selection: ImageSelection) { queue.forget { selection.contains($0.source) } }

    func shutDown() {
        isShutDown = true
        queue.forget { _ in true }
        work?.cancel()
    }

    private func runNext() async {
        while let image = queue.next() {
            let found = await Self.analyze(image: image, by: transformer)
            guard queue.finish() else { continue }
            switch found {
            case .success(let found):
                // Of those that differ by who asks, the first one tells what all look like.
                if image.variant == nil || facts.facts(of: image.source) == nil { facts.learn(image.source, found, of: image.etag) }
            case .failure(let failure):
                if failure.reason == .undecodable { store.shortenFreshness(image, until: clock() + Self.doubtfulTime) }
            }
        }
        work = nil
    }

    /// Off the loop: those that lie in files are copied.
    @concurrent
    private static func analyze(
        image: CachedImage, by transformer: any ImageTransformer
    ) async -> Result<ImageMetadata, ImageError> {
        do throws(ImageError) {
            let urgency = TransformPriority(.prefetch, origin: (try? FetchURL(image.source))?.authority)
            return .success(try await transformer.facts(of: image.body.bytes, urgency: urgency))
        } catch {
            return .failure(error)
        }
    }
}

/// Whose turn it is to be looked at, and whether what is found then still counts. Pure.
///
/// Nobody waits for it: where there is more to do than can be done, what comes last is left out, and what the cache lets go meanwhile is no longer
/// held for it.
struct ImageAnalysisQueue {
    private struct Entry {
        weak var image: CachedImage?
    }

    /// How many may wait.
    static let most = 64

    private var waiting: [Entry] = []
    /// The one that is being looked at; nil, too, where it is not kept any longer.
    private var current: CachedImage?

    /// It takes the place of what was kept under its key.
    /// - Returns: false where it is left out.
    mutating func add(_ image: CachedImage) -> Bool {
        forget { $0.key == image.key }
        guard waiting.count < Self.most else { return false }
        waiting.append(Entry(image: image))
        return true
    }

    mutating func forget(where isGone: (CachedImage) -> Bool) {
        waiting.removeAll { $0.image.map(isGone) ?? true }
        if current.map(isGone) == true { current = nil }
    }

    mutating func next() -> CachedImage? {
        while !waiting.isEmpty {
            guard let image = waiting.removeFirst().image else { continue }
            current = image
            return image
        }
        return nil
    }

    /// - Returns: whether what was found counts.
    mutating func finish() -> Bool {
        defer { current = nil }
        return current != nil
    }
}
