public import FoundationEssentials
internal import Glibc
internal import IntertwineEventLoop
public import IntertwineFetch
public import Logging
internal import Synchronization

/// Pictures for whoever waits: each fetched once, kept in memory and on disk, and given up when nobody waits any more.
public final class ImageNetworkManager: Sendable {
    /// How this proxy names itself in `Via`. A request that carries the name has come through here before.
    public static let viaName = "intertwine-images"

    private let configuration: ImageConfiguration
    private let transfers: CurlClient
    private let memoryCache: MemoryCache
    private let coordinator: ImageFetchCoordinator
    /// Nil where pictures are served as their origins have them.
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

    /// Whether sized pictures are made here.
    public var makesSizes: Bool { configuration.transformer?.isAvailable == true }

    /// The maker of sized pictures, where there is one and the request is for it.
    private func sizing(_ request: ImageRequest) -> (ResizeCoordinator, ResizeMode)? {
        guard let sized, let sizing = request.sizing, makesSizes else { return nil }
        return (sized, sizing)
    }

    /// The fresh picture in memory, in a format that is taken, at once and without copying. From any thread.
    ///
    /// Who answers from it without asking again may do so until its `freshness` is over, or until the next `purge(_:)`.
    public func cached(_ source: String, _ sizing: ResizeMode? = nil, _ kinds: AcceptedFormats = .anything) -> CachedImage? {
        guard let image = peek(source, sizing, kinds) else { return nil }
        memoryHits.add(1, ordering: .relaxed)
        return image
    }

    /// The same for who does not answer a request with it: it is not counted as a hit.
    public func peek(_ source: String, _ sizing: ResizeMode? = nil, _ kinds: AcceptedFormats = .anything) -> CachedImage? {
        let found: CachedImage?
        if let sizing, makesSizes {
            found = memoryCache.image(ResizeKey(source, sizing, kinds.made(configuration.formats)))
        } else {
            found = memoryCache.image(source, kinds.accepted)
        }
        return fresh(found, kinds)
    }

    /// The same as ``cached(_:_:_:)`` for who looks it up again and again.
    public func cached(_ lookup: ImageLookup, _ kinds: AcceptedFormats) -> CachedImage? {
        guard let sizing = lookup.sizing, makesSizes else { return cached(lookup.source, nil, kinds) }
        let found = lookup.image(in: memoryCache, kinds) { ResizeKey(lookup.source, sizing, kinds.made(configuration.formats)).key }
        guard let image = fresh(found, kinds) else { return nil }
        memoryHits.add(1, ordering: .relaxed)
        return image
    }

    private func fresh(_ found: CachedImage?, _ kinds: AcceptedFormats) -> CachedImage? {
        guard let found, kinds.permits(found.kind), found.freshness.isFresh(at: configuration.clock()) else { return nil }
        return found
    }

    /// Whether there is nothing to do for it: it lies in memory, or comes with the program.
    func isAtHand(_ request: ImageRequest) -> Bool {
        if request.sizing == nil || !makesSizes, configuration.bundled(request.source) != nil { return true }
        return peek(request.source, request.sizing, request.kinds) != nil
    }

    /// The answer to a request, as soon as its head is known; a body that is still on its way comes as a stream.
    /// Cancelling the task takes the request back; so does letting go of the stream.
    public func image(_ request: ImageRequest) async -> ImageResponse {
        if request.isLoop { return ImageResponse(ImageError(.loop), CacheStatus(.bypass)) }
        if let image = cached(request.source, request.sizing, request.kinds) {
            return ImageResponse(image, CacheStatus(.hit), now: configuration.clock())
        }
        if let (sized, sizing) = sizing(request) { return await image(request, sizing, by: sized) }
        let answer = await original(request)
        // The client does not accept the format of the original, and accepts another one.
        guard case .failure(let failure) = answer.body, failure.reason == .notAcceptable, request.kinds.isPossible, let sized, makesSizes
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

    /// Takes back all requests of that name; each is answered 499 or its body fails. False where none is under way.
    public func cancel(_ id: UUID) async -> Bool {
        let isKnown = await asked(sized) { $0.cancel(id) } ?? false
        return await asked { $0.cancel(id) } || isKnown
    }

    /// What a client that scrolls fast sends: these are in view now, those are gone. Names that are not under way are passed over.
    /// - Returns: how many requests were taken back.
    @discardableResult
    public func viewport(visible: [UUID], gone: [UUID]) async -> Int {
        let made = await asked(sized) { $0.viewport(visible: visible, gone: gone) } ?? 0
        return await asked { $0.viewport(visible: visible, gone: gone) } + made
    }

    /// Forgets pictures everywhere. What is being downloaded of them reaches those who wait, and is not kept. Returns when the last is gone.
    ///
    /// - Returns: false where some could not be removed from the disk: the next process would find them again.
    @discardableResult
    public func purge(_ selection: ImageSelection) async -> Bool {
        _ = await asked(sized) { $0.purge(selection) }
        await asked { $0.forgetReviews(of: selection) }
        configuration.facts?.forget(selection)
        return await withCheckedContinuation { continuation in
            onLoop { $0.purge(selection) { continuation.resume(returning: $0) } }
        }
    }

    public func metrics() async -> ImageMetrics {
        var metrics = await asked { $0.snapshot() }
        if let all = await asked(sized, { [metrics] sized in sized.reported(metrics) }) { metrics = all }
        metrics.requests[.hit, default: 0] += memoryHits.load(ordering: .relaxed)
        return metrics
    }

    /// Calls back when what was asked to be stored so far is on disk.
    public func flush() async {
        await coordinator.flush()
    }

    /// Takes back all requests and gives up all downloads. The transfers are shut down by whoever made them.
    public func shutDown() async {
        _ = await asked(sized) { $0.shutDown() }
        await asked { $0.shutDown() }
    }

    private func onLoop(_ body: @escaping @Sendable (isolated ImageFetchCoordinator) -> Void) {
        transfers.loop.execute { [coordinator] in coordinator.assumeIsolated(body) }
    }

    private func onLoop(_ sized: ResizeCoordinator, _ body: @escaping @Sendable (isolated ResizeCoordinator) -> Void) {
        transfers.loop.execute { sized.assumeIsolated(body) }
    }

    private func asked<Answer: Sendable>(
        _ sized: ResizeCoordinator?, _ body: @escaping @Sendable (isolated ResizeCoordinator) -> Answer
    ) async -> Answer? {
        guard let sized else { return nil }
        return await withCheckedContinuation { continuation in
            onLoop(sized) { continuation.resume(returning: body($0)) }
        }
    }

    private func asked<Answer: Sendable>(_ body: @escaping @Sendable (isolated ImageFetchCoordinator) -> Answer) async -> Answer {
        await withCheckedContinuation { continuation in
            onLoop { continuation.resume(returning: body($0)) }
        }
    }
}

/// A picture that is looked up again and again: what it lies under is put together, and looked for, once for all who take the same formats.
public final class ImageLookup: Sendable {
    /// Ways to say what one takes that are remembered.
    private static let mostKinds = 4

