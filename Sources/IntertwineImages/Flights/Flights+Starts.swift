internal import IntertwineEventLoop
internal import IntertwineFetch

/// From the request to the transfer: disk, breaker, name, queue.
extension Flights {
    func begin(_ download: Download) {
        guard download.stale == nil, let disk, disk.holds(download.source, download.wanted) else { return queue(download) }
        let number = download.number
        disk.read(download.source, download.wanted) { [weak self, loop] image in
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
        guard isFresh || image.freshness.bridgesRevalidation(at: now) else {
            download.stale = image
            return queue(download)
        }
        _ = download.flight.reach(.stored)
        settle(download, image, CacheStatus(isFresh ? .hit : .stale))
        drop(download)
        if !isFresh { refresh(image, download.wanted) }
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
        if let failure = negative.failure(for: download.key, now: .now()) { return fail(download, failure, .negative) }
        if case .file(let folder, let name)? = download.place { return readFile(folder, name, for: download) }
        if approach(download) { launch(download) }
    }

    /// Whether it may go to the host of its hop now. If not it waits for that, or has failed.
    ///
    /// The host's name is waited for before a place is taken: names that nobody answers for would otherwise take all of them.
    private func approach(_ download: Download) -> Bool {
        let now = LoopInstant.now()
        if case .open(let until) = breaker.ask(download.hop.authority, now: now) {
            let seconds = Int(until.since(now).components.seconds) + 1
            fail(download, ImageFailure(.hostResting, retryAfter: seconds), .bypass)
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
        let origin = download.hop.authority
        let now = LoopInstant.now()
        admission.setGentle(breaker.isGentle(origin, now: now), origin: origin)
        let (verdict, displaced) = admission.enter(download.number, origin: origin, priority: download.flight.priority, now: now)
        if let displaced, let other = byNumber[displaced] { fail(other, ImageFailure(.overloaded, retryAfter: 1)) }
        switch verdict {
        case .start: return true
        case .wait:
            _ = download.flight.reach(.queued)
            watchQueue()
            yieldPlaces()
        case .refuse: fail(download, ImageFailure(.overloaded, retryAfter: 1))
        }
        return false
    }

    /// The host that redirects has done its part, and gives its place back; the next one is asked like any other.
    /// - Returns: false where it has to wait.
    func redirected(to url: FetchURL, _ number: UInt64) -> Bool {
        guard let download = byNumber[number] else { return true }
        guard url.authority != download.hop.authority else { return true }
        record(.good, of: download.hop.authority)
        download.hop = url
        admission.leave(number)
        download.isHeld = true
        let mayGo = approach(download)
        if mayGo { download.isHeld = false }
        startWaiting()
        return mayGo
    }

    /// Starts what may start now that somebody has left.
    func startWaiting() {
        while let number = admission.next() {
            if let download = byNumber[number] { start(download) } else { admission.leave(number) }
        }
    }

    private func start(_ download: Download) {
        guard download.isHeld, let fetch = download.fetch else { return launch(download) }
        download.isHeld = false
        transfers.proceed(fetch)
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

    func launch(_ download: Download, isAnotherAttempt: Bool = true) {
        if isAnotherAttempt { download.attempts += 1 }
        download.hop = download.url
        download.isHeld = false
        download.asked = configuration.clock()
        let headers = FetchHeaders([
            "Accept": AcceptedKinds.field(download.wanted),
            "Accept-Encoding": "identity",
            "User-Agent": configuration.userAgent,
            "Via": "1.1 \(ImageNetworkManager.viaName)",
        ])
        let now = LoopInstant.now()
        let departure = download.departure ?? now
        download.departure = departure
        var limits = configuration.limits
        limits.total = max(.milliseconds(1), limits.total - now.since(departure))
        var request = FetchRequest(download.url, headers: headers, limits: limits)
        if case .object(let bucket, _)? = download.place { request.credentials = bucket.fields(for: download.url, now: download.asked) }
        if !download.asksPlainly { request.conditions = download.stale?.validators.conditions }
        download.fetch = transfers.start(request, delegate: DownloadDelegate(self, download.number))
    }
}
