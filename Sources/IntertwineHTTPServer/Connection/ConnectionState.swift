/// The state machine of a connection: bytes, events and instants go in, decisions come out.
/// It uses no socket, timer or handler; ``Connection`` performs its decisions.
struct ConnectionState {
    enum Phase {
        /// Waits for a request's head or reads it.
        case head
        /// Reads a request's body. The handler may already be running.
        case body
        /// Waits for the handler's response.
        case responding
        /// Sends the last response.
        case closing
        /// Discards further bytes of the client after the last response is sent.
        case lingering
        case closed
    }

    /// The result of parsing received bytes.
    enum ParserAction {
        /// The bytes are used up or have to wait.
        case none
        /// The bytes end within a head.
        case partOfHead
        /// A head is complete.
        case head
        /// A head is malformed.
        case parseError(HTTPParseError)
        case body(RequestBodyDecoder.Event)
    }

    /// The decision about bytes that may be available.
    enum ReadInterest {
        case now
        /// The bytes stay in the kernel for now.
        case later
        /// The bytes wait until the response is sent. The descriptor is watched for the client's disconnect.
        case afterResponse
    }

    /// The action after a timeout.
    enum TimeoutAction {
        case nothing
        /// No request has arrived. The connection closes unless a request can be read now.
        case idle
        case headIsLate
        case bodyIsLate
        case responseIsLate
        /// The output queue has waited for one write timeout, and the client's progress must be checked.
        case write
        case lingered
    }

    private enum TimerKind { case none, idle, head, body, handler, write, linger }

    /// The limits of the configuration that apply to one connection.
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

    /// The time in which a new client's first request is expected before its connection may be closed for others.
    private static let newcomerTime = Duration.milliseconds(100)
    /// The time that an idle connection may wait for a last request while the server is stopping.
    private static let lastChance = Duration.milliseconds(500)

    private(set) var phase = Phase.head {
        // The closed state is final, because the descriptor number may already belong to another connection.
        didSet { if oldValue == .closed { phase = .closed } }
    }
    /// The body of the current request.
    private(set) var body = RequestBodyDecoder()
    /// True if a response to the current request has begun and is streamed.
    private var isStreaming = false
    private(set) var requests = 0
    private let openedAt: MonotonicInstant
    private(set) var lastActive: MonotonicInstant
    /// The instant at which the partial head began.
    private var headBegan: MonotonicInstant?
    /// True if received requests wait until other connections are served.
    private var isWaitingForTurn = false
    /// True if the client has closed its sending side. Bytes before that end may still be unread.
    private(set) var peerIsClosing = false
    /// True if the end of the client's bytes has been read.
    private(set) var peerHasClosed = false
    /// True if closing at once could make the client lose the response.
    private var mustLinger = false
    private var lingerBudget = 0
    /// True if the connection only waits briefly for a request in transit, because the server is stopping.
    private var isLastChance = false
    /// True if the connection is idle except for bytes that the kernel still has to send.
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

    /// True if a request is awaited and no byte of it has arrived.
    var isBetweenRequests: Bool { phase == .head && headBegan == nil }

    /// True if available bytes may be parsed now.
    var canConsume: Bool { phase == .head || phase == .body }

    /// Decides about reading if bytes or their end may be available.
    ///
    /// - Parameter isSending: True if the output queue is not empty.
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

    /// Records received bytes. Returns false if they must be discarded.
    mutating func received(_ count: Int, at now: MonotonicInstant) -> Bool {
        if phase == .lingering {
            lingerBudget -= count
            return false
        }
        lastActive = now
        return true
    }

    /// True if the limit of discarded bytes is reached.
    var hasLingered: Bool { phase == .lingering && lingerBudget <= 0 }

    /// Parses `bytes` from `index` up to the next action. The caller repeats the call until it returns `none`.
    ///
    /// - Parameter parser: The parser of heads, which has already read an earlier part of the head.
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

    /// Sets the state in which this connection waits until other connections are served.
    mutating func waitForTurn(_ waits: Bool) { isWaitingForTurn = waits }

