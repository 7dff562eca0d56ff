internal import IntertwineHTTPServer

/// An actor that analyzes each fetched and stored image once, after its response, to learn its metadata (dimensions, placeholder).
/// It is served unchanged. Why: the missing bytes may exist after that time, and the decoder does not support every image.
/// It analyzes one image at a time, with the lowest worker priority.
actor ImageAnalyzer: EventLoopActor {
    /// The freshness lifetime in seconds of an image that cannot be decoded completely, unless its origin sets a shorter one.
    static let doubtfulTime: Int64 = 300

    nonisolated let loop: EventLoop
    private let transformer: any ImageTransformer
    private let facts: ImageMetadataTable
    private let cache: ImageCache
    private let clock: @Sendable () -> Int64
    private var queue = ImageAnalysisQueue()
    private var work: Task<Void, Never>?
    private var isShutDown = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(
        _ transformer: any ImageTransformer, facts: ImageMetadataTable, cache: ImageCache, loop: EventLoop,
        clock: @escaping @Sendable () -> Int64
    ) {
        (self.transformer, self.facts, self.cache, self.loop, self.clock) = (transformer, facts, cache, loop, clock)
    }

    func add(_ image: CachedImage) {
        guard !isShutDown, transformer.isAvailable, queue.add(image), work == nil else { return }
        work = Task { await self.runNext() }
    }

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
                // The first of several negotiated variants sets the metadata for all of them.
                if image.variant == nil || facts.facts(of: image.source) == nil { facts.learn(image.source, found, of: image.etag) }
            case .failure(let failure):
                if failure.reason == .undecodable { cache.shortenFreshness(image, until: clock() + Self.doubtfulTime) }
            }
        }
        work = nil
    }

    /// Decodes the image off the event loop, because the bytes of an image file are copied.
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

struct ImageAnalysisQueue {
    private struct Entry {
        weak var image: CachedImage?
    }

    static let most = 64

    private var waiting: [Entry] = []
    private var current: CachedImage?

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

    mutating func finish() -> Bool {
        defer { current = nil }
        return current != nil
    }
}
