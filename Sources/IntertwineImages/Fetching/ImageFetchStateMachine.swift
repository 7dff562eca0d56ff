internal import FoundationEssentials
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

struct ImageFetchStateMachine {
    private let configuration: ImageConfiguration
    private let cache: ImageCache
    private let now: @Sendable () -> MonotonicInstant
    private var downloads: DownloadTable
    private var queue: AdmissionQueue<UInt64>
    private var breaker = CircuitBreaker()
    private var replies: DownloadSubscribers
    private var metrics = ImageMetrics()
    private var isShutDown = false
    private var steps: [FetchEffect] = []

    init(
        _ configuration: ImageConfiguration, cache: ImageCache, budget: MemoryBudget,
        now: @escaping @Sendable () -> MonotonicInstant = { .now() }
    ) {
        (self.configuration, self.cache, self.now) = (configuration, cache, now)
        downloads = DownloadTable(configuration, budget: budget)
        queue = AdmissionQueue(
            limits: AdmissionQueue.Limits(
                running: configuration.downloads, perOrigin: configuration.downloadsPerHost,
                prefetchesPerOrigin: max(1, configuration.downloadsPerHost / 2), waiting: configuration.queue,
                maxQueueTime: configuration.queueTimeout))
        replies = DownloadSubscribers(cache, clock: configuration.clock)
    }

    mutating func nextStep() -> FetchEffect? { steps.isEmpty ? nil : steps.removeFirst() }

    // MARK: Subscribe

    mutating func subscribe(
        _ request: ImageRequest, _ waiter: UInt64, onLeave: @escaping @Sendable () -> Void, _ reply: @escaping ImageReply
    ) {
        guard !isShutDown else { return refuse(ImageError(.fetch(.shuttingDown)), reply) }
        guard request.kinds.isPossible else { return refuse(ImageError(.notAcceptable), reply) }
        let remembered = cache.memory.image(request.source, request.kinds.accepted)
        if let remembered, let isFresh = replies.serve(remembered, request, reply) {
            if !isFresh { refresh(remembered, request.kinds.accepted) }
            return
        }
        if remembered == nil, replies.serveUnended(request, reply) { return }
        if request.isOnlyIfCached, remembered != nil || !isBeingLookedUp(request) { return refuse(ImageError(.notStored), reply) }
        if let download = downloads[request.key], let effects = download.attempt.join(waiter, request.priority) {
            metrics.collapsed += 1
            replies.add(waiter, ImageWaiter(request: request, isCollapsed: true, reply: reply, onLeave: onLeave), to: download)
            if download.isAnnounced { sendHead(download, to: waiter) }
            queue.setPriority(download.attempt.priority, of: download.number, now: now())
            perform(effects, download)
            return startWaiting()
        }
        do throws(FetchError) {
            let download = try downloads.make(request.source, request.kinds.accepted, stale: remembered)
            _ = download.attempt.join(waiter, request.priority)
            replies.add(waiter, ImageWaiter(request: request, isCollapsed: false, reply: reply, onLeave: onLeave), to: download)
            begin(download)
        } catch {
            refuse(ImageError(.fetch(error)), reply)
        }
    }

    mutating func refuse(_ failure: ImageError, _ reply: ImageReply) { replies.refuse(failure, reply) }

    private func isBeingLookedUp(_ request: ImageRequest) -> Bool {
        cache.isOnDisk(request.source, request.kinds.accepted) && downloads[request.key].map { $0.attempt.stage == .lookup } ?? true
    }

    private mutating func refresh(_ image: CachedImage, _ wanted: AcceptedFormats.Set) {
        let key = CachedImage.key(image.source, wanted)
        guard downloads[key] == nil, cache.failure(for: key, of: image.source) == nil,
            let download = try? downloads.make(image.source, wanted, stale: image, isOwned: true)
        else { return }
        metrics.refreshes += 1
        begin(download)
    }