    /// Handles the end of the client's bytes. Returns false if it ends the connection.
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

    /// Returns true if the response to the current request is the last one of the connection.
    func mustClose(after framing: MessageFraming, at now: MonotonicInstant, isDraining: Bool, _ limits: Limits) -> Bool {
        !framing.keepsAlive || isDraining || requests >= limits.requests || now.since(openedAt) > limits.connectionAge
    }

    /// Begins a request that is not answered at once.
    ///
    /// - Parameter bytes: The bytes received after its head.
    mutating func beginRequest(_ framing: MessageFraming, afterHead bytes: UnsafeBufferPointer<UInt8>, _ limits: Limits) {
        body = RequestBodyDecoder(framing, limits, afterHead: bytes)
        isStreaming = false
        due = nil
        phase = .body
    }

    /// Accepts the body, up to a limit. Returns true if the client waits for 100 (Continue).
    mutating func acceptBody() -> Bool { body.accept() }

    mutating func limitBody(to limit: Int) { body.limit = limit }

    mutating func pauseBody() { body.pause() }

    mutating func resumeBody() {
        body.resume()
        due = nil
    }

    /// Begins to wait for the handler after the request is read completely.
    ///
    /// - Parameter end: The instant by which the response must have begun.
    mutating func respond(by end: MonotonicInstant) {
        phase = .responding
        due = isStreaming ? nil : end
    }

    /// Records that the head of a streamed response is sent. The time until its end is not limited.
    mutating func beginStreaming() {
        isStreaming = true
        due = nil
    }

    /// True if the current request cannot receive another response.
    var hasResponse: Bool { body.isDiscarding || isStreaming }

    /// Records that the response is complete. The connection then discards the rest of the body, or reads the next request.
    /// Returns true in the latter case.
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

    /// Begins to close after the last response. Returns false if closing has already begun.
    mutating func beginClosing(lingering: Bool) -> Bool {
        if phase == .closed || phase == .lingering { return false }
        if lingering { mustLinger = true }
        phase = .closing
        return true
    }

    /// Handles the end of sending. If the client may still be sending, its bytes are discarded for a while.
    /// Returns false if the connection can be closed at once.
    ///
    /// Why: if bytes are unread at the close, the kernel resets the connection and the client loses the response.
    ///
    /// - Parameter hasUnread: True if the kernel holds bytes of the client that are not going to be read.
    mutating func linger(at now: MonotonicInstant, _ limits: Limits, hasUnread: @autoclosure () -> Bool) -> Bool {
        guard mustLinger || hasUnread(), !peerHasClosed else { return false }
        phase = .lingering
        lingerBudget = limits.linger
        deadline = now.advanced(by: limits.lingerTimeout)
        return true
    }

    /// Closes the connection. Returns false if it is already closed.
    mutating func close() -> Bool {
        defer { phase = .closed }
        return phase != .closed
    }

    /// Returns true if the connection is new and has received no request yet. Its request is probably in transit.
    func isNewcomer(at now: MonotonicInstant) -> Bool { requests == 0 && now.since(openedAt) < Self.newcomerTime }

    /// Starts the grace time of a server that is stopping. A connection that was busy a moment ago may have a request in transit and waits for it.
    /// Returns false if this connection gets no grace time.
    mutating func startDrainGrace(at now: MonotonicInstant, isIdle: Bool) -> Bool {
        if isIdle, now.since(lastActive) > .seconds(1), requests > 0 { return false }
        isLastChance = isIdle
        return true
    }

    // MARK: Kernel

    /// Returns the events that the descriptor must be watched for.
    ///
    /// - Parameters:
    ///   - current: The events that it is watched for now.
    ///   - unsent: The number of bytes in the output queue, nil if it is empty.
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

    /// Updates the event that the connection waits for, and its deadline.
    ///
    /// - Parameter sendingSince: The last instant at which the client's progress was checked, nil if the output queue is empty.
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

    /// Returns the action of a deadline that may have passed.
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
