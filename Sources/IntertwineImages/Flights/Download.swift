internal import Crypto
internal import IntertwineEventLoop
internal import IntertwineFetch

/// A flight with all that belongs to it. On the loop of its ``Flights`` only.
final class Download {
    struct Waiter {
        let isCollapsed: Bool
        let isOnlyIfCached: Bool
        let kinds: AcceptedKinds
        /// Nil once the head is out, and the waiter reads the body.
        var reply: (@Sendable (ImageAnswer) -> Void)?
    }

    let number: UInt64
    let source: String
    /// The formats that the origin is asked for.
    let wanted: AcceptedKinds.Set
    /// Names what is asked for.
    let key: String
    let url: FetchURL
    var flight: Flight
    let spool: Spool
    /// Where it lies, if not at its source.
    var place: PicturePlace.Found?
    /// How long its origin may have it kept.
    var policy = FreshnessPolicy()
    /// Of the body so far: that of a large picture takes too long to be made at once on the loop.
    var digest = SHA256()
    var waiters: [UInt64: Waiter] = [:]
    /// What is served should the origin fail, and what the origin is asked about.
    var stale: CachedImage?
    var fetch: FetchID?
    /// Runs while the name of its hop's host is looked up, before it takes a place.
    var naming: NameWait?
    var attempts = 0
    /// Where redirects have led it.
    var hop: FetchURL
    /// It waits for its turn there.
    var isHeld = false
    /// The origin's answer to our conditions was for another picture than ours: it is asked once more, without any.
    var isRefuted = false
    var asksPlainly = false
    /// When the first attempt left: all of them together have the time of one.
    var departure: LoopInstant?
    /// Seconds since 1970 when the request left.
    var asked: Int64 = 0
    /// The answer's, once the origin has promised a picture.
    var head: PictureHead?
    /// The first bytes, until they have shown what they are.
    var prefix: [UInt8] = []
    /// Looks for the picture's size, once the first bytes have kept the promise.
    var frame: FrameReader?
    /// Waiters have been told, and read the body as it comes.
    var isAnnounced = false
    /// Runs while the answer is held back.
    var hold: OneShotTimer?
    /// The picture that a 304 confirmed.
    var confirmed: CachedImage?
    /// Why we stopped the transfer ourselves.
    var verdict: ImageFailure?
    /// Purged meanwhile: serve, and do not keep.
    var isPurged = false
    /// Runs while nobody waits.
    var grace: OneShotTimer?
    /// Runs before the second attempt.
    var pause: OneShotTimer?

    init(number: UInt64, source: String, wanted: AcceptedKinds.Set, url: FetchURL, flight: Flight, spool: Spool) {
        self.number = number
        self.source = source
        self.wanted = wanted
        key = CachedImage.key(source, wanted)
        self.url = url
        hop = url
        self.flight = flight
        self.spool = spool
    }

    /// Whether the stale picture may stand in for an answer that failed this way.
    func standIn(for failure: ImageFailure, now: Int64) -> CachedImage? {
        guard let stale, !isPurged, stale.freshness.bridgesError(at: now) else { return nil }
        return failure.permitsStale ? stale : nil
    }
}

/// What is known of a picture before its body is there.
struct PictureHead: Sendable {
    /// As its origin declared it, or as its first bytes show; nil until then.
    var kind: MediaKind?
    let length: Int?
    /// Nil where the origin forbids storing it.
    var freshness: Freshness?
    let validators: CachedImage.Validators
    let terms: CachedImage.Terms
    /// Whether the end of the body can be told from a lost connection.
    let isDelimited: Bool
    /// Whether its origin would have sent another to who takes other formats.
    let isNegotiated: Bool
}

/// Brings what a transfer says to its flight. Both live on one loop.
final class DownloadDelegate: FetchDelegate {
    private weak let flights: Flights?
    private let number: UInt64

    init(_ flights: Flights, _ number: UInt64) {
        self.flights = flights
        self.number = number
    }

    func fetch(_ id: FetchID, reached stage: FetchStage) {
        let number = number
        flights?.assumeIsolated { $0.reached(stage, number) }
    }

    func fetchRepeats(_ id: FetchID) {
        let number = number
        flights?.assumeIsolated { $0.repeated(number) }
    }

    func fetch(_ id: FetchID, redirectedTo url: FetchURL) -> Bool {
        let number = number
        return flights?.assumeIsolated { $0.redirected(to: url, number) } ?? true
    }

    func fetch(_ id: FetchID, received head: FetchHead) -> Bool {
        let number = number
        return flights?.assumeIsolated { $0.received(head, number) } ?? false
    }

    func fetch(_ id: FetchID, received bytes: UnsafeRawBufferPointer) -> Bool {
        let number = number
        // Safe: the call is synchronous and stays on the thread that owns the bytes.
        nonisolated(unsafe) let bytes = bytes
        return flights?.assumeIsolated { $0.received(bytes, number) } ?? false
    }

    func fetchEnded(_ id: FetchID, _ failure: FetchFailure?) {
        let number = number
        flights?.assumeIsolated { $0.ended(failure, number) }
    }
}
