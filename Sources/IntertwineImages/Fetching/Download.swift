internal import HTTPTypes
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

final class Download {
    private static let smallBody = 1 << 20
    private static let maxHeadDelay = Duration.milliseconds(100)

    let number: UInt64
    let source: String
    let acceptedFormats: AcceptedFormats.Set
    let key: String
    private let url: FetchURL
    let resolvedSource: ImageSource.ResolvedSource?
    let buffer: SharedBodyBuffer
    var attempt: FetchAttempt
    var intake: OriginResponseReader
    var waiters: [UInt64: ImageWaiter] = [:]
    var stale: CachedImage?
    var hop: FetchURL
    var isPaused = false
    private var attempts = 0
    private var departure: MonotonicInstant?
    var isAnnounced = false
    var isPurged = false
    private var isHeadDelayed = false

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

    var benefitsFromDelay: Bool { intake.head?.length.map { $0 <= Self.smallBody } ?? false || !intake.isMeasured }

    func delayHead() -> Duration? {
        defer { isHeadDelayed = true }
        return isHeadDelayed ? nil : Self.maxHeadDelay
    }

    /// Returns the stale image if it may be served after this failure; nil otherwise.
    func staleIfErrorImage(for failure: ImageError, now: Int64) -> CachedImage? {
        guard let stale, !isPurged, stale.freshness.bridgesError(at: now) else { return nil }
        return failure.permitsStale ? stale : nil
    }

    /// After a timeout or an error of the origin, only coalesced waiters justify a retry, because they have not asked it themselves.
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

    func passingImage(now: Int64) -> (image: CachedImage, isStorable: Bool)? {
        intake.passing(source, wanted: acceptedFormats, buffer.contents, now: now)
    }

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
    private var byKey: [String: Download] = [:]
    private var byNumber: [UInt64: Download] = [:]
    private var lastNumber: UInt64 = 0
    private var detached = DetachedBuffers()

    init(_ configuration: ImageConfiguration, budget: MemoryBudget) {
        (self.configuration, self.budget) = (configuration, budget)
    }

    var all: [Download] { Array(byNumber.values) }

    subscript(number: UInt64) -> Download? { byNumber[number] }

    subscript(key: String) -> Download? { byKey[key] }

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

    mutating func append(_ bytes: UnsafeRawBufferPointer, to download: Download) -> Bool { detached.append(bytes, to: download.buffer) }

    mutating func remove(_ download: Download) {
        byNumber[download.number] = nil
        if byKey[download.key] === download { byKey[download.key] = nil }
        // A waiter may not have read the complete body yet.
        if download.isAnnounced, !download.waiters.isEmpty { detached.add(download.buffer) }
    }

    mutating func purge(_ selection: ImageSelection) {
        for download in byNumber.values where selection.contains(download.source) {
            download.isPurged = true
            if byKey[download.key] === download { byKey[download.key] = nil }
        }
    }
}
