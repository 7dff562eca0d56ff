internal import FoundationEssentials

struct DownloadSubscribers {
    private let cache: ImageCache
    private var waiters = WaiterTable<Download>()
    private(set) var counts: [CacheStatus.Outcome: Int] = [:]
    private let clock: @Sendable () -> Int64

    init(_ cache: ImageCache, clock: @escaping @Sendable () -> Int64) {
        (self.cache, self.clock) = (cache, clock)
    }

    // MARK: Waiters

    var count: Int { waiters.count }

    func download(of waiter: UInt64) -> Download? { waiters.work(of: waiter) }

    func waiters(named id: UUID) -> Set<UInt64> { waiters.waiters(named: id) }

    mutating func add(_ number: UInt64, _ waiter: ImageWaiter, to download: Download) {
        download.waiters[number] = waiter
        waiters.add(number, to: download, named: waiter.request.id)
    }

    private mutating func forget(_ waiter: UInt64) {
        waiters.remove(waiter)?.waiters[waiter] = nil
    }

    mutating func dismiss(_ waiter: UInt64, _ failure: ImageError) {
        if let reply = download(of: waiter)?.waiters[waiter]?.reply { refuse(failure, reply) }
        forget(waiter)
    }

    mutating func dismissOnlyIfCached(_ download: Download) -> Bool {
        for waiter in download.waiters.filter({ $0.value.request.isOnlyIfCached }).keys {
            dismiss(waiter, ImageError(.notStored))
            if !download.attempt.cancel(waiter).isEmpty { return false }
        }
        return true
    }

    private mutating func drainWaiting(_ download: Download) -> [(waiter: ImageWaiter, reply: ImageReply)] {
        let waiting = download.waiters.filter { $0.value.reply != nil }
        for number in waiting.keys { forget(number) }
        return waiting.values.compactMap { waiter in waiter.reply.map { (waiter, $0) } }
    }

    // MARK: Immediate responses

    mutating func refuse(_ failure: ImageError, _ reply: ImageReply) {
        count(.bypass)
        reply(ImageResponse(failure, CacheStatus(.bypass)))
    }

    mutating func serve(_ image: CachedImage, _ request: ImageRequest, _ reply: ImageReply) -> Bool? {
        let now = clock()
        let isFresh = image.freshness.isFresh(at: now)
        guard isFresh || (request.allowsStale && image.freshness.bridgesRevalidation(at: now)) else { return nil }
        deliver(image, to: request, CacheStatus(isFresh ? .hit : .stale), reply)
        return isFresh
    }

    mutating func serveUnended(_ request: ImageRequest, _ reply: ImageReply) -> Bool {
        guard let (image, isDelimited) = cache.unendedImage(request.source, request.kinds.accepted) else { return false }
        deliver(image, to: request, CacheStatus(.hit), isCached: false, isUnended: true, isDelimited: isDelimited, reply)
        return true
    }

    // MARK: Results of downloads

    mutating func resolve(_ download: Download, found image: CachedImage) -> Bool? {
        cache.memory.insert(image)
        let now = clock()
        let isFresh = image.freshness.isFresh(at: now)
        guard isFresh || image.freshness.bridgesRevalidation(at: now) else { return nil }
        resolve(download, image, CacheStatus(isFresh ? .hit : .stale))
        return isFresh
    }

    mutating func sendHead(_ download: Download, to waiter: UInt64) -> Bool {
        guard let head = download.intake.head, let kind = head.kind, let entry = download.waiters[waiter], let reply = entry.reply,
            !entry.request.requiresCompleteBody
        else { return true }
        download.waiters[waiter]?.reply = nil
        var status = missed(download, head)
        status.isCollapsed = entry.isCollapsed
        count(status.outcome)
        guard entry.request.kinds.permits(kind) else {
            forget(waiter)
            reply(ImageResponse(ImageError(.notAcceptable), status))
            return false
        }
        let stream = ImageStream(download.buffer, reader: waiter, onLeave: entry.onLeave)
        reply(ImageResponse(stream, kind, head, status, now: clock()))
        return true
    }

