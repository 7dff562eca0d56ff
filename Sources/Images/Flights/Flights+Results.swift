internal import EventLoop
internal import Fetch

/// From the transfer's end to the answers.
extension Flights {
    /// The head goes out, and the body follows as it comes.
    func announce(_ download: Download, to waiter: UInt64) {
        guard let head = download.head, let entry = download.waiters[waiter], let reply = entry.reply else { return }
        download.waiters[waiter]?.reply = nil
        var status = CacheStatus(.miss)
        status.forwardStatus = 200
        status.isCollapsed = entry.isCollapsed
        status.isStored = head.freshness != nil && !download.isPurged
        count(.miss)
        let stream = ImageStream(download.spool, reader: waiter) { [weak self, loop] in
            guard let flights = self else { return }
            loop.execute { flights.assumeIsolated { $0.leave(waiter) } }
        }
        reply(ImageAnswer(stream, head, status, now: configuration.clock()))
    }

    func complete(_ download: Download, _ head: PictureHead) {
        record(download, "ok", isGood: true)
        let body = download.spool.contents
        if let freshness = head.freshness, !download.isPurged, head.isDelimited || head.kind.isWhole(body) {
            let image = CachedImage(
                source: download.source, kind: head.kind, body: body, freshness: freshness, validators: head.validators)
            memory.insert(image)
            disk?.write(image)
        } else if !download.isPurged {
            forgetStored(download.source)
        }
        _ = download.flight.reach(.stored)
        download.spool.finish(.whole)
        drop(download)
    }

    func confirm(_ download: Download, _ image: CachedImage) {
        record(download, "not-modified", isGood: true)
        if !download.isPurged {
            memory.insert(image)
            disk?.write(image)
        }
        _ = download.flight.reach(.stored)
        var status = CacheStatus(.revalidated)
        status.forwardStatus = 304
        settle(download, image, status)
        drop(download)
    }

    /// - Parameter isNews: false where nobody was asked, because an earlier failure says enough.
    func fail(_ download: Download, _ failure: ImageFailure, isNews: Bool = true) {
        if isNews { record(download, failure.metric, isGood: failure.blamesHost.map { !$0 }) }
        if isNews, !download.isPurged {
            negative.record(failure, for: download.source, now: .now())
            if failure.reason == .upstream(status: 404) || failure.reason == .upstream(status: 410) { forgetStored(download.source) }
        }
        if !download.isAnnounced, let image = download.standIn(for: failure, now: configuration.clock()) {
            _ = download.flight.reach(.stored)
            var status = CacheStatus(.stale)
            status.detail = failure.code
            settle(download, image, status)
        } else {
            settle(download, failure: failure, isNews ? .miss : .negative)
        }
        drop(download)
    }

    func settle(_ download: Download, _ image: CachedImage, _ status: CacheStatus) {
        let now = configuration.clock()
        for (waiter, entry) in download.waiters {
            guard let reply = entry.reply else { continue }
            forget(waiter)
            count(status.outcome)
            var status = status
            status.isCollapsed = entry.isCollapsed
            reply(ImageAnswer(image, status, now: now))
        }
    }

    func settle(_ download: Download, failure: ImageFailure, _ outcome: CacheStatus.Outcome) {
        _ = download.flight.reach(.failed)
        for (waiter, entry) in download.waiters {
            guard let reply = entry.reply else { continue }
            forget(waiter)
            count(outcome)
            var status = CacheStatus(outcome)
            status.isCollapsed = entry.isCollapsed
            if outcome == .miss, case .upstream(let code) = failure.reason { status.forwardStatus = code }
            reply(ImageAnswer(failure, status))
        }
        download.spool.finish(.failed(failure))
    }

    private func forgetStored(_ source: String) {
        memory.remove(source)
        disk?.remove(source)
    }

    private func record(_ download: Download, _ result: String, isGood: Bool?) {
        metrics.upstream[result, default: 0] += 1
        breaker.record(download.url.host, isGood: isGood, now: .now())
    }

    func snapshot() -> ImageMetrics {
        var now = metrics
        now.inFlight = admission.runningCount
        now.queued = admission.waitingCount
        now.waiters = homes.count
        now.bufferBytes = budget.inUse
        now.restingHosts = breaker.openCount
        now.negativeEntries = negative.count
        now.memoryBytes = memory.bytes
        now.memoryEntries = memory.count
        now.memoryEvictions = memory.evictions
        if let counts = disk?.counts {
            now.diskBytes = counts.bytes
            now.diskEntries = counts.entries
            now.diskEvictions = counts.evictions
            now.diskWriteFailures = counts.writeFailures
            now.diskDamaged = counts.damaged
        }
        return now
    }
}
