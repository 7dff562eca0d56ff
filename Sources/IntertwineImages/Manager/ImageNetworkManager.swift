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
    private let transfers: Transfers
    private let memory: MemoryCache
    private let flights: Flights
    private let lastTicket = Atomic<UInt64>(0)
    private let memoryHits = Atomic<Int>(0)

    public init(_ configuration: ImageConfiguration, transfers: Transfers) {
        self.configuration = configuration
        self.transfers = transfers
        memory = MemoryCache(capacity: configuration.memoryBytes)
        let budget = ByteBudget(limit: configuration.bufferBytes)
        let disk = configuration.folder.map {
            DiskCache(folder: $0, capacity: configuration.diskBytes, budget: budget, logger: configuration.logger)
        }
        flights = Flights(configuration, transfers: transfers, memory: memory, disk: disk, budget: budget)
    }

    /// The fresh picture in memory, in a format that is taken, at once and without copying. From any thread.
    ///
    /// Who answers from it without asking again may do so until its `freshness` is over, or until the next `purge(_:)`.
    public func cached(_ source: String, _ kinds: AcceptedKinds = .anything) -> CachedImage? {
        guard let image = peek(source, kinds) else { return nil }
        memoryHits.add(1, ordering: .relaxed)
        return image
    }

    /// The same for who does not answer a request with it: it is not counted as a hit.
    public func peek(_ source: String, _ kinds: AcceptedKinds = .anything) -> CachedImage? {
        guard let image = memory.image(source, kinds.wanted), kinds.permits(image.kind), image.freshness.isFresh(at: configuration.clock())
        else { return nil }
        return image
    }

    /// The answer to a request, as soon as its head is known; a body that is still on its way comes as a stream.
    /// Cancelling the task takes the request back; so does letting go of the stream.
    public func image(_ request: ImageRequest) async -> ImageAnswer {
        if request.isLoop { return ImageAnswer(ImageFailure(.loop), CacheStatus(.bypass)) }
        if let image = cached(request.source, request.kinds) { return ImageAnswer(image, CacheStatus(.hit), now: configuration.clock()) }
        let ticket = ImageTicket(lastTicket.add(1, ordering: .relaxed).newValue)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                onLoop { $0.enter(request, ticket) { continuation.resume(returning: $0) } }
            }
        } onCancel: {
            ticket.leave()
            onLoop { $0.leave(ticket.number) }
        }
    }

    /// Takes back all requests of that name; each is answered 499 or its body fails. False where none is under way.
    public func cancel(_ id: UUID) async -> Bool {
        await asked { $0.cancel(id) }
    }

    /// What a client that scrolls fast sends: these are in view now, those are gone. Names that are not under way are passed over.
    /// - Returns: how many requests were taken back.
    @discardableResult
    public func viewport(visible: [UUID], gone: [UUID]) async -> Int {
        await asked { $0.viewport(visible: visible, gone: gone) }
    }

    /// Forgets pictures everywhere. What is being downloaded of them reaches those who wait, and is not kept. Returns when the last is gone.
    public func purge(_ selection: ImageSelection) async {
        await withCheckedContinuation { continuation in
            onLoop { $0.purge(selection) { continuation.resume() } }
        }
    }

    /// The same for one.
    public func purge(_ source: String) async { await purge(.source(source)) }

    public func metrics() async -> ImageMetrics {
        var metrics = await asked { $0.snapshot() }
        metrics.requests[.hit, default: 0] += memoryHits.load(ordering: .relaxed)
        return metrics
    }

    /// Calls back when what was asked to be stored so far is on disk.
    public func flush() async {
        await flights.flush()
    }

    /// Takes back all requests and gives up all downloads. The transfers are shut down by whoever made them.
    public func shutDown() async {
        await asked { $0.shutDown() }
    }

    private func onLoop(_ body: @escaping @Sendable (isolated Flights) -> Void) {
        transfers.loop.execute { [flights] in flights.assumeIsolated(body) }
    }

    private func asked<Answer: Sendable>(_ body: @escaping @Sendable (isolated Flights) -> Answer) async -> Answer {
        await withCheckedContinuation { continuation in
            onLoop { continuation.resume(returning: body($0)) }
        }
    }
}

/// One waiter, from the moment its request came in. It can leave before the loop has heard of it.
final class ImageTicket: Sendable {
    let number: UInt64
    private let left = Atomic<Bool>(false)

    init(_ number: UInt64) {
        self.number = number
    }

    var hasLeft: Bool { left.load(ordering: .acquiring) }

    func leave() {
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
    public var patience: Duration = .seconds(2)
    /// How long a download that nobody waits for any more is kept for somebody who scrolls back.
    public var grace: Duration = .milliseconds(100)
    public var limits = FetchLimits()
    public var freshness = FreshnessPolicy()
    /// Bounds for certain hosts instead; the first that fits counts.
    public var hostFreshness: [HostFreshness] = []
    /// Pictures that are not asked for at their URLs; the first that fits counts.
    public var places: [PicturePlace] = []
    public var logger = Logger(label: "intertwine.images")
    public var userAgent = "Intertwine"
    /// Seconds since 1970. Tests set it.
    public var clock: @Sendable () -> Int64 = { Int64(time(nil)) }

    public init() {}
}
