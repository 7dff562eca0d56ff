internal import HTTPTypes

/// ``ConnectionState`` decides the next step, ``ClientSocket`` performs it in the kernel, and ``Exchange`` calls the handler.
final class Connection: EventHandler, TimerHandler, @unchecked Sendable {
    // Safety of @unchecked: `worker` and `peer` are constants and Sendable. Other threads read only these two: tasks and the
    // threads of stores, through `Exchange`, to find the loop. All other members are touched only on the worker's loop: the connection is
    // created there (`Worker.adopt`) and is called by the loop (events, timers), by the worker, and by exchanges and streams in closures
    // that the loop executes. The loop is serial, so no two of these run at the same time.

    private static let maxBytesPerTick = 1 << 20

    let worker: Worker
    let peer: PeerAddress
    var index = 0
    // The exclusivity of accesses is not checked at run time, which would happen about thirty times per request. No two accesses overlap:
    // all run on the loop, the state calls no other object, and the socket calls only code that calls no connection
    // (the kernel, the worker's stage and the loop's tables).
    @exclusivity(unchecked) var state: ConnectionState
    @exclusivity(unchecked) private var socket: ClientSocket
    private var pendingInput: [UInt8] = []
    private var parser: HeadParser?
    var exchange: Exchange?
    private var pushed: EventStream?

    init(descriptor: Int32, peer: PeerAddress, worker: Worker) {
        self.worker = worker
        self.peer = peer
        state = ConnectionState(now: worker.loop.now, worker.limits)
        socket = ClientSocket(descriptor, worker)
    }

    // MARK: Queries

    var isIdle: Bool { state.isBetweenRequests && pendingInput.isEmpty && !isSending }

    private var isSending: Bool { socket.waiting != nil }

    var isNewcomer: Bool { state.isNewcomer(at: worker.loop.now) }

    var lastActive: MonotonicInstant { state.lastActive }

    var isClosed: Bool { state.phase == .closed }

    var peerIsClosing: Bool { state.peerIsClosing }

    var hasRoom: Bool { (socket.waiting ?? 0) < worker.limits.output }

    func mustClose(after framing: MessageFraming) -> Bool {
        state.mustClose(
            after: framing, at: worker.loop.now, isDraining: worker.isDraining || worker.closesAfterResponses, worker.limits)
    }

    // MARK: The loop

    func start() {
        read()
        flushAndUpdateInterest()
        if isClosed { return }
        if !socket.open(for: self, until: state.deadline) { close() }
    }

    func ready(_ events: ReadyEvents) {
        if !events.isDisjoint(with: [.failed, .hungUp]) {
            close()
            return
        }
        if events.contains(.writable) { sendWaiting() }
        if !isClosed, !events.isDisjoint(with: [.readable, .peerClosed]) { read(peerClosed: events.contains(.peerClosed)) }
        flushAndUpdateInterest()
    }

    func flushAndUpdateInterest() {
        flush(isEnd: state.phase == .closing)
        if state.phase == .closing, !isSending { finishClosing() }
        if isClosed { return }
        if state.phase == .head, state.peerHasClosed, !isSending {
            close()
            return
        }
        watch(state.interest(current: socket.interest, unsent: socket.waiting, worker.limits))
        updateDeadline()
    }

    private func watch(_ wanted: ReadyEvents) {
        if !socket.watch(wanted) { close() }
    }

    private func updateDeadline() {
        state.updateDeadline(
            at: worker.loop.now, worker.limits, sendingSince: socket.waitingSince, isDraining: worker.isDraining)
        socket.wake(by: state.deadline)
    }

    func timerDue(at now: MonotonicInstant) -> MonotonicInstant? {
        timeoutFired(now)
        return isClosed ? nil : socket.nextWake(by: state.deadline, after: now)
    }

