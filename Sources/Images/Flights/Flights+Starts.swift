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

    private func queue(_ download: Download) {
        let host = download.url.host
        let now = LoopInstant.now()
        if let failure = negative.failure(for: download.source, now: now) { return fail(download, failure, isNews: false) }
        if case .open(let until) = breaker.ask(host, now: now) {
            let seconds = Int(until.since(now).components.seconds) + 1
            return fail(download, ImageFailure(.hostResting, retryAfter: seconds), isNews: false)
        }
        let (verdict, displaced) = admission.enter(download.number, host: host, priority: download.flight.priority, now: now)
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
        let request = FetchRequest(download.url, headers: headers, limits: configuration.limits)
        download.fetch = transfers.start(request, delegate: DownloadDelegate(self, download.number))
    }
}
