internal import HTTPTypes

/// An asynchronously answered request: its retained head, its body, and the handler that produces the response.
final class Exchange: @unchecked Sendable {
    // Safety of @unchecked: the constants are Sendable. The handler's task and the thread that delivers a pending response
    // use only these to find the loop, and run their results through `worker.loop` (`execute`). The variables are touched only on
    // the loop: by the connection, which is confined to it, and by those closures. The exchange may be deallocated on any thread, which
    // touches only reference counts and the copy of the head, which has no other owner.

    private enum StreamFraming {
        case length(remaining: Int)
        case chunked
        case close
    }

    enum Backpressure {
        case goesOn
        case pauses
        case outOfMemory
    }

    let head: RequestHead
    private let connection: Connection
    private let begunAt: MonotonicInstant
    private let work: HandlerResult.Kind
    private let route: String?
    let fields: EncodedFields?
    private let onError: HandlerResult.ErrorHandler

    private var collected: [UInt8] = []
    private var share: MemoryReservation?
    private var stream: RequestBodyStream?

    private var task: Task<Void, Never>?
    private var cancelHandler: HandlerResult.CancellationHandler?
    private var streamFraming: StreamFraming?
    private var closesAfterStream = false
    private var waiters: [CheckedContinuation<Void, any Error>] = []
    private var status = 0
    private var sent = 0

    init(_ head: borrowing RequestHead, _ result: HandlerResult, on connection: Connection) {
        self.head = head.copy()
        self.connection = connection
        begunAt = connection.worker.loop.now
        (work, route, fields, onError) = (result.kind, result.route, result.fields, result.onError)
    }

    private var requestTask: RequestTask? { if case .task(let task) = work { task } else { nil } }

    var cancelsOnPeerClose: Bool { requestTask?.cancelsOnPeerClose ?? false }

    var streamsBody: Bool { requestTask?.streamsBody ?? false }

    var bodyLimit: Int { requestTask?.bodyLimit ?? worker.configuration.bodyLimit }

    private var worker: Worker { connection.worker }

    private var mustClose: Bool { !connection.state.body.canBeDiscarded || connection.mustClose(after: head.framing) }

    private var hasResponse: Bool { status != 0 }

    var responseDeadline: MonotonicInstant { worker.loop.now.advanced(by: requestTask?.timeLimit ?? worker.configuration.handlerTimeout) }

    // MARK: Responses without work

    func respondBeforeBody(_ response: HandlerResponse) {
        finish(encoded(response), closes: head.refusal?.closesConnection ?? false)
    }

    func refuse() {
        guard let refusal = head.refusal else { return }
        refuse(with: refusal)
    }

    private func refuse(with refusal: ServerResponse) {
        worker.observer?.requestRefused(
            RefusedRequest(
                method: head.method, path: head.target.string, peer: connection.peer, status: refusal.status.code,
                sender: requestTask?.sender))
        respondBeforeBody(.response(refusal))
    }

    // MARK: The body

    func receiveBody(_ content: UnsafeBufferPointer<UInt8>, missing: Int?) -> Backpressure {
        if let stream { return stream.push(Array(content)) ? .goesOn : .pauses }
        if collected.isEmpty, let missing { collected.reserveCapacity(min(missing + content.count, 256 * 1024)) }
        collected.append(contentsOf: content)
        let share = self.share ?? MemoryReservation(of: worker.bodies)
        self.share = share
        return share.reserve(content.count) ? .goesOn : .outOfMemory
    }

    func bodyIsComplete() {
        if let stream {
            stream.finish(.success(()))
            return
        }
        let (body, share) = (collected, share)
        (collected, self.share) = ([], nil)
        start(body: RequestBody(storage: .collected(body, share)))
    }

    func startStreaming() {
        let loop = worker.loop
        let stream = RequestBodyStream(highWater: 64 * 1024, share: MemoryReservation(of: worker.bodies)) { [weak self] in
            guard let self else { return }
            loop.execute { self.connection.resumeBody(of: self) }
        }
        self.stream = stream
        start(body: RequestBody(storage: .streamed(stream)))
    }

    func bodyIsTooLong(limit: Int) {
        stream?.finish(.failure(.tooLarge))
        stream = nil
        if streamFraming != nil {
            connection.beginClosing(lingering: true)
            return
        }
        var response = Problem(.contentTooLarge, nil, "The body is longer than \(limit) bytes.").refusal()
        response.closesConnection = true
        // A task that already reads the body receives an error there, and reports the refusal itself.
        let isRead = task != nil
        abandon()
        if isRead { respondBeforeBody(.response(response)) } else { refuse(with: response) }
    }

