internal import Dispatch
internal import FoundationEssentials
internal import IntertwineEventLoop
internal import IntertwineFetch
internal import IntertwinePrimitives

/// All flights, and who waits for which. Lives on the loop of its transfers, so that an event of a transfer, a waiter that comes and
/// one that goes never meet in the middle of anything.
///
/// What is to be done, the pure ones decide: a ``Flight`` what becomes of a transfer, ``PictureIntake`` what an answer comes to, ``OriginGate``
/// who may start. It is all done here, with transfers, timers and files, which makes this file a long one.
actor Flights {
    typealias Reply = FlightReplies.Reply

    /// Bodies up to this many declared bytes are answered whole where they come quickly: with a tag, ranges and conditions, and with a time to
    /// keep them only where they have their end.
    private static let smallBody = 1 << 20
    /// How long an answer is held back for that, or for the size of the picture, once the first bytes are there.
    private static let longestHold = Duration.milliseconds(100)
    private static let files = DispatchQueue(label: "intertwine.images.files")

    private nonisolated let loop: EventLoop
    private let configuration: ImageConfiguration
    private let transfers: Transfers
    private let budget: ByteBudget
    private var store: PictureStore
    /// By what is asked for: a source, and the formats that are wanted of it.
    private var byKey: [String: Download] = [:]
    private var byNumber: [UInt64: Download] = [:]
    private var waiters = WaiterTable<Download>()
    /// Downloads in their grace.
    private var abandoned: Set<UInt64> = []
    /// Downloads that are over and still being read, the oldest first.
    private var lingering: [LingeringSpool] = []
    private var gate: OriginGate
    private var replies: FlightReplies
    private var metrics = ImageMetrics()
    private var queueTimer: OneShotTimer?
    private var lastNumber: UInt64 = 0
    private var isShutDown = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(_ configuration: ImageConfiguration, transfers: Transfers, memory: MemoryCache, disk: DiskCache?, budget: ByteBudget) {
        self.configuration = configuration
        self.transfers = transfers
        store = PictureStore(memory: memory, disk: disk)
        loop = transfers.loop
        self.budget = budget
        var limits = Admission<UInt64>.Limits()
        limits.running = configuration.downloads
        limits.perHost = configuration.downloadsPerHost
        limits.waiting = configuration.queue
        limits.patience = configuration.patience
        gate = OriginGate(limits: limits)
        replies = FlightReplies(clock: configuration.clock)
    }

    // MARK: Who comes

    func enter(_ request: ImageRequest, _ ticket: ImageTicket, _ reply: @escaping Reply) {
        guard !ticket.hasLeft else { return replies.refuse(ImageFailure(.cancelled), reply) }
        guard !isShutDown else { return replies.refuse(ImageFailure(.fetch(.shuttingDown)), reply) }
        guard request.kinds.isPossible else { return replies.refuse(ImageFailure(.notAcceptable), reply) }
        let now = configuration.clock()
        let remembered = store.image(request.source, request.kinds.wanted)
        if let remembered, serve(remembered, request, now, reply) { return }
        if request.isOnlyIfCached, remembered != nil || !isBeingLookedUp(request) {
            return replies.refuse(ImageFailure(.notStored), reply)
        }
        if let download = byKey[request.key], let commands = download.flight.join(ticket.number, request.priority) {
            add(ticket.number, request, to: download, isCollapsed: true, reply)
            gate.setPriority(download.flight.priority, of: download.number, now: .now())
            perform(commands, download)
            return startWaiting()
        }
        do throws(FetchFailure) {
            let download = try makeDownload(request.source, request.kinds.wanted, stale: remembered, isOwned: false)
            _ = download.flight.join(ticket.number, request.priority)
            add(ticket.number, request, to: download, isCollapsed: false, reply)
            begin(download)
        } catch {
            replies.refuse(ImageFailure(.fetch(error)), reply)
        }
    }

    /// The whole of a picture, for who makes others of it: in whatever format its origin has, of those that everybody takes if it has several.
    func original(of source: String, id: UUID, priority: ImagePriority, _ ticket: ImageTicket) async -> ImageAnswer {
        var request = ImageRequest(source, id: id, priority: priority)
        request.needsWhole = true
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                enter(request, ticket) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            ticket.leave()
            loop.execute { self.assumeIsolated { $0.leave(ticket.number) } }
        }
    }

    /// Answers with a picture that is fresh, or stale within the time in which it may be while it is being fetched anew.
    private func serve(_ image: CachedImage, _ request: ImageRequest, _ now: Int64, _ reply: Reply) -> Bool {
        if image.freshness.isFresh(at: now) {
            replies.give(image, to: request.kinds, CacheStatus(.hit), isInner: request.needsWhole, reply)
            return true
        }
        guard image.freshness.bridgesRevalidation(at: now) else { return false }
        replies.give(image, to: request.kinds, CacheStatus(.stale), isInner: request.needsWhole, reply)
        refresh(image, request.kinds.wanted)
        return true
    }

    /// Whether the disk has the last word on it, and has not spoken yet.
    private func isBeingLookedUp(_ request: ImageRequest) -> Bool {
        store.isOnDisk(request.source, request.kinds.wanted) && byKey[request.key].map { $0.flight.stage == .lookup } ?? true
    }

    /// Fetches a picture anew for the cache itself, unless that is under way or failed just now.
    private func refresh(_ image: CachedImage, _ wanted: AcceptedKinds.Set) {
        let key = CachedImage.key(image.source, wanted)
        guard byKey[key] == nil, store.failure(for: key) == nil,
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
        let download = Download(
            number: lastNumber, source: source, wanted: wanted, url: url, place: place, stale: stale,
            flight: Flight(rules: rules, isOwned: isOwned), spool: Spool(budget: budget),
            policy: configuration.hostFreshness.first { $0.host.matches(asked.host) }?.policy ?? configuration.freshness)
        byKey[download.key] = download
        byNumber[lastNumber] = download
        return download
    }

    private func add(_ waiter: UInt64, _ request: ImageRequest, to download: Download, isCollapsed: Bool, _ reply: @escaping Reply) {
        if isCollapsed { metrics.collapsed += 1 }
        download.waiters[waiter] = Download.Waiter(
            isCollapsed: isCollapsed, isOnlyIfCached: request.isOnlyIfCached, kinds: request.kinds, needsWhole: request.needsWhole,
            reply: reply)
        waiters.add(waiter, to: download, named: request.id)
        if download.isAnnounced { announce(download, to: waiter) }
    }

    // MARK: Who leaves

    /// Legal at any time, for anybody, twice.
    func leave(_ waiter: UInt64) {
        guard let download = waiters.home(of: waiter) else { return }
        let stage = download.flight.stage
        if !stage.isOver { metrics.departed[stage.rawValue, default: 0] += 1 }
        if let reply = download.waiters[waiter]?.reply { replies.refuse(ImageFailure(.cancelled), reply) }
        forget(waiter)
        let commands = download.flight.leave(waiter)
        gate.setPriority(download.flight.priority, of: download.number, now: .now())
        perform(commands, download)
        yieldPlaces()
    }

    /// The grace is a courtesy for as long as it costs nobody a place: where somebody waits for one, it is over.
    private func yieldPlaces() {
        for number in abandoned where gate.isWanted(placeOf: number) { graceOver(number) }
    }

    func cancel(_ id: UUID) -> Bool {
        let named = waiters.waiters(named: id)
        for waiter in named {
            waiters.home(of: waiter)?.spool.cancel(waiter)
            leave(waiter)
        }
        return !named.isEmpty
    }

    func viewport(visible: [UUID], gone: [UUID]) -> Int {
        // The last to be hurried is the next to start, and should be the first that the client named.
        for waiter in visible.reversed().flatMap({ waiters.waiters(named: $0) }) {
            guard let download = waiters.home(of: waiter) else { continue }
            download.flight.setPriority(.visible, of: waiter)
            gate.hurry(download.number, now: .now())
        }
        startWaiting()
        let left = gone.reduce(0) { $0 + waiters.waiters(named: $1).count }
        for id in gone { _ = cancel(id) }
        return left
    }

    /// - Parameter done: called where nothing of it is stored any more.
    func purge(_ selection: ImageSelection, _ done: @escaping @Sendable () -> Void) {
        for download in byNumber.values where selection.contains(download.source) {
            download.isPurged = true
            if byKey[download.key] === download { byKey[download.key] = nil }
        }
        store.purge(selection, done)
    }

    /// It has everything, or wants nothing any more.
    private func forget(_ waiter: UInt64) {
        waiters.remove(waiter)?.waiters[waiter] = nil
    }

    private func perform(_ commands: [Flight.Command], _ download: Download) {
        for command in commands {
            switch command {
            case .startGrace:
                let number = download.number
                download.grace = timer(after: configuration.grace) { $0.graceOver(number) }
                abandoned.insert(number)
            case .stopGrace:
                download.grace?.disarm()
                abandoned.remove(download.number)
            case .pause, .resume:
                if let fetch = download.fetch { transfers.assumeIsolated { $0.setPaused(command == .pause, fetch) } }
            case .abort(let stage):
                metrics.aborted[stage.rawValue, default: 0] += 1
                metrics.bytesWastedAfterCancel += download.flight.receivedForNobody
                metrics.bytesThrownAway += download.flight.received
                record(nil, of: download.hop.authority)
                drop(download)
            }
        }
    }

    private func graceOver(_ number: UInt64) {
        abandoned.remove(number)
        guard let download = byNumber[number] else { return }
        download.grace?.disarm()
        perform(download.flight.graceOver(), download)
    }

    /// Out of the tables, out of the queue, off the wire. What its transfer still says is heard by nobody.
    private func drop(_ download: Download) {
        byNumber[download.number] = nil
        // Somebody may not have read all of it.
        lingering.removeAll { $0.spool == nil }
        if download.isAnnounced, !download.waiters.isEmpty { lingering.append(LingeringSpool(spool: download.spool)) }
        abandoned.remove(download.number)
        if byKey[download.key] === download { byKey[download.key] = nil }
        download.disarm()
        if let naming = download.naming { transfers.assumeIsolated { $0.leave(naming) } }
        if let fetch = download.fetch { transfers.cancel(fetch) }
        gate.leave(download.number)
        startWaiting()
    }

    func shutDown() {
        isShutDown = true
        for download in Array(byNumber.values) {
            drop(download)
            settle(download, failure: ImageFailure(.fetch(.shuttingDown)), .bypass)
        }
        queueTimer?.disarm()
    }

    // MARK: The way to the origin

    private func begin(_ download: Download) {
        guard download.stale == nil, store.isOnDisk(download.source, download.wanted) else { return queue(download) }
        let number = download.number
        store.readDisk(download.source, download.wanted) { [weak self, loop] image in
            guard let flights = self else { return }
            loop.execute { flights.assumeIsolated { $0.found(image, number) } }
        }
    }

    private func found(_ image: CachedImage?, _ number: UInt64) {
        guard let download = byNumber[number], !download.flight.stage.isOver else { return }
        guard let image, !download.isPurged else { return queue(download) }
        store.hold(image)
        let now = configuration.clock()
        let isFresh = image.freshness.isFresh(at: now)
        guard isFresh || image.freshness.bridgesRevalidation(at: now) else {
            download.stale = image
            return queue(download)
        }
        settle(download, image, CacheStatus(isFresh ? .hit : .stale))
        drop(download)
        if !isFresh { refresh(image, download.wanted) }
    }

    /// The disk has it not, or no longer fresh enough: who wants only what is stored is told so.
    /// - Returns: false where nobody is left.
    private func dismissOnlyIfCached(_ download: Download) -> Bool {
        for (waiter, entry) in download.waiters where entry.isOnlyIfCached {
            forget(waiter)
            if let reply = entry.reply { replies.refuse(ImageFailure(.notStored), reply) }
            if !download.flight.leave(waiter).isEmpty { return false }
        }
        return true
    }

    private func queue(_ download: Download) {
        guard dismissOnlyIfCached(download) else { return drop(download) }
        if let failure = store.failure(for: download.key) { return fail(download, failure, .negative) }
        if case .file(let folder, let name)? = download.place { return readFile(folder, name, for: download) }
        if approach(download) { launch(download) }
    }

    /// Whether it may go to the host of its hop now. If not it waits for that, or has failed.
    ///
    /// The host's name is waited for before a place is taken: names that nobody answers for would otherwise take all of them.
    private func approach(_ download: Download) -> Bool {
        if let reason = gate.reasonToStay(from: download.hop.authority, now: .now()) {
            fail(download, reason, .bypass)
            return false
        }
        let number = download.number
        let (hop, limit) = (download.hop, configuration.limits.resolve)
        download.naming = transfers.assumeIsolated { transfers in
            transfers.waitForName(of: hop, within: limit) { [weak self] failure in
                self?.assumeIsolated { $0.named(number, failure) }
            }
        }
        guard download.naming == nil else {
            _ = download.flight.reach(.resolving)
            return false
        }
        return admit(download)
    }

    private func named(_ number: UInt64, _ failure: FetchFailure?) {
        guard let download = byNumber[number] else { return }
        download.naming = nil
        if let failure { return fail(download, ImageFailure(.fetch(failure))) }
        if admit(download) { start(download) }
    }

    private func admit(_ download: Download) -> Bool {
        let (verdict, displaced) = gate.enter(
            download.number, origin: download.hop.authority, priority: download.flight.priority, now: .now())
        if let displaced, let other = byNumber[displaced] { fail(other, ImageFailure(.overloaded, retryAfter: 1)) }
        switch verdict {
        case .go: return true
        case .wait:
            _ = download.flight.reach(.queued)
            watchQueue()
            yieldPlaces()
        case .refuse: fail(download, ImageFailure(.overloaded, retryAfter: 1))
        }
        return false
    }

    /// Starts what may start now that somebody has left.
    private func startWaiting() {
        while let number = gate.next() {
            if let download = byNumber[number] { start(download) } else { gate.leave(number) }
        }
    }

    private func start(_ download: Download) {
        guard download.isHeld, let fetch = download.fetch else { return launch(download) }
        download.isHeld = false
        transfers.proceed(fetch)
    }

    private func watchQueue() {
        guard let next = gate.nextExpiry, queueTimer?.deadline == nil else { return }
        let wait = max(.zero, next.since(.now()))
        if let queueTimer { queueTimer.arm(after: wait) } else { queueTimer = timer(after: wait) { $0.expireQueue() } }
    }

    private func expireQueue() {
        for number in gate.expire(now: .now()) {
            if let download = byNumber[number] { fail(download, ImageFailure(.queueTimeout, retryAfter: 1)) }
        }
        watchQueue()
    }

    private func launch(_ download: Download, isAnotherAttempt: Bool = true) {
        if isAnotherAttempt { download.countAttempt() }
        download.fetch = transfers.start(download.begin(configuration), delegate: DownloadDelegate(self, download.number))
    }

    /// A picture that lies in a folder of this machine: read on a queue of its own, and then as if an origin had sent it.
    private func readFile(_ folder: ConfinedFolder, _ name: String, for download: Download) {
        download.intake.begin(at: configuration.clock())
        let (number, limit) = (download.number, configuration.limits.bodyBytes)
        Self.files.async { [weak self, loop] in
            let file: Result<ConfinedFolder.File, ConfinedFolder.Failure>
            do throws(ConfinedFolder.Failure) {
                file = .success(try folder.read(name, limit: limit))
            } catch {
                file = .failure(error)
            }
            guard let flights = self else { return }
            loop.execute { flights.assumeIsolated { $0.read(file, number) } }
        }
    }

    private func read(_ file: Result<ConfinedFolder.File, ConfinedFolder.Failure>, _ number: UInt64) {
        guard let download = byNumber[number], !download.flight.stage.isOver else { return }
        switch file {
        case .failure(.notFound): fail(download, ImageFailure(.upstream(status: 404)))
        case .failure(.denied): fail(download, ImageFailure(.upstream(status: 403)))
        case .failure(.tooLarge): fail(download, ImageFailure(.fetch(.bodyTooLarge)))
        case .success(let file):
            var headers = FetchHeaders(["ETag": file.tag, "Last-Modified": HTTPDate.text(file.modified)])
            if download.stale?.validators.etag == file.tag {
                _ = received(FetchHead(status: 304, headers: headers, url: download.url), number)
                return ended(nil, number)
            }
            headers.append("Content-Length", String(file.bytes.count))
            let isTaken =
                received(FetchHead(status: 200, headers: headers, url: download.url), number)
                && file.bytes.withUnsafeBytes { received($0, number) }
            ended(isTaken ? nil : .rejected, number)
        }
    }

    // MARK: What the transfers report

    func reached(_ stage: FetchStage, _ number: UInt64) {
        guard let download = byNumber[number] else { return }
        switch stage {
        case .resolving: _ = download.flight.reach(.resolving)
        case .connecting: _ = download.flight.reach(.connecting)
        case .headers: _ = download.flight.reach(.headers)
        case .body: break
        }
    }

    /// The transfers have made the one second attempt themselves.
    func repeated(_ number: UInt64) {
        guard let download = byNumber[number] else { return }
        download.countAttempt()
        metrics.retries += 1
    }

    /// The host that redirects has done its part, and gives its place back; the next one is asked like any other.
    /// - Returns: false where it has to wait.
    func redirected(to url: FetchURL, _ number: UInt64) -> Bool {
        guard let download = byNumber[number], url.authority != download.hop.authority else { return true }
        record(.good, of: download.hop.authority)
        download.hop = url
        gate.leave(number)
        download.isHeld = true
        let mayGo = approach(download)
        if mayGo { download.isHeld = false }
        startWaiting()
        return mayGo
    }

    func received(_ head: FetchHead, _ number: UInt64) -> Bool {
        guard let download = byNumber[number], download.intake.take(head, stale: download.stale, now: configuration.clock()) else {
            return false
        }
        if download.intake.wantsBody {
            download.flight.expect(download.intake.head?.length)
            perform(download.flight.reach(.body), download)
        }
        return true
    }

    func received(_ bytes: UnsafeRawBufferPointer, _ number: UInt64) -> Bool {
        guard let download = byNumber[number] else { return false }
        if !download.intake.wantsBody { return true }
        download.flight.receive(bytes.count)
        metrics.bytesReceived += bytes.count
        guard keep(bytes, in: download.spool) else { return download.intake.reject(ImageFailure(.buffersFull, retryAfter: 1)) }
        guard download.intake.take(bytes) else { return false }
        if !download.isAnnounced, download.intake.isKnown { announceOrHold(download) }
        return true
    }

    /// Where the memory set aside is in use, those that are over give theirs back, the oldest first: who still reads one of them has had
    /// more time than anybody.
    private func keep(_ bytes: UnsafeRawBufferPointer, in spool: Spool) -> Bool {
        while !spool.append(bytes) {
            guard !lingering.isEmpty else { return false }
            lingering.removeFirst().spool?.cutOff(ImageFailure(.buffersFull, retryAfter: 1))
        }
        return true
    }

    func ended(_ failure: FetchFailure?, _ number: UInt64) {
        guard let download = byNumber[number] else { return }
        download.fetch = nil
        switch download.intake.end(failure) {
        case .refuted: launch(download, isAnotherAttempt: false)
        case .confirmed(let image): confirm(download, image)
        case .whole(let head): complete(download, head)
        case .failed(let failure) where download.isWorthRetrying(failure, now: configuration.clock()):
            metrics.retries += 1
            _ = download.flight.reach(.queued)
            download.pause = timer(after: .milliseconds(Int.random(in: 50...150))) { flights in
                if let download = flights.byNumber[number] { flights.launch(download) }
            }
        case .failed(let failure): fail(download, failure)
        }
    }

    // MARK: The answers

    private func announceOrHold(_ download: Download) {
        let isSmall = download.intake.head?.length.map { $0 <= Self.smallBody } ?? false
        guard isSmall || !download.intake.isMeasured else { return announce(download) }
        guard download.hold == nil else { return }
        let number = download.number
        download.hold = timer(after: Self.longestHold) { flights in
            if let download = flights.byNumber[number] { flights.announce(download) }
        }
    }

    private func announce(_ download: Download) {
        guard !download.isAnnounced, download.intake.isKnown else { return }
        download.hold?.disarm()
        download.isAnnounced = true
        for waiter in Array(download.waiters.keys) { announce(download, to: waiter) }
    }

    /// The head goes out, and the body follows as it comes.
    private func announce(_ download: Download, to waiter: UInt64) {
        guard let head = download.intake.head, let kind = head.kind, let entry = download.waiters[waiter], let reply = entry.reply,
            !entry.needsWhole
        else { return }
        download.waiters[waiter]?.reply = nil
        var status = missed(download, head)
        status.isCollapsed = entry.isCollapsed
        guard entry.kinds.permits(kind) else {
            forget(waiter)
            perform(download.flight.leave(waiter), download)
            return replies.fail(ImageFailure(.notAcceptable), status, isInner: false, reply)
        }
        let stream = ImageStream(download.spool, reader: waiter) { [weak self, loop] in
            guard let flights = self else { return }
            loop.execute { flights.assumeIsolated { $0.leave(waiter) } }
        }
        replies.announce(stream, kind, head, status, reply)
    }

    private func missed(_ download: Download, _ head: PictureHead) -> CacheStatus {
        var status = CacheStatus(.miss)
        status.forwardStatus = 200
        status.wasStale = download.stale != nil
        status.isStored = !download.isPurged && store.takes(head)
        return status
    }

    private func complete(_ download: Download, _ head: PictureHead) {
        record(download, "ok", .good)
        if !download.isPurged { store.forgetFailure(for: download.key) }
        let image = keep(download)
        if let image, !download.isAnnounced {
            settle(download, image, missed(download, head))
        } else {
            announce(download)
            _ = download.flight.reach(.stored)
            settleWhole(download, image, missed(download, head))
        }
        download.spool.finish(.whole)
        drop(download)
    }

    /// Answers those who waited for all of it. Others read it as it came.
    private func settleWhole(_ download: Download, _ image: CachedImage?, _ status: CacheStatus) {
        let now = configuration.clock()
        let waiting = download.waiters.filter { $0.value.reply != nil }
        guard !waiting.isEmpty else { return }
        let passing = image ?? download.intake.passing(download.source, download.spool.contents, now: now)
        for (waiter, entry) in waiting {
            forget(waiter)
            replies.pass(passing, isKept: image != nil, status, entry.reply)
        }
    }

    /// Stores a picture that is there in full, unless it must not be; then what was stored before goes.
    private func keep(_ download: Download) -> CachedImage? {
        guard !download.isPurged else { return nil }
        guard let image = download.intake.picture(download.source, wanted: download.wanted, download.spool.contents) else {
            store.remove(download.source)
            return nil
        }
        store.keep(image)
        return image
    }

    private func confirm(_ download: Download, _ image: CachedImage) {
        record(download, "not-modified", .good)
        if !download.isPurged {
            store.forgetFailure(for: download.key)
            store.keep(image)
        }
        var status = CacheStatus(.revalidated)
        status.forwardStatus = 304
        settle(download, image, status)
        drop(download)
    }

    /// - Parameter outcome: anything but a miss where nobody was asked, because what is known says enough.
    private func fail(_ download: Download, _ failure: ImageFailure, _ outcome: CacheStatus.Outcome = .miss) {
        let isNews = outcome == .miss
        if isNews { record(download, failure.metric, failure.outcome) }
        if isNews, !download.isPurged { store.remember(failure, for: download.key, download.source) }
        if !download.isAnnounced, let image = download.standIn(for: failure, now: configuration.clock()) {
            var status = CacheStatus(.stale)
            status.detail = failure.code
            if isNews, case .upstream(let code) = failure.reason { status.forwardStatus = code }
            settle(download, image, status)
        } else {
            settle(download, failure: failure, outcome)
        }
        drop(download)
    }

    private func settle(_ download: Download, _ image: CachedImage, _ status: CacheStatus) {
        _ = download.flight.reach(.stored)
        for (waiter, entry) in download.waiters {
            guard let reply = entry.reply else { continue }
            forget(waiter)
            var status = status
            status.isCollapsed = entry.isCollapsed
            replies.give(image, to: entry.kinds, status, isInner: entry.needsWhole, reply)
        }
    }

    private func settle(_ download: Download, failure: ImageFailure, _ outcome: CacheStatus.Outcome) {
        _ = download.flight.reach(.failed)
        for (waiter, entry) in download.waiters {
            guard let reply = entry.reply else { continue }
            forget(waiter)
            var status = CacheStatus(outcome)
            status.isCollapsed = entry.isCollapsed
            status.wasStale = download.stale != nil
            if outcome == .miss, case .upstream(let code) = failure.reason { status.forwardStatus = code }
            replies.fail(failure, status, isInner: entry.needsWhole, reply)
        }
        download.spool.finish(.failed(failure))
    }

    // MARK: Counting

    private func record(_ download: Download, _ result: String, _ outcome: CircuitBreaker.Outcome?) {
        metrics.upstream[result, default: 0] += 1
        record(outcome, of: download.hop.authority)
    }

    private func record(_ outcome: CircuitBreaker.Outcome?, of origin: String) {
        gate.record(outcome, of: origin, now: .now())
    }

    func snapshot() -> ImageMetrics {
        var now = metrics
        now.inFlight = gate.runningCount
        now.queued = gate.waitingCount
        now.waiters = waiters.count
        now.bufferBytes = budget.inUse
        now.restingHosts = gate.restingCount
        now.requests = replies.counts
        store.report(to: &now)
        return now
    }

    func flush() async {
        await withCheckedContinuation { continuation in store.flush { continuation.resume() } }
    }

    private func timer(after duration: Duration, _ action: @escaping @Sendable (isolated Flights) -> Void) -> OneShotTimer {
        let timer = OneShotTimer(on: loop) { [weak self] in self?.assumeIsolated(action) }
        timer.arm(after: duration)
        return timer
    }
}
