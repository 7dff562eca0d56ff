package import HTTPTypes
internal import IntertwinePrimitives

/// The response to a request for an image.
///
/// ```swift
/// switch await manager.image(ImageRequest("https://example.com/a.jpg")).body {
/// case .complete(let image): print(image.body.count)
/// case .stream(_, let length): print(length ?? 0)
/// case .failure(let error): print(error.code)
/// }
/// ```
package struct ImageResponse: Sendable {
    /// The forms of the body.
    package enum Body: Sendable {
        /// A complete image, which supports ranges and conditions. Its bytes are shared, not copied.
        case complete(CachedImage)
        /// An image that is still arriving, with its length if the origin declared it.
        case stream(ImageStream, length: Int?)
        /// No image. The status is that of the error.
        case failure(ImageError)
    }

    /// The image, or the reason why there is none.
    package let body: Body
    /// The part of the caches in the response (RFC 9211).
    package let cacheStatus: CacheStatus
    /// The header fields in the order in which they are best sent.
    ///
    /// Excluded are the fields that HTTP itself adds (`Date`, `Content-Length`, connection fields) and, for failures, those of the problem details.
    package let headers: HTTPFields
    /// A Boolean value indicating that caches may store the image.
    var isCached = true
    /// A Boolean value indicating that the image lacks its end, and is stored if it can be decoded.
    var isUnended = false
    /// A Boolean value indicating that the end of the body can be distinguished from a lost connection.
    var isDelimited = true

    /// The HTTP status: 200, or that of the failure.
    package var status: Int {
        if case .failure(let failure) = body { failure.status } else { 200 }
    }

    /// Returns the bytes of the complete image, and waits for those that are still arriving.
    ///
    /// ```swift
    /// let response = await manager.image(ImageRequest("https://example.com/a.jpg"))
    /// let bytes = try await response.bytes()
    /// ```
    ///
    /// - Throws: The failure of the request or of the download.
    package func bytes() async throws(ImageError) -> [UInt8] {
        switch body {
        case .complete(let image): return image.body.bytes
        case .stream(let stream, _):
            var bytes: [UInt8] = []
            var chunks = stream.makeAsyncIterator()
            while let chunk = try await chunks.next() { bytes += chunk }
            return bytes
        case .failure(let failure): throw failure
        }
    }

    /// Creates a response with a complete image.
    ///
    /// - Parameter now: Seconds since 1970.
    package init(_ image: CachedImage, _ status: CacheStatus, now: Int64) {
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
        headers = HTTPFields(image, status, now: now, isCached: isCached)
    }

    /// Creates a response with a fallback.
    ///
    /// - Parameters:
    ///   - image: The fallback for an image that is unavailable.
    ///   - failure: The reason why it is unavailable.
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

/// The header fields of responses. Only dates and lifetimes of the origin's fields are passed on.
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

    /// Creates the fields of a response without an image.
    ///
    /// ```swift
    /// let fields = HTTPFields(imageError: ImageError(.typeMismatch).code)
    /// fields[.cacheControl]  // "no-store"
    /// ```
    ///
    /// - Parameter code: The value of `Image-Error`.
    package init(imageError code: String) {
        self = [
            .cacheControl: "no-store", .xContentTypeOptions: "nosniff", .contentSecurityPolicy: Self.policy, .imageError: code,
        ]
    }

    /// Creates the fields that all responses with an image of a format have.
    ///
    /// ```swift
    /// let fields = HTTPFields(ImageFormat.webp)
    /// fields[.contentType]  // "image/webp"
    /// fields[.vary]  // "Accept"
    /// ```
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
    /// The field with the reason why a response has no image, or another one than requested.
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
    /// The outcomes of a request in the caches.
    package enum Outcome: String, Sendable, Hashable, CaseIterable {
        /// A fresh image, a stale image, a download, an image that the origin confirmed, a remembered failure, or none of these.
        case hit, stale, miss, revalidated, negative, bypass
    }

    /// The outcome of the request in the caches.
    package var outcome: Outcome
    /// A Boolean value indicating that the request was coalesced with another one.
    var isCollapsed = false
    /// True if the response of the origin was stored.
    package var isStored = false
    /// A Boolean value indicating that the origin was asked because the stored image is stale, not because none is stored.
    var wasStale = false
    /// The status of the origin's response.
    var forwardStatus: Int?
    /// The remaining freshness lifetime in seconds; negative if stale.
    var timeToLive: Int64?
    /// A reason code of this service.
    package var detail: String?

    /// Creates a status with its outcome only.
    package init(_ outcome: Outcome) {
        self.outcome = outcome
    }

    /// The value of the `Cache-Status` field.
    ///
    /// ```swift
    /// var status = CacheStatus(.hit)
    /// status.timeToLive = 300
    /// status.field  // "Intertwine; hit; ttl=300"
    /// ```
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