    private func timeoutFired(_ now: MonotonicInstant) {
        switch state.timeoutFired(at: now, worker.limits) {
        case .nothing: return
        case .idle:
            // A request may have arrived while the loop was busy with other connections or the process was not scheduled.
            guard !readIsOfUse() else { return }
            if socket.unsent == 0 {
                close()
            } else if !state.isFlushing || socket.hasProgressed() {
                if !state.isFlushing { socket.beginMeasuring() }
                state.awaitWritable(at: now, worker.limits)
            } else {
                reset()
            }
        case .lingered: close()
        case .write: if socket.hasProgressed() { updateDeadline() } else { reset() }
        case .headIsLate:
            pendingInput.withUnsafeBufferPointer { bytes in
                let problem = Problem(.requestTimeout, nil, "The head of the request took too long.")
                refuse(problem, parser?.readMethod(in: bytes), bytes)
            }
            flushAndUpdateInterest()
        case .bodyIsLate:
            guard let exchange else { return }
            exchange.abandon(because: .tooSlow)
            if state.hasResponse {
                close()
            } else {
                refuse(Problem(.requestTimeout, nil, "The body of the request took too long."), exchange)
                flushAndUpdateInterest()
            }
        case .responseIsLate:
            guard let exchange else { return }
            exchange.abandon()
            refuse(Problem(.serviceUnavailable, nil, "The response took too long."), exchange)
            flushAndUpdateInterest()
        }
    }

    // MARK: Reading

    private func read(peerClosed: Bool = false) {
        switch state.mayRead(peerClosed: peerClosed, isSending: isSending) {
        case .now: break
        case .later: return
        case .afterResponse:
            if peerClosed { noticePeerClose() }
            if state.phase == .responding { watch(socket.interest.subtracting(.readable)) }
            return
        }
        guard let count = socket.read() else { return }
        if count <= 0 {
            if count < 0 || !state.endOfInput(isSending: isSending) { close() } else if state.phase == .responding { noticePeerClose() }
            return
        }
        guard state.received(count, at: worker.loop.now) else {
            if state.hasLingered { close() }
            return
        }
        let received = UnsafeBufferPointer(rebasing: worker.scratch[0..<count])
        if pendingInput.isEmpty {
            let used = consume(received)
            if used < received.count, !isClosed { pendingInput = Array(received[used...]) }
        } else {
            pendingInput.append(contentsOf: received)
            consumePendingInput()
        }
    }

    private func readIsOfUse() -> Bool {
        let before = state.requests
        read()
        if isIdle, state.requests == before { return false }
        flushAndUpdateInterest()
        return true
    }

    func consumePendingInput() {
        if pendingInput.isEmpty { return }
        let bytes = pendingInput
        pendingInput = []
        let used = bytes.withUnsafeBufferPointer { consume($0) }
        if isClosed || used >= bytes.count { return }
        pendingInput = used == 0 ? bytes : Array(bytes[used...])
    }

    private func consume(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var (offset, servedInTurn) = (0, 0)
        while true {
            if state.phase == .head, offset < bytes.count {
                if worker.stage.count >= worker.limits.output {
                    servedInTurn += worker.stage.count
                    flush()
                    if servedInTurn >= Self.maxBytesPerTick, !isClosed {
                        state.waitForTurn(true)
                        worker.loop.execute { self.resume() }
                        return offset
                    }
                }
                // No further request is served if the client has reset the connection.
                if isClosed || isSending { return offset }
            }
            let start = offset
            let parser = self.parser ?? worker.parser
            switch state.next(bytes, from: &offset, parser) {
            case .none: return offset
            case .partOfHead:
                if self.parser == nil {
                    self.parser = worker.obtainParser()
                    state.beginHead(at: worker.loop.now)
                }
                return offset
            case .head:
                self.parser = nil
                let (head, rest) = (bytes[start..<offset], bytes[offset...])
                let isKept = receive(parser, UnsafeBufferPointer(rebasing: head), remaining: UnsafeBufferPointer(rebasing: rest))
                if !isKept { recycle(parser) } else if parser === worker.parser { _ = worker.obtainParser() }
            case .parseError(let error):
                let head = UnsafeBufferPointer(rebasing: bytes[start...])
                let method = parser.readMethod(in: head)
                self.parser = nil
                recycle(parser)
                refuse(Problem(error), method, head)
                return bytes.count
            case .body(.needsMore), .body(.waits): return offset
            case .body(.dropped): break
            case .body(.tooMuchToDrop): beginClosing(lingering: true)
            case .body(.parseError(let error)):
                failBody(error)
                return bytes.count
            case .body(.tooLong): exchange?.bodyIsTooLong(limit: state.body.limit)
            case .body(.content(let part)):
                switch exchange?.receiveBody(UnsafeBufferPointer(rebasing: bytes[part]), missing: state.body.missing) {
                case .pauses: state.pauseBody()
                case .outOfMemory: exchange?.refuseForNow()
                case .goesOn, nil: break
                }
            case .body(.end): finishBody()
            }
        }
    }

