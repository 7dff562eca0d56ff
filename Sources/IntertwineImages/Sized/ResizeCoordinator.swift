internal import FoundationEssentials
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

/// An actor that coalesces requests for resized images: each one is produced once from one download, and cancelled with its last waiter.
/// A job is a task, because it mostly waits for its original and for the ``ImageTransformer``.
actor ResizeCoordinator: EventLoopActor {
    nonisolated let loop: EventLoop
    private let configuration: ImageConfiguration
    private let resizer: ImageResizer
    private let coordinator: ImageFetchCoordinator
    private let cache: ImageCache
    private var jobs: [String: ResizeJob] = [:]
    private var waiters = WaiterTable<ResizeJob>()
    private var failures = NegativeCache()
    private var metrics = ImageMetrics()
    private var isShutDown = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(
        _ configuration: ImageConfiguration, _ transformer: any ImageTransformer, loop: EventLoop, coordinator: ImageFetchCoordinator,
        cache: ImageCache
    ) {
        (self.configuration, self.loop, self.coordinator, self.cache) = (configuration, loop, coordinator, cache)
        resizer = ImageResizer(transformer: transformer, newer: configuration.formats, qualities: configuration.qualities)
    }

    // MARK: Subscribe

    func response(to request: ImageRequest, _ sizing: ResizeMode) async -> ImageResponse {
        let token = CancellationToken()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                subscribe(request, sizing, token) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            token.cancel()
            execute { $0.unsubscribe(token.number) }
        }
    }

    private func subscribe(_ request: ImageRequest, _ sizing: ResizeMode, _ token: CancellationToken, _ reply: @escaping ImageReply) {
        guard !token.isCancelled else { return refuse(ImageError(.cancelled), .bypass, reply) }
        guard !isShutDown else { return refuse(ImageError(.fetch(.shuttingDown)), .bypass, reply) }
        let key = ResizeKey(request.source, sizing, request.kinds.made(configuration.formats))
        guard !key.formats.isEmpty else { return refuse(ImageError(.notAcceptable), .bypass, reply) }
        let remembered = cache.memory.image(key)
        if let remembered, serve(remembered, key, request.kinds, reply) { return }
        if request.isOnlyIfCached { return serveStored(key, request.kinds, reply) }
        if let job = jobs[key.key] {
            metrics.collapsed += 1
            return add(token.number, ImageWaiter(request: request, isCollapsed: true, reply: reply), to: job)
        }
        let failure = failures.failure(for: request.source, now: .now())
        if let failure, sizing.variant.fallback == nil { return refuse(failure, .negative, reply) }
        let job = ResizeJob(key, stale: remembered, isOwned: false)
        if let failure { (job.failure, job.failureOutcome) = (failure, .negative) }
        add(token.number, ImageWaiter(request: request, isCollapsed: false, reply: reply), to: job)
        begin(job)
    }

    private func serve(_ image: CachedImage, _ key: ResizeKey, _ kinds: AcceptedFormats, _ reply: ImageReply) -> Bool {
        let now = configuration.clock()
        guard image.freshness.isFresh(at: now) || image.freshness.bridgesRevalidation(at: now) else { return false }
        let status = CacheStatus(image.freshness.isFresh(at: now) ? .hit : .stale)
        count(status.outcome)
        reply(Self.response(image, to: kinds, status, now: now))
        if status.outcome == .stale, jobs[key.key] == nil {
            metrics.refreshes += 1
            begin(ResizeJob(key, stale: image, isOwned: true))
        }
        return true
    }

    private func serveStored(_ key: ResizeKey, _ kinds: AcceptedFormats, _ reply: @escaping ImageReply) {
        Task {
            if let image = await cache.readDisk(key), serve(image, key, kinds, reply) { return }
            refuse(ImageError(.notStored), .bypass, reply)
        }
    }

    private func add(_ number: UInt64, _ waiter: ImageWaiter, to job: ResizeJob) {
        job.waiters[number] = waiter
        waiters.add(number, to: job, named: waiter.request.id)
        if waiter.request.priority > .prefetch { prioritize(job, waiter.request.priority) }
    }

    private func begin(_ job: ResizeJob) {
        jobs[job.key.key] = job
        // The task keeps the actor alive until it ends.
        job.task = Task { await self.make(job) }
    }

    // MARK: Unsubscribe

    private func unsubscribe(_ waiter: UInt64) {
        guard let job = waiters.remove(waiter) else { return }
        if let gone = job.waiters.removeValue(forKey: waiter) {
            if let reply = gone.reply { refuse(ImageError(.cancelled), .bypass, reply) }
        }
        guard job.waiters.isEmpty, !job.isOwned else { return }
        metrics.sizedAborted += 1
        forget(job)
        job.task?.cancel()
    }

    func cancel(_ id: UUID) -> Bool {
        let named = waiters.waiters(named: id)
        for waiter in named { unsubscribe(waiter) }
        return !named.isEmpty
    }

    func viewport(visible: [UUID], gone: [UUID]) -> Int {
        for waiter in visible.reversed().flatMap({ waiters.waiters(named: $0) }) {
            guard let job = waiters.work(of: waiter) else { continue }
            job.waiters[waiter]?.request.priority = .visible
            prioritize(job, .visible)
        }
        return gone.reduce(0) { count, id in
            let named = waiters.waiters(named: id)
            for waiter in named { unsubscribe(waiter) }
            return count + named.count
        }
    }

    private func prioritize(_ job: ResizeJob, _ priority: ImagePriority) {
        job.urgency.raise(to: priority)
        guard job.awaitsOriginal, priority == .visible else { return }
        let id = job.id
        coordinator.assumeIsolated { _ = $0.viewport(visible: [id], gone: []) }
    }

    func purge(_ selection: ImageSelection) {
        for job in Array(jobs.values) where selection.contains(job.key.source) {
            job.isPurged = true
            forget(job)
        }
        failures.forget(where: selection.contains)
    }

    private func forget(_ job: ResizeJob) {
        if jobs[job.key.key] === job { jobs[job.key.key] = nil }
    }

    func shutDown() {
        isShutDown = true
        for job in Array(jobs.values) {
            job.task?.cancel()
            finish(job, .failure(ImageError(.fetch(.shuttingDown))))
        }
    }

    // MARK: Jobs

    private struct ResizeResult {
        let image: CachedImage
        var status: CacheStatus
        var isCached = true
    }

    private func make(_ job: ResizeJob) async {
        do throws(ImageError) {
            if let failure = job.failure { throw failure }
            if let found = await find(job) { return finish(job, .success(found)) }
            let (original, response) = try await original(job)
            let made = try await make(from: original, response, job)
            if response.isUnended, !job.isPurged, made.image.shortfall != .part { cache.store(original) }
            finish(job, .success(made))
        } catch {
            if let image = job.stale, error.permitsStale, image.freshness.bridgesError(at: configuration.clock()) {
                var status = CacheStatus(.stale)
                status.detail = error.code
                finish(job, .success(ResizeResult(image: image, status: status)))
            } else {
                finish(job, .failure(error), fallback: await fallback(job, error))
            }
        }
    }

    private func fallback(_ job: ResizeJob, _ failure: ImageError) async -> CachedImage? {
        guard let fallback = job.key.sizing.variant.fallback, failure.permitsFallback, let bytes = configuration.fallbacks[fallback.part]
        else { return nil }
        // The prefix cannot occur in the source of an image.
        let resizeKey = ResizeKey("fallback:" + fallback.part, job.key.sizing, job.key.formats)
        if let image = cache.memory.image(resizeKey) { return image }
        guard case .kind(let kind) = ImageFormat.sniff(bytes) else { return nil }
        let original = CachedImage(
            source: resizeKey.source, kind: kind, body: bytes, freshness: Freshness(ofBundledAt: configuration.clock()), validators: .init()
        )
        let made = try? await resizer.resize(original, to: resizeKey, job.urgency)
        guard let image = made?.image else { return nil }
        cache.memory.insert(image)
        return image
    }

    private func find(_ job: ResizeJob) async -> ResizeResult? {
        guard job.stale == nil, let image = await cache.readDisk(job.key), !job.isPurged else { return nil }
        let now = configuration.clock()
        cache.memory.insert(image)
        if image.freshness.isFresh(at: now) { return ResizeResult(image: image, status: CacheStatus(.hit)) }
        job.stale = image
        return nil
    }

    private func original(_ job: ResizeJob) async throws(ImageError) -> (image: CachedImage, response: ImageResponse) {
        let source = job.key.source
        if let bytes = configuration.bundled(source), case .kind(let kind) = ImageFormat.sniff(bytes) {
            let freshness = Freshness(ofBundledAt: configuration.clock())
            let image = CachedImage(source: source, kind: kind, body: bytes, freshness: freshness, validators: .init())
            return (image, ImageResponse(image, CacheStatus(.hit), now: configuration.clock()))
        }
        job.awaitsOriginal = true
        var request = ImageRequest(source, id: job.id, priority: job.priority)
        (request.requiresCompleteBody, request.isDecoded) = (true, true)
        // If a stale image is replaced, the original has to be up to date.
        request.allowsStale = job.stale == nil
        var response = await coordinator.response(to: request)
        if !request.allowsStale, response.cacheStatus.outcome == .stale, response.cacheStatus.detail == nil {
            // The original came from the disk cache and is being revalidated.
            request.priority = job.priority
            response = await coordinator.response(to: request)
        }
        job.awaitsOriginal = false
        switch response.body {
        case .complete(let image): return (image, response)
        case .failure(let failure):
            job.failureOutcome = response.cacheStatus.outcome
            throw failure
        // Requests for complete bodies never receive a stream.
        case .stream: throw ImageError(.fetch(.internalError))
        }
    }

    private func make(
        from original: CachedImage, _ response: ImageResponse, _ job: ResizeJob
    ) async throws(ImageError) -> ResizeResult {
        // The original is stored, or will be once it was decoded.
        let isCached = response.isCached || response.isUnended
        var status = CacheStatus(.miss)
        status.forwardStatus = response.cacheStatus.forwardStatus
        status.wasStale = job.stale != nil
        // The original is unchanged, so the stale image remains valid.
        if let stale = job.stale, stale.validators.etag == original.etag, stale.shortfall != .part {
            let image = stale.refreshed(original.freshness, validators: stale.validators, terms: stale.terms)
            status.outcome = .revalidated
            return ResizeResult(image: image, status: status, isCached: isCached)
        }
        let made: (image: CachedImage, facts: ImageMetadata?)
        do throws(ImageError) {
            made = try await resizer.resize(original, to: job.key, job.urgency)
        } catch {
            // The body may have been truncated in transit.
            throw error.reason == .undecodable && !response.isDelimited ? ImageError(.fetch(.truncated)) : error
        }
        var (image, facts) = made
        if image.shortfall == .part {
            guard response.isDelimited else { throw ImageError(.fetch(.truncated)) }
            // The missing bytes may exist later.
            let end = configuration.clock() + ImageAnalyzer.doubtfulTime
            image = image.suspect(until: end)
            if !job.isPurged { cache.shortenFreshness(original, until: end) }
        }
        metrics.sizedMade += 1
        if let facts, !job.isPurged { configuration.facts?.learn(job.key.source, facts, of: original.etag) }
        status.isStored = isCached && !job.isPurged && cache.accepts(image.body.count)
        return ResizeResult(image: image, status: status, isCached: isCached)
    }

    private func finish(_ job: ResizeJob, _ result: Result<ResizeResult, ImageError>, fallback: CachedImage? = nil) {
        forget(job)
        switch result {
        case .success(let made):
            if made.isCached, !job.isPurged, made.status.outcome == .miss || made.status.outcome == .revalidated {
                cache.store(made.image)
            }
            failures.forget(job.key.source)
        case .failure(let failure):
            if failure.isAboutImage, job.failure == nil {
                metrics.sizedFailed[failure.code, default: 0] += 1
                // A remembered failure is not extended.
                if !job.isPurged, job.failureOutcome == .miss { failures.record(failure, for: job.key.source, now: .now()) }
                if failure.reason == .undecodable, !job.isPurged, job.failureOutcome == .miss {
                    // Its own URL fails, too, for the time of a remembered failure.
                    cache.remember(failure, for: job.key.source, job.key.source)
                }
            }
        }
        let now = configuration.clock()
        for (waiter, entry) in job.waiters {
            _ = waiters.remove(waiter)
            switch result {
            case .success(let made):
                var status = made.status
                status.isCollapsed = entry.isCollapsed
                count(status.outcome)
                entry.reply?(Self.response(made.image, to: entry.request.kinds, status, now: now, isCached: made.isCached))
            case .failure(let failure):
                var status = CacheStatus(job.failureOutcome)
                status.isCollapsed = entry.isCollapsed
                if status.outcome == .miss, case .upstream(let code) = failure.reason { status.forwardStatus = code }
                count(status.outcome)
                entry.reply?(fallback.map { ImageResponse($0, for: failure, status) } ?? ImageResponse(failure, status))
            }
        }
        job.waiters = [:]
    }

    private static func response(
        _ image: CachedImage, to kinds: AcceptedFormats, _ status: CacheStatus, now: Int64, isCached: Bool = true
    ) -> ImageResponse {
        guard kinds.permits(image.kind) else { return ImageResponse(ImageError(.notAcceptable), status) }
        return ImageResponse(image, status, now: now, isCached: isCached)
    }

    private func refuse(_ failure: ImageError, _ outcome: CacheStatus.Outcome, _ reply: ImageReply) {
        count(outcome)
        reply(ImageResponse(failure, CacheStatus(outcome)))
    }

    private func count(_ outcome: CacheStatus.Outcome) { metrics.requests[outcome, default: 0] += 1 }

    func add(to others: inout ImageMetrics) {
        others.requests.merge(metrics.requests, uniquingKeysWith: +)
        others.collapsed += metrics.collapsed
        others.refreshes += metrics.refreshes
        others.sizedMade += metrics.sizedMade
        others.sizedAborted += metrics.sizedAborted
        others.sizedFailed.merge(metrics.sizedFailed, uniquingKeysWith: +)
        // Requests for originals are counted as waiters of the fetch coordinator, and are subtracted here.
        others.waiters += waiters.count - jobs.values.count { $0.awaitsOriginal }
    }
}
