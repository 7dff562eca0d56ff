internal import HTTPTypes
internal import IntertwinePrimitives
package import Synchronization

/// A complete image with its metadata. Objects are immutable, so the holder of one may serve it independently of the cache.
///
/// ```swift
/// if let image = manager.cached("https://example.com/a.jpg") {
///     print(image.kind.contentType, image.body.count, image.etag)
/// }
/// ```
package final class CachedImage: Sendable {
    /// The URL of the source.
    package let source: String
    /// The accepted formats that select this variant; nil if the image is common to all clients.
    ///
    /// For an image of a negotiating origin, they are the formats of the request to the origin. For a resized image, they are those of its client.
    let variant: AcceptedFormats.Set?
    /// The resize mode; nil for the original.
    let sizing: ResizeMode?
    /// The format of the bytes.
    package let kind: ImageFormat
    /// The deviation of a resized image from its specification: it is the first frame of an animation, or the original. Nil if it has none.
    let shortfall: Shortfall?
    /// The bytes.
    package let body: ImageBody
    /// The cache key.
    let key: String
    /// The strong, quoted entity tag, computed from the body. Sources with equal bytes share it. The tag of the origin is never sent to clients.
    package let etag: String
    /// The times until which the image may be served.
    package let freshness: Freshness
    let validators: Validators
    let terms: FreshnessMetadata
    /// An object that is cached with the image, such as an encoded response head. Its lifetime is that of the image, so one memory limit covers both.
    package let companion = Mutex<(any AnyObject & Sendable)?>(nil)

    init(
        source: String, variant: AcceptedFormats.Set? = nil, sizing: ResizeMode? = nil, kind: ImageFormat, shortfall: Shortfall? = nil,
        body: ImageBody, etag: String, freshness: Freshness, validators: Validators, terms: FreshnessMetadata = FreshnessMetadata()
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

    /// Creates an image, and computes its entity tag.
    ///
    /// - Parameter digest: The digest of the body; nil to compute it here, which takes time.
    convenience init(
        source: String, variant: AcceptedFormats.Set? = nil, sizing: ResizeMode? = nil, kind: ImageFormat, shortfall: Shortfall? = nil,
        body: [UInt8], digest: SHA256Digest? = nil, freshness: Freshness, validators: Validators,
        terms: FreshnessMetadata = FreshnessMetadata()
    ) {
        let etag = "\"" + Base64URL.encode(Array((digest ?? SHA256.hash(data: body)).prefix(16))) + "\""
        self.init(
            source: source, variant: variant, sizing: sizing, kind: kind, shortfall: shortfall, body: ImageBody(body), etag: etag,
            freshness: freshness, validators: validators, terms: terms)
    }

    /// Returns a copy with the freshness of a 304 response.
    func refreshed(_ freshness: Freshness, validators fresh: Validators, terms: FreshnessMetadata) -> CachedImage {
        var merged = validators
        merged.etag = fresh.etag ?? merged.etag
        merged.lastModified = fresh.lastModified ?? merged.lastModified
        return copy(freshness, merged, terms)
    }

    /// Returns a copy of an image that cannot be decoded to its end. It expires at `end` at the latest and is then fetched unconditionally.
    ///
    /// Why: a conditional request would only confirm the incomplete image.
    func suspect(until end: Int64) -> CachedImage {
        var validators = validators
        validators.location = nil
        return copy(freshness.ending(by: end), validators, terms)
    }

    private func copy(_ freshness: Freshness, _ validators: Validators, _ terms: FreshnessMetadata) -> CachedImage {
        CachedImage(
            source: source, variant: variant, sizing: sizing, kind: kind, shortfall: shortfall, body: body, etag: etag,
            freshness: freshness,
            validators: validators, terms: terms)
    }

    /// True if the service itself resized the image from an original.
    package var isSized: Bool { sizing != nil }

    /// Returns the cache key. The separator is a line feed, which cannot occur in the URL of a source.
    static func key(_ source: String, _ variant: AcceptedFormats.Set?, _ sizing: ResizeMode? = nil) -> String {
        guard let variant else { return source }
        return sizing.map { "\(source)\n\(variant.rawValue)\n\($0.text)" } ?? "\(source)\n\(variant.rawValue)"
    }

    /// True if this image invalidates the common entry of its source, because the origin negotiates formats.
    var replacesCommon: Bool { variant != nil && sizing == nil }

    /// Returns all possible keys of originals of a source: the common one, and one for each set of accepted formats. Resized images are excluded.
    static func keys(_ source: String) -> [String] {
        [source] + (0...AcceptedFormats.Set.all.rawValue).map { key(source, AcceptedFormats.Set(rawValue: $0)) }
    }

    /// The last modification in seconds since 1970, if the origin sent a valid date.
    package var lastModified: Int64? { validators.lastModified.flatMap { HTTPDate.parse($0, now: freshness.generatedAt) } }
}

/// Types for the metadata that an origin sends with an image.
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

    /// The validators for conditional requests to the origin.
    struct Validators: Sendable, Hashable {
        var etag: String?
        var lastModified: String?
        /// The URL of the final response after redirects. The validators apply to no other URL.
        var location: String?

        var conditions: (url: FetchURL, fields: HTTPFields)? {
            guard let url = location.flatMap({ try? FetchURL($0) }) else { return nil }
            var fields = HTTPFields()
            fields[.ifNoneMatch] = etag
            fields[.ifModifiedSince] = lastModified
            return fields.isEmpty ? nil : (url, fields)
        }

        /// Returns true if a 304 with these validators concerns another image: its strong tag differs (RFC 9111 section 4.3.4).
        func contradict(_ stored: Validators) -> Bool {
            guard let etag, !etag.hasPrefix("W/"), let other = stored.etag else { return false }
            return etag != other
        }
    }

    /// The stored header fields that determine freshness, as the origin sent them last.
    struct FreshnessMetadata: Sendable, Hashable {
        var cacheControl: String?
        var expires: String?
        var vary: String?

        init(cacheControl: String? = nil, expires: String? = nil, vary: String? = nil) {
            self.cacheControl = cacheControl
            self.expires = expires
            self.vary = vary
        }

        init(_ headers: HTTPFields) {
            self.init(cacheControl: headers[.cacheControl], expires: headers[.expires], vary: headers[.vary])
        }

        func updated(by headers: HTTPFields) -> FreshnessMetadata {
            let new = FreshnessMetadata(headers)
            return FreshnessMetadata(
                cacheControl: new.cacheControl ?? cacheControl, expires: new.expires ?? expires, vary: new.vary ?? vary)
        }

        /// Returns these fields with the `Date` and `Age` of a 304 response.
        func headers(beside answer: HTTPFields, lastModified: String?) -> HTTPFields {
            var headers = HTTPFields()
            (headers[.cacheControl], headers[.expires], headers[.vary]) = (cacheControl, expires, vary)
            (headers[.lastModified], headers[.date], headers[.age]) = (lastModified, answer[.date], answer[.age])
            return headers
        }
    }
}
