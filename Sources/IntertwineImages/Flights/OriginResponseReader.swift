internal import Crypto
internal import IntertwineFetch
internal import IntertwinePrimitives

/// What an origin's answer comes to, as it arrives: a picture, the word that ours still holds, or a failure. A pure state machine: heads
/// and bytes go in, and whether to go on comes out.
struct OriginResponseReader {
    /// What it came to.
    enum Outcome {
        /// All of a picture has come.
        case complete(OriginResponseHead)
        /// Whether it may be stored from now on, too, or goes to those alone who wait for it.
        case confirmed(CachedImage, isCached: Bool)
        case failed(ImageError)
        /// The answer to our conditions was for another picture than ours: the origin is asked once more, without any.
        case refuted
    }

    private let policy: FreshnessPolicy
    /// Seconds since 1970 when the request left.
    private(set) var asked: Int64 = 0
    /// The origin is asked without conditions.
    private(set) var asksPlainly = false
    /// The answer's, once the origin has promised a picture.
    private(set) var head: OriginResponseHead?
    /// Of the body so far: that of a large picture takes too long to be made at once on the loop.
    private var digest = SHA256()
    /// The first bytes, until they have shown what they are.
    private var prefix: [UInt8] = []
    /// Looks for the picture's size, once the first bytes have kept the promise.
    private var frame: ImageHeaderParser?
    /// The picture that a 304 confirmed.
    private var confirmed: CachedImage?
    /// The freshness of an image without its end.
    private var unendedFreshness: Freshness?
    /// The 304 forbids storing it any longer.
    private var isWithdrawn = false
    private var isRefuted = false
    /// Why we stopped the transfer ourselves.
    private var verdict: ImageError?

    /// - Parameter policy: how long the origin may have it kept.
    init(policy: FreshnessPolicy = FreshnessPolicy()) {
        self.policy = policy
    }

    /// A request leaves.
    mutating func begin(at now: Int64) {
        asked = now
        verdict = nil
    }

    /// Whether the body is a picture's that is to be kept: that of a confirmed one is of no interest.
    var wantsBody: Bool { confirmed == nil }

    /// Whether the first bytes have shown what it is.
    var isKnown: Bool { frame != nil }

    /// Whether it is known, and how large it is once drawn, too.
    var isMeasured: Bool { frame.map { $0.finding != .unclear } ?? false }

    /// The first attempt has brought nothing that anybody could have seen.
    var hasNothing: Bool { head == nil }

    /// - Parameter stale: the picture that the origin was asked about, if any.
    /// - Returns: false to want no more.
    mutating func receiveHead(_ answer: FetchHead, stale: CachedImage?, now: Int64) -> Bool {
        if answer.status == 304, !asksPlainly, let stale, stale.validators.conditions?.url == answer.url {
            return confirm(stale, answer, now)
        }
        guard answer.status == 200 else {
            let wait = answer.headers["retry-after"].flatMap { Self.seconds($0, now: now) }
            return reject(ImageError(.upstream(status: answer.status), retryAfter: wait))
        }
        let kind: ImageFormat?
        switch ImageFormat.declared(answer.headers["content-type"]) {
        case .kind(let declared): kind = declared
        case .open: kind = nil
        case .denied: return reject(ImageError(.typeDenied))
        }
        if let encoding = answer.headers["content-encoding"], encoding.lowercased() != "identity" {
            return reject(ImageError(.encoded))
        }
        let isChunked = answer.headers["transfer-encoding"] != nil
        head = OriginResponseHead(
            kind: kind, length: isChunked ? nil : answer.contentLength,
            freshness: Freshness(answer, answer.headers, asked: asked, received: now, policy: policy),
            validators: CachedImage.Validators(
                etag: answer.headers["etag"], lastModified: answer.headers["last-modified"], location: answer.url.text),
            terms: CachedImage.FreshnessMetadata(answer.headers), isDelimited: isChunked || answer.contentLength != nil,
            isNegotiated: Freshness.variesByAccept(answer))
        return true
    }

