internal import HTTPTypes

/// Request handling of a connection, from a complete head to a staged response.
extension Connection {
    func serves(_ exchange: Exchange) -> Bool { self.exchange === exchange }

    func receive(_ parser: HeadParser, _ bytes: UnsafeBufferPointer<UInt8>, remaining rest: UnsafeBufferPointer<UInt8>) -> Bool {
        let head: RequestHead
        do {
            head = try RequestHead(
                parser, bytes, name: worker.headEnd.name(parser, bytes), methods: (worker.configuration.methods, worker.allowedMethods))
        } catch {
            refuse(Problem(error), parser.readMethod(in: bytes), bytes)
            return false
        }
        let result = worker.handler.handle(head, peer: peer)
        if case .cached(let encodedResponse) = result.kind, head.isAccepted {
            let closes = mustClose(after: head.framing) || encodedResponse.closesConnection
            let (status, sent) = serve(encodedResponse, head, result.fields, closing: closes)
            observe(head, result.route, status: status, sent, since: worker.loop.now)
            if closes { beginClosing() }
            return false
        }
        let exchange = Exchange(head, result, on: self)
        self.exchange = exchange
        state.beginRequest(head.framing, afterHead: rest, worker.limits)
        begin(exchange, with: result)
        return true
    }

    private func begin(_ exchange: Exchange, with result: HandlerResult) {
        switch result.kind {
        case .respond(let response): return exchange.respondBeforeBody(.response(response))
        case _ where exchange.head.refusal != nil: return exchange.refuse()
        case .cached(let response): return exchange.respondBeforeBody(.encoded(response))
        case .pending, .task: break
        }
        let limit = exchange.bodyLimit
        state.limitBody(to: limit)
        if let length = state.body.missing, length > limit {
            exchange.bodyIsTooLong(limit: limit)
        } else if state.body.isComplete {
            expectResponse(of: exchange)
            exchange.bodyIsComplete()
        } else if worker.bodies.isUsedUp {
            exchange.refuseForNow()
        } else {
            if state.acceptBody() { worker.stage.append("HTTP/1.1 100 Continue\r\n\r\n") }
            if exchange.streamsBody { exchange.startStreaming() }
        }
    }

    /// Begins to wait for the handler's response, because no byte of the request is left to read.
    private func expectResponse(of exchange: Exchange) {
        state.respond(by: exchange.responseDeadline)
    }

    func finishBody() {
        guard let exchange else { return }
        if state.body.isDiscarding {
            finishResponse(closing: false)
        } else {
            expectResponse(of: exchange)
            exchange.bodyIsComplete()
        }
    }

    func failBody(_ error: HTTPParseError) {
        guard let exchange else { return }
        exchange.abandon()
        if state.hasResponse {
            beginClosing(lingering: true)
        } else {
            refuse(Problem(error), exchange)
        }
    }

    func resumeBody(of exchange: Exchange) {
        guard serves(exchange), state.body.isPaused else { return }
        state.resumeBody()
        consumePendingInput()
        flushAndUpdateInterest()
    }

    func finishResponse(closing: Bool) {
        if closing {
            beginClosing(lingering: !state.body.isComplete)
        } else if state.finishResponse() {
            exchange.map { worker.recycle($0.head.parser) }
            exchange = nil
        }
    }

    // MARK: Responses

    func serve(
        _ encodedResponse: EncodedResponse, _ head: borrowing RequestHead, _ fields: EncodedFields?, closing: Bool
    ) -> (status: Int, bytes: Int) {
        let selection = encodedResponse.selection(for: head)
        let sent = worker.stage(
            selection.head, vary: encodedResponse.vary, adding: fields, head.name, in: head.bytes, closing: closing,
            announcing: head.framing.sendsKeepAliveHeader)
        guard head.method != .head, let body = selection.body else { return (selection.status, sent) }
        append(body, selection.part)
        return (selection.status, sent + selection.part.count)
    }

    func beginStreaming(
        _ encoded: [UInt8], vary: [UInt8], _ head: borrowing RequestHead, _ fields: EncodedFields?, closing: Bool
    ) -> Int {
        state.beginStreaming()
        return worker.stage(
            encoded, vary: vary, adding: fields, head.name, in: head.bytes, closing: closing,
            announcing: head.framing.sendsKeepAliveHeader)
    }

    func refuse(_ problem: Problem, _ exchange: Exchange) {
        let sent = worker.stage(
            problem, adding: exchange.fields, exchange.head.name, in: exchange.head.bytes, hasBody: exchange.head.method != .head)
        exchange.observe(status: problem.status.code, sent)
        beginClosing(lingering: true)
    }

    func refuse(_ problem: Problem, _ method: RequestMethod?, _ bytes: UnsafeBufferPointer<UInt8>) {
        let name = worker.headEnd.makeName()
        let sent = worker.stage(problem, name, in: bytes, hasBody: method != .head)
        worker.observer?.requestRefused(RefusedRequest(method: method, path: nil, peer: peer, status: problem.status.code, sender: nil))
        observe(method, nil, status: problem.status.code, sent, since: worker.loop.now) { (RequestID(name, in: bytes), nil) }
        beginClosing(lingering: true)
    }

    func observe(_ head: borrowing RequestHead, _ route: String?, status: Int, _ sent: Int, since startTime: MonotonicInstant) {
        observe(head.method, route, status: status, sent, since: startTime) { (RequestID(head.name, in: head.bytes), head.traceParent) }
    }

    private func observe(
        _ method: RequestMethod?, _ route: String?, status: Int, _ sent: Int, since startTime: MonotonicInstant,
        _ trace: () -> (id: RequestID, parent: String?)
    ) {
        guard let observer = worker.observer else { return }
        let trace = observer.wantsTraces ? trace() : nil
        observer.requestFinished(
            RequestRecord(
                method: method, route: route, status: status, bytes: sent,
                nanoseconds: MonotonicInstant.now().nanoseconds &- startTime.nanoseconds,
                peer: peer, requestID: trace?.id, traceParent: trace?.parent))
    }
}
