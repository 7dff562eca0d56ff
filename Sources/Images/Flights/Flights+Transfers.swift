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

    func ended(_ failure: FetchFailure?, _ number: UInt64) {
        guard let download = byNumber[number] else { return }
        download.fetch = nil
        if let failure = download.verdict ?? failure.map({ ImageFailure(.fetch($0)) }) { return failed(download, failure) }
        if let confirmed = download.confirmed { return confirm(download, confirmed) }
        guard download.frame != nil, let head = download.head else { return fail(download, ImageFailure(.typeMismatch)) }
        complete(download, head)
    }

    /// The one second attempt, for what has shown nothing to anybody yet and may be over in a moment.
    private func failed(_ download: Download, _ failure: ImageFailure) {
        guard download.head == nil, download.attempts == 1, isWorthRetrying(download, failure) else { return fail(download, failure) }
        download.verdict = nil
        metrics.retries += 1
        _ = download.flight.reach(.queued)
        let number = download.number
        let timer = OneShotTimer(on: loop) { [weak self] in
            self?.assumeIsolated { $0.retry(number) }
        }
        timer.arm(after: .milliseconds(Int.random(in: 50...150)))
        download.pause = timer
    }

    /// A lost connection is, for whoever waits. An origin that fails or is silent is asked again only for those who have not asked it
    /// themselves yet, and only where nothing else can be served.
    private func isWorthRetrying(_ download: Download, _ failure: ImageFailure) -> Bool {
        switch failure.reason {
        case .fetch(let failure) where failure.isWorthRetrying: return download.flight.isOwned || !download.waiters.isEmpty
        case .fetch(.headTimeout): break
        case .upstream(let status) where status >= 500 && failure.retryAfter == nil: break
        default: return false
        }
        return download.waiters.values.contains { $0.isCollapsed } && download.standIn(for: failure, now: configuration.clock()) == nil
    }

    private func retry(_ number: UInt64) {
        if let download = byNumber[number] { launch(download) }
    }

    func stop(_ download: Download, _ verdict: ImageFailure) -> Bool {
        download.verdict = verdict
        return false
    }
}
