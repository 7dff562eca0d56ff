/// A state machine that reads the body of one request: its end, its limit and its minimum rate.
struct RequestBodyDecoder {
    enum Event {
        /// A range of bytes is content.
        case content(Range<Int>)
        /// Content has been discarded.
        case dropped
        /// All bytes are used up.
        case needsMore
        /// The reader of the body asked for a pause.
        case waits
        /// The body is complete.
        case end
        /// The body exceeds its limit, or the size of a chunk does.
        case tooLong
        /// The body to discard is too large to retain the connection.
        case tooMuchToDrop
        case parseError(HTTPParseError)
    }

    private enum Rest {
        case none
        case length(Int)
        case chunked(ChunkedDecoder)
    }

    /// The interval at which the rate is checked.
    private static let rateInterval = Duration.seconds(1)

    private var remainingBody = Rest.none
    private var discardLimit = 0
    /// The maximum number of content bytes, from the handler's plan.
    var limit = 0
    /// The size of the first chunk, if it was known when the head had been read.
    private var announced = 0
    /// The number of content bytes received.
    private var received = 0
    /// The number of content bytes discarded.
    private var discarded = 0
    /// True if the rest of the body is read and discarded so that the connection can be reused.
    private(set) var isDiscarding = false
    /// True if the reader of the body asked for a pause.
    private(set) var isPaused = false
    /// True if the client waits for 100 (Continue) before it sends the body.
    private var owesContinue = false
    /// True if a part of the body arrived together with the head.
    private var hasBegun = false
    /// The instant at which the whole body must have arrived.
    private var end: MonotonicInstant?
    /// The instant and the number of bytes at which rate measuring began.
    private var rateBegun = MonotonicInstant(nanoseconds: 0)
    private var rateBase = 0

    /// Creates a decoder of a request without a body.
    init() {}

    /// Creates a decoder of the body with the given framing.
    ///
    /// - Parameter bytes: The bytes received after the head.
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

    /// The number of bytes still to come, nil if unknown.
    var missing: Int? { if case .length(let count) = remainingBody { count } else { nil } }

    /// True if the rest is small enough to be discarded so that the connection can be reused.
    var canBeDiscarded: Bool {
        switch remainingBody {
        case .none: true
        case .length(let rest): rest <= discardLimit && !owesContinue
        case .chunked(let decoder): max(announced, decoder.announced) <= discardLimit && !owesContinue
        }
    }

    /// Accepts the body. Returns true if the client waits for 100 (Continue).
    mutating func accept() -> Bool {
        defer { owesContinue = false }
        return owesContinue && !hasBegun
    }

    /// Discards the rest of the body.
    mutating func discard() {
        isDiscarding = true
        isPaused = false
    }

    mutating func pause() { isPaused = true }

    mutating func resume() { isPaused = false }

    /// Reads `bytes` from `index` up to the next event.
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
            // A chunk whose announced size exceeds the limit is refused at once.
            if isTooLong(decoder) { return .tooLong }
            if isPaused { return .waits }
            // The property is reset so that the decoder is not copied while it is mutated.
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

    /// Begins to measure the rate. The end applies to the whole body.
    /// The rate is measured again after each pause of the reader, and bytes that arrived with the head count.
    ///
    /// - Returns: The instant of the next check and the instant at which the whole body must have arrived.
    mutating func beginWatching(at now: MonotonicInstant, _ limits: ConnectionState.Limits) -> (
        nextCheckTime: MonotonicInstant, end: MonotonicInstant
    ) {
        rateBase = end == nil ? 0 : received
        let end = self.end ?? now.advanced(by: limits.bodyTimeout)
        self.end = end
        rateBegun = now
        return (min(now.advanced(by: limits.bodyRateGrace), end), end)
    }

    /// Returns the instant of the next check, nil if the body is too slow.
    func nextCheck(at now: MonotonicInstant, until end: MonotonicInstant?, _ limits: ConnectionState.Limits) -> MonotonicInstant? {
        let seconds = now.since(rateBegun) / Duration.seconds(1)
        guard let end, now < end, Double(received - rateBase) >= Double(limits.minimumBodyRate) * seconds else { return nil }
        return min(now.advanced(by: Self.rateInterval), end)
    }
}