    mutating func complete(_ download: Download, _ head: OriginResponseHead, _ image: CachedImage?) {
        let status = missed(download, head)
        if let image, !download.isAnnounced { return resolve(download, image, status) }
        _ = download.attempt.reach(.stored)
        // The other waiters read the body as it arrived.
        let waiting = drainWaiting(download)
        guard !waiting.isEmpty else { return }
        let passing =
            image.map { (image: $0, isStorable: false) }
            ?? cache.unendedImage(download.source, download.acceptedFormats).map { (image: $0.image, isStorable: true) }
            ?? download.passingImage(now: clock())
        for (_, reply) in waiting {
            var response = passing.map { ImageResponse($0.image, status, now: clock(), isCached: image != nil) }
            response?.isUnended = passing?.isStorable == true && !download.isPurged
            response?.isDelimited = head.isDelimited
            reply(response ?? ImageResponse(ImageError(.fetch(.truncated)), status))
        }
    }

    /// Stores the complete image, unless storage is forbidden.
    mutating func cacheImage(_ download: Download) -> CachedImage? {
        guard !download.isPurged else { return nil }
        cache.forgetFailure(for: download.key)
        if let image = download.intake.image(download.source, acceptedFormats: download.acceptedFormats, download.buffer.contents) {
            cache.store(image)
            return image
        }
        cache.remove(download.source)
        if download.intake.isUnended, let head = download.intake.head, let passing = download.passingImage(now: clock()) {
            cache.holdUnended(passing.image, isDelimited: head.isDelimited)
        }
        return nil
    }

    mutating func confirm(_ download: Download, _ image: CachedImage, isCached: Bool) {
        if !download.isPurged {
            cache.forgetFailure(for: download.key)
            if isCached { cache.store(image) } else { cache.remove(download.source) }
        }
        var status = CacheStatus(.revalidated)
        status.forwardStatus = 304
        resolve(download, image, status, isCached: isCached)
    }

    mutating func fail(_ download: Download, _ failure: ImageError, _ outcome: CacheStatus.Outcome) {
        let isMiss = outcome == .miss
        if isMiss, !download.isPurged { cache.remember(failure, for: download.key, download.source) }
        guard !download.isAnnounced, let image = download.staleIfErrorImage(for: failure, now: clock()) else {
            return resolve(download, failure, outcome)
        }
        var status = CacheStatus(.stale)
        status.detail = failure.code
        if isMiss, case .upstream(let code) = failure.reason { status.forwardStatus = code }
        resolve(download, image, status)
    }

    mutating func resolve(_ download: Download, _ failure: ImageError, _ outcome: CacheStatus.Outcome) {
        _ = download.attempt.reach(.failed)
        for (waiter, reply) in drainWaiting(download) {
            var status = CacheStatus(outcome)
            status.isCollapsed = waiter.isCollapsed
            status.wasStale = download.stale != nil
            if outcome == .miss, case .upstream(let code) = failure.reason { status.forwardStatus = code }
            if !waiter.request.requiresCompleteBody { count(outcome) }
            reply(ImageResponse(failure, status))
        }
        download.buffer.finish(.failed(failure))
    }

    private mutating func resolve(_ download: Download, _ image: CachedImage, _ status: CacheStatus, isCached: Bool = true) {
        _ = download.attempt.reach(.stored)
        for (waiter, reply) in drainWaiting(download) {
            var status = status
            status.isCollapsed = waiter.isCollapsed
            deliver(image, to: waiter.request, status, isCached: isCached, reply)
        }
    }

    private mutating func deliver(
        _ image: CachedImage, to request: ImageRequest, _ status: CacheStatus, isCached: Bool = true, isUnended: Bool = false,
        isDelimited: Bool = true, _ reply: ImageReply
    ) {
        if !request.requiresCompleteBody { count(status.outcome) }
        guard request.kinds.permits(image.kind) else { return reply(ImageResponse(ImageError(.notAcceptable), status)) }
        var response = ImageResponse(image, status, now: clock(), isCached: isCached)
        (response.isUnended, response.isDelimited) = (isUnended, isDelimited)
        reply(response)
    }

    private func missed(_ download: Download, _ head: OriginResponseHead) -> CacheStatus {
        var status = CacheStatus(.miss)
        status.forwardStatus = 200
        status.wasStale = download.stale != nil
        // The complete image will be stored, as far as its head shows.
        status.isStored =
            !download.isPurged && head.freshness != nil && head.isDelimited && (head.length.map(cache.accepts) ?? true)
        return status
    }

    private mutating func count(_ outcome: CacheStatus.Outcome) { counts[outcome, default: 0] += 1 }
}