    /// What a 304 says counts for the fields that it has, and the others stay as they are (RFC 9111 sections 3.2 and 4.3.4).
    private mutating func confirm(_ stale: CachedImage, _ answer: FetchHead, _ now: Int64) -> Bool {
        let validators = CachedImage.Validators(etag: answer.headers["etag"], lastModified: answer.headers["last-modified"])
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

    /// A `Retry-After` field (RFC 9110 section 10.2.3): seconds, or a date. Within ten minutes.
    private static func seconds(_ field: String, now: Int64) -> Int? {
        guard let wait = Int64(field) ?? HTTPDate.parse(field, now: now).map({ $0 - now }) else { return nil }
        return Int(min(max(wait, 1), 600))
    }

    /// - Returns: false to want no more.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        digest.update(bufferPointer: bytes)
        if frame != nil {
            frame?.consume(bytes)
        } else {
            prefix.append(contentsOf: bytes)
            switch ImageFormat.sniff(prefix) {
            case .unclear: return true
            case .kind(let kind) where head?.kind ?? kind == kind:
                head?.kind = kind
                frame = ImageHeaderParser(kind)
                frame?.consume(prefix)
                prefix = []
            default: return reject(ImageError(.typeMismatch))
            }
        }
        if let fault = frame?.error { return reject(ImageError(fault)) }
        return true
    }

    /// We want no more, for this reason. The answer is always false.
    mutating func reject(_ verdict: ImageError) -> Bool {
        self.verdict = verdict
        return false
    }

    /// The transfer is over.
    mutating func end(_ failure: FetchError?) -> Outcome {
        if isRefuted, !asksPlainly {
            asksPlainly = true
            return .refuted
        }
        if let failure = verdict ?? failure.map({ ImageError(.fetch($0)) }) { return .failed(failure) }
        if let confirmed { return .confirmed(confirmed, isCached: !isWithdrawn) }
        guard frame != nil, let head else { return .failed(ImageError(.typeMismatch)) }
        return .complete(head)
    }

    /// The picture, where it may be stored and is whole; else what its readers are told of its freshness is taken back.
    mutating func image(_ source: String, acceptedFormats: AcceptedFormats.Set, _ body: [UInt8]) -> CachedImage? {
        guard let head, let freshness = head.freshness, let kind = head.kind, kind.isComplete(body, isDelimited: head.isDelimited) else {
            unendedFreshness = head?.freshness
            self.head?.freshness = nil
            return nil
        }
        return CachedImage(
            source: source, variant: head.isNegotiated ? acceptedFormats : nil, kind: kind, body: body, digest: digest.finalize(),
            freshness: freshness, validators: head.validators, terms: head.terms)
    }
}

extension OriginResponseReader {
    /// Whether the image lacks its end, though its origin sent all of it, and could be stored otherwise.
    var isUnended: Bool { unendedFreshness != nil && head?.isDelimited == true }

    /// The image for those who wait for all of it, if it is not stored: it may not be, or lacks its end.
    ///
    /// - Returns: also whether it may be stored if it can be decoded.
    func passing(_ source: String, wanted: AcceptedFormats.Set, _ body: [UInt8], now: Int64) -> (image: CachedImage, isStorable: Bool)? {
        guard let head, let kind = head.kind else { return nil }
        let image = CachedImage(
            source: source, variant: unendedFreshness != nil && head.isNegotiated ? wanted : nil, kind: kind, body: body,
            digest: digest.finalize(), freshness: unendedFreshness ?? Freshness(now: now), validators: head.validators, terms: head.terms)
        return (image, unendedFreshness != nil)
    }
}

/// What is known of a picture before its body is there.
struct OriginResponseHead: Sendable {
    /// As its origin declared it, or as its first bytes show; nil until then.
    var kind: ImageFormat?
    let length: Int?
    /// Nil where the origin forbids storing it.
    var freshness: Freshness?
    let validators: CachedImage.Validators
    let terms: CachedImage.FreshnessMetadata
    /// Whether the end of the body can be told from a lost connection.
    let isDelimited: Bool
    /// Whether its origin would have sent another to who takes other formats.
    let isNegotiated: Bool
}
