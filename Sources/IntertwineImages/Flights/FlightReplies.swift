internal import IntertwineFetch

/// What those hear who wait for pictures, and how often which of it was said.
struct FlightReplies {
    typealias Reply = @Sendable (ImageAnswer) -> Void

    /// Requests by how they were answered. Those that are made here, for others that are counted, are not.
    private(set) var counts: [CacheStatus.Outcome: Int] = [:]
    private let clock: @Sendable () -> Int64

    /// - Parameter clock: seconds since 1970.
    init(clock: @escaping @Sendable () -> Int64) {
        self.clock = clock
    }

    /// The picture, to those who take its format.
    /// - Parameter isInner: whether the request was made here.
    mutating func give(_ image: CachedImage, to kinds: AcceptedKinds, _ status: CacheStatus, isInner: Bool, _ reply: Reply) {
        count(status.outcome, isInner)
        guard kinds.permits(image.kind) else { return reply(ImageAnswer(ImageFailure(.notAcceptable), status)) }
        reply(ImageAnswer(image, status, now: clock()))
    }

    /// The head of a picture whose body follows as it comes.
    mutating func announce(_ stream: ImageStream, _ kind: MediaKind, _ head: PictureHead, _ status: CacheStatus, _ reply: Reply) {
        count(status.outcome, false)
        reply(ImageAnswer(stream, kind, head, status, now: clock()))
    }

    /// To those who waited for all of the body.
    /// - Parameter image: nil where it did not come in full.
    func pass(_ image: CachedImage?, isKept: Bool, _ status: CacheStatus, _ reply: Reply?) {
        let answer = image.map { ImageAnswer($0, status, now: clock(), isKept: isKept) }
        reply?(answer ?? ImageAnswer(ImageFailure(.fetch(.truncated)), status))
    }

    /// That there is none.
    mutating func fail(_ failure: ImageFailure, _ status: CacheStatus, isInner: Bool, _ reply: Reply) {
        count(status.outcome, isInner)
        reply(ImageAnswer(failure, status))
    }

    /// That nobody was asked.
    mutating func refuse(_ failure: ImageFailure, _ reply: Reply) { fail(failure, CacheStatus(.bypass), isInner: false, reply) }

    private mutating func count(_ outcome: CacheStatus.Outcome, _ isInner: Bool) {
        if !isInner { counts[outcome, default: 0] += 1 }
    }
}
