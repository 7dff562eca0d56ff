internal import HTTPTypes
internal import IntertwineHTTPServer
internal import IntertwineImageWire
internal import IntertwinePrimitives

/// A coalesced download of one image with its waiters. All access is on the event loop of its ``ImageFetchCoordinator``.
final class Download {
    /// The largest declared body that is delayed until it is complete. A complete body is sent with an ETag, ranges and conditions.
    /// A body without its end gets no freshness lifetime.
    private static let smallBody = 1 << 20
    /// The maximum delay of a response after its first bytes, to wait for a small body or for the dimensions of the image.
    private static let maxHeadDelay = Duration.milliseconds(100)

    let number: UInt64
    let source: String
    /// The formats in the `Accept` field of the request to the origin.
    let acceptedFormats: AcceptedFormats.Set
    /// The coalescing key: the source and the accepted formats.
    let key: String
    private let url: FetchURL
    /// The location of the image, if it differs from its source URL.
    let resolvedSource: ImageSource.ResolvedSource?
    let buffer: SharedBodyBuffer
    var attempt: FetchAttempt
    var intake: OriginResponseReader
    var waiters: [UInt64: ImageWaiter] = [:]
    /// The stale image: the fallback if the origin fails, and the subject of conditional requests.
    var stale: CachedImage?
    /// The current URL after redirects.
    var hop: FetchURL
    /// A Boolean value indicating that the redirected transfer waits for a permit of the next origin.
    var isPaused = false
    private var attempts = 0
    /// The start of the first attempt; all attempts together have the total timeout of one.
    private var departure: MonotonicInstant?
    /// A Boolean value indicating that the waiters have the head, and read the body as it arrives.
    var isAnnounced = false
    /// A Boolean value indicating that the image was purged during the download: it is served and not stored.
    var isPurged = false
    /// A Boolean value indicating that the response is or was delayed.
    private var isHeadDelayed = false

    /// Creates a download, which does not start by itself.
    ///
    /// - Parameter isBackgroundRevalidation: True if the cache itself requested the download.
    /// - Throws: `FetchError` if the source is not a valid URL.
    init(
        number: UInt64, source: String, acceptedFormats: AcceptedFormats.Set, stale: CachedImage?, isBackgroundRevalidation: Bool,
        buffer: SharedBodyBuffer, _ configuration: ImageConfiguration
    ) throws(FetchError) {
        let asked = try FetchURL(source)
        var resolved: ImageSource.ResolvedSource?
        for each in configuration.sources where resolved == nil { resolved = try each.found(asked) }
        url = if case .object(_, let object)? = resolved { object } else { asked }
        self.resolvedSource = resolved
        self.number = number
        self.source = source
        self.acceptedFormats = acceptedFormats
        key = CachedImage.key(source, acceptedFormats)
        self.stale = stale
        hop = url
        var rules = FetchAttempt.Rules()
        rules.grace = configuration.grace
        attempt = FetchAttempt(rules: rules, isOwned: isBackgroundRevalidation)
        self.buffer = buffer
        intake = OriginResponseReader(
            policy: configuration.hostFreshness.first { $0.host.matches(asked.host) }?.policy ?? configuration.freshness,
            limits: ImageLimits(memory: configuration.workerMemory))
    }

    /// Begins an attempt, and returns its request.
    func begin(_ configuration: ImageConfiguration) -> FetchRequest {
        hop = url
        isPaused = false
        intake.begin(at: configuration.clock())
        let headers: HTTPFields = [
            .accept: AcceptedFormats.field(acceptedFormats), .acceptEncoding: "identity",
            .via: "1.1 \(ImageNetworkManager.viaName)",
        ]
        let now = MonotonicInstant.now()
        let departure = departure ?? now
        self.departure = departure
        var limits = configuration.limits
        limits.total = max(.milliseconds(1), limits.total - now.since(departure))
        var request = FetchRequest(url, headers: headers, limits: limits)
        if case .object(let bucket, _)? = resolvedSource { request.credentials = bucket.fields(for: url, now: intake.asked) }
        if !intake.isUnconditional { request.conditions = stale?.validators.conditions }
        return request
    }

    /// True if the download has waiters and none of them decodes the image. Why: decoding yields the metadata already, and once is enough.
    var isForReview: Bool { !waiters.isEmpty && !waiters.values.contains { $0.request.isDecoded } }

    func countAttempt() { attempts += 1 }

    /// True if a short delay may improve the response: the body is small, or the dimensions of the image are unknown yet.
    var benefitsFromDelay: Bool { intake.head?.length.map { $0 <= Self.smallBody } ?? false || !intake.isMeasured }