    /// Refuses the request because the memory budget for bodies is exhausted.
    func refuseForNow() {
        var response = Problem(.serviceUnavailable, nil, "Too many request bodies are buffered.", fields: [.retryAfter: "1"]).refusal()
        response.closesConnection = true
        (collected, share) = ([], nil)
        refuse(with: response)
    }

    // MARK: Response

    private func start(body: RequestBody) {
        switch work {
        case .pending(let start): cancelHandler = start(ResponsePromise(self))
        case .task(let task): self.task = run(task, body)
        case .cached, .respond: break
        }
    }

    private func run(_ requestTask: RequestTask, _ body: RequestBody) -> Task<Void, Never> {
        let request = ServerRequest(head: head.request, body: body, peer: connection.peer, id: head.requestID)
        // Slow work, mainly compression, happens in the task. A single response is compressed at a fast level, as pages are.
        let wantsGzip = head.coding(hasGzip: true) == .gzip
        let (respond, route, onError) = (requestTask.respond, route, onError)
        return Task {
            let result: HandlerResponse
            do { result = try await respond(request) } catch { result = .response(onError(error, request.id)) }
            switch result {
            case .encoded(let encoded): self.worker.loop.execute { self.send(encoded) }
            case .response(let response):
                switch response.body {
                case .content:
                    let encoded = EncodedResponse(response, compressionLevel: wantsGzip ? 1 : nil, route: route)
                    self.worker.loop.execute { self.send(encoded) }
                case .stream(let length, let produce): await self.stream(response, length: length, produce)
                case .events(let attach): self.worker.loop.execute { self.push(response, attach) }
                }
            }
        }
    }

    func complete(_ make: @escaping @Sendable () throws -> HandlerResponse) {
        worker.loop.execute {
            guard self.connection.serves(self) else { return }
            let response: HandlerResponse
            do { response = try make() } catch { response = .response(self.onError(error, self.head.requestID)) }
            self.send(self.encoded(response))
        }
    }

    private func send(_ encodedResponse: EncodedResponse) {
        guard connection.serves(self), !hasResponse else { return }
        task = nil
        cancelHandler = nil
        finish(encodedResponse)
        connection.resume()
    }

    /// Encodes a response without compression, because this runs on the loop.
    private func encoded(_ response: HandlerResponse) -> EncodedResponse {
        switch response {
        case .encoded(let encoded): encoded
        case .response(let response): EncodedResponse(response, compressionLevel: nil, route: route)
        }
    }

    private func finish(_ encodedResponse: EncodedResponse, closes: Bool = false) {
        let closing = closes || encodedResponse.closesConnection || mustClose
        (status, sent) = connection.serve(encodedResponse, head, fields, closing: closing)
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
        sent = connection.beginStreaming(encoded, vary: encoder.vary, head, fields, closing: closesAfterStream)
        if !hasContent {
            task = nil
            finishResponse(closing: closesAfterStream)
        }
        connection.resume()
        return hasContent && !connection.isClosed
    }

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

    private func push(_ response: ServerResponse, _ attach: @Sendable (EventStream) -> Void) {
        guard connection.serves(self), !hasResponse else { return }
        task = nil
        guard head.method != .head, !connection.peerIsClosing, !worker.isDraining else {
            var empty = ServerResponse(status: response.status, fields: response.fields)
            empty.closesConnection = true
            return send(encoded(.response(empty)))
        }
        status = response.status.code
        let isChunked = !head.framing.sendsKeepAliveHeader && head.parser.minor != 0
        let isCoded = response.isCompressible && head.coding(hasGzip: true) == .gzip
        let encoder = HeadEncoder(response)
        let coding = isCoded ? "gzip" : nil
        let encoded = isChunked ? encoder.chunked(coding: coding) : encoder.head(length: nil, entityTag: nil, coding: coding)
        sent = connection.beginStreaming(encoded, vary: encoder.vary, head, fields, closing: true)
        connection.flush()
        guard connection.serves(self) else { return }
        observe(status: status, sent)
        let stream = EventStream(on: connection, isChunked: isChunked, isCoded: isCoded)
        connection.beginPushing(stream)
        attach(stream)
    }

    // MARK: End

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

    func recordAborted() { observe(status: hasResponse ? status : 499, sent) }
}
