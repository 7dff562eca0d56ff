internal import HTTPTypes
internal import IntertwineEventLoop

extension Connection {
    /// Has the answer made, off the loop.
    func start(_ exchange: Exchange, body: RequestBody) {
        guard let head = exchange.request, let respond = exchange.respond else { return }
        let id = exchange.bytes.withUnsafeBufferPointer { RequestID(exchange.name, in: $0) }
        let request = ServerRequest(head: head, body: body, peer: peer, id: id)
        let number = exchange.id
        // What may take long happens in the task: compressing, above all.
        let wantsGzip = exchange.bytes.withUnsafeBufferPointer { exchange.head(in: $0).acceptedCodings.prefersGzip }
        let route = exchange.route
        exchange.deadline = exchange.isBodyDone ? worker.loop.now.advanced(by: exchange.timeLimit) : nil
        exchange.task = Task {
            let response = await respond(request)
            switch response.body {
            case .finished(let finished):
                self.worker.loop.execute { self.answer(number, finished, closes: response.closesConnection) }
            case .bytes:
                let finished = FinishedResponse(response, compressionLevel: wantsGzip ? 6 : nil, route: route)
                self.worker.loop.execute { self.answer(number, finished, closes: response.closesConnection) }
            case .stream(let length, let produce):
                await self.stream(number, response, length: length, produce)
            }
        }
    }

    /// Has an answer brought that needs no task.
    func start(_ exchange: Exchange, _ deferred: DeferredAnswer) {
        let id = exchange.id
        exchange.route = deferred.route
        exchange.deadline = worker.loop.now.advanced(by: exchange.timeLimit)
        phase = .responding
        exchange.cancel = deferred.begin { make in
            self.worker.loop.execute {
                guard let exchange = self.exchange, exchange.id == id else { return }
                let response = make()
                self.answer(id, Self.finished(response, exchange), closes: response.closesConnection)
            }
        }
    }

    private func answer(_ id: UInt64, _ finished: FinishedResponse, closes: Bool) {
        guard let exchange, exchange.id == id, exchange.status == 0 else { return }
        exchange.task = nil
        exchange.cancel = nil
        if finished.status == 499, peerIsClosing {
            // A word for logs, not for clients: this one has closed no more than its own side, and may be reading.
            refuse(ProblemDetails(status: 408, detail: "The request was taken back by closing the connection."), exchange)
            settle()
            return
        }
        finish(exchange, finished, closes: closes)
        goOn()
    }

    /// Answers before the body has been read.
    func answerEarly(_ response: ServerResponse, _ exchange: Exchange) {
        finish(exchange, Self.finished(response, exchange), closes: response.closesConnection)
    }

    /// On the loop, so nothing is compressed.
    private static func finished(_ response: ServerResponse, _ exchange: Exchange) -> FinishedResponse {
        if case .finished(let finished) = response.body { return finished }
        return FinishedResponse(response, compressionLevel: nil, route: exchange.route)
    }

    private func finish(_ exchange: Exchange, _ finished: FinishedResponse, closes: Bool) {
        let closing = closes || finished.closesConnection || mustClose(exchange.framing) || !canDiscardBody(exchange)
        let (status, sent) = exchange.bytes.withUnsafeBufferPointer { bytes in
            worker.requestID.write(exchange.name, in: bytes)
            return serve(finished, exchange.head(in: bytes), closing: closing, announcing: exchange.framing.announcesKeepAlive)
        }
        exchange.status = status
        exchange.sent = sent
        exchange.route = exchange.route ?? finished.route
        // The client broke off, and the exchange ended with that.
        if phase == .closed { return }
        finishAnswer(exchange, closing: closing)
    }

    /// The answer is complete: the connection goes on to the rest of the body, to the next request, or to its end.
    func finishAnswer(_ exchange: Exchange, closing: Bool) {
        observe(exchange, status: exchange.status, bytes: exchange.sent)
        exchange.stream?.finish(.failure(.incomplete))
        exchange.stream = nil
        if closing {
            let isBodyDone = exchange.isBodyDone
            beginClosing(lingering: !isBodyDone)
        } else if exchange.isBodyDone {
            endExchange()
        } else {
            exchange.isDiscarding = true
            exchange.isPaused = false
            exchange.deadline = nil
            phase = .body
        }
    }

    /// Whether the rest of the body is little enough to be read for the sake of the connection.
    func canDiscardBody(_ exchange: Exchange) -> Bool {
        switch exchange.body {
        case .done: true
        case .length(let rest): rest <= worker.configuration.discardLimit && !exchange.owesContinue
        case .chunked(let decoder):
            max(exchange.announced, decoder.announced) <= worker.configuration.discardLimit && !exchange.owesContinue
        }
    }

    /// Back to waiting for a request.
    func endExchange() {
        exchange.map { worker.giveBack($0.parser) }
        exchange = nil
        phase = .head
    }

    /// After something happened outside of reading: serves what has been received meanwhile.
    func goOn() {
        isWaitingForTurn = false
        if phase == .head || phase == .body { consumeHeld() }
        settle()
    }

    /// Answers what cannot be understood, for the last time on this connection.
    ///
    /// - Parameters:
    ///   - method: nil where not even that has been read.
    ///   - head: what has come of the request.
    func fail(_ error: HTTPParseError, method: RequestMethod?, head: UnsafeBufferPointer<UInt8>) {
        refuse(ProblemDetails(status: error.status, detail: error.detail), method: method, head: head)
    }

    /// The same for the request that is under way.
    func refuse(_ problem: ProblemDetails, _ exchange: Exchange) {
        exchange.bytes.withUnsafeBufferPointer { refuse(problem, method: exchange.method, head: $0) }
    }

    func refuse(_ problem: ProblemDetails, method: RequestMethod?, head bytes: UnsafeBufferPointer<UInt8>) {
        var response = problem.response()
        if problem.status == 503 { response.fields[.retryAfter] = "1" }
        response = response.adding(worker.handler.refusalFields { ByteView(bytes).lineValue(of: $0) })
        let encoder = HeadEncoder(response)
        let body = problem.json
        let head = encoder.head(length: body.count, entityTag: nil, coding: nil)
        let start = worker.stage.count
        let name = exchange?.name ?? worker.requestID.make()
        let bytes = exchange?.bytes ?? []
        bytes.withUnsafeBufferPointer { worker.requestID.write(name, in: $0) }
        append(head, closing: true, announcing: false)
        if method != .head { worker.stage.append(body) }
        let sent = worker.stage.count - start
        if let exchange {
            observe(exchange, status: problem.status, bytes: sent)
        } else {
            worker.handler.refused(method, peer: peer, status: problem.status)
            observe(
                method: method, route: nil, status: problem.status, bytes: sent, begun: worker.loop.now,
                trace: worker.observer?.wantsTraces == true ? RequestTrace(unread: name) : nil)
        }
        beginClosing(lingering: true)
    }
}
