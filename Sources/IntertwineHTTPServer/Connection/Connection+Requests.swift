internal import HTTPTypes
internal import IntertwineEventLoop

extension Connection {
    /// A head is complete: answers it at once, or makes an exchange of it. The answer is whether the parser has been kept.
    func receiveHead(_ parser: HeadParser, _ bytes: UnsafeBufferPointer<UInt8>, rest: UnsafeBufferPointer<UInt8>) -> Bool {
        requests += 1
        isLastChance = false
        let methodName = ByteView(bytes, parser.method)
        let method = RequestMethod(methodName)
        let framing: MessageFraming
        do {
            framing = try MessageFraming(parser, bytes)
        } catch {
            fail(error, method: method, head: bytes)
            return false
        }
        if worker.isRefusing {
            refuse(ProblemDetails(status: 503, detail: "The service is stopping."), method: method, head: bytes)
            return false
        }
        let form: RequestTarget?
        var targetFault: HTTPParseError?
        do {
            form = try RequestTarget(ByteView(bytes, parser.target), method: methodName)
        } catch {
            (form, targetFault) = (nil, error)
        }
        let name = worker.requestID.name(parser, bytes)
        var path = parser.target
        var authority: ByteView?
        if case .origin(let found, let named) = form {
            authority = named
            if named != nil { path = (parser.target.upperBound - found.count)..<parser.target.upperBound }
        }
        if case .origin = form, framing.body == .none, framing.expectation != .unknown, method != .other, method != .trace {
            let head = RequestHead(parser: parser, bytes: bytes, method: method, target: ByteView(bytes, path))
            if let finished = worker.handler.finished(for: head) {
                worker.requestID.write(name, in: bytes)
                let closes = mustClose(framing) || finished.closesConnection
                let (status, sent) = serve(finished, head, closing: closes, announcing: framing.announcesKeepAlive)
                let trace = worker.observer?.wantsTraces == true ? RequestTrace(head, name: name) : nil
                observe(method: method, route: finished.route, status: status, bytes: sent, begun: worker.loop.now, trace: trace)
                if closes { beginClosing() }
                return false
            }
            if let deferred = worker.handler.deferred(for: head, peer: peer) {
                start(makeExchange(parser, bytes, method: method, framing: framing, target: path, name: name), deferred)
                return true
            }
        }
        let exchange = makeExchange(parser, bytes, method: method, framing: framing, target: path, name: name)
        if framing.body == .chunked {
            let decoder = ChunkedDecoder(
                extensionBytes: worker.configuration.chunkExtensionLimit, trailerBytes: worker.configuration.trailerLimit,
                trailerFields: worker.configuration.trailerFieldLimit)
            exchange.announced = decoder.announced(by: rest)
            exchange.body = .chunked(decoder)
        }
        exchange.owesContinue = framing.expectation == .continue && !exchange.isBodyDone
        exchange.bodyHasBegun = !rest.isEmpty
        phase = .body
        if let refusal = targetFault.map(Self.refusal) ?? refusal(of: exchange, form, name: methodName) {
            let request = makeRequest(exchange, path: ByteView(bytes, path), authority: authority)
            answerEarly(worker.handler.refuse(request, peer: peer, with: refusal), exchange)
        } else {
            route(exchange, path: ByteView(bytes, path), authority: authority)
        }
        return true
    }

    private func makeExchange(
        _ parser: HeadParser, _ bytes: UnsafeBufferPointer<UInt8>, method: RequestMethod, framing: MessageFraming, target: Range<Int>,
        name: RequestID.Name
    ) -> Exchange {
        worker.lastExchange += 1
        let exchange = Exchange(
            id: worker.lastExchange, bytes: Array(bytes), parser: parser, method: method, framing: framing, target: target, name: name,
            now: worker.loop.now, timeLimit: worker.configuration.handlerTimeout)
        self.exchange = exchange
        return exchange
    }

    /// What cannot be a target is the last of its connection: what follows may be no request either.
    private static func refusal(_ fault: HTTPParseError) -> ServerResponse {
        var response = ProblemDetails(status: fault.status, detail: fault.detail).response()
        response.closesConnection = true
        return response
    }

