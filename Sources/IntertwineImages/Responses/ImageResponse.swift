internal import IntertwinePrimitives

/// The response to a request for an image.
public struct ImageResponse: Sendable {
    public enum Body: Sendable {
        /// A complete image, which supports ranges and conditions. Its bytes are shared, not copied.
        case complete(CachedImage)
        /// An image that is still arriving, with its length if the origin declared it.
        case stream(ImageStream, length: Int?)
        case failure(ImageError)
    }

    public let body: Body
    public let cacheStatus: CacheStatus
    /// The header fields in the order and spelling in which they are best sent.
    ///
    /// Excluded are the fields that HTTP itself adds (`Date`, `Content-Length`, connection fields) and, for failures, those of the problem details.
    public let headers: [Header]
    /// A Boolean value indicating that caches may store the image.
    var isCached = true
    /// A Boolean value indicating that the image lacks its end, and is stored if it can be decoded.
    var isUnended = false
    /// A Boolean value indicating that the end of the body can be distinguished from a lost connection.
    var isDelimited = true

    public struct Header: Sendable, Hashable {
        public let name: String
        public let value: String
    }

    /// The HTTP status: 200, or that of the failure.
    public var status: Int {
        if case .failure(let failure) = body { failure.status } else { 200 }
    }

    /// Creates a response with a complete image.
    ///
    /// - Parameter now: Seconds since 1970.
    public init(_ image: CachedImage, _ status: CacheStatus, now: Int64) {
        self.init(image, status, now: now, isCached: true)
    }

    /// Creates a response with a complete image, which caches may be forbidden to store.
    ///
    /// - Parameter isCached: True if caches may store the image.
    init(_ image: CachedImage, _ status: CacheStatus, now: Int64, isCached: Bool) {
        body = .complete(image)
        self.isCached = isCached
        var status = status
        if status.outcome != .miss { status.timeToLive = image.freshness.freshUntil - now }
        cacheStatus = status
        headers = HeaderSet.image(image, status, now: now, isCached: isCached)
    }

    /// Creates a response with a fallback.
    ///
    /// - Parameters:
    ///   - image: The fallback for an image that is unavailable.
    ///   - failure: The reason why it is unavailable.
    init(_ image: CachedImage, for failure: ImageError, _ status: CacheStatus, now: Int64) {
        body = .complete(image)
        var status = status
        status.detail = "fallback"
        cacheStatus = status
        headers = HeaderSet.image(image, for: failure, status)
    }

    init(_ stream: ImageStream, _ kind: ImageFormat, _ head: OriginResponseHead, _ status: CacheStatus, now: Int64) {
        body = .stream(stream, length: head.length)
        cacheStatus = status
        headers = HeaderSet.image(kind, head, status, now: now)
    }

    /// Returns the header fields of a response to a request that was rejected before the cache.
    ///
    /// - Parameter reason: The value of `Image-Error`.
    public static func refusalHeaders(_ reason: String) -> [Header] { HeaderSet.refusal(reason) }

    init(_ failure: ImageError, _ status: CacheStatus) {
        body = .failure(failure)
        var status = status
        status.detail = failure.code
        cacheStatus = status
        headers = HeaderSet.failure(failure, status)
    }
}

/// Builds the header fields of responses. Only dates and lifetimes of the origin's fields are passed on.
enum HeaderSet {
    static func image(_ image: CachedImage, _ status: CacheStatus, now: Int64, isCached: Bool = true) -> [ImageResponse.Header] {
        var headers = common(image.kind)
        headers.append(field("Cache-Control", isCached ? image.freshness.cacheControl : "no-store"))
        headers.append(field("Age", String(image.freshness.age(at: now))))
        headers.append(field("ETag", image.etag))
        if let modified = image.lastModified { headers.append(field("Last-Modified", HTTPDate.text(modified))) }
        if let shortfall = image.shortfall { headers.append(field("Image-Error", ImageError(shortfall.reason).code)) }
        headers.append(field("Cache-Status", status.field))
        return headers
    }

