internal import FoundationEssentials
internal import IntertwineEventLoop
internal import IntertwineFetch

/// An actor that coalesces requests for resized images: each one is produced once from one download, and cancelled with its last waiter.
///
/// The actor runs on the event loop of ``ImageFetchCoordinator``, from which it requests originals. A job is a task, because it mostly waits for its
/// original and for the ``ImageTransformer``.
actor ResizeCoordinator {
    typealias Reply = @Sendable (ImageResponse) -> Void

    private nonisolated let loop: EventLoop
    private let configuration: ImageConfiguration
    private let transformer: any ImageTransformer
    private let coordinator: ImageFetchCoordinator
    private let store: ResizedImageStore
    private var byKey: [String: ResizeJob] = [:]
    private var waiters = WaiterTable<ResizeJob>()
    /// The remembered failures of images that cannot be resized, by source.
    private var failures = NegativeCache()
    private var metrics = ResizeMetrics()
    private var isShutDown = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(
        _ configuration: ImageConfiguration, _ transformer: any ImageTransformer, loop: EventLoop, coordinator: ImageFetchCoordinator,
        store: ResizedImageStore
    ) {
        self.configuration = configuration
        self.transformer = transformer
        self.loop = loop
        self.coordinator = coordinator
        self.store = store
    }

    // MARK: Subscribe

    func subscribe(_ request: ImageRequest, _ sizing: ResizeMode, _ ticket: ImageCancellation, _ reply: @escaping Reply) {
        guard !ticket.isCancelled else { return refuse(ImageError(.cancelled), .bypass, reply) }
        guard !isShutDown else { return refuse(ImageError(.fetch(.shuttingDown)), .bypass, reply) }
        let resizeKey = ResizeKey(request.source, sizing, request.kinds.made(configuration.formats))
        guard !resizeKey.formats.isEmpty else { return refuse(ImageError(.notAcceptable), .bypass, reply) }
        let now = configuration.clock()
        let remembered = store.image(resizeKey)
        if let remembered, serve(remembered, resizeKey, request.kinds, now, reply) { return }
        if request.isOnlyIfCached { return findStored(resizeKey, request.kinds, reply) }
        if let making = byKey[resizeKey.key] {
            metrics.collapsed += 1
            return add(ticket.number, request, to: making, isCollapsed: true, reply)
        }
        let failure = failures.failure(for: request.source, now: .now())
        if let failure, sizing.variant.fallback == nil { return refuse(failure, .negative, reply) }
        let making = ResizeJob(resizeKey, stale: remembered, isOwned: false)
        if let failure { (making.failure, making.failureOutcome) = (failure, .negative) }
        add(ticket.number, request, to: making, isCollapsed: false, reply)
        begin(making)
    }

    private func serve(_ image: CachedImage, _ resizeKey: ResizeKey, _ kinds: AcceptedFormats, _ now: Int64, _ reply: Reply) -> Bool {
        guard image.freshness.isFresh(at: now) || image.freshness.bridgesRevalidation(at: now) else { return false }
        let status = CacheStatus(image.freshness.isFresh(at: now) ? .hit : .stale)
        count(status.outcome)
        reply(Self.answer(image, to: kinds, status, now: now))
        if status.outcome == .stale, byKey[resizeKey.key] == nil {
            metrics.refreshes += 1
            begin(ResizeJob(resizeKey, stale: image, isOwned: true))
        }
        return true
    }

    /// Replies to a request for a stored image only (`only-if-cached`), after a lookup on disk.
    private func findStored(_ resizeKey: ResizeKey, _ kinds: AcceptedFormats, _ reply: @escaping Reply) {
        store.read(resizeKey) { [weak self, loop] image in
            guard let flights = self else { return }
            loop.execute {
                flights.assumeIsolated { flights in
                    if let image, flights.serve(image, resizeKey, kinds, flights.configuration.clock(), reply) { return }
                    flights.refuse(ImageError(.notStored), .bypass, reply)
                }
            }
        }
    }

    private func add(_ waiter: UInt64, _ request: ImageRequest, to making: ResizeJob, isCollapsed: Bool, _ reply: @escaping Reply) {
        making.waiters[waiter] = ResizeJob.Waiter(
            isCollapsed: isCollapsed, kinds: request.kinds, priority: request.priority, reply: reply)
        waiters.add(waiter, to: making, named: request.id)
        making.urgency.add(viewer: request.viewer)
        if request.priority > .prefetch { prioritize(making, request.priority) }
    }

    private func begin(_ making: ResizeJob) {
        byKey[making.key.key] = making
        // The task keeps the actor alive until it ends.
        making.task = Task { await self.make(making) }
    }

    // MARK: Unsubscribe

    /// Removes a waiter. Calls at any time, with unknown numbers and repeated calls are valid.
    func unsubscribe(_ waiter: UInt64) {
        guard let making = waiters.remove(waiter) else { return }
        if let gone = making.waiters.removeValue(forKey: waiter) {
            metrics.cancelledWaiters += 1
            refuse(ImageError(.cancelled), .bypass, gone.reply)
        }
        guard making.waiters.isEmpty, !making.isOwned else { return }
        metrics.aborted += 1
        forget(making)
        making.task?.cancel()
    }

    func cancel(_ id: UUID) -> Bool {
        let named = waiters.waiters(named: id)
        for waiter in named { unsubscribe(waiter) }
        return !named.isEmpty
    }

    /// Raises the priority of visible images, and cancels those out of view.
    ///
    /// - Returns: The number of cancelled requests.
    func viewport(visible: [UUID], gone: [UUID]) -> Int {
        for waiter in visible.reversed().flatMap({ waiters.waiters(named: $0) }) {
            guard let making = waiters.home(of: waiter) else { continue }
            making.waiters[waiter]?.priority = .visible
            prioritize(making, .visible)
        }
        return gone.reduce(0) { count, id in
            let named = waiters.waiters(named: id)
            for waiter in named { unsubscribe(waiter) }
            return count + named.count
        }
    }

    /// Raises the priority of a job, both for its original and for the transformer.
    private func prioritize(_ making: ResizeJob, _ priority: ImagePriority) {
        making.urgency.raise(to: priority)
        guard making.awaitsOriginal, priority == .visible else { return }
        let id = making.id
        coordinator.assumeIsolated { _ = $0.viewport(visible: [id], gone: []) }
    }

    /// Purges the selected images: running jobs serve their waiters, and their results are not stored.
    /// Stored images are removed with their originals.
    func purge(_ selection: ImageSelection) {
        for making in byKey.values where selection.contains(making.key.source) {
            making.isPurged = true
            forget(making)
        }
        failures.forget(where: selection.contains)
    }

    private func forget(_ making: ResizeJob) {
        if byKey[making.key.key] === making { byKey[making.key.key] = nil }
    }

    func shutDown() {
        isShutDown = true
        for making in Array(byKey.values) {
            making.task?.cancel()
            finish(making, .failure(ImageError(.fetch(.shuttingDown))))
        }
    }

    // MARK: Jobs

    /// The result of a job.
    private struct ResizeResult {
        let image: CachedImage
        var status: CacheStatus
        var isCached = true
    }

    private func make(_ making: ResizeJob) async {
        do throws(ImageError) {
            if let failure = making.failure { throw failure }
            if let found = await find(making) { return finish(making, .success(found)) }
            let original = try await original(making)
            let made = try await make(from: original, making)
            if original.isUnended, !making.isPurged { await coordinator.keepUnended(original.image) }
            finish(making, .success(made))
        } catch {
            if let image = making.stale, error.permitsStale, image.freshness.bridgesError(at: configuration.clock()) {
                var status = CacheStatus(.stale)
                status.detail = error.code
                finish(making, .success(ResizeResult(image: image, status: status)))
            } else {
                finish(making, .failure(error), fallback: await fallback(making, error))
            }
        }
    }

    /// Returns the fallback of an unavailable image; nil if the request fails.
    private func fallback(_ making: ResizeJob, _ failure: ImageError) async -> CachedImage? {
        guard let fallback = making.key.sizing.variant.fallback, failure.permitsFallback, let file = configuration.fallbacks[fallback.part]
        else { return nil }
        // The prefix cannot occur in the source of an image.
        let resizeKey = ResizeKey("fallback:" + fallback.text, making.key.sizing, making.key.formats)
        if let image = store.image(resizeKey) { return image }
        let (width, height) = (
            resizeKey.sizing.variant.width * resizeKey.sizing.scale, resizeKey.sizing.variant.height * resizeKey.sizing.scale
        )
        let bytes = file.isEmpty ? InitialsImage.png(fallback.initials, width: width, height: height) : file
        guard case .kind(let kind) = ImageFormat.sniff(bytes) else { return nil }
        let original = CachedImage(
            source: resizeKey.source, kind: kind, body: bytes, freshness: Freshness(ofBundledAt: configuration.clock()), validators: .init()
        )
        let made = try? await Self.make(
            resizeKey, of: original, by: transformer, newer: configuration.formats, configuration.qualities, making.urgency)
        guard let image = made?.image else { return nil }
        store.insertInMemory(image)
        return image
    }

    /// Returns a fresh image from the disk cache. A stale one is saved for revalidation.
    private func find(_ making: ResizeJob) async -> ResizeResult? {
        guard making.stale == nil, let image = await store.found(making.key), !making.isPurged else { return nil }
        let now = configuration.clock()
        store.insertInMemory(image)
        if image.freshness.isFresh(at: now) { return ResizeResult(image: image, status: CacheStatus(.hit)) }
        making.stale = image
        return nil
    }

    private struct Original {
        let image: CachedImage
        /// A Boolean value indicating that the original is stored, or will be once it was decoded.
        let isCached: Bool
        /// A Boolean value indicating that the original lacks its end.
        var isUnended = false
        var isDelimited = true
        let status: CacheStatus
    }

    private func original(_ making: ResizeJob) async throws(ImageError) -> Original {
        let source = making.key.source
        if let bytes = configuration.bundled(source), case .kind(let kind) = ImageFormat.sniff(bytes) {
            let freshness = Freshness(ofBundledAt: configuration.clock())
            let image = CachedImage(source: source, kind: kind, body: bytes, freshness: freshness, validators: .init())
            return Original(image: image, isCached: true, status: CacheStatus(.hit))
        }
        making.awaitsOriginal = true
        // If a stale image is replaced, the original has to be up to date.
        let allowsStale = making.stale == nil
        var answer = await coordinator.original(
            of: source, id: making.id, priority: making.priority, allowsStale: allowsStale, making.ticket)
        if !allowsStale, answer.cacheStatus.outcome == .stale, answer.cacheStatus.detail == nil {
            // The original came from the disk cache and is being revalidated.
            answer = await coordinator.original(of: source, id: making.id, priority: making.priority, allowsStale: false, making.ticket)
        }
        making.awaitsOriginal = false
        switch answer.body {
        case .complete(let image):
            return Original(
                image: image, isCached: answer.isCached || answer.isUnended, isUnended: answer.isUnended, isDelimited: answer.isDelimited,
                status: answer.cacheStatus)
        case .failure(let failure):
            making.failureOutcome = answer.cacheStatus.outcome
            throw failure
        // Requests for complete bodies never receive a stream.
        case .stream: throw ImageError(.fetch(.internalError))
        }
    }

    private func make(from original: Original, _ making: ResizeJob) async throws(ImageError) -> ResizeResult {
        var status = CacheStatus(.miss)
        status.forwardStatus = original.status.forwardStatus
        status.wasStale = making.stale != nil
        // The original is unchanged, so the stale image remains valid.
        if let stale = making.stale, stale.validators.etag == original.image.etag {
            let image = stale.refreshed(original.image.freshness, validators: stale.validators, terms: stale.terms)
            status.outcome = .revalidated
            return ResizeResult(image: image, status: status, isCached: original.isCached)
        }
        let resizeKey = making.key
        let made: (image: CachedImage, facts: ImageMetadata?)
        do throws(ImageError) {
            made = try await Self.make(
                resizeKey, of: original.image, by: transformer, newer: configuration.formats, configuration.qualities, making.urgency)
        } catch {
            // The body may have been truncated in transit.
            throw error.reason == .undecodable && !original.isDelimited ? ImageError(.fetch(.truncated)) : error
        }
        let (image, facts) = made
        metrics.made += 1
        if let facts, !making.isPurged { configuration.facts?.learn(resizeKey.source, facts, of: original.image.etag) }
        status.isStored = original.isCached && !making.isPurged && store.accepts(image)
        return ResizeResult(image: image, status: status, isCached: original.isCached)
    }

    /// Resizes an image off the event loop, because its bytes are parsed and the result is hashed.
    @concurrent
    private static func make(
        _ resizeKey: ResizeKey, of original: CachedImage, by transformer: any ImageTransformer, newer: [ImageFormat],
        _ qualities: EncodingQualities, _ urgency: TransformPriority
    ) async throws(ImageError) -> (image: CachedImage, facts: ImageMetadata?) {
        let body = original.body.bytes
        // The validators have the tag of the original, so a change of the original is detected.
        let validators = CachedImage.Validators(etag: original.etag, lastModified: original.validators.lastModified)
        var traits = ImageTraits(body, original.kind)
        guard let format = ResizedFormat(traits, accepted: resizeKey.formats, newer: newer) else { throw ImageError(.notAcceptable) }
        let recipe = resizeKey.sizing.spec(
            format.kind, quality: qualities[format.kind, resizeKey.sizing.scale], keepsAnimation: format.keepsAnimation)
        let made: TransformedImage
        var shortfall: CachedImage.Shortfall?
        do throws(ImageError) {
            made = try await transformer.transform(body, recipe, urgency: urgency)
        } catch  where error.reason == .noDecoder {
            // The client may have a decoder.
            let image = CachedImage(
                source: resizeKey.source, variant: resizeKey.formats, sizing: resizeKey.sizing, kind: original.kind, shortfall: .original,
                body: original.body, etag: original.etag, freshness: original.freshness, validators: validators)
            return (image, nil)
        } catch {
            // If an animation exceeds the limits, its first frame is used.
            guard format.keepsAnimation, error.reason == .tooManyFrames || error.reason == .tooManyPixels else { throw error }
            (traits.isAnimated, shortfall) = (false, .firstFrame)
            guard let format = ResizedFormat(traits, accepted: resizeKey.formats, newer: newer) else { throw ImageError(.notAcceptable) }
            let recipe = resizeKey.sizing.spec(format.kind, quality: qualities[format.kind, resizeKey.sizing.scale], keepsAnimation: false)
            made = try await transformer.transform(body, recipe, urgency: urgency)
        }
        let image = CachedImage(
            source: resizeKey.source, variant: resizeKey.formats, sizing: resizeKey.sizing, kind: made.kind, shortfall: shortfall,
            body: made.bytes,
            freshness: original.freshness, validators: validators)
        return (image, made.original)
    }

    private func finish(_ making: ResizeJob, _ result: Result<ResizeResult, ImageError>, fallback: CachedImage? = nil) {
        forget(making)
        switch result {
        case .success(let made):
            if made.isCached, !making.isPurged, made.status.outcome == .miss || made.status.outcome == .revalidated {
                store.store(made.image)
            }
            failures.forget(making.key.source)
        case .failure(let failure):
            if failure.isAboutImage, making.failure == nil {
                metrics.failed[failure.code, default: 0] += 1
                // A remembered failure is not extended.
                if !making.isPurged, making.failureOutcome == .miss { failures.record(failure, for: making.key.source, now: .now()) }
                if failure.reason == .undecodable, !making.isPurged, making.failureOutcome == .miss {
                    let source = making.key.source
                    coordinator.assumeIsolated { $0.invalidateUndecodable(source, failure) }
                }
            }
        }
        let now = configuration.clock()
        for (waiter, entry) in making.waiters {
            _ = waiters.remove(waiter)
            switch result {
            case .success(let made):
                var status = made.status
                status.isCollapsed = entry.isCollapsed
                count(status.outcome)
                entry.reply(Self.answer(made.image, to: entry.kinds, status, now: now, isCached: made.isCached))
            case .failure(let failure):
                var status = CacheStatus(making.failureOutcome)
                status.isCollapsed = entry.isCollapsed
                if status.outcome == .miss, case .upstream(let code) = failure.reason { status.forwardStatus = code }
                count(status.outcome)
                entry.reply(fallback.map { ImageResponse($0, for: failure, status, now: now) } ?? ImageResponse(failure, status))
            }
        }
        making.waiters = [:]
    }

    /// Returns the image if the client accepts its format: an original without a decoder may have any.
    private static func answer(
        _ image: CachedImage, to kinds: AcceptedFormats, _ status: CacheStatus, now: Int64, isCached: Bool = true
    ) -> ImageResponse {
        guard kinds.permits(image.kind) else { return ImageResponse(ImageError(.notAcceptable), status) }
        return ImageResponse(image, status, now: now, isCached: isCached)
    }

    private func refuse(_ failure: ImageError, _ outcome: CacheStatus.Outcome, _ reply: Reply) {
        count(outcome)
        reply(ImageResponse(failure, CacheStatus(outcome)))
    }

    private func count(_ outcome: CacheStatus.Outcome) { metrics.requests[outcome, default: 0] += 1 }

    /// Returns the metrics of the fetch coordinator with those of this actor.
    func reported(_ others: ImageMetrics) -> ImageMetrics {
        var all = others
        all.requests.merge(metrics.requests, uniquingKeysWith: +)
        all.collapsed += metrics.collapsed
        all.refreshes += metrics.refreshes
        all.sizedMade += metrics.made
        all.sizedAborted += metrics.aborted
        all.sizedFailed.merge(metrics.failed, uniquingKeysWith: +)
        // Requests for originals are counted as waiters of the fetch coordinator, and are subtracted here.
        all.waiters += waiters.count - byKey.values.count { $0.awaitsOriginal }
        return all
    }
}

/// The counters of ``ResizeCoordinator`` since its creation.
private struct ResizeMetrics {
    var requests: [CacheStatus.Outcome: Int] = [:]
    var collapsed = 0
    var refreshes = 0
    var cancelledWaiters = 0
    var aborted = 0
    var made = 0
    var failed: [String: Int] = [:]
}
