internal import HTTPTypes
internal import IntertwineEventLoop

/// An asynchronously answered request: its retained head, its body, and the handler that produces the response.
final class Exchange: @unchecked Sendable {
    // Safety of @unchecked: the constants are Sendable. The handler's task and the thread that delivers a pending response
    // use only these to find the loop, and run their results through `worker.loop` (`execute`). The variables are touched only on
    // the loop: by the connection, which is confined to it, and by those closures. The exchange may be deallocated on any thread, which
    // touches only reference counts and the copy of the head, which has no other owner.

    /// The delimitation of a streamed response's body.
    private enum StreamFraming {
        case length(remaining: Int)
        case chunked
        case close
    }

    /// The result of receiving content of a body.
    enum Backpressure {
        case goesOn
        /// The reader of the body asks for a pause.
        case pauses
        /// The memory budget for bodies is exhausted.
        case outOfMemory
    }

    let head: RequestHead
    private let connection: Connection
    private let begunAt: MonotonicInstant

    private var route: String?
    private var timeLimit: Duration
    /// True if the handler's task is cancelled when the client closes its sending side.
    private(set) var cancelsOnPeerClose = false
    /// The request for the handler; nil until its plan is known.
    private var request: HTTPRequest?
    /// The closure of the plan that produces the response.
    private var respond: HandlerResult.Responder?
    private var collected: [UInt8] = []
    private var share: MemoryReservation?
    private var stream: RequestBodyStream?

    private var task: Task<Void, Never>?
    /// Cancels a pending response.
    private var cancelHandler: PendingResponse.Cancel?
    private var streamFraming: StreamFraming?
    private var closesAfterStream = false
    private var waiters: [CheckedContinuation<Void, any Error>] = []
    private var status = 0
    private var sent = 0

    init(_ head: borrowing RequestHead, on connection: Connection) {
        self.head = head.copy()
        self.connection = connection
        begunAt = connection.worker.loop.now
        timeLimit = connection.worker.configuration.handlerTimeout
    }

    private var worker: Worker { connection.worker }

    /// True if the response is the last one of the connection. This includes requests with too much unread body to discard.
    private var mustClose: Bool { !connection.state.body.canBeDiscarded || connection.mustClose(after: head.framing) }

    /// True if a response has begun.
    private var hasResponse: Bool { status != 0 }

    /// True if an interim response may precede the response. HTTP/1.0 has none.
    var takesInterimResponse: Bool { !hasResponse && head.parser.minor > 0 }

    /// The instant at which the handler's timeout ends.
    var responseDeadline: MonotonicInstant { worker.loop.now.advanced(by: timeLimit) }

    // MARK: The plan

    /// Returns the handler's plan for the request.
    func plan() -> HandlerResult {
        let request = head.request
        let plan = worker.handler.plan(for: request, peer: connection.peer)
        route = plan.route
        cancelsOnPeerClose = plan.cancelsOnPeerClose
        timeLimit = plan.timeLimit ?? timeLimit
        if case .accept(_, let respond) = plan.decision { self.respond = respond }
        self.request = request
        return plan
    }

    /// Answers before the body has been read.
    func respondBeforeBody(_ response: ServerResponse) {
        finish(encoded(response), closes: response.closesConnection)
    }

    /// Answers with a refusal of the server before the body has been read. The handler may change the refusal.
    func refuse(with refusal: ServerResponse) {
        respondBeforeBody(worker.handler.refuse(head.request, peer: connection.peer, with: refusal))
    }

    // MARK: The body

    /// Receives content of the body.
    ///
    /// - Parameter missing: The number of bytes still to come, nil if unknown.
    func receiveBody(_ content: UnsafeBufferPointer<UInt8>, missing: Int?) -> Backpressure {
        if let stream { return stream.push(Array(content)) ? .goesOn : .pauses }
        if collected.isEmpty, let missing { collected.reserveCapacity(min(missing + content.count, 256 * 1024)) }
        collected.append(contentsOf: content)
        let share = self.share ?? MemoryReservation(of: worker.bodies)
        self.share = share
        return share.reserve(content.count) ? .goesOn : .outOfMemory
    }

    /// Handles the end of the body: resumes the handler or starts it.
    func bodyIsComplete() {
        if let stream {
            stream.finish(.success(()))
            return
        }
        let (body, share) = (collected, share)
        (collected, self.share) = ([], nil)
        start(body: RequestBody(storage: .collected(body, share)))
    }

    /// Starts the handler before the body is complete and passes the body on as it arrives.
    func startStreaming() {
        let loop = worker.loop
        let stream = RequestBodyStream(highWater: 64 * 1024, share: MemoryReservation(of: worker.bodies)) { [weak self] in
            guard let self else { return }
            loop.execute { self.connection.resumeBody(of: self) }
        }
        self.stream = stream
        start(body: RequestBody(storage: .streamed(stream)))
    }

