internal import FoundationEssentials
internal import IntertwineFetch

/// The waiters of all downloads. It sends their responses, and stores images in the cache as the responses require.
struct DownloadSubscribers {
    typealias Reply = @Sendable (ImageResponse) -> Void

    private(set) var store: ImageStore
    private var waiters = WaiterTable<Download>()
    /// The number of requests by cache outcome. Internal requests on behalf of counted ones are excluded.
    private var counts: [CacheStatus.Outcome: Int] = [:]
    private let clock: @Sendable () -> Int64
    /// A callback for a reader that stops reading its body.
    private let onUnsubscribe: @Sendable (UInt64) -> Void

    /// Creates an empty table of waiters.
    ///
    /// - Parameters:
    ///   - clock: Returns seconds since 1970.
    ///   - onUnsubscribe: Called with the number of a reader that stops reading its body.
    init(_ store: ImageStore, clock: @escaping @Sendable () -> Int64, onUnsubscribe: @escaping @Sendable (UInt64) -> Void) {
        (self.store, self.clock, self.onUnsubscribe) = (store, clock, onUnsubscribe)
    }

    // MARK: Waiters

    func report(to metrics: inout ImageMetrics) {
        (metrics.waiters, metrics.requests) = (waiters.count, counts)
        store.report(to: &metrics)
    }

    /// Returns the download of a waiter.
    func download(of waiter: UInt64) -> Download? { waiters.home(of: waiter) }

    /// Returns the waiters with this name.
    func waiters(named id: UUID) -> Set<UInt64> { waiters.waiters(named: id) }

    mutating func add(_ waiter: UInt64, _ request: ImageRequest, to download: Download, isCollapsed: Bool, _ reply: @escaping Reply) {
        download.waiters[waiter] = Download.Waiter(
            isCollapsed: isCollapsed, isOnlyIfCached: request.isOnlyIfCached, kinds: request.kinds,
            requiresCompleteBody: request.requiresCompleteBody,
            isDecoding: request.isDecoded, reply: reply)
        waiters.add(waiter, to: download, named: request.id)
    }

    /// Removes a waiter that is served or was cancelled.
    private mutating func forget(_ waiter: UInt64) {
        waiters.remove(waiter)?.waiters[waiter] = nil
    }

    /// Removes a waiter. It receives the failure if it has received no response yet.
    mutating func dismiss(_ waiter: UInt64, _ failure: ImageError) {
        if let reply = waiters.home(of: waiter)?.waiters[waiter]?.reply { refuse(failure, reply) }
        forget(waiter)
    }

    /// Fails the waiters that accept only a stored image (`only-if-cached`).
    ///
    /// - Returns: False if no waiter is left.
    mutating func dismissOnlyIfCached(_ download: Download) -> Bool {
        for waiter in download.waiters.filter({ $0.value.isOnlyIfCached }).keys {
            dismiss(waiter, ImageError(.notStored))
            if !download.attempt.cancel(waiter).isEmpty { return false }
        }
        return true
    }

    /// Removes and returns the waiters that have received no response yet.
    private mutating func drainWaiting(_ download: Download) -> [(waiter: Download.Waiter, reply: Reply)] {
        let waiting = download.waiters.compactMap { number, waiter in waiter.reply.map { (number, waiter, $0) } }
        for (number, _, _) in waiting { forget(number) }
        return waiting.map { ($0.1, $0.2) }
    }

    // MARK: Immediate responses

    /// Replies with a failure without a request to the origin.
    mutating func refuse(_ failure: ImageError, _ reply: Reply) {
        count(.bypass)
        reply(ImageResponse(failure, CacheStatus(.bypass)))
    }

    /// Replies with the image if it is fresh, or stale and within its stale-while-revalidate period.
    ///
    /// - Returns: True if the image is fresh; nil if no reply was sent.
    mutating func serve(_ image: CachedImage, _ request: ImageRequest, _ reply: Reply) -> Bool? {
        let now = clock()
        let isFresh = image.freshness.isFresh(at: now)
        guard isFresh || (request.allowsStale && image.freshness.bridgesRevalidation(at: now)) else { return nil }
        deliver(image, to: request.kinds, CacheStatus(isFresh ? .hit : .stale), isInner: request.requiresCompleteBody, reply)
        return isFresh
    }

    /// Replies with an image without its end that was fetched within the last minutes.
    ///
    /// - Returns: False if none exists.
    mutating func serveUnended(_ request: ImageRequest, _ reply: Reply) -> Bool {
        guard let (image, isDelimited) = store.unendedImage(request.source, request.kinds.accepted) else { return false }
        deliver(
            image, to: request.kinds, CacheStatus(.hit), isInner: request.requiresCompleteBody, isCached: false, isUnended: true,
            isDelimited: isDelimited, reply)
        return true
    }

    // MARK: Results of downloads