    // MARK: Unsubscribe

    mutating func unsubscribe(_ waiter: UInt64) {
        guard let download = replies.download(of: waiter) else { return }
        let stage = download.attempt.stage
        if !stage.isOver { metrics.cancelledWaiters[stage.rawValue, default: 0] += 1 }
        replies.dismiss(waiter, ImageError(.cancelled))
        let effects = download.attempt.cancel(waiter)
        queue.setPriority(download.attempt.priority, of: download.number, now: now())
        perform(effects, download)
        yieldPermits()
    }

    private mutating func yieldPermits() {
        for download in downloads.all where download.attempt.isInGrace && queue.hasWaiters(for: download.number) { graceOver(download) }
    }

    mutating func cancel(_ id: UUID) -> Bool {
        let named = replies.waiters(named: id)
        for waiter in named {
            replies.download(of: waiter)?.buffer.cancel(waiter)
            unsubscribe(waiter)
        }
        return !named.isEmpty
    }

    mutating func viewport(visible: [UUID], gone: [UUID]) -> Int {
        // The last prioritized download starts first, and should be the first one in the list of the client.
        for waiter in visible.reversed().flatMap({ replies.waiters(named: $0) }) {
            guard let download = replies.download(of: waiter) else { continue }
            download.attempt.setPriority(.visible, of: waiter)
            queue.setPriority(.visible, of: download.number, isNewest: true, now: now())
        }
        startWaiting()
        let left = gone.reduce(0) { $0 + replies.waiters(named: $1).count }
        for id in gone { _ = cancel(id) }
        return left
    }

    /// Marks the running downloads of the selected images, so that their results are not stored.
    mutating func purge(_ selection: ImageSelection) { downloads.purge(selection) }

    private mutating func perform(_ effects: [FetchAttempt.Effect], _ download: Download) {
        for effect in effects {
            switch effect {
            case .startGrace: steps.append(.arm(download.number, .grace, configuration.grace))
            case .stopGrace: steps.append(.disarm(download.number, .grace))
            case .pause, .resume: steps.append(.setPaused(download.number, effect == .pause))
            case .abort(let stage):
                metrics.countAbort(of: download.attempt, at: stage)
                breaker.record(download.hop.authority, nil, now: now())
                drop(download)
            }
        }
    }

    mutating func due(_ timer: FetchEffect.Timer, _ number: UInt64) {
        guard let download = downloads[number] else { return }
        switch timer {
        case .grace: graceOver(download)
        case .headDelay: sendHead(download)
        case .pause: launch(download)
        }
    }

    private mutating func graceOver(_ download: Download) {
        steps.append(.disarm(download.number, .grace))
        perform(download.attempt.graceOver(), download)
    }

    private mutating func drop(_ download: Download) {
        downloads.remove(download)
        steps.append(.drop(download.number))
        queue.remove(download.number)
        startWaiting()
    }

    mutating func shutDown() {
        isShutDown = true
        for download in downloads.all {
            drop(download)
            replies.resolve(download, ImageError(.fetch(.shuttingDown)), .bypass)
        }
    }

    // MARK: Requests to the origin

    private mutating func begin(_ download: Download) {
        guard download.stale == nil, cache.isOnDisk(download.source, download.acceptedFormats) else { return enqueue(download) }
        steps.append(.readDisk(download.number, download.source, download.acceptedFormats))
    }

    mutating func found(_ image: CachedImage?, _ number: UInt64) {
        guard let download = downloads[number], !download.attempt.stage.isOver else { return }
        guard let image, !download.isPurged else { return enqueue(download) }
        guard let isFresh = replies.resolve(download, found: image) else {
            download.stale = image
            return enqueue(download)
        }
        drop(download)
        if !isFresh { refresh(image, download.acceptedFormats) }
    }

