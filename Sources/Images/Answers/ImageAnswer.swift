/// What to answer to a request for a picture.
public struct ImageAnswer: Sendable {
    public enum Body: Sendable {
        /// A whole picture: ranges and conditions can be answered from it, and its bytes are shared, not copied.
        case whole(CachedImage)
        /// A picture on its way. Its length where the origin said so.
        case stream(ImageStream, length: Int?)
        case failure(ImageFailure)
    }

    public let body: Body
    public let cacheStatus: CacheStatus
    /// All the fields but those that HTTP itself brings along (`Date`, `Content-Length`, connection matters) and, for failures,
    /// those of the problem details. In the order in which they are best sent; names as they are best written.
    public let headers: [Header]

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
        body = .whole(image)
        var status = status
        if status.outcome != .miss { status.timeToLive = image.freshness.freshUntil - now }
        cacheStatus = status
        headers = HeaderSet.picture(image, status, now: now)
    }

    init(_ stream: ImageStream, _ head: PictureHead, _ status: CacheStatus, now: Int64) {
        body = .stream(stream, length: head.length)
        cacheStatus = status
        headers = HeaderSet.picture(head, status, now: now)
    }

    /// The fields of an answer to a request that never came as far as the cache.
    /// - Parameter reason: what `Image-Error` says.
    public static func refusalHeaders(_ reason: String) -> [Header] { HeaderSet.refusal(reason) }

    init(_ failure: ImageFailure, _ status: CacheStatus) {
        body = .failure(failure)
        var status = status
        status.detail = failure.code
        cacheStatus = status
        headers = HeaderSet.failure(failure, status)
    }
}
