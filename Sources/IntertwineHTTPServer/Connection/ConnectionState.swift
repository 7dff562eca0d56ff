internal import IntertwineEventLoop

/// What a connection is at, and what is to be done next: bytes, events and instants go in, decisions come out. It knows no socket, no timer
/// and no handler; ``Connection`` does what it decides.
struct ConnectionState {
    enum Phase {
        /// Waits for, or reads, a request's head.
        case head
        /// Reads a request's body; the handler may be at work already.
        case body
        /// The handler is at work.
        case responding
        /// The last answer is on its way.
        case closing
        /// The last answer is sent; what the client still sends is dropped.
        case lingering
        case closed
    }

    /// What bytes of the client come to.
    enum ParserAction {
        /// They are used up, or have to wait.
        case none
        /// They begin a head and do not end it.
        case partOfHead
        /// A head ends here.
        case head
        /// What should be a head is none.
        case parseError(HTTPParseError)
        case body(RequestBodyDecoder.Event)
    }

    /// What to do where there may be bytes to read.
    enum ReadInterest {
        case now
        /// They wait in the kernel for now.
        case later
        /// They wait until the answer is out; the client is watched for going away.
        case afterResponse
    }

    /// What is to be done because a time is over.
    enum TimeoutAction {
        case nothing
        /// No request has come; unless there is one to be read, the connection ends.
        case idle
        case headIsLate
        case bodyIsLate
        case responseIsLate
        /// What waits for the client has waited a while: it is to be looked at what it took of it.
        case write
        case lingered
    }

    private enum TimerKind { case none, idle, head, body, handler, write, linger }

    /// The configuration's limits, as far as they are a connection's.
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

    /// How long a client that has connected may take until its first request is here, when others want its place.
    private static let newcomerTime = Duration.milliseconds(100)
    /// How long an idle connection may wait for a last request while the server is stopping.
    private static let lastChance = Duration.milliseconds(500)

    private(set) var phase = Phase.head {
        // Once closed, it stays so: the descriptor may be somebody else's by then.
        didSet { if oldValue == .closed { phase = .closed } }
    }
    /// The body of the request at hand.
    private(set) var body = RequestBodyDecoder()
    /// An answer to the request at hand has begun, and is being streamed.
    private var isStreaming = false
    private(set) var requests = 0
    private let openedAt: MonotonicInstant
    private(set) var lastActive: MonotonicInstant
    /// When the head began of which a part is here.
    private var headBegan: MonotonicInstant?
    /// There are requests left to serve, after the other connections.
    private var isWaitingForTurn = false
    /// The client has closed its sending side; there may be bytes to read before that end.
    private(set) var peerIsClosing = false
    /// The end of what the client sends has been read.
    private(set) var peerHasClosed = false
    /// Closing at once could make the client lose the answer.
    private var mustLinger = false
    private var lingerBudget = 0
    /// No more than a chance for a request that is on its way, because the server is stopping.
    private var isLastChance = false
    /// The connection is idle but for what the kernel still has to send.
    private(set) var isFlushing = false
    private(set) var deadline: MonotonicInstant
    private var wait = TimerKind.idle
    /// When the body has to be here, or after it the answer.
    private var due: MonotonicInstant?

    init(now: MonotonicInstant, _ limits: Limits) {
        openedAt = now
        lastActive = now
        deadline = now.advanced(by: limits.idleTimeout)
    }

    // MARK: Bytes

    /// Whether a request is awaited of which nothing is here.
    var isBetweenRequests: Bool { phase == .head && headBegan == nil }

    /// Whether bytes that are here may be read on in.
    var canConsume: Bool { phase == .head || phase == .body }

    /// There may be bytes to read, or their end.
    ///
    /// - Parameter isSending: something waits for the client to take it.
    mutating func mayRead(peerClosed: Bool, isSending: Bool) -> ReadInterest {
        switch phase {
        case .responding: return .afterResponse
        case .closing: break
        case .head where isSending || isWaitingForTurn: break
        case .body where body.isPaused: break
        default: return .now
        }
        // What came before that end is still to be read.
        if peerClosed { peerIsClosing = true }
        return .later
    }

    /// So many bytes have been read. False where they are to be dropped.
    mutating func received(_ count: Int, at now: MonotonicInstant) -> Bool {
        if phase == .lingering {
            lingerBudget -= count
            return false
        }
        lastActive = now
        return true
    }

    /// Whether enough has been dropped.
    var hasLingered: Bool { phase == .lingering && lingerBudget <= 0 }

