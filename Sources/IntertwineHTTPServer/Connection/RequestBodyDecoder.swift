/// A state machine that reads the body of one request: its end, its limit and its minimum rate.
struct RequestBodyDecoder {
    enum Event {
        case content(Range<Int>)
        case dropped
        case needsMore
        case waits
        case end
        case tooLong
        case tooMuchToDrop
        case parseError(HTTPParseError)
    }

    private enum Rest {
        case none
        case length(Int)
        case chunked(ChunkedDecoder)
    }

    private static let rateInterval = Duration.seconds(1)

    private var remainingBody = Rest.none
    private var discardLimit = 0
    var limit = 0
    private var announced = 0
    private var received = 0
    private var discarded = 0
    /// True if the rest of the body is read and discarded so that the connection can be reused.
    private(set) var isDiscarding = false
    private(set) var isPaused = false
    private var owesContinue = false
    private var hasBegun = false
    /// The instant at which the whole body must have arrived.
    private var end: MonotonicInstant?
    private var rateBegun = MonotonicInstant(nanoseconds: 0)
    private var rateBase = 0

    init() {}

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

    var missing: Int? { if case .length(let count) = remainingBody { count } else { nil } }

    /// True if the rest is small enough to be discarded so that the connection can be reused.
    var canBeDiscarded: Bool {
        switch remainingBody {
        case .none: true
        case .length(let rest): rest <= discardLimit && !owesContinue
        case .chunked(let decoder): max(announced, decoder.announced) <= discardLimit && !owesContinue
        }
    }

    mutating func accept() -> Bool {
        defer { owesContinue = false }
        return owesContinue && !hasBegun
    }

    mutating func discard() {
        isDiscarding = true
        isPaused = false
    }

    mutating func pause() { isPaused = true }

    mutating func resume() { isPaused = false }

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

    /// The instant of the next check and the instant at which the whole body must have arrived.
    mutating func beginWatching(at now: MonotonicInstant, _ limits: ConnectionState.Limits) -> (
        nextCheckTime: MonotonicInstant, end: MonotonicInstant
    ) {
        rateBase = end == nil ? 0 : received
        let end = self.end ?? now.advanced(by: limits.bodyTimeout)
        self.end = end
        rateBegun = now
        return (min(now.advanced(by: limits.bodyRateGrace), end), end)
    }

    func nextCheck(at now: MonotonicInstant, until end: MonotonicInstant?, _ limits: ConnectionState.Limits) -> MonotonicInstant? {
        let seconds = now.since(rateBegun) / Duration.seconds(1)
        guard let end, now < end, Double(received - rateBase) >= Double(limits.minimumBodyRate) * seconds else { return nil }
        return min(now.advanced(by: Self.rateInterval), end)
    }
}