    /// Replies to all waiters with an image that was found on disk.
    ///
    /// - Returns: True if the image is fresh; nil if it is neither fresh nor within its stale-while-revalidate period, and no reply was sent.
    mutating func resolve(_ download: Download, found image: CachedImage) -> Bool? {
        store.insertInMemory(image)
        let now = clock()
        let isFresh = image.freshness.isFresh(at: now)
        guard isFresh || image.freshness.bridgesRevalidation(at: now) else { return nil }
        resolve(download, image, CacheStatus(isFresh ? .hit : .stale))
        return isFresh
    }

    /// Sends the head to a waiter; the body follows as it arrives.
    ///
    /// - Returns: False if the waiter does not accept the format, and was removed.
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

    /// Replies to the remaining waiters after the complete image has arrived.
    ///
    /// - Parameter image: The stored image; nil if it is not stored. Waiters for the complete body get it in either case.
    mutating func complete(_ download: Download, _ head: OriginResponseHead, _ image: CachedImage?) {
        let status = missed(download, head)
        if let image, !download.isAnnounced { return resolve(download, image, status) }
        _ = download.attempt.reach(.stored)
        // The other waiters read the body as it arrived.
        let waiting = drainWaiting(download)
        guard !waiting.isEmpty else { return }
        let passing =
            image.map { (image: $0, isStorable: false) }
            ?? store.unendedImage(download.source, download.acceptedFormats).map { (image: $0.image, isStorable: true) }
            ?? download.intake.passing(download.source, wanted: download.acceptedFormats, download.buffer.contents, now: clock())
        for (_, reply) in waiting {
            var response = passing.map { ImageResponse($0.image, status, now: clock(), isCached: image != nil) }
            response?.isUnended = passing?.isStorable == true && !download.isPurged
            response?.isDelimited = head.isDelimited
            reply(response ?? ImageResponse(ImageError(.fetch(.truncated)), status))
        }
    }

    /// Stores the complete image, unless storage is forbidden. In that case the previously stored image is removed.
    mutating func cacheImage(_ download: Download) -> CachedImage? {
        guard !download.isPurged else { return nil }
        store.forgetFailure(for: download.key)
        guard let image = download.intake.image(download.source, acceptedFormats: download.acceptedFormats, download.buffer.contents) else {
            store.remove(download.source)
            guard download.intake.isUnended, let head = download.intake.head else { return nil }
            let passing = download.intake.passing(download.source, wanted: download.acceptedFormats, download.buffer.contents, now: clock())
            if let passing { store.holdUnended(passing.image, isDelimited: head.isDelimited) }
            return nil
        }
        store.store(image)
        return image
    }

    /// Replies with a stored image that the origin confirmed (304).
    ///
    /// - Parameter isCached: False if the origin forbids further storage.
    mutating func confirm(_ download: Download, _ image: CachedImage, isCached: Bool) {
        if !download.isPurged {
            store.forgetFailure(for: download.key)
            if isCached { store.store(image) } else { store.remove(download.source) }
        }
        var status = CacheStatus(.revalidated)
        status.forwardStatus = 304
        resolve(download, image, status, isCached: isCached)
    }

    /// Handles a failed download: a stale image is served if its freshness permits it.
    ///
    /// - Parameter outcome: `.miss` if the origin was asked; another outcome if the failure was known without a request.
    mutating func fail(_ download: Download, _ failure: ImageError, _ outcome: CacheStatus.Outcome) {
        let isMiss = outcome == .miss
        if isMiss, !download.isPurged { store.remember(failure, for: download.key, download.source) }
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

    /// Replies with the image if the waiter accepts its format.
    ///
    /// - Parameter isInner: True for an internal request, which is not counted.
    private mutating func deliver(
        _ image: CachedImage, to kinds: AcceptedFormats, _ status: CacheStatus, isInner: Bool, isCached: Bool = true,
        isUnended: Bool = false, isDelimited: Bool = true, _ reply: Reply
    ) {
        if !isInner { count(status.outcome) }
        guard kinds.permits(image.kind) else { return reply(ImageResponse(ImageError(.notAcceptable), status)) }
        var response = ImageResponse(image, status, now: clock(), isCached: isCached)
        (response.isUnended, response.isDelimited) = (isUnended, isDelimited)
        reply(response)
    }

    private func missed(_ download: Download, _ head: OriginResponseHead) -> CacheStatus {
        var status = CacheStatus(.miss)
        status.forwardStatus = 200
        status.wasStale = download.stale != nil
        status.isStored = !download.isPurged && store.accepts(head)
        return status
    }

    private mutating func count(_ outcome: CacheStatus.Outcome) { counts[outcome, default: 0] += 1 }

    // MARK: Storage

    /// Stores an image that lacks its end but was decoded.
    mutating func keepUnended(_ image: CachedImage) { store.store(image) }

    /// Removes the stored image, and remembers the failure, so that requests for it fail for a while.
    mutating func invalidateUndecodable(_ source: String, _ failure: ImageError) { store.remember(failure, for: source, source) }

    /// Purges stored images.
    ///
    /// - Parameter done: Called once nothing of the selection is stored.
    mutating func purge(_ selection: ImageSelection, _ done: @escaping @Sendable (Bool) -> Void) { store.purge(selection, done) }
}