    /// Reads `bytes` from `index` on, up to what is to be done for them. To be called until that is nothing.
    ///
    /// - Parameter parser: what reads heads. It has read the part of a head that was there before.
    mutating func next(_ bytes: UnsafeBufferPointer<UInt8>, from index: inout Int, _ parser: HeadParser) -> ParserAction {
        // Its end has to be told even where there is nothing behind it.
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

    /// The other connections have their turn, or have had it.
    mutating func waitForTurn(_ waits: Bool) { isWaitingForTurn = waits }

    /// The client's bytes have ended. False where that ends the connection.
    mutating func endOfInput(isSending: Bool) -> Bool {
        peerIsClosing = true
        peerHasClosed = true
        switch phase {
        case .head:
            // A part of a request is no request. The answers to whole ones still go out.
            if !isSending { return false }
            phase = .closing
        case .body, .lingering: return false
        case .responding, .closing, .closed: break
        }
        return true
    }

    mutating func noticePeerClose() { peerIsClosing = true }

    // MARK: Requests

    /// Whether the answer to the request at hand is the connection's last.
    func mustClose(after framing: MessageFraming, at now: MonotonicInstant, isDraining: Bool, _ limits: Limits) -> Bool {
        !framing.keepsAlive || isDraining || requests >= limits.requests || now.since(openedAt) > limits.connectionAge
    }

    /// A request is not answered at once.
    ///
    /// - Parameter bytes: what has come behind its head.
    mutating func beginRequest(_ framing: MessageFraming, afterHead bytes: UnsafeBufferPointer<UInt8>, _ limits: Limits) {
        body = RequestBodyDecoder(framing, limits, afterHead: bytes)
        isStreaming = false
        due = nil
        phase = .body
    }

    /// The body is wanted, up to a limit. The answer is whether the client has to be told to send it.
    mutating func acceptBody() -> Bool { body.accept() }

    mutating func limitBody(to limit: Int) { body.limit = limit }

    mutating func pauseBody() { body.pause() }

    mutating func resumeBody() {
        body.resume()
        due = nil
    }

    /// The handler is at work, and nothing is left to read of the request.
    ///
    /// - Parameter end: when it has to have begun to answer.
    mutating func respond(by end: MonotonicInstant) {
        phase = .responding
        due = isStreaming ? nil : end
    }

    /// The head of a streamed answer is out: there is no limit any more to the time until its end.
    mutating func beginStreaming() {
        isStreaming = true
        due = nil
    }

    /// Whether it is too late for another answer to the request at hand.
    var hasResponse: Bool { body.isDiscarding || isStreaming }

    /// The answer is out: the connection goes on to the rest of the body, which nobody wants, or else to the next request. True where it is
    /// the latter.
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

    // MARK: End

    /// What has been said is the last. False where that is past already.
    mutating func beginClosing(lingering: Bool) -> Bool {
        if phase == .closed || phase == .lingering { return false }
        if lingering { mustLinger = true }
        phase = .closing
        return true
    }

    /// All is sent. Where the client may still be sending, its bytes are dropped for a while: closing on them would have the kernel
    /// reset the connection, and the client lose the answer. False where it can be closed at once.
    ///
    /// - Parameter hasUnread: whether something of the client lies in the kernel that nobody is going to read.
    mutating func linger(at now: MonotonicInstant, _ limits: Limits, hasUnread: @autoclosure () -> Bool) -> Bool {
        guard mustLinger || hasUnread(), !peerHasClosed else { return false }
        phase = .lingering
        lingerBudget = limits.linger
        deadline = now.advanced(by: limits.lingerTimeout)
        return true
    }

    /// False where it is closed already.
    mutating func close() -> Bool {
        defer { phase = .closed }
        return phase != .closed
    }

    /// Has been accepted just now and not said anything: its request is likely to be on its way.
    func isNewcomer(at now: MonotonicInstant) -> Bool { requests == 0 && now.since(openedAt) < Self.newcomerTime }

    /// The server is stopping. A connection that was busy a moment ago may have a request on its way, which gets its chance. False where
    /// this one gets none.
    mutating func startDrainGrace(at now: MonotonicInstant, isIdle: Bool) -> Bool {
        if isIdle, now.since(lastActive) > .seconds(1), requests > 0 { return false }
        isLastChance = isIdle
        return true
    }

    // MARK: Kernel

    /// What to watch the descriptor for.
    ///
    /// - Parameters:
    ///   - current: what it is watched for.
    ///   - unsent: bytes that wait for the client to take them; nil where there is nothing.
    func interest(current: ReadyEvents, unsent: Int?, _ limits: Limits) -> ReadyEvents {
        var wanted: ReadyEvents = []
        let reads =
            switch phase {
            case .head: unsent == nil && !isWaitingForTurn
            case .body: !body.isPaused && (unsent ?? 0) < limits.output
            // Left as it is: most answers come before the client sends anything more.
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

    /// Works out what the connection waits for now, and until when.
    ///
    /// - Parameter sendingSince: since when it is watched what the client takes; nil where nothing waits for it.
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

    /// The deadline may be over.
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
        // A body that is paused is not here in time either.
        case .handler where phase != .body: return .responseIsLate
        case .handler, .body:
            guard let look = body.nextCheck(at: now, until: due, limits) else { return .bodyIsLate }
            deadline = look
            return .nothing
        }
    }

    /// The last answer is still being taken, slowly: that is not idle.
    mutating func awaitWritable(at now: MonotonicInstant, _ limits: Limits) {
        isFlushing = true
        deadline = now.advanced(by: limits.writeTimeout)
    }
}