    /// Refuses a body that exceeds its limit.
    func bodyIsTooLong(limit: Int) {
        stream?.finish(.failure(.tooLarge))
        stream = nil
        if streamFraming != nil {
            connection.beginClosing(lingering: true)
            return
        }
        var response = ProblemDetails(status: 413, detail: "The body is longer than \(limit) bytes.").response()
        // A handler that already reads the body receives an error there.
        if task == nil, let request { response = worker.handler.refuse(request, peer: connection.peer, with: response) }
        response.closesConnection = true
        abandon()
        respondBeforeBody(response)
    }

    /// Refuses the request because the memory budget for bodies is exhausted.
    func refuseForNow() {
        var response = ProblemDetails(status: 503, detail: "Too many request bodies are buffered.").response(fields: [.retryAfter: "1"])
        if let request { response = worker.handler.refuse(request, peer: connection.peer, with: response) }
        response.closesConnection = true
        (collected, share) = ([], nil)
        respondBeforeBody(response)
    }

    // MARK: Response

    /// Starts the task that produces the response, off the loop.
    private func start(body: RequestBody) {
        guard let request, let respond else { return }
        let serverRequest = ServerRequest(head: request, body: body, peer: connection.peer, id: RequestID(head.name, in: head.bytes))
        // Slow work, mainly compression, happens in the task. A single response is compressed at a fast level, as pages are.
        let wantsGzip = head.coding(hasGzip: true) == .gzip
        let route = route
        task = Task {
            let response = await respond(serverRequest)
            let closes = response.closesConnection
            switch response.body {
            case .encoded(let encodedResponse): self.worker.loop.execute { self.send(encodedResponse, closes: closes) }
            case .content:
                let encodedResponse = EncodedResponse(response, compressionLevel: wantsGzip ? 1 : nil, route: route)
                self.worker.loop.execute { self.send(encodedResponse, closes: closes) }
            case .stream(let length, let produce): await self.stream(response, length: length, produce)
            case .pushed(let attach): self.worker.loop.execute { self.push(response, attach) }
            }
        }
    }

    /// Starts a pending response, which needs no task.
    func start(_ deferred: PendingResponse) {
        route = deferred.route
        cancelHandler = deferred.begin { make in
            self.worker.loop.execute {
                guard self.connection.serves(self) else { return }
                let (response, handler) = (make(), self.worker.handler)
                if response.isEncoded {
                    self.send(self.encoded(response), handler.cachedResponseFields(for: self.head), closes: response.closesConnection)
                } else {
                    let whole = response.adding(handler.pendingFields(for: self.head))
                    self.send(self.encoded(whole), closes: whole.closesConnection)
                }
            }
        }
    }

    private func send(_ encodedResponse: EncodedResponse, _ fields: EncodedFields? = nil, closes: Bool) {
        guard connection.serves(self), !hasResponse else { return }
        task = nil
        cancelHandler = nil
        finish(encodedResponse, fields, closes: closes)
        connection.resume()
    }

    /// Encodes a response without compression, because this runs on the loop.
    private func encoded(_ response: ServerResponse) -> EncodedResponse {
        if case .encoded(let encodedResponse) = response.body { return encodedResponse }
        return EncodedResponse(response, compressionLevel: nil, route: route)
    }

    private func finish(_ encodedResponse: EncodedResponse, _ fields: EncodedFields? = nil, closes: Bool) {
        let closing = closes || encodedResponse.closesConnection || mustClose
        (status, sent) = connection.serve(encodedResponse, head, fields, closing: closing)
        route = route ?? encodedResponse.route
        finishResponse(closing: closing)
    }

    private func finishResponse(closing: Bool) {
        // If the client disconnected, the exchange has ended.
        guard connection.serves(self) else { return }
        observe(status: status, sent)
        stream?.finish(.failure(.incomplete))
        stream = nil
        connection.finishResponse(closing: closing)
    }

    func observe(status: Int, _ sent: Int) {
        connection.observe(head, route, status: status, sent, since: begunAt)
    }

    // MARK: Streamed response

    /// Sends a streamed response. Called in the handler's task.
    private func stream(_ response: ServerResponse, length: Int?, _ produce: @Sendable (ResponseWriter) async throws -> Void) async {
        let wantsBody = await withCheckedContinuation { continuation in
            worker.loop.execute { continuation.resume(returning: self.beginStream(response, length: length)) }
        }
        guard wantsBody else { return }
        do {
            try await produce(ResponseWriter(self))
            worker.loop.execute { self.endStream(isComplete: true) }
        } catch {
            worker.loop.execute { self.endStream(isComplete: false) }
        }
    }