    /// What the server refuses or answers itself, whatever the handler would say.
    private func refusal(of exchange: Exchange, _ form: RequestTarget?, name: ByteView) -> ServerResponse? {
        let allow: HTTPFields = [.allow: worker.allowedMethods]
        // Registered methods are known, wherever they lead: 405. What is not, is 501 (RFC 9110, 15.6.2).
        if exchange.method == .connect || exchange.method == .trace || name.isEqual("QUERY") {
            var response = ProblemDetails(status: 405, detail: "This method is not allowed here.").response(fields: allow)
            response.closesConnection = exchange.method == .connect
            return response
        }
        if !worker.configuration.methods.contains(where: { $0.rawValue.utf8.elementsEqual(name.bytes) }) {
            return ProblemDetails(status: 501, detail: "This method is not known here.").response(fields: allow)
        }
        if exchange.framing.expectation == .unknown {
            var response = ProblemDetails(status: 417, detail: "The only expectation that can be met is 100-continue.").response()
            response.closesConnection = !exchange.isBodyDone
            return response
        }
        if case .asterisk = form { return ServerResponse(status: .noContent, fields: allow) }
        if !exchange.isBodyDone, exchange.parser.seen & KnownField.contentEncoding.bit != 0 {
            if exchange.bytes.withUnsafeBufferPointer({ Self.isCoded(exchange.parser, $0) }) {
                return ProblemDetails(status: 415, detail: "Request bodies must not be coded.").response(fields: [
                    .acceptEncoding: "identity"
                ])
            }
        }
        return nil
    }

    private static func isCoded(_ parser: HeadParser, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var isCoded = false
        for field in parser.fields where field.known == .contentEncoding {
            parser.value(field, in: bytes).forEachElement(quoting: false) { element in
                if !element.isEmpty, !element.isEqualIgnoringCase("identity") { isCoded = true }
                return true
            }
        }
        return isCoded
    }

    private func route(_ exchange: Exchange, path: ByteView, authority: ByteView?) {
        let request = makeRequest(exchange, path: path, authority: authority)
        let plan = worker.handler.plan(for: request, peer: peer)
        exchange.route = plan.route
        exchange.request = request
        exchange.bodyLimit = plan.bodyLimit ?? worker.configuration.bodyLimit
        exchange.cancelsOnPeerClose = plan.cancelsOnPeerClose
        exchange.timeLimit = plan.timeLimit ?? exchange.timeLimit
        switch plan.decision {
        case .answer(let response):
            answerEarly(response, exchange)
        case .accept(let streamsBody, let respond):
            exchange.respond = respond
            if case .length(let length) = exchange.body, length > exchange.bodyLimit {
                refuseBody(exchange)
                return
            }
            if !exchange.isBodyDone, worker.bodies.isUsedUp {
                refuseForNow(exchange)
                return
            }
            if exchange.owesContinue {
                if !exchange.bodyHasBegun { worker.stage.append("HTTP/1.1 100 Continue\r\n\r\n") }
                exchange.owesContinue = false
            }
            if exchange.isBodyDone {
                phase = .responding
                start(exchange, body: RequestBody(storage: .collected([], nil)))
            } else if streamsBody {
                startStreaming(exchange)
            }
        }
    }

    private func makeRequest(_ exchange: Exchange, path: ByteView, authority: ByteView?) -> HTTPRequest {
        exchange.bytes.withUnsafeBufferPointer { bytes in
            let parser = exchange.parser
            var fields = HTTPFields()
            fields.reserveCapacity(parser.fields.count)
            for field in parser.fields where field.known != .host {
                let name = ByteView(bytes, Int(field.name.lowerBound)..<Int(field.name.upperBound)).string
                guard let name = HTTPField.Name(name) else { continue }
                fields.append(HTTPField(name: name, value: Array(parser.value(field, in: bytes).bytes)))
            }
            let host = parser.value(of: .host, in: bytes)
            let method = HTTPRequest.Method(rawValue: ByteView(bytes, parser.method).string) ?? .get
            let prefix = path[0] == .slash ? "" : "/"
            return HTTPRequest(
                method: method, scheme: "http", authority: (authority ?? host).string, path: prefix + path.string, headerFields: fields)
        }
    }

    /// Whether the answer to this request is the connection's last.
    func mustClose(_ framing: MessageFraming) -> Bool {
        !framing.keepsAlive || worker.isDraining || requests >= worker.configuration.requestsPerConnection
            || worker.loop.now.since(openedAt) > worker.configuration.connectionAge
    }

    func observe(_ exchange: Exchange, status: Int, bytes: Int) {
        guard let observer = worker.observer else { return }
        let trace =
            observer.wantsTraces
            ? exchange.bytes.withUnsafeBufferPointer { RequestTrace(exchange.head(in: $0), name: exchange.name) } : nil
        observe(
            method: exchange.method, route: exchange.route, status: status, bytes: bytes, begun: exchange.begunAt, trace: trace)
    }

    func observe(method: RequestMethod?, route: String?, status: Int, bytes: Int, begun: LoopInstant, trace: RequestTrace?) {
        guard let observer = worker.observer else { return }
        observer.requestFinished(
            RequestRecord(
                method: method, route: route, status: status, bytes: bytes, nanoseconds: LoopInstant.now().nanoseconds &- begun.nanoseconds,
                peer: peer,
                trace: trace))
    }
}
