internal import Crypto
internal import IntertwineFetch
internal import IntertwinePrimitives
public import Synchronization

/// A whole picture, and what is known about it. Immutable: who holds one may serve it whatever the cache does meanwhile.
public final class CachedImage: Sendable {
    /// The URL it came from.
    public let source: String
    /// Where its origin negotiates formats, those that it was asked for: who takes others has a picture of one's own.
    /// Of a sized picture, those that its client takes.
    let variant: AcceptedFormats.Set?
    /// Nil for the origin's own.
    let sizing: ResizeMode?
    public let kind: ImageFormat
    /// The deviation of a sized image from its size: it is the first frame of an animation, or the original. Nil if it has none.
    let shortfall: Shortfall?
    public let body: ImageBody
    /// What it is kept under.
    let key: String
    /// Strong, quoted, made from the body: two sources with the same bytes share it, and the origin's never gets out.
    public let etag: String
    public let freshness: Freshness
    let validators: Validators
    let terms: FreshnessMetadata
    /// What has been made of it, to serve it with: goes when the picture goes, so that the cap on memory counts for both.
    public let companion = Mutex<(any AnyObject & Sendable)?>(nil)

    init(
        source: String, variant: AcceptedFormats.Set? = nil, sizing: ResizeMode? = nil, kind: ImageFormat, shortfall: Shortfall? = nil,
        body: ImageBody,
        etag: String, freshness: Freshness, validators: Validators, terms: FreshnessMetadata = FreshnessMetadata()
    ) {
        self.source = source
        self.variant = variant
        self.sizing = sizing
        self.kind = kind
        self.shortfall = shortfall
        self.body = body
        key = Self.key(source, variant, sizing)
        self.etag = etag
        self.freshness = freshness
        self.validators = validators
        self.terms = terms
    }

    /// - Parameter digest: of the body; made here, which takes its time, where nil.
    convenience init(
        source: String, variant: AcceptedFormats.Set? = nil, sizing: ResizeMode? = nil, kind: ImageFormat, shortfall: Shortfall? = nil,
        body: [UInt8],
        digest: SHA256Digest? = nil, freshness: Freshness, validators: Validators, terms: FreshnessMetadata = FreshnessMetadata()
    ) {
        let etag = "\"" + Base64URL.encode(Array((digest ?? SHA256.hash(data: body)).prefix(16))) + "\""
        self.init(
            source: source, variant: variant, sizing: sizing, kind: kind, shortfall: shortfall, body: ImageBody(body), etag: etag,
            freshness: freshness, validators: validators, terms: terms)
    }

    /// The same picture after the origin said that it still holds.
    func refreshed(_ freshness: Freshness, validators fresh: Validators, terms: FreshnessMetadata) -> CachedImage {
        let merged = Validators(
            etag: fresh.etag ?? validators.etag, lastModified: fresh.lastModified ?? validators.lastModified, location: validators.location)
        return CachedImage(
            source: source, variant: variant, sizing: sizing, kind: kind, shortfall: shortfall, body: body, etag: etag,
            freshness: freshness,
            validators: merged, terms: terms)
    }

    /// The same picture after it was found that it cannot be decoded to its end: it is asked for anew by then, and all of it, as its origin
    /// would only say that it still holds.
    func suspect(until end: Int64) -> CachedImage {
        var validators = validators
        validators.location = nil
        return CachedImage(
            source: source, variant: variant, sizing: sizing, kind: kind, shortfall: shortfall, body: body, etag: etag,
            freshness: freshness.ending(by: end), validators: validators, terms: terms)
    }

    /// Whether it was made here, of what its origin has.
    public var isSized: Bool { sizing != nil }

    /// A source is a URL, in which no line ends.
    static func key(_ source: String, _ variant: AcceptedFormats.Set?, _ sizing: ResizeMode? = nil) -> String {
        guard let variant else { return source }
        return sizing.map { "\(source)\n\(variant.rawValue)\n\($0.text)" } ?? "\(source)\n\(variant.rawValue)"
    }

    /// Whether from now on nothing else is right for all who ask for the source: its origin negotiates.
    var replacesCommon: Bool { variant != nil && sizing == nil }

    /// Under what a source may be kept: as it is, or for those who take certain formats. Sized ones lie beside them.
    static func keys(_ source: String) -> [String] {
        [source] + (0...AcceptedFormats.Set.all.rawValue).map { key(source, AcceptedFormats.Set(rawValue: $0)) }
    }

    /// Seconds since 1970 of the origin's last change, where it said so.
    public var lastModified: Int64? { validators.lastModified.flatMap { HTTPDate.parse($0, now: freshness.generatedAt) } }
}

/// What the origin said of a picture, for the next time that it is asked.
extension CachedImage {
    enum Shortfall: UInt8, Sendable, Hashable, CaseIterable {
        case firstFrame = 0x80
        case original = 0x40

        var reason: ImageError.Reason {
            switch self {
            case .firstFrame: .tooManyFrames
            case .original: .noDecoder
            }
        }
    }

    /// What to ask the origin with.
    struct Validators: Sendable, Hashable {
        var etag: String?
        var lastModified: String?
        /// The URL that the picture came from, after redirects: they say nothing of any other.
        var location: String?

        var conditions: (url: FetchURL, fields: FetchHeaderFields)? {
            guard let url = location.flatMap({ try? FetchURL($0) }) else { return nil }
            var fields = FetchHeaderFields()
            if let etag { fields.append("If-None-Match", etag) }
            if let lastModified { fields.append("If-Modified-Since", lastModified) }
            return fields.fields.isEmpty ? nil : (url, fields)
        }

        /// Whether a 304 with these is about another picture than the one with those: a strong tag that differs (RFC 9111 section 4.3.4).
        func contradict(_ stored: Validators) -> Bool {
            guard let etag, !etag.hasPrefix("W/"), let other = stored.etag else { return false }
            return etag != other
        }
    }

    /// The fields that decide how long it may be used, as the origin wrote them last.
    struct FreshnessMetadata: Sendable, Hashable {
        var cacheControl: String?
        var expires: String?
        var vary: String?

        init(cacheControl: String? = nil, expires: String? = nil, vary: String? = nil) {
            self.cacheControl = cacheControl
            self.expires = expires
            self.vary = vary
        }

        init(_ headers: FetchHeaderFields) {
            self.init(cacheControl: headers["cache-control"], expires: headers["expires"], vary: headers["vary"])
        }

        func updated(by headers: FetchHeaderFields) -> FreshnessMetadata {
            let new = FreshnessMetadata(headers)
            return FreshnessMetadata(
                cacheControl: new.cacheControl ?? cacheControl, expires: new.expires ?? expires, vary: new.vary ?? vary)
        }

        /// These terms with what a 304 says of its own time.
        func headers(beside answer: FetchHeaderFields, lastModified: String?) -> FetchHeaderFields {
            var headers = FetchHeaderFields()
            let fields = [
                ("Cache-Control", cacheControl), ("Expires", expires), ("Vary", vary), ("Last-Modified", lastModified),
                ("Date", answer["date"]), ("Age", answer["age"]),
            ]
            for (name, value) in fields {
                if let value { headers.append(name, value) }
            }
            return headers
        }
    }
}
