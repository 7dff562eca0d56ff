internal import FoundationEssentials
internal import IntertwineEventLoop
internal import IntertwineFetch

/// All flights, and who waits for which. Lives on the loop of its transfers, so that an event of a transfer, a waiter that comes and
/// one that goes never meet in the middle of anything.
actor Flights {
    typealias Reply = @Sendable (ImageAnswer) -> Void

    nonisolated let loop: EventLoop
    let configuration: ImageConfiguration
    let transfers: Transfers
    let memory: MemoryCache
    let disk: DiskCache?
    let budget: ByteBudget
    /// Downloads that are over and still being read, the oldest first.
    var lingering: [LingeringSpool] = []

    /// By what is asked for: a source, and the formats that are wanted of it.
    var byKey: [String: Download] = [:]
    var byNumber: [UInt64: Download] = [:]
    /// Where each waiter waits, until it has everything.
    var homes: [UInt64: Download] = [:]
    var names: [UInt64: UUID] = [:]
    var named: [UUID: Set<UInt64>] = [:]
    /// Downloads in their grace.
    var abandoned: Set<UInt64> = []
    var admission: Admission<UInt64>
    var breaker = CircuitBreaker()
    var negative = NegativeCache()
    var metrics = ImageMetrics()
    var queueTimer: OneShotTimer?
    private var lastNumber: UInt64 = 0
    private var isShutDown = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(_ configuration: ImageConfiguration, transfers: Transfers, memory: MemoryCache, disk: DiskCache?, budget: ByteBudget) {
        self.configuration = configuration
        self.transfers = transfers
        self.memory = memory
        self.disk = disk
        loop = transfers.loop
        self.budget = budget
        var limits = Admission<UInt64>.Limits()
        limits.running = configuration.downloads
        limits.perHost = configuration.downloadsPerHost
        limits.waiting = configuration.queue
        limits.patience = configuration.patience
        admission = Admission(limits: limits)
    }

    func enter(_ request: ImageRequest, _ ticket: ImageTicket, _ reply: @escaping Reply) {
        guard !ticket.hasLeft else { return refuse(ImageFailure(.cancelled), .bypass, reply) }
        guard !isShutDown else { return refuse(ImageFailure(.fetch(.shuttingDown)), .bypass, reply) }
        guard request.kinds.isPossible else { return refuse(ImageFailure(.notAcceptable), .bypass, reply) }
        let now = configuration.clock()
        let remembered = memory.image(request.source, request.kinds.wanted)
        if let remembered, serve(remembered, request, now, reply) { return }
        if request.isOnlyIfCached, remembered != nil || !isBeingLookedUp(request) {
            return refuse(ImageFailure(.notStored), .bypass, reply)
        }
        if let download = byKey[request.key], let commands = download.flight.join(ticket.number, request.priority) {
            add(ticket.number, request, to: download, isCollapsed: true, reply)
            admission.setPriority(download.flight.priority, of: download.number, now: .now())
            perform(commands, download)
            return startWaiting()
        }
        do throws(FetchFailure) {
            let download = try makeDownload(request.source, request.kinds.wanted, stale: remembered, isOwned: false)
            _ = download.flight.join(ticket.number, request.priority)
            add(ticket.number, request, to: download, isCollapsed: false, reply)
            begin(download)
        } catch {
            refuse(ImageFailure(.fetch(error)), .bypass, reply)
        }
    }

    /// Answers with a picture that is fresh, or stale within the time in which it may be while it is being fetched anew.
    private func serve(_ image: CachedImage, _ request: ImageRequest, _ now: Int64, _ reply: Reply) -> Bool {
        if image.freshness.isFresh(at: now) {
            count(.hit)
            give(image, to: request.kinds, CacheStatus(.hit), reply)
            return true
        }
        guard image.freshness.bridgesRevalidation(at: now) else { return false }
        count(.stale)
        give(image, to: request.kinds, CacheStatus(.stale), reply)
        refresh(image, request.kinds.wanted)
        return true
    }

    /// The picture, to those who take its format.
    func give(_ image: CachedImage, to kinds: AcceptedKinds, _ status: CacheStatus, _ reply: Reply) {
        guard kinds.permits(image.kind) else { return reply(ImageAnswer(ImageFailure(.notAcceptable), status)) }
        reply(ImageAnswer(image, status, now: configuration.clock()))
    }

    /// Whether the disk has the last word on it, and has not spoken yet.
    private func isBeingLookedUp(_ request: ImageRequest) -> Bool {
        disk?.holds(request.source, request.kinds.wanted) == true && byKey[request.key].map { $0.flight.stage == .lookup } ?? true
    }

    /// Fetches a picture anew for the cache itself, unless that is under way or failed just now.
    func refresh(_ image: CachedImage, _ wanted: AcceptedKinds.Set) {
        let key = CachedImage.key(image.source, wanted)
        guard byKey[key] == nil, negative.failure(for: key, now: .now()) == nil,
            let download = try? makeDownload(image.source, wanted, stale: image, isOwned: true)
        else { return }
        metrics.refreshes += 1
        begin(download)
    }

    private func makeDownload(
        _ source: String, _ wanted: AcceptedKinds.Set, stale: CachedImage?, isOwned: Bool
    ) throws(FetchFailure) -> Download {
        let asked = try FetchURL(source)
        var place: PicturePlace.Found?
        for each in configuration.places where place == nil { place = try each.found(asked) }
        let url = if case .object(_, let object)? = place { object } else { asked }
        lastNumber += 1
        var rules = Flight.Rules()
        rules.grace = configuration.grace
        let flight = Flight(rules: rules, isOwned: isOwned)
        let download = Download(
            number: lastNumber, source: source, wanted: wanted, url: url, flight: flight, spool: Spool(budget: budget))
        download.stale = stale
        download.place = place
        download.policy = configuration.hostFreshness.first { $0.host.matches(asked.host) }?.policy ?? configuration.freshness
        byKey[download.key] = download
        byNumber[lastNumber] = download
        return download
    }

    private func add(_ waiter: UInt64, _ request: ImageRequest, to download: Download, isCollapsed: Bool, _ reply: @escaping Reply) {
        if isCollapsed { metrics.collapsed += 1 }
        download.waiters[waiter] = Download.Waiter(
            isCollapsed: isCollapsed, isOnlyIfCached: request.isOnlyIfCached, kinds: request.kinds, reply: reply)
        homes[waiter] = download
        if let id = request.id {
            names[waiter] = id
            named[id, default: []].insert(waiter)
        }
        if download.isAnnounced { announce(download, to: waiter) }
    }

    func refuse(_ failure: ImageFailure, _ outcome: CacheStatus.Outcome, _ reply: Reply) {
        count(outcome)
        reply(ImageAnswer(failure, CacheStatus(outcome)))
    }

    func count(_ outcome: CacheStatus.Outcome) {
        metrics.requests[outcome, default: 0] += 1
    }

    func shutDown() {
        isShutDown = true
        for download in Array(byNumber.values) {
            drop(download)
            settle(download, failure: ImageFailure(.fetch(.shuttingDown)), .bypass)
        }
        queueTimer?.disarm()
    }

    func flush() async {
        await withCheckedContinuation { continuation in
            if let disk { disk.flush { continuation.resume() } } else { continuation.resume() }
        }
    }
}
