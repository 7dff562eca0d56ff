internal import EventLoop
internal import Fetch

/// A flight with all that belongs to it. On the loop of its ``Flights`` only.
final class Download {
    struct Waiter {
        let isCollapsed: Bool
        let isOnlyIfCached: Bool
        /// Nil once the head is out, and the waiter reads the body.
        var reply: (@Sendable (ImageAnswer) -> Void)?
    }

    let number: UInt64
    let source: String
    let url: FetchURL
    var flight: Flight
    let spool: Spool
    var waiters: [UInt64: Waiter] = [:]
    /// What is served should the origin fail, and what the origin is asked about.
    var stale: CachedImage?
    var fetch: FetchID?
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

    init(number: UInt64, source: String, url: FetchURL, flight: Flight, spool: Spool) {
        self.number = number
        self.source = source
        self.url = url
        hop = url
        self.flight = flight
        self.spool = spool
    }

    /// Whether the stale picture may stand in for an answer that failed this way.
    func standIn(for failure: ImageFailure, now: Int64) -> CachedImage? {
        guard let stale, !isPurged, now < stale.freshness.staleIfErrorUntil else { return nil }
        return failure.permitsStale ? stale : nil
    }
}
