/// The state machine of a connection: bytes, events and instants go in, decisions come out.
struct ConnectionState {
    enum Phase {
        case head
        case body
        case responding
        case closing
        case lingering
        case closed
    }

    enum ParserAction {
        case none
        case partOfHead
        case head
        case parseError(HTTPParseError)
        case body(RequestBodyDecoder.Event)
    }

    enum ReadInterest {
        case now
        /// The bytes stay in the kernel for now.
        case later
        case afterResponse
    }

    enum TimeoutAction {
        case nothing
        /// The connection closes unless a request can be read now.
        case idle
        case headIsLate
        case bodyIsLate
        case responseIsLate
        /// The output queue has waited for one write timeout, and the client's progress must be checked.
        case write
        case lingered
    }

    private enum TimerKind { case none, idle, head, body, handler, write, linger }

    struct Limits {
        let headTimeout, bodyTimeout, bodyRateGrace, idleTimeout, writeTimeout, lingerTimeout, connectionAge: Duration
        let minimumBodyRate, discard, linger, chunkExtensions, trailers, trailerFields, requests, output: Int

        init(_ configuration: HTTPServerConfiguration) {
            headTimeout = configuration.headTimeout
            bodyTimeout = configuration.bodyTimeout
            bodyRateGrace = configuration.bodyRateGrace
            idleTimeout = configuration.idleTimeout
            writeTimeout = configuration.writeTimeout
            lingerTimeout = configuration.lingerTimeout
            connectionAge = configuration.connectionAge
            minimumBodyRate = configuration.minimumBodyRate
            discard = configuration.discardLimit
            linger = configuration.lingerLimit
            chunkExtensions = configuration.chunkExtensionLimit
            trailers = configuration.trailerLimit
            trailerFields = configuration.trailerFieldLimit
            requests = configuration.requestsPerConnection
            output = configuration.outputHighWater
        }
    }

    private static let newcomerTime = Duration.milliseconds(100)
    private static let lastChance = Duration.milliseconds(500)

    private(set) var phase = Phase.head {
        // The closed state is final, because the descriptor number may already belong to another connection.
        didSet { if oldValue == .closed { phase = .closed } }
    }
    private(set) var body = RequestBodyDecoder()
    private var isStreaming = false
    private(set) var requests = 0
    private let openedAt: MonotonicInstant
    private(set) var lastActive: MonotonicInstant
    private var headBegan: MonotonicInstant?
    private var isWaitingForTurn = false
    private(set) var peerIsClosing = false
    private(set) var peerHasClosed = false
    private var mustLinger = false
    private var lingerBudget = 0
    /// True if the connection only waits briefly for a request in transit, because the server is stopping.
    private var isLastChance = false
    private(set) var isFlushing = false
    private(set) var deadline: MonotonicInstant
    private var wait = TimerKind.idle
    /// The instant at which the body, or after the body the response, must be complete.
    private var due: MonotonicInstant?

    init(now: MonotonicInstant, _ limits: Limits) {
        openedAt = now
        lastActive = now
        deadline = now.advanced(by: limits.idleTimeout)
    }

    // MARK: Bytes

    var isBetweenRequests: Bool { phase == .head && headBegan == nil }

    var canConsume: Bool { phase == .head || phase == .body }

    mutating func mayRead(peerClosed: Bool, isSending: Bool) -> ReadInterest {
        switch phase {
        case .responding: return .afterResponse
        case .closing: break
        case .head where isSending || isWaitingForTurn: break
        case .body where body.isPaused: break
        default: return .now
        }
        // Bytes before that end are still read.
        if peerClosed { peerIsClosing = true }
        return .later
    }

    /// Returns false if they must be discarded.
    mutating func received(_ count: Int, at now: MonotonicInstant) -> Bool {
        if phase == .lingering {
            lingerBudget -= count
            return false
        }
        lastActive = now
        return true
    }

    var hasLingered: Bool { phase == .lingering && lingerBudget <= 0 }

    mutating func next(_ bytes: UnsafeBufferPointer<UInt8>, from index: inout Int, _ parser: HeadParser) -> ParserAction {
        // The end of a body is reported even if no byte follows it.
        if phase == .body { return .body(body.next(bytes, from: &index)) }
        if index >= bytes.count { return .none }
        switch phase {
        case .head:
            do {
                guard try parser.parse(UnsafeBufferPointer(rebasing: bytes[index...])) else { return .partOfHead }
            } catch {
                headBegan = nil
                return .parseError(error)
            }
            index = min(index + parser.position, bytes.count)
            headBegan = nil
            requests += 1
            isLastChance = false
            return .head
        case .body, .responding: return .none
        case .closing, .lingering, .closed:
            mustLinger = true
            index = bytes.count
            return .none
        }
    }

    mutating func beginHead(at now: MonotonicInstant) { headBegan = now }

    mutating func waitForTurn(_ waits: Bool) { isWaitingForTurn = waits }

    mutating func endOfInput(isSending: Bool) -> Bool {
        peerIsClosing = true
        peerHasClosed = true
        switch phase {
        case .head:
            // A partial request is dropped. The responses to complete requests are still sent.
            if !isSending { return false }
            phase = .closing
        case .body, .lingering: return false
        case .responding, .closing, .closed: break
        }
        return true
    }

