internal import HTTPTypes
internal import IntertwinePrimitives
package import Synchronization

/// Objects are immutable, so the holder of one may serve it independently of the cache.
package final class CachedImage: Sendable {
    package let source: String
    let variant: AcceptedFormats.Set?
    let sizing: ResizeMode?
    package let kind: ImageFormat
    let shortfall: Shortfall?
    package let body: ImageBody
    let key: String
    /// The tag of the origin is never sent to clients.
    package let etag: String
    package let freshness: Freshness
    let validators: Validators
    let terms: FreshnessMetadata
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

    func refreshed(_ freshness: Freshness, validators fresh: Validators, terms: FreshnessMetadata) -> CachedImage {
        var merged = validators
        merged.etag = fresh.etag ?? merged.etag
        merged.lastModified = fresh.lastModified ?? merged.lastModified
        return copy(freshness, merged, terms)
    }

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

    package var isSized: Bool { sizing != nil }

    static func key(_ source: String, _ variant: AcceptedFormats.Set?, _ sizing: ResizeMode? = nil) -> String {
        guard let variant else { return source }
        return sizing.map { "\(source)\n\(variant.rawValue)\n\($0.text)" } ?? "\(source)\n\(variant.rawValue)"
    }

    /// True if this image invalidates the common entry of its source, because the origin negotiates formats.
    var replacesCommon: Bool { variant != nil && sizing == nil }

    static func keys(_ source: String) -> [String] {
        [source] + (0...AcceptedFormats.Set.all.rawValue).map { key(source, AcceptedFormats.Set(rawValue: $0)) }
    }

    /// The last modification in seconds since 1970, if the origin sent a valid date.
    package var lastModified: Int64? { validators.lastModified.flatMap { HTTPDate.parse($0, now: freshness.generatedAt) } }
}

extension CachedImage {
    enum Shortfall: UInt8, Sendable, Hashable, CaseIterable {
        case firstFrame = 0x80
        case original = 0x40
        /// A damaged image, as far as it can be decoded.
        case part = 0xc0

        var reason: ImageError.Reason {
            switch self {
            case .firstFrame: .tooManyFrames
            case .original: .noDecoder
            case .part: .undecodable
            }
        }
    }

    struct Validators: Sendable, Hashable {
        var etag: String?
        var lastModified: String?
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

        func headers(beside answer: HTTPFields, lastModified: String?) -> HTTPFields {
            var headers = HTTPFields()
            (headers[.cacheControl], headers[.expires], headers[.vary]) = (cacheControl, expires, vary)
            (headers[.lastModified], headers[.date], headers[.age]) = (lastModified, answer[.date], answer[.age])
            return headers
        }
    }
}
