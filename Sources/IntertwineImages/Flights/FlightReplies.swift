internal import FoundationEssentials
internal import IntertwineFetch

/// Who waits for which download, and what they hear of it; and so what is kept of it, as that is said to them too.
struct FlightReplies {
    typealias Reply = @Sendable (ImageAnswer) -> Void

    private(set) var store: PictureStore
    private var waiters = WaiterTable<Download>()
    /// Requests by how they were answered. Those that are made here, for others that are counted, are not.
    private var counts: [CacheStatus.Outcome: Int] = [:]
    private let clock: @Sendable () -> Int64
    /// Hears of those who let go of the body that they read.
    private let departed: @Sendable (UInt64) -> Void

    /// - Parameter clock: seconds since 1970.
    init(_ store: PictureStore, clock: @escaping @Sendable () -> Int64, departed: @escaping @Sendable (UInt64) -> Void) {
        (self.store, self.clock, self.departed) = (store, clock, departed)
    }

    // MARK: Who waits

    func report(to metrics: inout ImageMetrics) {
        (metrics.waiters, metrics.requests) = (waiters.count, counts)
        store.report(to: &metrics)
    }

    /// What a waiter waits for.
    func download(of waiter: UInt64) -> Download? { waiters.home(of: waiter) }

    /// All who have a name.
    func waiters(named id: UUID) -> Set<UInt64> { waiters.waiters(named: id) }

    mutating func add(_ waiter: UInt64, _ request: ImageRequest, to download: Download, isCollapsed: Bool, _ reply: @escaping Reply) {
        download.waiters[waiter] = Download.Waiter(
            isCollapsed: isCollapsed, isOnlyIfCached: request.isOnlyIfCached, kinds: request.kinds, needsWhole: request.needsWhole,
            isDecoding: request.isDecoded, reply: reply)
        waiters.add(waiter, to: download, named: request.id)
    }

    /// It has everything, or wants nothing any more.
    private mutating func forget(_ waiter: UInt64) {
        waiters.remove(waiter)?.waiters[waiter] = nil
    }

    /// It leaves, and hears so if it has heard nothing yet.
    mutating func dismiss(_ waiter: UInt64, _ failure: ImageFailure) {
        if let reply = waiters.home(of: waiter)?.waiters[waiter]?.reply { refuse(failure, reply) }
        forget(waiter)
    }

    /// Those who want only what is stored hear that nothing is.
    /// - Returns: false where nobody is left.
    mutating func dismissOnlyIfCached(_ download: Download) -> Bool {
        for waiter in download.waiters.filter({ $0.value.isOnlyIfCached }).keys {
            dismiss(waiter, ImageFailure(.notStored))
            if !download.flight.leave(waiter).isEmpty { return false }
        }
        return true
    }

    /// Those who have heard nothing yet. They wait no more.
    private mutating func takeWaiting(_ download: Download) -> [(waiter: Download.Waiter, reply: Reply)] {
        let waiting = download.waiters.compactMap { number, waiter in waiter.reply.map { (number, waiter, $0) } }
        for (number, _, _) in waiting { forget(number) }
        return waiting.map { ($0.1, $0.2) }
    }

    // MARK: At once

    /// That nobody was asked.
    mutating func refuse(_ failure: ImageFailure, _ reply: Reply) {
        count(.bypass)
        reply(ImageAnswer(failure, CacheStatus(.bypass)))
    }

    /// Answers with a picture that is fresh, or stale within the time in which it may be while it is being fetched anew.
    /// - Returns: whether it is fresh; nil where it was neither.
    mutating func serve(_ image: CachedImage, _ request: ImageRequest, _ reply: Reply) -> Bool? {
        let now = clock()
        let isFresh = image.freshness.isFresh(at: now)
        guard isFresh || (request.takesStale && image.freshness.bridgesRevalidation(at: now)) else { return nil }
        give(image, to: request.kinds, CacheStatus(isFresh ? .hit : .stale), isInner: request.needsWhole, reply)
        return isFresh
    }

    /// Answers with an image without its end that was fetched within the last minutes.
    /// - Returns: false if there is none.
    mutating func serveUnended(_ request: ImageRequest, _ reply: Reply) -> Bool {
        guard let image = store.unendedImage(request.source, request.kinds.wanted) else { return false }
        give(image, to: request.kinds, CacheStatus(.hit), isInner: request.needsWhole, isKept: false, isUnended: true, reply)
        return true
    }

    // MARK: What comes of a download

    /// The disk has a picture.
    /// - Returns: whether it is fresh; nil where it is neither that nor stale within its time, and nobody was told.
    mutating func settle(_ download: Download, found image: CachedImage) -> Bool? {
        store.hold(image)
        let now = clock()
        let isFresh = image.freshness.isFresh(at: now)
        guard isFresh || image.freshness.bridgesRevalidation(at: now) else { return nil }
        settle(download, image, CacheStatus(isFresh ? .hit : .stale))
        return isFresh
    }

    /// The head goes out to one, and the body follows as it comes.
    /// - Returns: false where it does not take such a picture, and leaves.
    mutating func announce(_ download: Download, to waiter: UInt64) -> Bool {
        guard let head = download.intake.head, let kind = head.kind, let entry = download.waiters[waiter], let reply = entry.reply,
            !entry.needsWhole
        else { return true }
        download.waiters[waiter]?.reply = nil
        var status = missed(download, head)
        status.isCollapsed = entry.isCollapsed
        count(status.outcome)
        guard entry.kinds.permits(kind) else {
            forget(waiter)
            reply(ImageAnswer(ImageFailure(.notAcceptable), status))
            return false
        }
        let stream = ImageStream(download.spool, reader: waiter) { [departed] in departed(waiter) }
        reply(ImageAnswer(stream, kind, head, status, now: clock()))
        return true
    }