    mutating func noticePeerClose() { peerIsClosing = true }

    // MARK: Requests

    func mustClose(after framing: MessageFraming, at now: MonotonicInstant, isDraining: Bool, _ limits: Limits) -> Bool {
        !framing.keepsAlive || isDraining || requests >= limits.requests || now.since(openedAt) > limits.connectionAge
    }

    mutating func beginRequest(_ framing: MessageFraming, afterHead bytes: UnsafeBufferPointer<UInt8>, _ limits: Limits) {
        body = RequestBodyDecoder(framing, limits, afterHead: bytes)
        isStreaming = false
        due = nil
        phase = .body
    }

    mutating func acceptBody() -> Bool { body.accept() }

    mutating func limitBody(to limit: Int) { body.limit = limit }

    mutating func pauseBody() { body.pause() }

    mutating func resumeBody() {
        body.resume()
        due = nil
    }

    /// `end`: The instant by which the response must have begun.
    mutating func respond(by end: MonotonicInstant) {
        phase = .responding
        due = isStreaming ? nil : end
    }

    mutating func beginStreaming() {
        isStreaming = true
        due = nil
    }

    var hasResponse: Bool { body.isDiscarding || isStreaming }

    mutating func finishResponse() -> Bool {
        if body.isComplete {
            phase = .head
            return true
        }
        body.discard()
        due = nil
        phase = .body
        return false
    }

    // MARK: Closing

    mutating func beginClosing(lingering: Bool) -> Bool {
        if phase == .closed || phase == .lingering { return false }
        if lingering { mustLinger = true }
        phase = .closing
        return true
    }

    /// Why: if bytes are unread at the close, the kernel resets the connection and the client loses the response.
    mutating func linger(at now: MonotonicInstant, _ limits: Limits, hasUnread: @autoclosure () -> Bool) -> Bool {
        guard mustLinger || hasUnread(), !peerHasClosed else { return false }
        phase = .lingering
        lingerBudget = limits.linger
        deadline = now.advanced(by: limits.lingerTimeout)
        return true
    }

    mutating func close() -> Bool {
        defer { phase = .closed }
        return phase != .closed
    }

    func isNewcomer(at now: MonotonicInstant) -> Bool { requests == 0 && now.since(openedAt) < Self.newcomerTime }

    mutating func startDrainGrace(at now: MonotonicInstant, isIdle: Bool) -> Bool {
        if isIdle, now.since(lastActive) > .seconds(1), requests > 0 { return false }
        isLastChance = isIdle
        return true
    }

    // MARK: Kernel

    /// Returns the events that the descriptor must be watched for.
    func interest(current: ReadyEvents, unsent: Int?, _ limits: Limits) -> ReadyEvents {
        var wanted: ReadyEvents = []
        let reads =
            switch phase {
            case .head: unsent == nil && !isWaitingForTurn
            case .body: !body.isPaused && (unsent ?? 0) < limits.output
            // Reading stays unchanged: most responses are sent before the client sends more.
            case .responding: current.contains(.readable)
            case .closing: false
            case .lingering: true
            case .closed: false
            }
        if reads, !peerHasClosed { wanted.insert(.readable) }
        if !peerIsClosing { wanted.insert(.peerClosed) }
        if unsent != nil { wanted.insert(.writable) }
        return wanted
    }

    mutating func updateDeadline(at now: MonotonicInstant, _ limits: Limits, sendingSince: MonotonicInstant?, isDraining: Bool) {
        if phase == .lingering {
            wait = .linger
        } else if let sendingSince {
            wait = .write
            deadline = sendingSince.advanced(by: limits.writeTimeout)
        } else if phase == .head {
            if let headBegan {
                wait = .head
                deadline = headBegan.advanced(by: limits.headTimeout)
            } else {
                wait = .idle
                isFlushing = false
                deadline = now.advanced(by: isLastChance || isDraining ? Self.lastChance : limits.idleTimeout)
            }
        } else if phase == .body, !body.isPaused {
            if wait != .body || due == nil { (deadline, due) = body.beginWatching(at: now, limits) }
            wait = .body
        } else {
            wait = due == nil ? .none : .handler
            deadline = due ?? now.advanced(by: limits.connectionAge)
        }
    }

    mutating func timeoutFired(at now: MonotonicInstant, _ limits: Limits) -> TimeoutAction {
        if now < deadline { return .nothing }
        switch wait {
        case .none:
            deadline = now.advanced(by: limits.connectionAge)
            return .nothing
        case .idle: return .idle
        case .linger: return .lingered
        case .write: return .write
        case .head: return .headIsLate
        case .handler where isStreaming: return .nothing
        // The limit also applies to a body whose reading is paused.
        case .handler where phase != .body: return .responseIsLate
        case .handler, .body:
            guard let nextCheckTime = body.nextCheck(at: now, until: due, limits) else { return .bodyIsLate }
            deadline = nextCheckTime
            return .nothing
        }
    }

    /// Continues to wait because the client still receives the last response slowly, which does not count as idle.
    mutating func awaitWritable(at now: MonotonicInstant, _ limits: Limits) {
        isFlushing = true
        deadline = now.advanced(by: limits.writeTimeout)
    }
}
