internal import IntertwineEventLoop

/// What waits for a client to take it, in the order it is to go out. Not copied: each part lies where it was made.
struct OutputQueue {
    private var segments: [(body: BodyContent, rest: Range<Int>)] = []
    /// Bytes that wait.
    private(set) var count = 0

    var isEmpty: Bool { segments.isEmpty }

    /// What goes out next.
    var first: (body: BodyContent, rest: Range<Int>)? { segments.first }

    mutating func append(_ body: BodyContent, _ rest: Range<Int>) {
        segments.append((body, rest))
        count += rest.count
    }

    /// So many bytes of the first have gone out.
    mutating func remove(_ sent: Int) {
        guard let rest = segments.first?.rest else { return }
        let left = min(rest.lowerBound + sent, rest.upperBound)..<rest.upperBound
        count -= rest.count - left.count
        if !left.isEmpty {
            segments[0].rest = left
        } else if segments.count > 1 {
            segments.removeFirst()
        } else {
            segments = []
        }
    }
}

/// Whether a client takes fast enough what waits for it. The kernel says what it has left; that there is room again it only says when a good
/// part of its buffer is empty. A pure state machine.
struct TakingPace {
    /// Since when it is counted what the client takes, how much the kernel had of it then, and how much it was given since.
    private(set) var since = LoopInstant(nanoseconds: 0)
    private var unsentBefore = 0
    private var handedOver = 0
    /// Bytes that the client has taken beyond what it had to.
    private var credit = 0.0

    /// Begins to watch.
    ///
    /// - Parameters:
    ///   - unsent: bytes that the kernel has.
    ///   - required: bytes that the client has to take in the time for that.
    mutating func begin(at now: LoopInstant, unsent: Int, required: Double) {
        measure(now, unsent)
        credit = 2 * required
    }

    /// The kernel was given some more.
    mutating func handOver(_ count: Int) { handedOver += count }

    /// The time for taking some of what waits is over: whether the client took enough for another.
    ///
    /// Clients make room in steps: what one took beyond what it had to counts for the next time, as far as that.
    mutating func isEnough(at now: LoopInstant, unsent: Int, required: Double) -> Bool {
        let taken = unsentBefore + handedOver - unsent
        credit = min(credit + Double(max(0, taken)), 3 * required) - required
        measure(now, unsent)
        return required > 0 ? credit > 0 : taken > 0
    }

    private mutating func measure(_ now: LoopInstant, _ unsent: Int) {
        since = now
        unsentBefore = unsent
        handedOver = 0
    }
}
