internal import IntertwineEventLoop

/// Reads the body of one request: where it ends, how long it may be, whether it comes fast enough. A pure state machine.
struct RequestBodyDecoder {
    enum Event {
        /// These bytes are content.
        case content(Range<Int>)
        /// Content has been thrown away.
        case dropped
        /// All bytes are used up.
        case needsMore
        /// Whoever reads the body asked for a pause.
        case waits
        /// The body is complete.
        case end
        /// There is more of it than the limit allows, or a chunk says so.
        case tooLong
        /// What nobody wants is too much to be read for the sake of the connection.
        case tooMuchToDrop
        case parseError(HTTPParseError)
    }

    private enum Rest {
        case none
        case length(Int)
        case chunked(ChunkedDecoder)
    }

    /// How often the rate is looked at.
    private static let rateInterval = Duration.seconds(1)

    private var remainingBody = Rest.none
    private var discardLimit = 0
    /// The most content bytes, which the handler's plan says.
    var limit = 0
    /// Bytes of the first chunk, as far as that was known when the head had been read.
    private var announced = 0
    /// Content bytes so far.
    private var received = 0
    /// Content bytes that were thrown away.
    private var discarded = 0
    /// The rest is read for the sake of the connection alone.
    private(set) var isDiscarding = false
    /// Whoever reads the body asked for a pause.
    private(set) var isPaused = false
    /// The client waits for 100 (Continue) before it sends the body.
    private var owesContinue = false
    /// Some of the body came together with the head.
    private var hasBegun = false
    /// When all of the body has to be here.
    private var end: MonotonicInstant?
    /// When, and after how many bytes, watching the rate began.
    private var rateBegun = MonotonicInstant(nanoseconds: 0)
    private var rateBase = 0

    /// No body.
    init() {}

    /// - Parameter bytes: what has come behind the head.
    init(_ framing: MessageFraming, _ limits: ConnectionState.Limits, afterHead bytes: UnsafeBufferPointer<UInt8>) {
        discardLimit = limits.discard
        hasBegun = !bytes.isEmpty
        switch framing.length {
        case 0: return
        case let length?: remainingBody = .length(length)
        case nil:
            let decoder = ChunkedDecoder(
                extensionBytes: limits.chunkExtensions, trailerBytes: limits.trailers, trailerFields: limits.trailerFields)
            announced = decoder.announced(by: bytes)
            remainingBody = .chunked(decoder)
        }
        owesContinue = framing.expectsContinue
    }

    var isComplete: Bool { if case .none = remainingBody { true } else { false } }

    /// The bytes that are still to come, where that is known.
    var missing: Int? { if case .length(let count) = remainingBody { count } else { nil } }

    /// Whether the rest is little enough to be read for the sake of the connection.
    var canBeDiscarded: Bool {
        switch remainingBody {
        case .none: true
        case .length(let rest): rest <= discardLimit && !owesContinue
        case .chunked(let decoder): max(announced, decoder.announced) <= discardLimit && !owesContinue
        }
    }

    /// The body is wanted. The answer is whether the client has to be told to send it.
    mutating func accept() -> Bool {
        defer { owesContinue = false }
        return owesContinue && !hasBegun
    }

    /// Nobody wants the rest.
    mutating func discard() {
        isDiscarding = true
        isPaused = false
    }

    mutating func pause() { isPaused = true }

    mutating func resume() { isPaused = false }

    /// Reads on in `bytes` from `index`, up to the next event.
    mutating func next(_ bytes: UnsafeBufferPointer<UInt8>, from index: inout Int) -> Event {
        switch remainingBody {
        case .none: return .end
        case .length(let remaining):
            if isPaused { return .waits }
            if index >= bytes.count { return .needsMore }
            let part = index..<(index + min(remaining, bytes.count - index))
            remainingBody = part.count == remaining ? .none : .length(remaining - part.count)
            index = part.upperBound
            return consume(part)
        case .chunked(var decoder):
            // A chunk that says it is too long is not waited for.
            if isTooLong(decoder) { return .tooLong }
            if isPaused { return .waits }
            // The decoder is not copied while it is at work.
            remainingBody = .none
            do {
                let event = try decoder.next(bytes, from: &index)
                if case .end = event { return .end }
                remainingBody = .chunked(decoder)
                if case .data(let part) = event { return consume(part) }
                return isTooLong(decoder) ? .tooLong : .needsMore
            } catch {
                return .parseError(error)
            }
        }
    }

    private func isTooLong(_ decoder: ChunkedDecoder) -> Bool { !isDiscarding && decoder.announced > limit - received }

    private mutating func consume(_ part: Range<Int>) -> Event {
        received += part.count
        owesContinue = false
        if !isDiscarding { return received > limit ? .tooLong : .content(part) }
        discarded += part.count
        return discarded > discardLimit ? .tooMuchToDrop : .dropped
    }

    // MARK: Rate

    /// Begins to watch how fast it comes. The end is that of the whole body; its rate is measured anew after each pause of whoever reads it,
    /// and what came with the head counts.
    ///
    /// - Returns: when to look, and when all of it has to be here.
    mutating func beginWatching(at now: MonotonicInstant, _ limits: ConnectionState.Limits) -> (
        look: MonotonicInstant, end: MonotonicInstant
    ) {
        rateBase = end == nil ? 0 : received
        let end = self.end ?? now.advanced(by: limits.bodyTimeout)
        self.end = end
        rateBegun = now
        return (min(now.advanced(by: limits.bodyRateGrace), end), end)
    }

    /// When to look again; nil where the body is too slow.
    func nextCheck(at now: MonotonicInstant, until end: MonotonicInstant?, _ limits: ConnectionState.Limits) -> MonotonicInstant? {
        let seconds = now.since(rateBegun) / Duration.seconds(1)
        guard let end, now < end, Double(received - rateBase) >= Double(limits.minimumBodyRate) * seconds else { return nil }
        return min(now.advanced(by: Self.rateInterval), end)
    }
}
