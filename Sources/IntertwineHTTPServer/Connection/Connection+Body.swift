internal import HTTPTypes
internal import IntertwineEventLoop

extension Connection {
    /// Reads on in the body of the current request. The answer is how many bytes belonged to it.
    func readBody(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        guard let exchange else { return bytes.count }
        switch exchange.body {
        case .done:
            return 0
        case .length(let remaining):
            let count = min(remaining, bytes.count)
            exchange.body = count == remaining ? .done : .length(remaining - count)
            take(UnsafeBufferPointer(rebasing: bytes[0..<count]), exchange)
            if exchange.isBodyDone, self.exchange === exchange { finishBody(exchange) }
            return count
        case .chunked(var decoder):
            // The decoder is not copied while it is at work.
            exchange.body = .done
            var index = 0
            while self.exchange === exchange, phase == .body {
                do {
                    switch try decoder.next(bytes, from: &index) {
                    case .data(let range):
                        exchange.body = .chunked(decoder)
                        take(UnsafeBufferPointer(rebasing: bytes[range]), exchange)
                        refuseAnnounced(decoder, exchange)
                        if exchange.isPaused { return index }
                    case .needsMore:
                        exchange.body = .chunked(decoder)
                        refuseAnnounced(decoder, exchange)
                        return index
                    case .end:
                        exchange.body = .done
                        finishBody(exchange)
                        return index
                    }
                } catch {
                    failBody(exchange, error)
                    return bytes.count
                }
            }
            return index
        }
    }

    private func take(_ content: UnsafeBufferPointer<UInt8>, _ exchange: Exchange) {
        exchange.received += content.count
        exchange.owesContinue = false
        if exchange.isDiscarding {
            exchange.discarded += content.count
            if exchange.discarded > worker.configuration.discardLimit { beginClosing(lingering: true) }
            return
        }
        if exchange.received > exchange.bodyLimit {
            overrun(exchange)
        } else if let stream = exchange.stream {
            exchange.isPaused = !stream.push(Array(content))
        } else {
            if exchange.collected.isEmpty, case .length(let rest) = exchange.body {
                exchange.collected.reserveCapacity(min(rest + content.count, 256 * 1024))
            }
            exchange.collected.append(contentsOf: content)
            let share = exchange.share ?? BodyShare(of: worker.bodies)
            exchange.share = share
            if !share.take(content.count) { refuseForNow(exchange) }
        }
    }

    /// A chunk that says it is too long is not waited for.
    private func refuseAnnounced(_ decoder: ChunkedDecoder, _ exchange: Exchange) {
        guard self.exchange === exchange, phase == .body, !exchange.isDiscarding else { return }
        if decoder.announced > exchange.bodyLimit - exchange.received { overrun(exchange) }
    }

    private func overrun(_ exchange: Exchange) {
        exchange.stream?.finish(.failure(.tooLarge))
        exchange.stream = nil
        if exchange.streamFraming == nil { refuseBody(exchange) } else { beginClosing(lingering: true) }
    }

    private func finishBody(_ exchange: Exchange) {
        if exchange.isDiscarding {
            endExchange()
        } else if let stream = exchange.stream {
            phase = .responding
            exchange.deadline = exchange.streamFraming == nil ? worker.loop.now.advanced(by: exchange.timeLimit) : nil
            stream.finish(.success(()))
        } else {
            phase = .responding
            let body = exchange.collected
            exchange.collected = []
            let share = exchange.share
            exchange.share = nil
            start(exchange, body: RequestBody(storage: .collected(body, share)))
        }
    }

    /// Calls the handler before the body is there, and hands the body on as it comes.
    func startStreaming(_ exchange: Exchange) {
        let (loop, id) = (worker.loop, exchange.id)
        let stream = RequestBodyStream(highWater: 64 * 1024, share: BodyShare(of: worker.bodies)) { [weak self] in
            guard let self else { return }
            loop.execute { self.resumeBody(id) }
        }
        exchange.stream = stream
        start(exchange, body: RequestBody(storage: .streamed(stream)))
    }

    private func resumeBody(_ id: UInt64) {
        guard let exchange, exchange.id == id, exchange.isPaused else { return }
        exchange.isPaused = false
        exchange.deadline = nil
        consumeHeld()
        settle()
    }

    func refuseBody(_ exchange: Exchange) {
        var response = ProblemDetails(status: 413, detail: "The body is longer than \(exchange.bodyLimit) bytes.").response()
        // A handler that is at work on the body learns of it there.
        if exchange.task == nil, let request = exchange.request { response = worker.handler.refuse(request, peer: peer, with: response) }
        response.closesConnection = true
        abandon(exchange)
        answerEarly(response, exchange)
    }

    /// There is no room for more bodies.
    func refuseForNow(_ exchange: Exchange) {
        var response = ProblemDetails(status: 503, detail: "Too many bodies are under way.").response(fields: [.retryAfter: "1"])
        if let request = exchange.request { response = worker.handler.refuse(request, peer: peer, with: response) }
        response.closesConnection = true
        exchange.collected = []
        exchange.share = nil
        answerEarly(response, exchange)
    }

    private func failBody(_ exchange: Exchange, _ error: HTTPParseError) {
        let isAnswered = exchange.isDiscarding || exchange.streamFraming != nil
        abandon(exchange)
        if isAnswered {
            beginClosing(lingering: true)
        } else {
            exchange.bytes.withUnsafeBufferPointer { fail(error, method: exchange.method, head: $0) }
        }
    }

    /// Lets go of the handler: its task is cancelled, and whatever it still says is not heard.
    ///
    /// - Parameter reason: what it is told of the body, if it is still at that.
    func abandon(_ exchange: Exchange, because reason: RequestBodyError = .incomplete) {
        exchange.stream?.finish(.failure(reason))
        exchange.task?.cancel()
        exchange.task = nil
        exchange.cancel?()
        exchange.cancel = nil
        exchange.stream = nil
        let waiters = exchange.waiters
        exchange.waiters = []
        for waiter in waiters { waiter.resume(throwing: CancellationError()) }
    }
}
