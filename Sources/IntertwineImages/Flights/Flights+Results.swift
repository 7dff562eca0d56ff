internal import Crypto
internal import IntertwineEventLoop
internal import IntertwineFetch

/// From the transfer's end to the answers.
extension Flights {
    /// The head goes out, and the body follows as it comes.
    func announce(_ download: Download, to waiter: UInt64) {
        guard let head = download.head, let kind = head.kind, let entry = download.waiters[waiter], let reply = entry.reply else { return }
        download.waiters[waiter]?.reply = nil
        var status = missed(download, head)
        status.isCollapsed = entry.isCollapsed
        count(.miss)
        guard entry.kinds.permits(kind) else {
            forget(waiter)
            perform(download.flight.leave(waiter), download)
            return reply(ImageAnswer(ImageFailure(.notAcceptable), status))
        }
        let stream = ImageStream(download.spool, reader: waiter) { [weak self, loop] in
            guard let flights = self else { return }
            loop.execute { flights.assumeIsolated { $0.leave(waiter) } }
        }
        reply(ImageAnswer(stream, kind, head, status, now: configuration.clock()))
    }

    private func missed(_ download: Download, _ head: PictureHead) -> CacheStatus {
        var status = CacheStatus(.miss)
        status.forwardStatus = 200
        status.wasStale = download.stale != nil
        status.isStored = willKeep(download, head)
        return status
    }

    /// Whether a picture is kept once it is whole, as far as its head tells.
    private func willKeep(_ download: Download, _ head: PictureHead) -> Bool {
        guard head.freshness != nil, !download.isPurged, head.isDelimited else { return false }
        guard let length = head.length else { return true }
        return memory.takes(length) || disk?.takes(length) == true
    }

    func complete(_ download: Download, _ head: PictureHead) {
        record(download, "ok", .good)
        if !download.isPurged { negative.forget(download.key) }
        let kept = keep(download, head)
        if let kept, !download.isAnnounced {
            _ = download.flight.reach(.stored)
            settle(download, kept, missed(download, head))
        } else {
            announce(download)
            _ = download.flight.reach(.stored)
        }
        download.spool.finish(.whole)
        drop(download)
    }

    /// Stores a picture that is there in full, unless it must not be; then what was stored before goes.
    private func keep(_ download: Download, _ head: PictureHead) -> CachedImage? {
        guard !download.isPurged else { return nil }
        let body = download.spool.contents
        guard let freshness = head.freshness, let kind = head.kind, kind.isWhole(body, isDelimited: head.isDelimited) else {
            forgetStored(download.source)
            // What its readers are told follows.
            download.head?.freshness = nil
            return nil
        }
        let image = CachedImage(
            source: download.source, variant: head.isNegotiated ? download.wanted : nil, kind: kind, body: body,
            digest: download.digest.finalize(), freshness: freshness,
            validators: head.validators, terms: head.terms)
        memory.insert(image)
        disk?.write(image)
        return image
    }

    func confirm(_ download: Download, _ image: CachedImage) {
        record(download, "not-modified", .good)
        if !download.isPurged {
            negative.forget(download.key)
            memory.insert(image)
            disk?.write(image)
        }
        _ = download.flight.reach(.stored)
        var status = CacheStatus(.revalidated)
        status.forwardStatus = 304
        settle(download, image, status)
        drop(download)
    }

    /// - Parameter outcome: anything but a miss where nobody was asked, because what is known says enough.
    func fail(_ download: Download, _ failure: ImageFailure, _ outcome: CacheStatus.Outcome = .miss) {
        let isNews = outcome == .miss
        if isNews { record(download, failure.metric, failure.outcome) }
        if isNews, !download.isPurged {
            negative.record(failure, for: download.key, now: .now())
            if failure.reason == .upstream(status: 404) || failure.reason == .upstream(status: 410) { forgetStored(download.source) }
        }
        if !download.isAnnounced, let image = download.standIn(for: failure, now: configuration.clock()) {
            _ = download.flight.reach(.stored)
            var status = CacheStatus(.stale)
            status.detail = failure.code
            if isNews, case .upstream(let code) = failure.reason { status.forwardStatus = code }
            settle(download, image, status)
        } else {
            settle(download, failure: failure, outcome)
        }
        drop(download)
    }

    func settle(_ download: Download, _ image: CachedImage, _ status: CacheStatus) {
        for (waiter, entry) in download.waiters {
            guard let reply = entry.reply else { continue }
            forget(waiter)
            count(status.outcome)
            var status = status
            status.isCollapsed = entry.isCollapsed
            give(image, to: entry.kinds, status, reply)
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
            status.wasStale = download.stale != nil
            if outcome == .miss, case .upstream(let code) = failure.reason { status.forwardStatus = code }
            reply(ImageAnswer(failure, status))
        }
        download.spool.finish(.failed(failure))
    }

    private func forgetStored(_ source: String) {
        memory.remove(source)
        disk?.remove(source)
    }

    private func record(_ download: Download, _ result: String, _ outcome: CircuitBreaker.Outcome?) {
        metrics.upstream[result, default: 0] += 1
        record(outcome, of: download.hop.authority)
    }

    func record(_ outcome: CircuitBreaker.Outcome?, of origin: String) {
        breaker.record(origin, outcome, now: .now())
        admission.setGentle(breaker.isGentle(origin, now: .now()), origin: origin)
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