    private mutating func enqueue(_ download: Download) {
        // The disk cache has no fresh image, so waiters for a stored image only (`only-if-cached`) fail.
        guard replies.dismissOnlyIfCached(download) else { return drop(download) }
        if let failure = cache.failure(for: download.key, of: download.source) { return fail(download, failure, .negative) }
        guard case .file(let folder, let name)? = download.resolvedSource else { return approach(download) }
        download.intake.begin(at: configuration.clock())
        steps.append(.readFile(download.number, folder, name))
    }

    /// Resolves the host of the current URL, unless its circuit is open.
    /// Why: the name is resolved before a permit is taken, because hosts that cannot be resolved would otherwise use all permits.
    private mutating func approach(_ download: Download) {
        if case .open(let until) = breaker.ask(download.hop.authority, now: now()) {
            return fail(download, ImageError(.circuitOpen, retryAfter: Int(until.since(now()).components.seconds) + 1), .bypass)
        }
        _ = download.attempt.reach(.resolving)
        steps.append(.waitForName(download.number, download.hop))
    }

    mutating func named(_ number: UInt64, _ failure: FetchError?) {
        guard let download = downloads[number] else { return }
        if let failure { return fail(download, ImageError(.fetch(failure))) }
        let (now, breaker) = (now(), breaker)
        let (isAccepted, displaced) = queue.enter(
            number, from: download.hop.authority, priority: download.attempt.priority, now: now,
            isReduced: { breaker.isReduced($0, now: now) })
        for other in displaced.compactMap({ downloads[$0] }) { fail(other, ImageError(.overloaded, retryAfter: 1)) }
        guard isAccepted else { return fail(download, ImageError(.overloaded, retryAfter: 1)) }
        startWaiting()
        guard queue.isWaiting(number) else { return }
        _ = download.attempt.reach(.queued)
        watchQueue()
        yieldPermits()
    }

    private mutating func startWaiting() {
        let (now, breaker) = (now(), breaker)
        while let number = queue.next(isReduced: { breaker.isReduced($0, now: now) }) {
            if let download = downloads[number] { start(download) } else { queue.remove(number) }
        }
    }

    private mutating func start(_ download: Download) {
        guard download.isPaused else { return launch(download) }
        download.isPaused = false
        steps.append(.proceed(download.number))
    }

    private mutating func watchQueue() {
        if let next = queue.nextExpiry { steps.append(.watchQueue(next)) }
    }

    mutating func expireQueue() {
        for download in queue.expire(now: now()).compactMap({ downloads[$0] }) { fail(download, ImageError(.queueTimeout, retryAfter: 1)) }
        watchQueue()
    }

    private mutating func launch(_ download: Download, isAnotherAttempt: Bool = true) {
        if isAnotherAttempt { download.countAttempt() }
        steps.append(.fetch(download.number, download.begin(configuration)))
    }

    // MARK: Events of transfers

    mutating func handle(_ event: FetchEvent, _ number: UInt64) -> Bool {
        // The transfer of a dropped download is being cancelled.
        guard let download = downloads[number] else { return false }
        switch event {
        case .reached(let stage): if let stage = FetchAttempt.Stage(stage) { _ = download.attempt.reach(stage) }
        case .repeated:
            // The transfer client made the second attempt itself.
            download.countAttempt()
            metrics.retries += 1
        case .redirected(let url): return redirected(download, to: url)
        case .head(let head): return received(head, download)
        case .bytes(let bytes): return received(bytes, download)
        case .refused: break
        case .ended(let failure): ended(download, failure)
        }
        return true
    }

    private mutating func redirected(_ download: Download, to url: FetchURL) -> Bool {
        guard url.authority != download.hop.authority else { return true }
        breaker.record(download.hop.authority, .good, now: now())
        download.hop = url
        queue.remove(download.number)
        download.isPaused = true
        approach(download)
        startWaiting()
        return false
    }