    /// Returns the delay of the response; nil if it is or was delayed already.
    func delayHead() -> Duration? {
        defer { isHeadDelayed = true }
        return isHeadDelayed ? nil : Self.maxHeadDelay
    }

    /// Returns the stale image if it may be served after this failure; nil otherwise.
    func staleIfErrorImage(for failure: ImageError, now: Int64) -> CachedImage? {
        guard let stale, !isPurged, stale.freshness.bridgesError(at: now) else { return nil }
        return failure.permitsStale ? stale : nil
    }

    /// Returns true if a second attempt is worthwhile: nothing was sent to a waiter and the failure may be temporary.
    ///
    /// A lost connection is retried for all waiters. After a timeout or an error of the origin, only coalesced waiters justify a retry, because they
    /// have not asked it themselves. A stale image that can be served rules a retry out.
    func isWorthRetrying(_ failure: ImageError, now: Int64) -> Bool {
        guard intake.hasNothing, attempts == 1 else { return false }
        switch failure.reason {
        case .fetch(let failure) where failure.isWorthRetrying: return attempt.isOwned || !waiters.isEmpty
        case .fetch(.headTimeout): break
        case .upstream(let status) where status >= 500 && failure.retryAfter == nil: break
        default: return false
        }
        return waiters.values.contains { $0.isCollapsed } && staleIfErrorImage(for: failure, now: now) == nil
    }

    /// Returns the image for waiters for the complete body if it is not stored, and true if it may be stored once it was decoded.
    func passingImage(now: Int64) -> (image: CachedImage, isStorable: Bool)? {
        intake.passing(source, wanted: acceptedFormats, buffer.contents, now: now)
    }

    /// Returns the response head that an origin would send for a file: 304 if the stale image has its tag, otherwise 200.
    func head(of file: SandboxedDirectory.File) -> FetchHead {
        let isModified = stale?.validators.etag != file.tag
        var headers: HTTPFields = [.eTag: file.tag, .lastModified: HTTPDate.text(file.modified)]
        if isModified { headers[.contentLength] = String(file.bytes.count) }
        return FetchHead(status: isModified ? 200 : 304, headers: headers, url: url)
    }
}

/// A table of the current downloads by number and by coalescing key, and of the buffers of ended ones that still have readers.
struct DownloadTable {
    private let configuration: ImageConfiguration
    let budget: MemoryBudget
    /// The downloads that accept waiters, by source and accepted formats.
    private var byKey: [String: Download] = [:]
    private var byNumber: [UInt64: Download] = [:]
    private var lastNumber: UInt64 = 0
    private var detached = DetachedBuffers()

    init(_ configuration: ImageConfiguration, budget: MemoryBudget) {
        (self.configuration, self.budget) = (configuration, budget)
    }

    var all: [Download] { Array(byNumber.values) }

    subscript(number: UInt64) -> Download? { byNumber[number] }

    /// Returns the download that a new request with this key joins.
    subscript(key: String) -> Download? { byKey[key] }

    /// Creates a download, which replaces an existing one of its key.
    mutating func make(
        _ source: String, _ wanted: AcceptedFormats.Set, stale: CachedImage?, isOwned: Bool = false
    ) throws(FetchError) -> Download {
        lastNumber += 1
        let download = try Download(
            number: lastNumber, source: source, acceptedFormats: wanted, stale: stale, isBackgroundRevalidation: isOwned,
            buffer: SharedBodyBuffer(budget: budget), configuration)
        byKey[download.key] = download
        byNumber[lastNumber] = download
        return download
    }

    /// Appends bytes of the body. If the budget is exhausted, buffers of ended downloads are released.
    ///
    /// - Returns: False if the budget is still exhausted.
    mutating func append(_ bytes: UnsafeRawBufferPointer, to download: Download) -> Bool { detached.append(bytes, to: download.buffer) }

    mutating func remove(_ download: Download) {
        byNumber[download.number] = nil
        if byKey[download.key] === download { byKey[download.key] = nil }
        // A waiter may not have read the complete body yet.
        if download.isAnnounced, !download.waiters.isEmpty { detached.add(download.buffer) }
    }

    /// Marks matching downloads as purged: current waiters get the image, and new requests start another download.
    mutating func purge(_ selection: ImageSelection) {
        for download in byNumber.values where selection.contains(download.source) {
            download.isPurged = true
            if byKey[download.key] === download { byKey[download.key] = nil }
        }
    }
}