    public let source: String
    /// Nil for the original.
    let sizing: ResizeMode?
    /// Where it lies, for each of those ways.
    private let paths = Mutex<[Way]>([])

    private struct Way {
        let kinds: AcceptedFormats
        let key: String
        var index = 0
    }

    public init(_ source: String, _ sizing: ResizeMode?) {
        (self.source, self.sizing) = (source, sizing)
    }

    fileprivate func image(in memory: MemoryCache, _ kinds: AcceptedFormats, _ key: () -> String) -> CachedImage? {
        paths.withLock { ways in
            var way = ways.firstIndex { $0.kinds == kinds }
            if way == nil {
                if ways.count >= Self.mostKinds { ways = [] }
                ways.append(Way(kinds: kinds, key: key()))
                way = ways.endIndex - 1
            }
            return way.flatMap { memory.image(ways[$0].key, at: &ways[$0].index) }
        }
    }
}

/// One waiter, from the moment its request came in. It can leave before the loop has heard of it.
final class ImageCancellation: Sendable {
    private static let last = Atomic<UInt64>(0)

    let number: UInt64
    private let left = Atomic<Bool>(false)

    init(_ number: UInt64) {
        self.number = number
    }

    /// One that nobody else has in this process.
    static func next() -> ImageCancellation { ImageCancellation(last.add(1, ordering: .relaxed).newValue) }

    var hasLeft: Bool { left.load(ordering: .acquiring) }

    func cancel() {
        left.store(true, ordering: .releasing)
    }
}

/// What the operator decides about pictures.
public struct ImageConfiguration: Sendable {
    /// Bytes of finished pictures in memory.
    public var memoryBytes = 64 * 1_024 * 1_024
    /// Where pictures are kept on disk; nil for not at all. And how many bytes of them.
    public var folder: String?
    public var diskBytes = 2 * 1_024 * 1_024 * 1_024
    /// Bytes that all downloads under way may hold together.
    public var bufferBytes = 128 * 1_024 * 1_024
    /// Downloads at once, in all and from one host; how many more may wait, and how long.
    public var downloads = 64
    public var downloadsPerHost = 6
    public var queue = 256
    public var queueTimeout: Duration = .seconds(2)
    /// How long a download that nobody waits for any more is kept for somebody who scrolls back.
    public var grace: Duration = .milliseconds(100)
    public var limits = FetchLimits()
    public var freshness = FreshnessPolicy()
    /// Bounds for certain hosts instead; the first that fits counts.
    public var hostFreshness: [HostFreshness] = []
    /// Pictures that are not asked for at their URLs; the first that fits counts.
    public var sources: [ImageSource] = []
    /// What makes pictures of the size that they are shown at; nil where all are served as their origins have them.
    public var transformer: (any ImageTransformer)?
    /// The bytes of pictures that come with the program, which no origin is asked for.
    public var bundled: @Sendable (_ source: String) -> [UInt8]? = { _ in nil }
    /// What is shown in the place of pictures that cannot be had, by the names of parts; without bytes, initials.
    public var fallbacks: [String: [UInt8]] = [:]
    /// Those of the newer formats that sized pictures are made in, the preferred one first.
    public var formats: [ImageFormat] = [.avif, .webp]
    public var qualities = EncodingQualities()
    /// Where it is kept what pictures look like that were decoded; nil for nowhere.
    public var facts: ImageMetadataTable?
    public var logger = Logger(label: "intertwine.images")
    public var userAgent = "Intertwine"
    /// Seconds since 1970. Tests set it.
    public var clock: @Sendable () -> Int64 = { Int64(time(nil)) }

    public init() {}
}