    private func recycle(_ parser: HeadParser) {
        if parser === worker.parser { parser.reset() } else { worker.recycle(parser) }
    }

    private func noticePeerClose() {
        state.noticePeerClose()
        // An event stream has no end that its client could wait for. Other clients receive the response (RFC 9112, 9.6), unless the handler
        // ends its work with its client.
        if pushed != nil || exchange?.cancelsOnPeerClose == true { close() }
    }

    func resume() {
        state.waitForTurn(false)
        if state.canConsume { consumePendingInput() }
        flushAndUpdateInterest()
    }

    // MARK: Sending

    func append(_ body: ResponseBody, _ part: Range<Int>) {
        if !socket.append(body, part) { close() }
    }

    func flush(isEnd: Bool = false) {
        if isClosed { worker.stage.clear() } else if !socket.flush(followed: isEnd) { close() }
    }

    private func sendWaiting() {
        if !socket.sendWaiting() {
            close()
            return
        }
        if hasRoom { exchange?.resumeWriting() }
        if !isSending, state.canConsume { consumePendingInput() }
    }

    // MARK: Event streams

    func carries(_ stream: EventStream) -> Bool { pushed === stream && state.phase == .responding }

    var waitingBytes: Int { socket.waiting ?? 0 }

    func beginPushing(_ stream: EventStream) {
        exchange.map { worker.recycle($0.head.parser) }
        exchange = nil
        pendingInput = []
        pushed = stream
        flushAndUpdateInterest()
    }

    func endPushing() {
        pushed?.end()
        pushed = nil
        beginClosing()
    }

    // MARK: Closing

    func beginClosing(lingering: Bool = false) {
        guard state.beginClosing(lingering: lingering), let exchange else { return }
        exchange.abandon()
        self.exchange = nil
    }

    private func finishClosing() {
        guard state.linger(at: worker.loop.now, worker.limits, hasUnread: socket.hasUnread) else {
            close()
            return
        }
        socket.endOutput()
        pendingInput = []
    }

    private func close() {
        guard state.close() else { return }
        worker.stage.clear()
        if let exchange {
            exchange.abandon()
            if !state.body.isDiscarding { exchange.recordAborted() }
            worker.recycle(exchange.head.parser)
            self.exchange = nil
        }
        pushed?.end()
        pushed = nil
        if let parser { worker.recycle(parser) }
        parser = nil
        pendingInput = []
        socket.close()
        worker.forget(self)
    }

    /// Closes the connection with a reset, so that the client sees an error.
    func reset() {
        if isClosed { return }
        socket.setResetOnClose()
        close()
    }

    /// Closes this idle connection to free a slot for another client, unless a request has arrived.
    func closeToFreeSlot() {
        guard isIdle, !readIsOfUse() else { return }
        if state.requests == 0 {
            socket.refuse()
            worker.observer?.connectionRefused(peer: peer)
        }
        close()
    }

    /// Closes an idle connection because the server is stopping, and lets a busy one finish.
    func drain() {
        if let pushed { return pushed.drain() }
        if exchange != nil, state.body.isDiscarding {
            beginClosing(lingering: true)
            flushAndUpdateInterest()
        }
        guard isIdle else { return }
        let now = MonotonicInstant.now()
        read()
        if !state.startDrainGrace(at: now, isIdle: isIdle) { close() }
        flushAndUpdateInterest()
    }
}
