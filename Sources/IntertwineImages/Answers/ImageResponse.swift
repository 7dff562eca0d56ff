internal import IntertwinePrimitives

/// What to answer to a request for a picture.
public struct ImageResponse: Sendable {
    public enum Body: Sendable {
        /// A whole picture: ranges and conditions can be answered from it, and its bytes are shared, not copied.
        case complete(CachedImage)
        /// A picture on its way. Its length where the origin said so.
        case stream(ImageStream, length: Int?)
        case failure(ImageError)
    }

    public let body: Body
    public let cacheStatus: CacheStatus
    /// All the fields but those that HTTP itself brings along (`Date`, `Content-Length`, connection matters) and, for failures,
    /// those of the problem details. In the order in which they are best sent; names as they are best written.
    public let headers: [Header]
    /// Whether anybody may keep the picture.
    var isCached = true
    /// Whether the image lacks its end, and is to be kept if it can be decoded all the same.
    var isUnended = false
    /// Whether the end of its body can be told from a lost connection.
    var isDelimited = true

    public struct Header: Sendable, Hashable {
        public let name: String
        public let value: String
    }

    /// 200, or the failure's.
    public var status: Int {
        if case .failure(let failure) = body { failure.status } else { 200 }
    }

    /// - Parameter now: seconds since 1970.
    public init(_ image: CachedImage, _ status: CacheStatus, now: Int64) {
        self.init(image, status, now: now, isCached: true)
    }

    /// - Parameter isKept: whether anybody may keep it.
    init(_ image: CachedImage, _ status: CacheStatus, now: Int64, isCached: Bool) {
        body = .complete(image)
        self.isCached = isCached
        var status = status
        if status.outcome != .miss { status.timeToLive = image.freshness.freshUntil - now }
        cacheStatus = status
        headers = HeaderSet.image(image, status, now: now, isCached: isCached)
    }

    /// - Parameters:
    ///   - image: what stands for a picture that cannot be had.
    ///   - failure: why.
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

    /// The fields of an answer to a request that never came as far as the cache.
    /// - Parameter reason: what `Image-Error` says.
    public static func refusalHeaders(_ reason: String) -> [Header] { HeaderSet.refusal(reason) }

    init(_ failure: ImageError, _ status: CacheStatus) {
        body = .failure(failure)
        var status = status
        status.detail = failure.code
        cacheStatus = status
        headers = HeaderSet.failure(failure, status)
    }
}

/// The header fields of answers: ours alone, nothing of the origin's passes but dates and lifetimes.
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
        // Nobody could tell that the tail is missing, and the next cache should not keep what we would not.
        let freshness = head.isDelimited ? head.freshness : nil
        headers.append(field("Cache-Control", freshness?.cacheControl ?? "no-store"))
        if let freshness { headers.append(field("Age", String(freshness.age(at: now)))) }
        headers.append(field("Cache-Status", status.field))
        return headers
    }

    /// For half a minute: the picture itself may be there by then.
    static func image(_ image: CachedImage, for failure: ImageError, _ status: CacheStatus) -> [ImageResponse.Header] {
        common(image.kind) + [
            field("Cache-Control", "public, max-age=30"), field("ETag", image.etag), field("Image-Error", failure.code),
            field("Cache-Status", status.field),
        ]
    }

    /// No validators, and nothing that makes a failure outlive its cause (a 304 would otherwise confirm an error for a picture).
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
            // Who takes another format may get another picture, or none.
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

/// How an answer came about, as RFC 9211 writes it.
public struct CacheStatus: Sendable, Hashable {
    public enum Outcome: String, Sendable, Hashable, CaseIterable {
        case hit, stale, miss, revalidated, negative, bypass
    }

    public var outcome: Outcome
    /// The request found another one under way and was served by it.
    public var isCollapsed = false
    public var isStored = false
    /// The origin was asked because what is stored is stale, not because nothing is.
    public var wasStale = false
    /// The origin's status.
    public var forwardStatus: Int?
    /// Seconds; negative where stale.
    public var timeToLive: Int64?
    /// One of our own reason codes.
    public var detail: String?

    public init(_ outcome: Outcome) {
        self.outcome = outcome
    }

    /// The value of a `Cache-Status` field.
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
