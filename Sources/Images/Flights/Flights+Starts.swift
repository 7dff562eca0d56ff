internal import EventLoop
internal import Fetch

/// From the request to the transfer: disk, breaker, queue.
extension Flights {
    func begin(_ download: Download) {
        guard download.stale == nil, let disk, disk.holds(download.source) else { return queue(download) }
        let number = download.number
        disk.read(download.source) { [weak self, loop] image in
            guard let flights = self else { return }
            loop.execute { flights.assumeIsolated { $0.found(image, number) } }
        }
    }

    private func found(_ image: CachedImage?, _ number: UInt64) {
        guard let download = byNumber[number], !download.flight.stage.isOver else { return }
        guard let image, !download.isPurged else { return queue(download) }
        memory.insert(image)
        let now = configuration.clock()
        let isFresh = image.freshness.isFresh(at: now)
        guard isFresh || now < image.freshness.staleWhileRevalidateUntil else {
            download.stale = image
            return queue(download)
        }
        _ = download.flight.reach(.stored)
        settle(download, image, CacheStatus(isFresh ? .hit : .stale))
        drop(download)
        if !isFresh { refresh(image) }
    }

    /// The disk has it not, or no longer fresh enough: who wants only what is stored is told so.
    /// - Returns: false where nobody is left.
    private func dismissOnlyIfCached(_ download: Download) -> Bool {
        for (waiter, entry) in download.waiters where entry.isOnlyIfCached {
            forget(waiter)
            if let reply = entry.reply { refuse(ImageFailure(.notStored), .bypass, reply) }
            if !download.flight.leave(waiter).isEmpty { return false }
        }
        return true
    }

    private func queue(_ download: Download) {
        guard dismissOnlyIfCached(download) else { return drop(download) }
        let origin = download.url.authority
        let now = LoopInstant.now()
        if let failure = negative.failure(for: download.source, now: now) { return fail(download, failure, .negative) }
        if case .open(let until) = breaker.ask(origin, now: now) {
            let seconds = Int(until.since(now).components.seconds) + 1
            return fail(download, ImageFailure(.hostResting, retryAfter: seconds), .bypass)
        }
        let (verdict, displaced) = admission.enter(download.number, origin: origin, priority: download.flight.priority, now: now)
        if let displaced, let other = byNumber[displaced] { fail(other, ImageFailure(.overloaded, retryAfter: 1)) }
        switch verdict {
        case .start: launch(download)
        case .wait:
            _ = download.flight.reach(.queued)
            watchQueue()
            yieldPlaces()
        case .refuse: fail(download, ImageFailure(.overloaded, retryAfter: 1))
        }
    }

    /// Starts what may start now that somebody has left.
    func startWaiting() {
        while let number = admission.next() {
            if let download = byNumber[number] { launch(download) } else { admission.leave(number) }
        }
    }

    private func watchQueue() {
        guard let next = admission.nextExpiry else { return }
        let timer =
            queueTimer
            ?? OneShotTimer(on: loop) { [weak self] in
                self?.assumeIsolated { $0.expireQueue() }
            }
        queueTimer = timer
        if timer.deadline == nil { timer.arm(after: max(.zero, next.since(.now()))) }
    }

    private func expireQueue() {
        for number in admission.expire(now: .now()) {
            if let download = byNumber[number] { fail(download, ImageFailure(.queueTimeout, retryAfter: 1)) }
        }
        watchQueue()
    }

    func launch(_ download: Download) {
        download.attempts += 1
        download.asked = configuration.clock()
        var headers = FetchHeaders([
            "Accept": "image/avif,image/webp,image/png,image/jpeg,image/gif",
            "Accept-Encoding": "identity",
            "User-Agent": configuration.userAgent,
            "Via": "1.1 \(ImageNetworkManager.viaName)",
        ])
        if let validators = download.stale?.validators {
            if let etag = validators.etag { headers.append("If-None-Match", etag) }
            if let modified = validators.lastModified { headers.append("If-Modified-Since", modified) }
        }
        let now = LoopInstant.now()
        let departure = download.departure ?? now
        download.departure = departure
        var limits = configuration.limits
        limits.total = max(.milliseconds(1), limits.total - now.since(departure))
        let request = FetchRequest(download.url, headers: headers, limits: limits)
        download.fetch = transfers.start(request, delegate: DownloadDelegate(self, download.number))
    }
}
