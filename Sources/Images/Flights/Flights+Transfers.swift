internal import EventLoop
internal import Fetch

/// What the transfers report.
extension Flights {
    func reached(_ stage: FetchStage, _ number: UInt64) {
        guard let download = byNumber[number] else { return }
        switch stage {
        case .resolving: _ = download.flight.reach(.resolving)
        case .connecting: _ = download.flight.reach(.connecting)
        case .headers: _ = download.flight.reach(.headers)
        case .body: break
        }
    }

    func received(_ head: FetchHead, _ number: UInt64) -> Bool {
        guard let download = byNumber[number] else { return false }
        let now = configuration.clock()
        let freshness = Freshness(
            status: head.status, headers: head.headers, asked: download.asked, received: now, policy: configuration.freshness)
        let validators = CachedImage.Validators(etag: head.headers["etag"], lastModified: head.headers["last-modified"])
        if head.status == 304, let stale = download.stale {
            download.confirmed = stale.refreshed(freshness ?? Freshness(now: now), validators: validators)
            return true
        }
        guard head.status == 200 else {
            let wait = head.headers["retry-after"].flatMap { Int($0) }
            return stop(download, ImageFailure(.upstream(status: head.status), retryAfter: wait.map { min(max($0, 1), 600) }))
        }
        guard let kind = head.headers["content-type"].flatMap(MediaKind.init(contentType:)) else {
            return stop(download, ImageFailure(.typeDenied))
        }
        if let encoding = head.headers["content-encoding"], encoding.lowercased() != "identity" {
            return stop(download, ImageFailure(.encoded))
        }
        let isChunked = head.headers["transfer-encoding"] != nil
        download.head = PictureHead(
            kind: kind, length: isChunked ? nil : head.contentLength, freshness: freshness, validators: validators,
            isDelimited: isChunked || head.contentLength != nil)
        download.flight.expect(download.head?.length)
        perform(download.flight.reach(.body), download)
        return true
    }

    func received(_ bytes: UnsafeRawBufferPointer, _ number: UInt64) -> Bool {
        guard let download = byNumber[number] else { return false }
        if download.confirmed != nil { return true }
        download.flight.receive(bytes.count)
        metrics.bytesReceived += bytes.count
        guard download.spool.append(bytes) else { return stop(download, ImageFailure(.buffersFull, retryAfter: 1)) }
        if download.isAnnounced { return true }
        download.prefix.append(contentsOf: bytes)
        switch MediaKind.sniff(download.prefix) {
        case .unclear: return true
        case .kind(let kind) where kind == download.head?.kind:
            download.prefix = []
            download.isAnnounced = true
            for waiter in Array(download.waiters.keys) {
                announce(download, to: waiter)
            }
            return true
        default: return stop(download, ImageFailure(.typeMismatch))
        }
    }

    func ended(_ failure: FetchFailure?, _ number: UInt64) {
        guard let download = byNumber[number] else { return }
        download.fetch = nil
        if let verdict = download.verdict { return fail(download, verdict) }
        if let failure { return failed(download, failure) }
        if let confirmed = download.confirmed { return confirm(download, confirmed) }
        guard download.isAnnounced, let head = download.head else { return fail(download, ImageFailure(.typeMismatch)) }
        complete(download, head)
    }

    /// The one second attempt, for what has shown nothing to anybody yet and may be over in a moment.
    private func failed(_ download: Download, _ failure: FetchFailure) {
        guard failure.isWorthRetrying, download.head == nil, download.attempts == 1, download.flight.isOwned || !download.waiters.isEmpty
        else { return fail(download, ImageFailure(.fetch(failure))) }
        metrics.retries += 1
        _ = download.flight.reach(.queued)
        let number = download.number
        let timer = OneShotTimer(on: loop) { [weak self] in
            self?.assumeIsolated { $0.retry(number) }
        }
        timer.arm(after: .milliseconds(Int.random(in: 50...150)))
        download.pause = timer
    }

    private func retry(_ number: UInt64) {
        if let download = byNumber[number] { launch(download) }
    }

    private func stop(_ download: Download, _ verdict: ImageFailure) -> Bool {
        download.verdict = verdict
        return false
    }
}
