internal import FoundationEssentials
internal import IntertwineEventLoop
internal import IntertwineFetch

/// A state machine for all downloads and their waiters. It sends the responses; effects on transfers, names, timers and files come from
/// ``nextStep()``.
///
/// ``FetchAttempt`` holds the state of one transfer, ``OriginResponseReader`` reads a response, and ``OriginGate`` admits downloads.
struct ImageFetchStateMachine {
    typealias Reply = DownloadSubscribers.Reply

    private let configuration: ImageConfiguration
    private let budget: ByteBudget
    private let now: @Sendable () -> MonotonicInstant
    private var downloads = DownloadTable()
    /// The downloads in their grace period.
    private var abandoned: Set<UInt64> = []
    private var lingering = DetachedBuffers()
    private var gate: OriginGate
    private var replies: DownloadSubscribers
    private var metrics = ImageMetrics()
    private var isShutDown = false
    private var steps: [FetchEffect] = []

    init(
        _ configuration: ImageConfiguration, store: ImageStore, budget: ByteBudget,
        now: @escaping @Sendable () -> MonotonicInstant = { .now() },
        onUnsubscribe: @escaping @Sendable (UInt64) -> Void
    ) {
        (self.configuration, self.budget, self.now) = (configuration, budget, now)
        gate = OriginGate(limits: ConcurrencyLimiter<UInt64>.Limits(configuration))
        replies = DownloadSubscribers(store, clock: configuration.clock, onUnsubscribe: onUnsubscribe)
    }

    var store: ImageStore { replies.store }

    /// Returns the next effect; nil if none is pending. Performing it may add more.
    mutating func nextStep() -> FetchEffect? { steps.isEmpty ? nil : steps.removeFirst() }

    // MARK: Subscribe

    mutating func subscribe(_ request: ImageRequest, _ waiter: UInt64, _ reply: @escaping Reply) {
        guard !isShutDown else { return refuse(ImageError(.fetch(.shuttingDown)), reply) }
        guard request.kinds.isPossible else { return refuse(ImageError(.notAcceptable), reply) }
        let remembered = store.image(request.source, request.kinds.accepted)
        if let remembered, let isFresh = replies.serve(remembered, request, reply) {
            if !isFresh { refresh(remembered, request.kinds.accepted) }
            return
        }
        if remembered == nil, replies.serveUnended(request, reply) { return }
        if request.isOnlyIfCached, remembered != nil || !isBeingLookedUp(request) { return refuse(ImageError(.notStored), reply) }
        if let download = downloads[request.key], let effects = download.attempt.join(waiter, request.priority) {
            metrics.collapsed += 1
            replies.add(waiter, request, to: download, isCollapsed: true, reply)
            if download.isAnnounced { sendHead(download, to: waiter) }
            gate.setPriority(download.attempt.priority, of: download.number, now: now())
            perform(effects, download)
            return startWaiting()
        }
        do throws(FetchError) {
            let download = try downloads.make(
                request.source, request.kinds.accepted, stale: remembered, isOwned: false, SharedBodyBuffer(budget: budget), configuration)
            _ = download.attempt.join(waiter, request.priority)
            replies.add(waiter, request, to: download, isCollapsed: false, reply)
            begin(download)
        } catch {
            refuse(ImageError(.fetch(error)), reply)
        }
    }

    mutating func refuse(_ failure: ImageError, _ reply: Reply) { replies.refuse(failure, reply) }

    /// Returns true if the disk cache decides the request and its lookup is not complete.
    private func isBeingLookedUp(_ request: ImageRequest) -> Bool {
        store.isOnDisk(request.source, request.kinds.accepted) && downloads[request.key].map { $0.attempt.stage == .lookup } ?? true
    }

    /// Revalidates an image for the cache, unless a download exists or a recent failure is remembered.
    private mutating func refresh(_ image: CachedImage, _ wanted: AcceptedFormats.Set) {
        let key = CachedImage.key(image.source, wanted)
        guard downloads[key] == nil, store.failure(for: key, of: image.source) == nil,
            let download = try? downloads.make(
                image.source, wanted, stale: image, isOwned: true, SharedBodyBuffer(budget: budget), configuration)
        else { return }
        metrics.refreshes += 1
        begin(download)
    }

    // MARK: Unsubscribe

    /// Removes a waiter. Calls at any time, with unknown numbers and repeated calls are valid.
    mutating func unsubscribe(_ waiter: UInt64) {
        guard let download = replies.download(of: waiter) else { return }
        let stage = download.attempt.stage
        if !stage.isOver { metrics.cancelledWaiters[stage.rawValue, default: 0] += 1 }
        replies.dismiss(waiter, ImageError(.cancelled))
        let effects = download.attempt.cancel(waiter)
        gate.setPriority(download.attempt.priority, of: download.number, now: now())
        perform(effects, download)
        yieldPermits()
    }

