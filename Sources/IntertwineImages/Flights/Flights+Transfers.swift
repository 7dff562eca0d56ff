internal import IntertwineEventLoop
internal import IntertwineFetch
internal import IntertwinePrimitives

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
        if head.status == 304, !download.asksPlainly, let stale = download.stale, stale.validators.conditions?.url == head.url {
            return confirmed(download, stale, head, now)
        }
        guard head.status == 200 else {
            let wait = head.headers["retry-after"].flatMap { Self.seconds($0, now: now) }
            return stop(download, ImageFailure(.upstream(status: head.status), retryAfter: wait))
        }
        let freshness = Freshness(head, head.headers, asked: download.asked, received: now, policy: download.policy)
        let validators = CachedImage.Validators(
            etag: head.headers["etag"], lastModified: head.headers["last-modified"], location: head.url.text)
        let kind: MediaKind?
        switch MediaKind.declared(head.headers["content-type"]) {
        case .kind(let declared): kind = declared
        case .open: kind = nil
        case .denied: return stop(download, ImageFailure(.typeDenied))
        }
        if let encoding = head.headers["content-encoding"], encoding.lowercased() != "identity" {
            return stop(download, ImageFailure(.encoded))
        }
        let isChunked = head.headers["transfer-encoding"] != nil
        download.head = PictureHead(
            kind: kind, length: isChunked ? nil : head.contentLength, freshness: freshness, validators: validators,
            terms: CachedImage.Terms(head.headers), isDelimited: isChunked || head.contentLength != nil,
            isNegotiated: Freshness.variesByAccept(head))
        download.flight.expect(download.head?.length)
        perform(download.flight.reach(.body), download)
        return true
    }

    /// What a 304 says counts for the fields that it has, and the others stay as they are (RFC 9111 sections 3.2 and 4.3.4).
    private func confirmed(_ download: Download, _ stale: CachedImage, _ head: FetchHead, _ now: Int64) -> Bool {
        let validators = CachedImage.Validators(etag: head.headers["etag"], lastModified: head.headers["last-modified"])
        guard !validators.contradict(stale.validators) else {
            download.isRefuted = true
            return false
        }
        let terms = stale.terms.updated(by: head.headers)
        let lastModified = validators.lastModified ?? stale.validators.lastModified
        let headers = terms.headers(beside: head.headers, lastModified: lastModified)
        let freshness = Freshness(head, headers, asked: download.asked, received: now, policy: download.policy)
        download.confirmed = stale.refreshed(freshness ?? Freshness(now: now), validators: validators, terms: terms)
        return true
    }

    /// A `Retry-After` field (RFC 9110 section 10.2.3): seconds, or a date. Within ten minutes.
    private static func seconds(_ field: String, now: Int64) -> Int? {
        guard let wait = Int64(field) ?? HTTPDate.parse(field, now: now).map({ $0 - now }) else { return nil }
        return Int(min(max(wait, 1), 600))
    }

    /// The transfers have made the one second attempt themselves.
    func repeated(_ number: UInt64) {
        guard let download = byNumber[number] else { return }
        download.attempts += 1
        metrics.retries += 1
    }

    func ended(_ failure: FetchFailure?, _ number: UInt64) {
        guard let download = byNumber[number] else { return }
        download.fetch = nil
        if download.isRefuted, !download.asksPlainly {
            download.asksPlainly = true
            return launch(download, isAnotherAttempt: false)
        }
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
