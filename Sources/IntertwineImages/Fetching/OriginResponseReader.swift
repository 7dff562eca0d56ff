internal import HTTPTypes
internal import IntertwinePrimitives

struct OriginResponseReader: ~Copyable {
    enum Outcome {
        case complete(OriginResponseHead)
        case confirmed(CachedImage, isCached: Bool)
        case failed(ImageError)
        case refuted
    }

    var policy: FreshnessPolicy = FreshnessPolicy()
    var limits: ImageLimits = ImageLimits()
    /// The time of the request in seconds since 1970.
    private(set) var asked: Int64 = 0
    private(set) var isUnconditional = false
    private(set) var head: OriginResponseHead?
    /// The digest of the body so far. Why: hashing a large image at once would block the event loop for too long.
    private(set) var digest = SHA256()
    private(set) var prefix: [UInt8] = []
    private(set) var frame: ImageHeaderParser?
    private(set) var confirmed: CachedImage?
    private(set) var unendedFreshness: Freshness?
    private(set) var isWithdrawn = false
    private(set) var isRefuted = false
    private(set) var verdict: ImageError?

    mutating func begin(at now: Int64) {
        asked = now
        verdict = nil
    }

    var wantsBody: Bool { confirmed == nil }

    var isKnown: Bool { frame != nil }

    var isMeasured: Bool { frame.map { $0.finding != .unclear } ?? false }

    var hasNothing: Bool { head == nil }

    mutating func receiveHead(_ answer: FetchHead, stale: CachedImage?, now: Int64) -> Bool {
        if answer.status == 304, !isUnconditional, let stale, stale.validators.conditions?.url == answer.url {
            return confirm(stale, answer, now)
        }
        guard answer.isWhole else {
            // A retry is useful after at least 1 second, and after ten minutes at the latest.
            let wait = answer.headers[.retryAfter].flatMap { HTTPDate.delay(retryAfter: $0, now: now) }.map { Int(min(max($0, 1), 600)) }
            return reject(ImageError(.upstream(status: answer.status), retryAfter: wait))
        }
        let isChunked = answer.headers[.transferEncoding] != nil
        let isCoded = answer.headers[.contentEncoding].map { $0.lowercased().contains(/gzip|deflate/) } ?? false
        head = OriginResponseHead(
            kind: nil, length: isChunked || isCoded ? nil : answer.contentLength,
            freshness: Freshness(answer, answer.headers, asked: asked, received: now, policy: policy),
            validators: CachedImage.Validators(
                etag: answer.headers[.eTag], lastModified: answer.headers[.lastModified], location: answer.url.text),
            terms: CachedImage.FreshnessMetadata(answer.headers), isDelimited: isChunked || answer.contentLength != nil,
            isNegotiated: Freshness.variesByAccept(answer))
        return true
    }

    /// Fields of the 304 replace stored ones, and the others stay (RFC 9111 sections 3.2 and 4.3.4).
    private mutating func confirm(_ stale: CachedImage, _ answer: FetchHead, _ now: Int64) -> Bool {
        let validators = CachedImage.Validators(etag: answer.headers[.eTag], lastModified: answer.headers[.lastModified])
        guard !validators.contradict(stale.validators) else {
            isRefuted = true
            return false
        }
        let terms = stale.terms.updated(by: answer.headers)
        let lastModified = validators.lastModified ?? stale.validators.lastModified
        let headers = terms.headers(beside: answer.headers, lastModified: lastModified)
        let freshness = Freshness(answer, headers, asked: asked, received: now, policy: policy)
        isWithdrawn = freshness == nil
        confirmed = stale.refreshed(freshness ?? Freshness(now: now), validators: validators, terms: terms)
        return true
    }

    mutating func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        digest.update(bufferPointer: bytes)
        if frame != nil {
            frame?.consume(bytes)
        } else {
            prefix.append(contentsOf: bytes)
            switch ImageFormat.sniff(prefix) {
            case .unclear: return true
            // `Content-Type` is often wrong, and responses have the type of the bytes.
            case .kind(let kind):
                head?.kind = kind
                frame = ImageHeaderParser(kind, limits: limits)
                frame?.consume(prefix)
                prefix = []
            default: return reject(ImageError(.typeMismatch))
            }
        }
        if let fault = frame?.error { return reject(ImageError(fault)) }
        return true
    }

    mutating func reject(_ verdict: ImageError) -> Bool {
        self.verdict = verdict
        return false
    }

    mutating func end(_ failure: FetchError?) -> Outcome {
        if isRefuted, !isUnconditional {
            isUnconditional = true
            return .refuted
        }
        if let failure = verdict ?? failure.map({ ImageError(.fetch($0)) }) { return .failed(failure) }
        if let confirmed { return .confirmed(confirmed, isCached: !isWithdrawn) }
        guard frame != nil, let head else { return .failed(ImageError(.typeMismatch)) }
        return .complete(head)
    }

    /// Returns the image if it is complete and may be stored; otherwise nil, and the head loses its freshness.
    mutating func image(_ source: String, acceptedFormats: AcceptedFormats.Set, _ body: [UInt8]) -> CachedImage? {
        guard let head, let freshness = head.freshness, let kind = head.kind, kind.isComplete(body, isDelimited: head.isDelimited) else {
            unendedFreshness = head?.freshness
            self.head?.freshness = nil
            return nil
        }
        return CachedImage(
            source: source, variant: head.isNegotiated ? acceptedFormats : nil, kind: kind, body: body, digest: digest.digest(),
            freshness: freshness, validators: head.validators, terms: head.terms)
    }
}

extension OriginResponseReader {
    /// True if the image lacks its end, although the download ended without an error, and it could be stored otherwise.
    var isUnended: Bool { unendedFreshness != nil }

    func passing(_ source: String, wanted: AcceptedFormats.Set, _ body: [UInt8], now: Int64) -> (image: CachedImage, isStorable: Bool)? {
        guard let head, let kind = head.kind else { return nil }
        let image = CachedImage(
            source: source, variant: unendedFreshness != nil && head.isNegotiated ? wanted : nil, kind: kind, body: body,
            digest: digest.digest(), freshness: unendedFreshness ?? Freshness(now: now), validators: head.validators, terms: head.terms)
        return (image, unendedFreshness != nil)
    }
}

struct OriginResponseHead: Sendable {
    var kind: ImageFormat?
    let length: Int?
    var freshness: Freshness?
    let validators: CachedImage.Validators
    let terms: CachedImage.FreshnessMetadata
    let isDelimited: Bool
    let isNegotiated: Bool
}
