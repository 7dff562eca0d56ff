internal import Glibc
internal import IntertwineEventLoop

extension Connection {
    func readable(_ events: ReadyEvents) {
        switch phase {
        case .responding:
            if events.contains(.peerClosed) { noticePeerClose() }
            // Whatever came waits in the kernel until the answer is out.
            if phase == .responding { setInterest(interest.subtracting(.readable)) }
            return
        case .closing:
            if events.contains(.peerClosed) { peerIsClosing = true }
            return
        case .head where !pending.isEmpty || isWaitingForTurn, .body where exchange?.isPaused == true:
            // What came before that end is still to be read.
            if events.contains(.peerClosed) { peerIsClosing = true }
            return
        default: break
        }
        let scratch = worker.scratch
        let count = recv(descriptor, scratch.baseAddress, scratch.count, 0)
        if count < 0 {
            if errno != EAGAIN, errno != EINTR { close() }
            return
        }
        if count == 0 {
            endOfInput()
            return
        }
        if phase == .lingering {
            lingerBudget -= count
            if lingerBudget <= 0 { close() }
            return
        }
        lastActive = worker.loop.now
        let received = UnsafeBufferPointer(rebasing: scratch[0..<min(count, scratch.count)])
        if held.isEmpty {
            let used = consume(received)
            if used < received.count, phase != .closed { held = Array(received[used...]) }
        } else {
            held.append(contentsOf: received)
            consumeHeld()
        }
    }

    /// Goes on with what has been received before.
    func consumeHeld() {
        if held.isEmpty { return }
        let bytes = held
        held = []
        let used = bytes.withUnsafeBufferPointer { consume($0) }
        if phase == .closed || used >= bytes.count { return }
        if used == 0 { held = bytes } else { held = Array(bytes[used...]) }
    }

    /// Serves the requests in these bytes until one has to wait. The answer is how many bytes are used up.
    private func consume(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var (offset, servedInTurn) = (0, 0)
        while offset < bytes.count {
            let rest = UnsafeBufferPointer(rebasing: bytes[offset...])
            switch phase {
            case .head:
                if worker.stage.count >= worker.configuration.outputHighWater {
                    servedInTurn += worker.stage.count
                    flush()
                    if servedInTurn >= Self.bytesPerTurn, phase != .closed {
                        isWaitingForTurn = true
                        worker.loop.execute { self.goOn() }
                        return offset
                    }
                }
                // Not a request more for a client that has broken the connection off.
                if phase == .closed || !pending.isEmpty { return offset }
                guard let used = readHead(rest) else { return offset }
                offset += used
            case .body:
                if exchange?.isPaused == true { return offset }
                offset += readBody(rest)
            case .responding:
                return offset
            case .closing, .lingering, .closed:
                mustLinger = true
                return bytes.count
            }
        }
        return offset
    }

    /// Nil where the head is not complete.
    private func readHead(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        let parser = self.parser ?? worker.parser
        do {
            guard try parser.parse(bytes) else {
                if self.parser == nil {
                    self.parser = worker.takeParser()
                    messageBegun = worker.loop.now
                }
                return nil
            }
        } catch {
            let method = parser.readMethod(in: bytes)
            parser.reset()
            if self.parser != nil {
                self.parser = nil
                worker.giveBack(parser)
            }
            fail(error, method: method, head: bytes)
            return bytes.count
        }
        let length = parser.position
        self.parser = nil
        let end = min(length, bytes.count)
        let isKept = receiveHead(
            parser, UnsafeBufferPointer(rebasing: bytes[..<end]), rest: UnsafeBufferPointer(rebasing: bytes[end...]))
        if !isKept {
            if parser === worker.parser { parser.reset() } else { worker.giveBack(parser) }
        } else if parser === worker.parser {
            _ = worker.takeParser()
        }
        return length
    }

    private func endOfInput() {
        peerIsClosing = true
        peerHasClosed = true
        switch phase {
        case .head:
            // A part of a request is no request. The answers to whole ones still go out.
            if pending.isEmpty { close() } else { phase = .closing }
        case .body, .lingering: close()
        case .responding: noticePeerClose()
        case .closing, .closed: break
        }
    }

    private func noticePeerClose() {
        peerIsClosing = true
        if let exchange, exchange.cancelsOnPeerClose {
            // What the client has lost interest in is given up. What the handler says to that still goes out: the client may have
            // closed no more than its own side. An answer that is being streamed can not be finished.
            if exchange.status == 0 { exchange.task?.cancel() } else { close() }
        }
    }
}
