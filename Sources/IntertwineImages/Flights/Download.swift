internal import IntertwineEventLoop
internal import IntertwineFetch
internal import IntertwinePrimitives

/// A flight with all that belongs to it. On the loop of its ``ImageFetchCoordinator`` only.
final class Download {
    struct Waiter {
        let isCollapsed: Bool
        let isOnlyIfCached: Bool
        let kinds: AcceptedFormats
        /// It waits for all of the body.
        let requiresCompleteBody: Bool
        /// It decodes the picture.
        let isDecoding: Bool
        /// Nil once the head is out, and the waiter reads the body.
        var reply: (@Sendable (ImageResponse) -> Void)?
    }

    /// Bodies up to this many declared bytes are answered whole where they come quickly: with a tag, ranges and conditions, and with a time to
    /// keep them only where they have their end.
    private static let smallBody = 1 << 20
    /// How long an answer is held back for that, or for the size of the picture, once the first bytes are there.
    private static let maxHeadDelay = Duration.milliseconds(100)

    let number: UInt64
    let source: String
    /// The formats that the origin is asked for.
    let acceptedFormats: AcceptedFormats.Set
    /// Names what is asked for.
    let key: String
    private let url: FetchURL
    /// Where it lies, if not at its source.
    let resolvedSource: ImageSource.ResolvedSource?
    let buffer: SharedBodyBuffer
    var attempt: FetchAttempt
    var intake: OriginResponseReader
    var waiters: [UInt64: Waiter] = [:]
    /// What is served should the origin fail, and what the origin is asked about.
    var stale: CachedImage?
    /// Where redirects have led it.
    var hop: FetchURL
    /// It waits for its turn there.
    var isPaused = false
    private var attempts = 0
    /// When the first attempt left: all of them together have the time of one.
    private var departure: MonotonicInstant?
    /// Waiters have been told, and read the body as it comes.
    var isAnnounced = false
    /// Purged meanwhile: serve, and do not keep.
    var isPurged = false
    /// The answer is held back, or was.
    private var isHeadDelayed = false

    /// - Parameter isOwned: whether the cache itself wants it.
    init(
        number: UInt64, source: String, acceptedFormats: AcceptedFormats.Set, stale: CachedImage?, isBackgroundRevalidation: Bool,
        buffer: SharedBodyBuffer,
        _ configuration: ImageConfiguration
    ) throws(FetchError) {
        let asked = try FetchURL(source)
        var place: ImageSource.ResolvedSource?
        for each in configuration.sources where place == nil { place = try each.found(asked) }
        url = if case .object(_, let object)? = place { object } else { asked }
        self.resolvedSource = place
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
            policy: configuration.hostFreshness.first { $0.host.matches(asked.host) }?.policy ?? configuration.freshness)
    }

    /// What its transfer asks for, which begins now.
    func begin(_ configuration: ImageConfiguration) -> FetchRequest {
        hop = url
        isPaused = false
        intake.begin(at: configuration.clock())
        let headers = FetchHeaderFields([
            "Accept": AcceptedFormats.field(acceptedFormats),
            "Accept-Encoding": "identity",
            "User-Agent": configuration.userAgent,
            "Via": "1.1 \(ImageNetworkManager.viaName)",
        ])
        let now = MonotonicInstant.now()
        let departure = departure ?? now
        self.departure = departure
        var limits = configuration.limits
        limits.total = max(.milliseconds(1), limits.total - now.since(departure))
        var request = FetchRequest(url, headers: headers, limits: limits)
        if case .object(let bucket, _)? = resolvedSource { request.credentials = bucket.fields(for: url, now: intake.asked) }
        if !intake.asksPlainly { request.conditions = stale?.validators.conditions }
        return request
    }

    /// Whether somebody wants what it brings, and nobody decodes it, which tells what it looks like: once is enough.
    var isForReview: Bool { !waiters.isEmpty && !waiters.values.contains { $0.isDecoding } }

    func countAttempt() { attempts += 1 }

    /// Whether the answer may soon be a better one than it could be now.
    var benefitsFromDelay: Bool { intake.head?.length.map { $0 <= Self.smallBody } ?? false || !intake.isMeasured }

    /// For how long the answer is to be held back; nil where it is already.
    func delayHead() -> Duration? {
        defer { isHeadDelayed = true }
        return isHeadDelayed ? nil : Self.maxHeadDelay
    }

    /// The stale picture, where it may stand in for an answer that failed this way.
    func staleIfErrorImage(for failure: ImageError, now: Int64) -> CachedImage? {
        guard let stale, !isPurged, stale.freshness.bridgesError(at: now) else { return nil }
        return failure.permitsStale ? stale : nil
    }

    /// Whether there is the one second attempt: for what has shown nothing to anybody yet and may be over in a moment. A lost connection is,
    /// for whoever waits. An origin that fails or is silent is asked again only for those who have not asked it themselves yet, and only where
    /// nothing else can be served.
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

    /// What an origin would have said of a file: that it is the one that is stale, or all there is to say.
    func head(of file: SandboxedDirectory.File) -> FetchHead {
        let isNews = stale?.validators.etag != file.tag
        var headers = FetchHeaderFields(["ETag": file.tag, "Last-Modified": HTTPDate.text(file.modified)])
        if isNews { headers.append("Content-Length", String(file.bytes.count)) }
        return FetchHead(status: isNews ? 200 : 304, headers: headers, url: url)
    }
}

/// The downloads that there are, by their numbers and by what they are asked for.
struct DownloadTable {
    /// By a source, and the formats that are wanted of it.
    private var byKey: [String: Download] = [:]
    private var byNumber: [UInt64: Download] = [:]
    private var lastNumber: UInt64 = 0

    var all: [Download] { Array(byNumber.values) }

    subscript(number: UInt64) -> Download? { byNumber[number] }

    /// The one that whoever asks for it from now on joins.
    subscript(key: String) -> Download? { byKey[key] }

    /// A new one, in the place of any that is asked for alike.
    mutating func make(
        _ source: String, _ wanted: AcceptedFormats.Set, stale: CachedImage?, isOwned: Bool, _ spool: SharedBodyBuffer,
        _ configuration: ImageConfiguration
    ) throws(FetchError) -> Download {
        lastNumber += 1
        let download = try Download(
            number: lastNumber, source: source, acceptedFormats: wanted, stale: stale, isBackgroundRevalidation: isOwned, buffer: spool,
            configuration)
        byKey[download.key] = download
        byNumber[lastNumber] = download
        return download
    }

    mutating func remove(_ download: Download) {
        byNumber[download.number] = nil
        if byKey[download.key] === download { byKey[download.key] = nil }
    }

    /// What is on its way reaches those who wait for it, and nobody else.
    mutating func purge(_ selection: ImageSelection) {
        for download in byNumber.values where selection.contains(download.source) {
            download.isPurged = true
            if byKey[download.key] === download { byKey[download.key] = nil }
        }
    }
}