    /// Sends the head. Returns false if no body follows.
    private func beginStream(_ response: ServerResponse, length: Int?) -> Bool {
        guard connection.serves(self), !hasResponse else { return false }
        let code = response.status.code
        status = code
        let hasContent = head.method != .head && code != 204 && code != 304
        let isOld = head.framing.sendsKeepAliveHeader || head.parser.minor == 0
        streamFraming = length.map { .length(remaining: $0) } ?? (isOld ? .close : .chunked)
        let encoder = HeadEncoder(response)
        let tag = response.entityTag.map { Array($0.utf8) }
        let encoded =
            length == nil && !isOld && code != 204 && code != 304
            ? encoder.chunked() : encoder.head(length: length, entityTag: tag, coding: nil)
        closesAfterStream =
            response.closesConnection || mustClose || (length == nil && isOld && hasContent)
        sent = connection.beginStreaming(encoded, head, closing: closesAfterStream)
        if !hasContent {
            task = nil
            finishResponse(closing: closesAfterStream)
        }
        connection.resume()
        return hasContent && !connection.isClosed
    }

    /// Sends bytes of the body. Called in the handler's task.
    func write(_ bytes: [UInt8]) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            worker.loop.execute { self.write(bytes, continuation) }
        }
    }

    private func write(_ bytes: [UInt8], _ continuation: CheckedContinuation<Void, any Error>) {
        guard connection.serves(self), let framing = streamFraming else {
            continuation.resume(throwing: CancellationError())
            return
        }
        sent += bytes.count
        switch framing {
        case .length(let remaining):
            guard bytes.count <= remaining else {
                continuation.resume(throwing: ResponseWriterError.tooLong)
                return
            }
            streamFraming = .length(remaining: remaining - bytes.count)
            connection.append(.bytes(bytes), 0..<bytes.count)
        case .chunked:
            worker.stage.append(String(bytes.count, radix: 16))
            worker.stage.append("\r\n")
            connection.append(.bytes(bytes), 0..<bytes.count)
            worker.stage.append("\r\n")
        case .close:
            connection.append(.bytes(bytes), 0..<bytes.count)
        }
        connection.flush()
        if connection.hasRoom { continuation.resume() } else { waiters.append(continuation) }
        connection.flushAndUpdateInterest()
    }

    /// Resumes the handler's writing after the output queue has shrunk.
    func resumeWriting() {
        let waiters = waiters
        self.waiters = []
        for waiter in waiters { waiter.resume() }
    }

    private func endStream(isComplete: Bool) {
        guard connection.serves(self), let framing = streamFraming else { return }
        task = nil
        var isBodyComplete = isComplete
        switch framing {
        case .length(let remaining): if remaining > 0 { isBodyComplete = false }
        case .chunked: if isComplete { worker.stage.append("0\r\n\r\n") }
        case .close: break
        }
        guard isBodyComplete else {
            // A reset tells the client that the body is incomplete.
            connection.reset()
            return
        }
        finishResponse(closing: closesAfterStream)
        connection.resume()
    }

    // MARK: Pushed response

    /// Sends the head and hands the body over to an event stream. The connection retains the stream and releases this exchange.
    private func push(_ response: ServerResponse, _ attach: @Sendable (EventStream) -> Void) {
        guard connection.serves(self), !hasResponse else { return }
        task = nil
        guard head.method != .head, !connection.peerIsClosing, !worker.isDraining else {
            var empty = ServerResponse(status: response.status, fields: response.fields)
            empty.closesConnection = true
            return send(encoded(empty), closes: true)
        }
        status = response.status.code
        let isChunked = !head.framing.sendsKeepAliveHeader && head.parser.minor != 0
        let isCoded = response.isCompressible && head.coding(hasGzip: true) == .gzip
        let encoder = HeadEncoder(response)
        let coding = isCoded ? "gzip" : nil
        let encoded = isChunked ? encoder.chunked(coding: coding) : encoder.head(length: nil, entityTag: nil, coding: coding)
        sent = connection.beginStreaming(encoded, head, closing: true)
        connection.flush()
        guard connection.serves(self) else { return }
        observe(status: status, sent)
        let stream = EventStream(on: connection, isChunked: isChunked, isCoded: isCoded)
        connection.beginPushing(stream)
        attach(stream)
    }

    // MARK: End

    /// Ends the handler: its task is cancelled and its later results are ignored.
    ///
    /// - Parameter reason: The error that a handler receives if it still reads the body.
    func abandon(because reason: RequestBodyError = .incomplete) {
        stream?.finish(.failure(reason))
        task?.cancel()
        task = nil
        cancelHandler?()
        cancelHandler = nil
        stream = nil
        let waiters = waiters
        self.waiters = []
        for waiter in waiters { waiter.resume(throwing: CancellationError()) }
    }

    /// Reports a request whose connection has ended, with status 499 if no response had begun.
    func recordAborted() { observe(status: hasResponse ? status : 499, sent) }
}