    /// Ends the grace period of downloads whose permit a waiting download needs.
    private mutating func yieldPermits() {
        for number in abandoned where gate.hasWaiters(for: number) { graceOver(number) }
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
            gate.prioritize(download.number, now: now())
        }
        startWaiting()
        let left = gone.reduce(0) { $0 + replies.waiters(named: $1).count }
        for id in gone { _ = cancel(id) }
        return left
    }

    /// Stores an image that lacks its end but was decoded. `invalidateUndecodable` removes one that was not.
    mutating func keepUnended(_ image: CachedImage) { replies.keepUnended(image) }
    mutating func invalidateUndecodable(_ source: String, _ failure: ImageError) { replies.invalidateUndecodable(source, failure) }

    /// Purges the selected images.
    ///
    /// - Parameter done: Called once no selected image can be found, with true if nothing of the selection is left on disk.
    mutating func purge(_ selection: ImageSelection, _ done: @escaping @Sendable (Bool) -> Void) {
        downloads.purge(selection)
        replies.purge(selection, done)
    }

    private mutating func perform(_ effects: [FetchAttempt.Effect], _ download: Download) {
        for effect in effects {
            switch effect {
            case .startGrace:
                steps.append(.arm(download.number, .grace, configuration.grace))
                abandoned.insert(download.number)
            case .stopGrace:
                steps.append(.disarm(download.number, .grace))
                abandoned.remove(download.number)
            case .pause, .resume: steps.append(.setPaused(download.number, effect == .pause))
            case .abort(let stage):
                metrics.countAbort(of: download.attempt, at: stage)
                gate.record(nil, of: download.hop.authority, now: now())
                drop(download)
            }
        }
    }

    /// Handles a timer that has fired.
    mutating func due(_ timer: FetchEffect.Timer, _ number: UInt64) {
        switch timer {
        case .grace: graceOver(number)
        case .headDelay: if let download = downloads[number] { sendHead(download) }
        case .pause: if let download = downloads[number] { launch(download) }
        }
    }

    private mutating func graceOver(_ number: UInt64) {
        abandoned.remove(number)
        guard let download = downloads[number] else { return }
        steps.append(.disarm(number, .grace))
        perform(download.attempt.graceOver(), download)
    }

    /// Removes a download from the tables and the queue, and cancels its transfer. Later events of the transfer are ignored.
    private mutating func drop(_ download: Download) {
        downloads.remove(download)
        // A waiter may not have read the complete body yet.
        if download.isAnnounced, !download.waiters.isEmpty { lingering.add(download.buffer) }
        abandoned.remove(download.number)
        steps.append(.drop(download.number))
        gate.release(download.number)
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
        guard download.stale == nil, store.isOnDisk(download.source, download.acceptedFormats) else { return queue(download) }
        steps.append(.readDisk(download.number, download.source, download.acceptedFormats))
    }

    /// Handles the result of the disk lookup.
    mutating func found(_ image: CachedImage?, _ number: UInt64) {
        guard let download = downloads[number], !download.attempt.stage.isOver else { return }
        guard let image, !download.isPurged else { return queue(download) }
        guard let isFresh = replies.resolve(download, found: image) else {
            download.stale = image
            return queue(download)
        }
        drop(download)
        if !isFresh { refresh(image, download.acceptedFormats) }
    }

    private mutating func queue(_ download: Download) {
        // The disk cache has no fresh image, so waiters for a stored image only (`only-if-cached`) fail.
        guard replies.dismissOnlyIfCached(download) else { return drop(download) }
        if let failure = store.failure(for: download.key, of: download.source) { return fail(download, failure, .negative) }
        guard case .file(let folder, let name)? = download.resolvedSource else { return approach(download) }
        download.intake.begin(at: configuration.clock())
        steps.append(.readFile(download.number, folder, name))
    }

    /// Resolves the host of the current URL, unless its circuit is open.
    ///
    /// Why: the name is resolved before a permit is taken, because hosts that cannot be resolved would otherwise use all permits.
    private mutating func approach(_ download: Download) {
        if let reason = gate.reasonToStay(from: download.hop.authority, now: now()) { return fail(download, reason, .bypass) }
        _ = download.attempt.reach(.resolving)
        steps.append(.waitForName(download.number, download.hop))
    }

    /// Handles the result of the name resolution.
    mutating func named(_ number: UInt64, _ failure: FetchError?) {
        guard let download = downloads[number] else { return }
        if let failure { return fail(download, ImageError(.fetch(failure))) }
        let (verdict, displaced) = gate.acquire(
            number, origin: download.hop.authority, priority: download.attempt.priority, now: now())
        if let displaced, let other = downloads[displaced] { fail(other, ImageError(.overloaded, retryAfter: 1)) }
        switch verdict {
        case .go: start(download)
        case .wait:
            _ = download.attempt.reach(.queued)
            watchQueue()
            yieldPermits()
        case .refuse: fail(download, ImageError(.overloaded, retryAfter: 1))
        }
    }

    /// Starts the downloads for which permits are free.
    private mutating func startWaiting() {
        while let number = gate.next() {
            if let download = downloads[number] { start(download) } else { gate.release(number) }
        }
    }

    private mutating func start(_ download: Download) {
        guard download.isPaused else { return launch(download) }
        download.isPaused = false
        steps.append(.proceed(download.number))
    }

    private mutating func watchQueue() {
        if let next = gate.nextExpiry { steps.append(.watchQueue(next)) }
    }

    mutating func expireQueue() {
        for number in gate.expire(now: now()) {
            if let download = downloads[number] { fail(download, ImageError(.queueTimeout, retryAfter: 1)) }
        }
        watchQueue()
    }

    private mutating func launch(_ download: Download, isAnotherAttempt: Bool = true) {
        if isAnotherAttempt { download.countAttempt() }
        steps.append(.fetch(download.number, download.begin(configuration)))
    }

    // MARK: Events of transfers

    mutating func reached(_ stage: FetchStage, _ number: UInt64) {
        if let stage = FetchAttempt.Stage(stage) { _ = downloads[number]?.attempt.reach(stage) }
    }

    /// Counts the second attempt, which the transfer client made itself.
    mutating func repeated(_ number: UInt64) {
        guard let download = downloads[number] else { return }
        download.countAttempt()
        metrics.retries += 1
    }

    /// Handles a redirect: the permit of the redirecting host is released, and the next host needs one of its own.
    ///
    /// - Returns: False if the transfer has to wait for ``FetchEffect/proceed(_:)``.
    mutating func redirected(to url: FetchURL, _ number: UInt64) -> Bool {
        guard let download = downloads[number], url.authority != download.hop.authority else { return true }
        gate.record(.good, of: download.hop.authority, now: now())
        download.hop = url
        gate.release(number)
        download.isPaused = true
        approach(download)
        startWaiting()
        return false
    }

    /// Handles the head of a response.
    ///
    /// - Returns: False to abort the transfer.
    mutating func received(_ head: FetchHead, _ number: UInt64) -> Bool {
        guard let download = downloads[number], download.intake.receiveHead(head, stale: download.stale, now: configuration.clock()) else {
            return false
        }
        if download.intake.wantsBody {
            download.attempt.expect(download.intake.head?.length)
            perform(download.attempt.reach(.body), download)
        }
        return true
    }

    /// Handles bytes of the body.
    ///
    /// - Returns: False to abort the transfer.
    mutating func received(_ bytes: UnsafeRawBufferPointer, _ number: UInt64) -> Bool {
        guard let download = downloads[number] else { return false }
        if !download.intake.wantsBody { return true }
        download.attempt.receive(bytes.count)
        metrics.bytesReceived += bytes.count
        guard lingering.append(bytes, to: download.buffer) else { return download.intake.reject(ImageError(.buffersFull, retryAfter: 1)) }
        guard download.intake.receive(bytes) else { return false }
        if !download.isAnnounced, download.intake.isKnown { sendOrDelayHead(download) }
        return true
    }

    /// Handles the file that was read from a local folder as a response of an origin.
    mutating func read(_ file: Result<SandboxedDirectory.File, SandboxedDirectory.AccessError>, _ number: UInt64) {
        guard let download = downloads[number], !download.attempt.stage.isOver else { return }
        switch file {
        case .failure(let failure): fail(download, ImageError(failure))
        case .success(let file):
            let head = download.head(of: file)
            let isTaken = received(head, number) && (head.status != 200 || file.bytes.withUnsafeBytes { received($0, number) })
            ended(isTaken ? nil : .rejected, number)
        }
    }

    mutating func ended(_ failure: FetchError?, _ number: UInt64) {
        guard let download = downloads[number] else { return }
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
            steps.append(.arm(number, .pause, .milliseconds(Int.random(in: 50...150))))
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

    /// Fails a download.
    ///
    /// - Parameter outcome: `.miss` if the origin was asked; another outcome if the failure was known without a request.
    private mutating func fail(_ download: Download, _ failure: ImageError, _ outcome: CacheStatus.Outcome = .miss) {
        if outcome == .miss { record(download, failure.metric, failure.outcome) }
        replies.fail(download, failure, outcome)
        drop(download)
    }

    private mutating func record(_ download: Download, _ result: String, _ outcome: CircuitBreaker.Outcome?) {
        metrics.upstream[result, default: 0] += 1
        gate.record(outcome, of: download.hop.authority, now: now())
    }

    var report: ImageMetrics {
        var report = metrics
        report.bufferBytes = budget.inUse
        gate.report(to: &report)
        replies.report(to: &report)
        return report
    }
}