    private mutating func received(_ head: FetchHead, _ download: Download) -> Bool {
        guard download.intake.receiveHead(head, stale: download.stale, now: configuration.clock()) else { return false }
        if download.intake.wantsBody {
            download.attempt.expect(download.intake.head?.length)
            perform(download.attempt.reach(.body), download)
        }
        return true
    }

    private mutating func received(_ bytes: UnsafeRawBufferPointer, _ download: Download) -> Bool {
        if !download.intake.wantsBody { return true }
        download.attempt.receive(bytes.count)
        metrics.bytesReceived += bytes.count
        guard downloads.append(bytes, to: download) else { return download.intake.reject(ImageError(.buffersFull, retryAfter: 1)) }
        guard download.intake.receive(bytes) else { return false }
        if !download.isAnnounced, download.intake.isKnown { sendOrDelayHead(download) }
        return true
    }

    mutating func read(_ file: Result<SandboxedDirectory.File, SandboxedDirectory.AccessError>, _ number: UInt64) {
        guard let download = downloads[number], !download.attempt.stage.isOver else { return }
        switch file {
        case .failure(let failure): fail(download, ImageError(failure))
        case .success(let file):
            let head = download.head(of: file)
            let isTaken = received(head, download) && (head.status != 200 || file.bytes.withUnsafeBytes { received($0, download) })
            ended(download, isTaken ? nil : .rejected)
        }
    }

    private mutating func ended(_ download: Download, _ failure: FetchError?) {
        switch download.intake.end(failure) {
        case .refuted: launch(download, isAnotherAttempt: false)
        case .confirmed(let image, let isKept):
            record(download, "not-modified", .good)
            replies.confirm(download, image, isCached: isKept)
            drop(download)
        case .complete(let head): complete(download, head)
        case .failed(let failure) where download.isWorthRetrying(failure, now: configuration.clock()):
            metrics.retries += 1
            _ = download.attempt.reach(.queued)
            steps.append(.arm(download.number, .pause, .milliseconds(Int.random(in: 50...150))))
        case .failed(let failure): fail(download, failure)
        }
    }

    // MARK: Responses

    private mutating func sendOrDelayHead(_ download: Download) {
        guard download.benefitsFromDelay else { return sendHead(download) }
        if let time = download.delayHead() { steps.append(.arm(download.number, .headDelay, time)) }
    }

    private mutating func sendHead(_ download: Download) {
        guard !download.isAnnounced, download.intake.isKnown else { return }
        steps.append(.disarm(download.number, .headDelay))
        download.isAnnounced = true
        for waiter in Array(download.waiters.keys) { sendHead(download, to: waiter) }
    }

    private mutating func sendHead(_ download: Download, to waiter: UInt64) {
        if !replies.sendHead(download, to: waiter) { perform(download.attempt.cancel(waiter), download) }
    }

    private mutating func complete(_ download: Download, _ head: OriginResponseHead) {
        record(download, "ok", .good)
        let image = replies.cacheImage(download)
        if let image { steps += download.isForReview ? [.review(image)] : [] } else { sendHead(download) }
        replies.complete(download, head, image)
        download.buffer.finish(.complete)
        drop(download)
    }

    private mutating func fail(_ download: Download, _ failure: ImageError, _ outcome: CacheStatus.Outcome = .miss) {
        if outcome == .miss { record(download, failure.metric, failure.outcome) }
        replies.fail(download, failure, outcome)
        drop(download)
    }

    private mutating func record(_ download: Download, _ result: String, _ outcome: CircuitBreaker.Outcome?) {
        metrics.upstream[result, default: 0] += 1
        breaker.record(download.hop.authority, outcome, now: now())
    }

    var report: ImageMetrics {
        var report = metrics
        report.bufferBytes = downloads.budget.inUse
        (report.inFlight, report.queued, report.openCircuits) = (queue.runningCount, queue.waitingCount, breaker.openCount)
        (report.waiters, report.requests) = (replies.count, replies.counts)
        cache.report(to: &report)
        return report
    }
}
