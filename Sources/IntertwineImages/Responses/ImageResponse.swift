package import HTTPTypes
internal import IntertwinePrimitives

package struct ImageResponse: Sendable {
    package enum Body: Sendable {
        case complete(CachedImage)
        case stream(ImageStream, length: Int?)
        case failure(ImageError)
    }

    package let body: Body
    /// The part of the caches in the response (RFC 9211).
    package let cacheStatus: CacheStatus
    package let headers: HTTPFields
    var isCached = true
    var isUnended = false
    var isDelimited = true

    package var status: Int {
        if case .failure(let failure) = body { failure.status } else { 200 }
    }

    package init(_ image: CachedImage, _ status: CacheStatus, now: Int64) {
        self.init(image, status, now: now, isCached: true)
    }

    init(_ image: CachedImage, _ status: CacheStatus, now: Int64, isCached: Bool) {
        body = .complete(image)
        self.isCached = isCached
        var status = status
        if status.outcome != .miss { status.timeToLive = image.freshness.freshUntil - now }
        cacheStatus = status
        headers = HTTPFields(image, status, now: now, isCached: isCached)
    }

    init(_ image: CachedImage, for failure: ImageError, _ status: CacheStatus) {
        body = .complete(image)
        var status = status
        status.detail = "fallback"
        cacheStatus = status
        headers = HTTPFields(image, for: failure, status)
    }

    init(_ stream: ImageStream, _ kind: ImageFormat, _ head: OriginResponseHead, _ status: CacheStatus, now: Int64) {
        body = .stream(stream, length: head.length)
        cacheStatus = status
        headers = HTTPFields(kind, head, status, now: now)
    }

    init(_ failure: ImageError, _ status: CacheStatus) {
        body = .failure(failure)
        var status = status
        status.detail = failure.code
        cacheStatus = status
        headers = HTTPFields(failure, status)
    }
}

extension HTTPFields {
    private static let policy = "default-src 'none'; sandbox"

    fileprivate init(_ image: CachedImage, _ status: CacheStatus, now: Int64, isCached: Bool) {
        self.init(image.kind)
        self[.cacheControl] = isCached ? image.freshness.cacheControl : "no-store"
        self[.age] = String(image.freshness.age(at: now))
        self[.eTag] = image.etag
        self[.lastModified] = image.lastModified.map { HTTPDate.text($0) }
        self[.imageError] = image.shortfall.map { ImageError($0.reason).code }
        self[.cacheStatus] = status.field
    }

    fileprivate init(_ kind: ImageFormat, _ head: OriginResponseHead, _ status: CacheStatus, now: Int64) {
        self.init(kind)
        // A truncated body could not be detected, so downstream caches must not store what this one would not store.
        let freshness = head.isDelimited ? head.freshness : nil
        self[.cacheControl] = freshness?.cacheControl ?? "no-store"
        self[.age] = freshness.map { String($0.age(at: now)) }
        self[.cacheStatus] = status.field
    }

    /// Creates the fields of a fallback, which caches may store for 30 seconds. Why: the image itself may be available by then.
    fileprivate init(_ image: CachedImage, for failure: ImageError, _ status: CacheStatus) {
        self.init(image.kind)
        self[.cacheControl] = "public, max-age=30"
        self[.eTag] = image.etag
        self[.imageError] = failure.code
        self[.cacheStatus] = status.field
    }

    /// Creates the fields of a failure, without validators and with `no-store`. Why: a 304 would otherwise confirm an error as an image.
    fileprivate init(_ failure: ImageError, _ status: CacheStatus) {
        self.init(imageError: failure.code)
        self[.cacheStatus] = status.field
        let isPassing = failure.status == 503
        self[.retryAfter] = (failure.retryAfter ?? (isPassing ? 1 : nil)).map(String.init)
    }

    package init(imageError code: String) {
        self = [
            .cacheControl: "no-store", .xContentTypeOptions: "nosniff", .contentSecurityPolicy: Self.policy, .imageError: code,
        ]
    }

    package init(_ kind: ImageFormat) {
        let ending = kind.contentType.dropFirst("image/".count)
        self = [
            .contentType: kind.contentType,
            // A client with another `Accept` field may get another image, or none.
            .vary: "Accept", .xContentTypeOptions: "nosniff", .contentSecurityPolicy: Self.policy,
            .crossOriginResourcePolicy: "cross-origin",
            .contentDisposition: "inline; filename=\"image.\(ending)\"",
        ]
    }
}

extension HTTPField.Name {
    package static let imageError = known("Image-Error")
    /// RFC 9211.
    package static let cacheStatus = known("Cache-Status")

    private static func known(_ name: String) -> HTTPField.Name {
        guard let known = HTTPField.Name(name) else { preconditionFailure("\(name) is not a token (RFC 9110)") }
        return known
    }
}

/// The cache status of a response, as defined by RFC 9211.
package struct CacheStatus: Sendable, Hashable {
    package enum Outcome: String, Sendable, Hashable, CaseIterable {
        case hit, stale, miss, revalidated, negative, bypass
    }

    package var outcome: Outcome
    var isCollapsed = false
    package var isStored = false
    /// A Boolean value indicating that the origin was asked because the stored image is stale, not because none is stored.
    var wasStale = false
    var forwardStatus: Int?
    /// The remaining freshness lifetime in seconds; negative if stale.
    var timeToLive: Int64?
    package var detail: String?

    package init(_ outcome: Outcome) {
        self.outcome = outcome
    }

    package var field: String {
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