    static func image(_ kind: ImageFormat, _ head: OriginResponseHead, _ status: CacheStatus, now: Int64) -> [ImageResponse.Header] {
        var headers = common(kind)
        // A truncated body could not be detected, so downstream caches must not store what this one would not store.
        let freshness = head.isDelimited ? head.freshness : nil
        headers.append(field("Cache-Control", freshness?.cacheControl ?? "no-store"))
        if let freshness { headers.append(field("Age", String(freshness.age(at: now)))) }
        headers.append(field("Cache-Status", status.field))
        return headers
    }

    /// Returns the fields of a fallback, which caches may store for 30 seconds. Why: the image itself may be available by then.
    static func image(_ image: CachedImage, for failure: ImageError, _ status: CacheStatus) -> [ImageResponse.Header] {
        common(image.kind) + [
            field("Cache-Control", "public, max-age=30"), field("ETag", image.etag), field("Image-Error", failure.code),
            field("Cache-Status", status.field),
        ]
    }

    /// Returns the fields of a failure, without validators and with `no-store`. Why: a 304 would otherwise confirm an error as an image.
    static func failure(_ failure: ImageError, _ status: CacheStatus) -> [ImageResponse.Header] {
        var headers = refusal(failure.code)
        headers.append(field("Cache-Status", status.field))
        let isPassing = failure.status == 503
        if let seconds = failure.retryAfter ?? (isPassing ? 1 : nil) { headers.append(field("Retry-After", String(seconds))) }
        return headers
    }

    static func refusal(_ reason: String) -> [ImageResponse.Header] {
        [
            field("Cache-Control", "no-store"),
            field("X-Content-Type-Options", "nosniff"),
            field("Content-Security-Policy", policy),
            field("Image-Error", reason),
        ]
    }

    private static let policy = "default-src 'none'; sandbox"

    private static func common(_ kind: ImageFormat) -> [ImageResponse.Header] {
        let ending = kind.contentType.dropFirst("image/".count)
        return [
            field("Content-Type", kind.contentType),
            // A client with another `Accept` field may get another image, or none.
            field("Vary", "Accept"),
            field("X-Content-Type-Options", "nosniff"),
            field("Content-Security-Policy", policy),
            field("Cross-Origin-Resource-Policy", "cross-origin"),
            field("Content-Disposition", "inline; filename=\"image.\(ending)\""),
        ]
    }

    private static func field(_ name: String, _ value: String) -> ImageResponse.Header {
        ImageResponse.Header(name: name, value: value)
    }
}

/// The cache status of a response, as defined by RFC 9211.
public struct CacheStatus: Sendable, Hashable {
    public enum Outcome: String, Sendable, Hashable, CaseIterable {
        case hit, stale, miss, revalidated, negative, bypass
    }

    public var outcome: Outcome
    /// A Boolean value indicating that the request was coalesced with another one.
    public var isCollapsed = false
    public var isStored = false
    /// A Boolean value indicating that the origin was asked because the stored image is stale, not because none is stored.
    public var wasStale = false
    /// The status of the origin's response.
    public var forwardStatus: Int?
    /// The remaining freshness lifetime in seconds; negative if stale.
    public var timeToLive: Int64?
    /// A reason code of this service.
    public var detail: String?

    public init(_ outcome: Outcome) {
        self.outcome = outcome
    }

    /// The value of the `Cache-Status` field.
    public var field: String {
        var parts = ["Intertwine"]
        switch outcome {
        case .hit, .negative: parts.append("hit")
        case .stale: parts.append(contentsOf: forwardStatus == nil ? ["hit"] : ["fwd=stale"])
        case .revalidated: parts.append("fwd=stale")
        case .miss: parts.append(wasStale ? "fwd=stale" : "fwd=miss")
        case .bypass: parts.append("fwd=bypass")
        }
        if let forwardStatus { parts.append("fwd-status=\(forwardStatus)") }
        if isStored { parts.append("stored") }
        if isCollapsed { parts.append("collapsed") }
        if let timeToLive { parts.append("ttl=\(timeToLive)") }
        if let detail { parts.append("detail=\(detail)") }
        return parts.joined(separator: "; ")
    }
}
