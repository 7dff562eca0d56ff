internal import FoundationEssentials
internal import IntertwineFetch

/// Who waits for which download, and what they hear of it; and so what is kept of it, as that is said to them too.
struct DownloadSubscribers {
    typealias Reply = @Sendable (ImageResponse) -> Void

    private(set) var store: ImageStore
    private var waiters = WaiterTable<Download>()
    /// Requests by how they were answered. Those that are made here, for others that are counted, are not.
    private var counts: [CacheStatus.Outcome: Int] = [:]
    private let clock: @Sendable () -> Int64
    /// Hears of those who let go of the body that they read.
    private let onUnsubscribe: @Sendable (UInt64) -> Void

    /// - Parameter clock: seconds since 1970.
    init(_ store: ImageStore, clock: @escaping @Sendable () -> Int64, onUnsubscribe: @escaping @Sendable (UInt64) -> Void) {
        (self.store, self.clock, self.onUnsubscribe) = (store, clock, onUnsubscribe)
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
            isCollapsed: isCollapsed, isOnlyIfCached: request.isOnlyIfCached, kinds: request.kinds,
            requiresCompleteBody: request.requiresCompleteBody,
            isDecoding: request.isDecoded, reply: reply)
        waiters.add(waiter, to: download, named: request.id)
    }

    /// It has everything, or wants nothing any more.
    private mutating func forget(_ waiter: UInt64) {
        waiters.remove(waiter)?.waiters[waiter] = nil
    }

    /// It leaves, and hears so if it has heard nothing yet.
    mutating func dismiss(_ waiter: UInt64, _ failure: ImageError) {
        if let reply = waiters.home(of: waiter)?.waiters[waiter]?.reply { refuse(failure, reply) }
        forget(waiter)
    }

    /// Those who want only what is stored hear that nothing is.
    /// - Returns: false where nobody is left.
    mutating func dismissOnlyIfCached(_ download: Download) -> Bool {
        for waiter in download.waiters.filter({ $0.value.isOnlyIfCached }).keys {
            dismiss(waiter, ImageError(.notStored))
            if !download.attempt.cancel(waiter).isEmpty { return false }
        }
        return true
    }

    /// Those who have heard nothing yet. They wait no more.
    private mutating func drainWaiting(_ download: Download) -> [(waiter: Download.Waiter, reply: Reply)] {
        let waiting = download.waiters.compactMap { number, waiter in waiter.reply.map { (number, waiter, $0) } }
        for (number, _, _) in waiting { forget(number) }
        return waiting.map { ($0.1, $0.2) }
    }

    // MARK: At once

    /// That nobody was asked.
    mutating func refuse(_ failure: ImageError, _ reply: Reply) {
        count(.bypass)
        reply(ImageResponse(failure, CacheStatus(.bypass)))
    }

    /// Answers with a picture that is fresh, or stale within the time in which it may be while it is being fetched anew.
    /// - Returns: whether it is fresh; nil where it was neither.
    mutating func serve(_ image: CachedImage, _ request: ImageRequest, _ reply: Reply) -> Bool? {
        let now = clock()
        let isFresh = image.freshness.isFresh(at: now)
        guard isFresh || (request.allowsStale && image.freshness.bridgesRevalidation(at: now)) else { return nil }
        deliver(image, to: request.kinds, CacheStatus(isFresh ? .hit : .stale), isInner: request.requiresCompleteBody, reply)
        return isFresh
    }

    /// Answers with an image without its end that was fetched within the last minutes.
    /// - Returns: false if there is none.
    mutating func serveUnended(_ request: ImageRequest, _ reply: Reply) -> Bool {
        guard let image = store.unendedImage(request.source, request.kinds.accepted) else { return false }
        deliver(image, to: request.kinds, CacheStatus(.hit), isInner: request.requiresCompleteBody, isCached: false, isUnended: true, reply)
        return true
    }

    // MARK: What comes of a download

    /// The disk has a picture.
    /// - Returns: whether it is fresh; nil where it is neither that nor stale within its time, and nobody was told.
    mutating func resolve(_ download: Download, found image: CachedImage) -> Bool? {
        store.insertInMemory(image)
        let now = clock()
        let isFresh = image.freshness.isFresh(at: now)
        guard isFresh || image.freshness.bridgesRevalidation(at: now) else { return nil }
        resolve(download, image, CacheStatus(isFresh ? .hit : .stale))
        return isFresh
    }

    /// The head goes out to one, and the body follows as it comes.
    /// - Returns: false where it does not take such a picture, and leaves.
    mutating func sendHead(_ download: Download, to waiter: UInt64) -> Bool {
        guard let head = download.intake.head, let kind = head.kind, let entry = download.waiters[waiter], let reply = entry.reply,
            !entry.requiresCompleteBody
        else { return true }
        download.waiters[waiter]?.reply = nil
        var status = missed(download, head)
        status.isCollapsed = entry.isCollapsed
        count(status.outcome)
        guard entry.kinds.permits(kind) else {
            forget(waiter)
            reply(ImageResponse(ImageError(.notAcceptable), status))
            return false
        }
        let stream = ImageStream(download.buffer, reader: waiter) { [onUnsubscribe] in onUnsubscribe(waiter) }
        reply(ImageResponse(stream, kind, head, status, now: clock()))
        return true
    }

    /// All of a picture has come.
    ///
    /// - Parameter image: nil where it is not kept; then those who wait for all of it get it all the same.
    mutating func complete(_ download: Download, _ head: OriginResponseHead, _ image: CachedImage?) {
        let status = missed(download, head)
        if let image, !download.isAnnounced { return resolve(download, image, status) }
        _ = download.attempt.reach(.stored)
        // Others read it as it came.
        let waiting = drainWaiting(download)
        guard !waiting.isEmpty else { return }
        let passing =
            image.map { (image: $0, isStorable: false) }
            ?? store.unendedImage(download.source, download.acceptedFormats).map { (image: $0, isStorable: true) }
            ?? download.intake.passing(download.source, wanted: download.acceptedFormats, download.buffer.contents, now: clock())
        for (_, reply) in waiting {
            var answer = passing.map { ImageResponse($0.image, status, now: clock(), isCached: image != nil) }
            answer?.isUnended = passing?.isStorable == true && !download.isPurged
            answer?.isDelimited = head.isDelimited
            reply(answer ?? ImageResponse(ImageError(.fetch(.truncated)), status))
        }
    }

    /// Stores a picture that is there in full, unless it must not be; then what was stored before goes.
    mutating func cacheImage(_ download: Download) -> CachedImage? {
        guard !download.isPurged else { return nil }
        store.forgetFailure(for: download.key)
        guard let image = download.intake.image(download.source, acceptedFormats: download.acceptedFormats, download.buffer.contents) else {
            store.remove(download.source)
            guard download.intake.isUnended else { return nil }
            let passing = download.intake.passing(download.source, wanted: download.acceptedFormats, download.buffer.contents, now: clock())
            if let passing { store.holdUnended(passing.image) }
            return nil
        }
        store.store(image)
        return image
    }

    /// The origin says that the picture still holds.
    /// - Parameter isKept: false where it does not want it stored any longer.
    mutating func confirm(_ download: Download, _ image: CachedImage, isCached: Bool) {
        if !download.isPurged {
            store.forgetFailure(for: download.key)
            if isCached { store.store(image) } else { store.remove(download.source) }
        }
        var status = CacheStatus(.revalidated)
        status.forwardStatus = 304
        resolve(download, image, status, isCached: isCached)
    }

    /// It failed: a stale picture stands in where it may.
    /// - Parameter outcome: anything but a miss where nobody was asked, because what is known says enough.
    mutating func fail(_ download: Download, _ failure: ImageError, _ outcome: CacheStatus.Outcome) {
        let isNews = outcome == .miss
        if isNews, !download.isPurged { store.remember(failure, for: download.key, download.source) }
        guard !download.isAnnounced, let image = download.staleIfErrorImage(for: failure, now: clock()) else {
            return resolve(download, failure, outcome)
        }
        var status = CacheStatus(.stale)
        status.detail = failure.code
        if isNews, case .upstream(let code) = failure.reason { status.forwardStatus = code }
        resolve(download, image, status)
    }

    mutating func resolve(_ download: Download, _ failure: ImageError, _ outcome: CacheStatus.Outcome) {
        _ = download.attempt.reach(.failed)
        for (waiter, reply) in drainWaiting(download) {
            var status = CacheStatus(outcome)
            status.isCollapsed = waiter.isCollapsed
            status.wasStale = download.stale != nil
            if outcome == .miss, case .upstream(let code) = failure.reason { status.forwardStatus = code }
            if !waiter.requiresCompleteBody { count(outcome) }
            reply(ImageResponse(failure, status))
        }
        download.buffer.finish(.failed(failure))
    }

    private mutating func resolve(_ download: Download, _ image: CachedImage, _ status: CacheStatus, isCached: Bool = true) {
        _ = download.attempt.reach(.stored)
        for (waiter, reply) in drainWaiting(download) {
            var status = status
            status.isCollapsed = waiter.isCollapsed
            deliver(image, to: waiter.kinds, status, isInner: waiter.requiresCompleteBody, isCached: isCached, reply)
        }
    }

    /// The picture, to those who take its format.
    /// - Parameter isInner: whether the request was made here.
    private mutating func deliver(
        _ image: CachedImage, to kinds: AcceptedFormats, _ status: CacheStatus, isInner: Bool, isCached: Bool = true,
        isUnended: Bool = false, _ reply: Reply
    ) {
        if !isInner { count(status.outcome) }
        guard kinds.permits(image.kind) else { return reply(ImageResponse(ImageError(.notAcceptable), status)) }
        var answer = ImageResponse(image, status, now: clock(), isCached: isCached)
        answer.isUnended = isUnended
        reply(answer)
    }

    private func missed(_ download: Download, _ head: OriginResponseHead) -> CacheStatus {
        var status = CacheStatus(.miss)
        status.forwardStatus = 200
        status.wasStale = download.stale != nil
        status.isStored = !download.isPurged && store.accepts(head)
        return status
    }

    private mutating func count(_ outcome: CacheStatus.Outcome) { counts[outcome, default: 0] += 1 }

    // MARK: What is kept

    /// Stores an image without its end that was decoded all the same.
    mutating func keepUnended(_ image: CachedImage) { store.store(image) }

    /// What is stored goes, and nothing is asked for it for a while.
    mutating func invalidateUndecodable(_ source: String, _ failure: ImageError) { store.remember(failure, for: source, source) }

    /// - Parameter done: called where nothing of it is stored any more.
    mutating func purge(_ selection: ImageSelection, _ done: @escaping @Sendable (Bool) -> Void) { store.purge(selection, done) }
}
