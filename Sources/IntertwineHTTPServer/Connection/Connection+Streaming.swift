internal import HTTPTypes
internal import IntertwineEventLoop

extension Connection {
    /// Sends a streamed answer. Called in the handler's task.
    func stream(
        _ id: UInt64, _ response: ServerResponse, length: Int?, _ produce: @Sendable (ResponseWriter) async throws -> Void
    ) async {
        let wantsBody = await withCheckedContinuation { continuation in
            worker.loop.execute { continuation.resume(returning: self.beginStream(id, response, length: length)) }
        }
        guard wantsBody else { return }
        do {
            try await produce(ResponseWriter(connection: self, exchange: id))
            worker.loop.execute { self.endStream(id, isComplete: true) }
        } catch {
            worker.loop.execute { self.endStream(id, isComplete: false) }
        }
    }

    /// Sends the head. False where no body is to follow.
    private func beginStream(_ id: UInt64, _ response: ServerResponse, length: Int?) -> Bool {
        guard let exchange, exchange.id == id, exchange.status == 0 else { return false }
        exchange.status = response.status.code
        exchange.deadline = nil
        let code = response.status.code
        let hasContent = exchange.method != .head && code != 204 && code != 304
        let isOld = exchange.framing.announcesKeepAlive || exchange.parser.minor == 0
        exchange.streamFraming = length.map { .length(remaining: $0) } ?? (isOld ? .close : .chunked)
        let encoder = HeadEncoder(response)
        let tag = response.entityTag.map { Array($0.utf8) }
        let head =
            length == nil && !isOld && code != 204 && code != 304
            ? encoder.chunked() : encoder.head(length: length, entityTag: tag, coding: nil)
        let closing =
            response.closesConnection || mustClose(exchange.framing) || !canDiscardBody(exchange) || (length == nil && isOld && hasContent)
        exchange.closesAfterStream = closing
        let start = worker.stage.count
        exchange.bytes.withUnsafeBufferPointer { worker.requestID.write(exchange.name, in: $0) }
        append(head, closing: closing, announcing: exchange.framing.announcesKeepAlive)
        exchange.sent = worker.stage.count - start
        if !hasContent {
            exchange.task = nil
            finishAnswer(exchange, closing: closing)
        }
        goOn()
        return hasContent && phase != .closed
    }

    func write(_ bytes: [UInt8], exchange id: UInt64, _ continuation: CheckedContinuation<Void, any Error>) {
        guard let exchange, exchange.id == id, let framing = exchange.streamFraming, phase != .closed else {
            continuation.resume(throwing: CancellationError())
            return
        }
        exchange.sent += bytes.count
        switch framing {
        case .length(let remaining):
            guard bytes.count <= remaining else {
                continuation.resume(throwing: ResponseWriterError.tooLong)
                return
            }
            exchange.streamFraming = .length(remaining: remaining - bytes.count)
            append(bytes, 0..<bytes.count)
        case .chunked:
            worker.stage.append(String(bytes.count, radix: 16))
            worker.stage.append("\r\n")
            append(bytes, 0..<bytes.count)
            worker.stage.append("\r\n")
        case .close:
            append(bytes, 0..<bytes.count)
        }
        flush()
        if phase == .closed || pendingBytes < worker.configuration.outputHighWater {
            continuation.resume()
        } else {
            exchange.waiters.append(continuation)
        }
        settle()
    }

    private func endStream(_ id: UInt64, isComplete: Bool) {
        guard let exchange, exchange.id == id, let framing = exchange.streamFraming else { return }
        exchange.task = nil
        var isWhole = isComplete
        switch framing {
        case .length(let remaining): if remaining > 0 { isWhole = false }
        case .chunked: if isComplete { worker.stage.append("0\r\n\r\n") }
        case .close: break
        }
        guard isWhole else {
            // The client must notice that this was not all.
            reset()
            return
        }
        finishAnswer(exchange, closing: exchange.closesAfterStream)
        goOn()
    }
}
