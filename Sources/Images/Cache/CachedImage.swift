internal import Crypto
public import Synchronization

/// A whole picture, and what is known about it. Immutable: who holds one may serve it whatever the cache does meanwhile.
public final class CachedImage: Sendable {
    /// The URL it came from.
    public let source: String
    public let kind: MediaKind
    public let body: [UInt8]
    /// Strong, quoted, made from the body: two sources with the same bytes share it, and the origin's never gets out.
    public let etag: String
    public let freshness: Freshness
    let validators: Validators
    let terms: Terms
    /// What has been made of it, to serve it with: goes when the picture goes, so that the cap on memory counts for both.
    public let companion = Mutex<(any AnyObject & Sendable)?>(nil)

    init(source: String, kind: MediaKind, body: [UInt8], etag: String, freshness: Freshness, validators: Validators, terms: Terms = Terms())
    {
        self.source = source
        self.kind = kind
        self.body = body
        self.etag = etag
        self.freshness = freshness
        self.validators = validators
        self.terms = terms
    }

    convenience init(
        source: String, kind: MediaKind, body: [UInt8], freshness: Freshness, validators: Validators, terms: Terms = Terms()
    ) {
        let digest = SHA256.hash(data: body)
        let etag = "\"" + Base64URL.encode(Array(digest.prefix(16))) + "\""
        self.init(source: source, kind: kind, body: body, etag: etag, freshness: freshness, validators: validators, terms: terms)
    }

    /// The same picture after the origin said that it still holds.
    func refreshed(_ freshness: Freshness, validators fresh: Validators, terms: Terms) -> CachedImage {
        let merged = Validators(
            etag: fresh.etag ?? validators.etag, lastModified: fresh.lastModified ?? validators.lastModified, location: validators.location)
        return CachedImage(source: source, kind: kind, body: body, etag: etag, freshness: freshness, validators: merged, terms: terms)
    }

    /// Seconds since 1970 of the origin's last change, where it said so.
    public var lastModified: Int64? { validators.lastModified.flatMap(HTTPDate.parse) }
}
