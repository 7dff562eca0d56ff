internal import FoundationEssentials
internal import IntertwineEventLoop
internal import IntertwineFetch

/// Which downloads there are, who waits for which, and what becomes of all of them when somebody comes or goes, or something arrives. A state
/// machine: it answers those who wait, and what is to be done with transfers, names, timers and files it says in ``nextStep()``.
///
/// What becomes of one transfer a ``Flight`` decides, ``OriginResponseReader`` what an answer comes to, ``OriginGate`` who may start.
struct ImageFetchStateMachine {
    typealias Reply = DownloadSubscribers.Reply

    private let configuration: ImageConfiguration
    private let budget: ByteBudget
    private let now: @Sendable () -> MonotonicInstant
    private var downloads = DownloadTable()
    /// Downloads in their grace.
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

    /// What is to be done next; nil where nothing is. Doing it may lead to more.
    mutating func nextStep() -> FetchEffect? { steps.isEmpty ? nil : steps.removeFirst() }

    // MARK: Who comes

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

    /// Whether the disk has the last word on it, and has not spoken yet.
    private func isBeingLookedUp(_ request: ImageRequest) -> Bool {
        store.isOnDisk(request.source, request.kinds.accepted) && downloads[request.key].map { $0.attempt.stage == .lookup } ?? true
    }

    /// Fetches a picture anew for the cache itself, unless that is under way or failed just now.
    private mutating func refresh(_ image: CachedImage, _ wanted: AcceptedFormats.Set) {
        let key = CachedImage.key(image.source, wanted)
        guard downloads[key] == nil, store.failure(for: key, of: image.source) == nil,
            let download = try? downloads.make(
                image.source, wanted, stale: image, isOwned: true, SharedBodyBuffer(budget: budget), configuration)
        else { return }
        metrics.refreshes += 1
        begin(download)
    }

    // MARK: Who leaves

    /// Legal at any time, for anybody, twice.
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

    /// The grace is a courtesy for as long as it costs nobody a place: where somebody waits for one, it is over.
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
        // The last to be hurried is the next to start, and should be the first that the client named.
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

    /// Stores an image without its end that was decoded all the same; removes one that was not.
    mutating func keepUnended(_ image: CachedImage) { replies.keepUnended(image) }
    mutating func invalidateUndecodable(_ source: String, _ failure: ImageError) { replies.invalidateUndecodable(source, failure) }

    /// - Parameter done: called where nothing of it is found any more, with whether nothing of it is left on disk either.
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

    /// A timer was due.
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

    /// Out of the tables, out of the queue, off the wire. What its transfer still says is heard by nobody.
    private mutating func drop(_ download: Download) {
        downloads.remove(download)
        // Somebody may not have read all of it.
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

    // MARK: The way to the origin

    private mutating func begin(_ download: Download) {
        guard download.stale == nil, store.isOnDisk(download.source, download.acceptedFormats) else { return queue(download) }
        steps.append(.readDisk(download.number, download.source, download.acceptedFormats))
    }

    /// What the disk has of it.
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
        // The disk has it not, or no longer fresh enough: who wants only what is stored is told so.
        guard replies.dismissOnlyIfCached(download) else { return drop(download) }
        if let failure = store.failure(for: download.key, of: download.source) { return fail(download, failure, .negative) }
        guard case .file(let folder, let name)? = download.resolvedSource else { return approach(download) }
        download.intake.begin(at: configuration.clock())
        steps.append(.readFile(download.number, folder, name))
    }

    /// On to the host of its hop, unless that is left alone.
    ///
    /// The host's name is waited for before a place is taken: names that nobody answers for would otherwise take all of them.
    private mutating func approach(_ download: Download) {
        if let reason = gate.reasonToStay(from: download.hop.authority, now: now()) { return fail(download, reason, .bypass) }
        _ = download.attempt.reach(.resolving)
        steps.append(.waitForName(download.number, download.hop))
    }

    /// The name of its host is known, or is not going to be.
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

    /// Starts what may start now that somebody has left.
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

    // MARK: What the transfers report

    mutating func reached(_ stage: FetchStage, _ number: UInt64) {
        if let stage = FetchAttempt.Stage(stage) { _ = downloads[number]?.attempt.reach(stage) }
    }

    /// The transfers have made the one second attempt themselves.
    mutating func repeated(_ number: UInt64) {
        guard let download = downloads[number] else { return }
        download.countAttempt()
        metrics.retries += 1
    }

    /// The host that redirects has done its part, and gives its place back; the next one is asked like any other.
    /// - Returns: false where it has to wait for ``FetchEffect/proceed(_:)``.
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

    /// - Returns: false to want no more.
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

    /// - Returns: false to want no more.
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

    /// What was read from a folder of this machine: as if an origin had sent it.
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

    // MARK: The answers

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

    /// - Parameter outcome: anything but a miss where nobody was asked, because what is known says enough.
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