    /// All of a picture has come.
    ///
    /// - Parameter image: nil where it is not kept; then those who wait for all of it get it all the same.
    mutating func complete(_ download: Download, _ head: PictureHead, _ image: CachedImage?) {
        let status = missed(download, head)
        if let image, !download.isAnnounced { return settle(download, image, status) }
        _ = download.flight.reach(.stored)
        // Others read it as it came.
        let waiting = takeWaiting(download)
        guard !waiting.isEmpty else { return }
        let passing =
            image.map { (image: $0, isStorable: false) }
            ?? store.unendedImage(download.source, download.wanted).map { (image: $0, isStorable: true) }
            ?? download.intake.passing(download.source, wanted: download.wanted, download.spool.contents, now: clock())
        for (_, reply) in waiting {
            var answer = passing.map { ImageAnswer($0.image, status, now: clock(), isKept: image != nil) }
            answer?.isUnended = passing?.isStorable == true && !download.isPurged
            answer?.isDelimited = head.isDelimited
            reply(answer ?? ImageAnswer(ImageFailure(.fetch(.truncated)), status))
        }
    }

    /// Stores a picture that is there in full, unless it must not be; then what was stored before goes.
    mutating func keep(_ download: Download) -> CachedImage? {
        guard !download.isPurged else { return nil }
        store.forgetFailure(for: download.key)
        guard let image = download.intake.picture(download.source, wanted: download.wanted, download.spool.contents) else {
            store.remove(download.source)
            guard download.intake.isUnended else { return nil }
            let passing = download.intake.passing(download.source, wanted: download.wanted, download.spool.contents, now: clock())
            if let passing { store.holdUnended(passing.image) }
            return nil
        }
        store.keep(image)
        return image
    }

    /// The origin says that the picture still holds.
    /// - Parameter isKept: false where it does not want it stored any longer.
    mutating func confirm(_ download: Download, _ image: CachedImage, isKept: Bool) {
        if !download.isPurged {
            store.forgetFailure(for: download.key)
            if isKept { store.keep(image) } else { store.remove(download.source) }
        }
        var status = CacheStatus(.revalidated)
        status.forwardStatus = 304
        settle(download, image, status, isKept: isKept)
    }

    /// It failed: a stale picture stands in where it may.
    /// - Parameter outcome: anything but a miss where nobody was asked, because what is known says enough.
    mutating func fail(_ download: Download, _ failure: ImageFailure, _ outcome: CacheStatus.Outcome) {
        let isNews = outcome == .miss
        if isNews, !download.isPurged { store.remember(failure, for: download.key, download.source) }
        guard !download.isAnnounced, let image = download.standIn(for: failure, now: clock()) else {
            return settle(download, failure, outcome)
        }
        var status = CacheStatus(.stale)
        status.detail = failure.code
        if isNews, case .upstream(let code) = failure.reason { status.forwardStatus = code }
        settle(download, image, status)
    }

    mutating func settle(_ download: Download, _ failure: ImageFailure, _ outcome: CacheStatus.Outcome) {
        _ = download.flight.reach(.failed)
        for (waiter, reply) in takeWaiting(download) {
            var status = CacheStatus(outcome)
            status.isCollapsed = waiter.isCollapsed
            status.wasStale = download.stale != nil
            if outcome == .miss, case .upstream(let code) = failure.reason { status.forwardStatus = code }
            if !waiter.needsWhole { count(outcome) }
            reply(ImageAnswer(failure, status))
        }
        download.spool.finish(.failed(failure))
    }

    private mutating func settle(_ download: Download, _ image: CachedImage, _ status: CacheStatus, isKept: Bool = true) {
        _ = download.flight.reach(.stored)
        for (waiter, reply) in takeWaiting(download) {
            var status = status
            status.isCollapsed = waiter.isCollapsed
            give(image, to: waiter.kinds, status, isInner: waiter.needsWhole, isKept: isKept, reply)
        }
    }

    /// The picture, to those who take its format.
    /// - Parameter isInner: whether the request was made here.
    private mutating func give(
        _ image: CachedImage, to kinds: AcceptedKinds, _ status: CacheStatus, isInner: Bool, isKept: Bool = true,
        isUnended: Bool = false, _ reply: Reply
    ) {
        if !isInner { count(status.outcome) }
        guard kinds.permits(image.kind) else { return reply(ImageAnswer(ImageFailure(.notAcceptable), status)) }
        var answer = ImageAnswer(image, status, now: clock(), isKept: isKept)
        answer.isUnended = isUnended
        reply(answer)
    }

    private func missed(_ download: Download, _ head: PictureHead) -> CacheStatus {
        var status = CacheStatus(.miss)
        status.forwardStatus = 200
        status.wasStale = download.stale != nil
        status.isStored = !download.isPurged && store.takes(head)
        return status
    }

    private mutating func count(_ outcome: CacheStatus.Outcome) { counts[outcome, default: 0] += 1 }

    // MARK: What is kept

    /// Stores an image without its end that was decoded all the same.
    mutating func keepUnended(_ image: CachedImage) { store.keep(image) }

    /// What is stored goes, and nothing is asked for it for a while.
    mutating func spoil(_ source: String, _ failure: ImageFailure) { store.remember(failure, for: source, source) }

    /// - Parameter done: called where nothing of it is stored any more.
    mutating func purge(_ selection: ImageSelection, _ done: @escaping @Sendable (Bool) -> Void) { store.purge(selection, done) }
}
