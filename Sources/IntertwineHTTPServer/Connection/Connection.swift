internal import IntertwineEventLoop

/// One connection of a client, from being accepted to being closed. Confined to its worker's loop. ``ConnectionState`` decides what is to be
/// done, ``ClientSocket`` brings it to the kernel, and ``Exchange`` to the handler. Here stands what it does with bytes, time and its end; what
/// it does with requests, once their heads are read, stands in a file of its own, which shares ``state`` and ``exchange`` with this one and
/// with nobody else.
///
/// While it is idle it owns no buffer and no parser; it borrows the worker's and keeps them only while a message is incomplete.
final class Connection: EventHandler, TimerHandler, @unchecked Sendable {
    // Safety of @unchecked: `worker` and `peer` are constants and Sendable, and the only members that others than the loop read: tasks and the
    // threads of stores, through `Exchange`, to find the way back. Everything else is touched on the worker's loop alone: it is made there
    // (`Worker.adopt`), and is called by the loop itself (events, timers), by the worker, and by exchanges and streams from what they have the
    // loop execute. The loop is serial, so no two of these run at once.

    /// After so many bytes of answers to requests that came together, the other connections have their turn.
    private static let maxBytesPerTick = 1 << 20

    let worker: Worker
    let peer: PeerAddress
    /// The place in the worker's list.
    var index = 0
    // The runtime would check some thirty times a request that no two accesses to these overlap. None can: all are made on the loop, the state
    // calls nobody, and what the socket calls, the kernel, the worker's stage and the loop's tables, calls no connection.
    @exclusivity(unchecked) var state: ConnectionState
    @exclusivity(unchecked) private var socket: ClientSocket
    /// Bytes received that could not be used up: a part of a head, or requests behind one that is being answered.
    private var pendingInput: [UInt8] = []
    /// The parser that has read a part of a head.
    private var parser: HeadParser?
    /// The request that is answered later.
    var exchange: Exchange?
    /// The answer that goes on, behind which no other comes.
    private var pushed: EventStream?

    init(descriptor: Int32, peer: PeerAddress, worker: Worker) {
        self.worker = worker
        self.peer = peer
        state = ConnectionState(now: worker.loop.now, worker.limits)
        socket = ClientSocket(descriptor, worker)
    }

    // MARK: What others ask

    /// Waits for a next request and owes nothing.
    var isIdle: Bool { state.isBetweenRequests && pendingInput.isEmpty && !isSending }

    /// Something waits for the client to take it.
    private var isSending: Bool { socket.waiting != nil }

    var isNewcomer: Bool { state.isNewcomer(at: worker.loop.now) }

    var lastActive: MonotonicInstant { state.lastActive }

    var isClosed: Bool { state.phase == .closed }

    /// The client has closed its sending side.
    var peerIsClosing: Bool { state.peerIsClosing }

    /// Whether a handler may write more.
    var hasRoom: Bool { (socket.waiting ?? 0) < worker.limits.output }

    /// Whether this is the request at hand.
    func serves(_ exchange: Exchange) -> Bool { self.exchange === exchange }

    /// Whether the answer to the request at hand is the connection's last.
    func mustClose(after framing: MessageFraming) -> Bool {
        state.mustClose(
            after: framing, at: worker.loop.now, isDraining: worker.isDraining || worker.closesAfterResponses, worker.limits)
    }

    // MARK: The loop

    /// Reads before it is watched: most clients have sent their request by the time that they are accepted, and many want no second.
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

    /// Brings what was decided to the kernel: sends what is staged, closes what is over, watches and waits for what is next. The last
    /// thing whenever the connection was at work, closed or not: nothing may be left in the worker's stage for the next one to send.
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
            // A request may have come while the loop was busy with others, or the process was not run.
            guard !readIsOfUse() else { return }
            if socket.unsent == 0 {
                close()
            } else if !state.isFlushing || socket.meetsMinimumReadRate() {
                if !state.isFlushing { socket.beginMeasuring() }
                state.awaitWritable(at: now, worker.limits)
            } else {
                reset()
            }
        case .lingered: close()
        case .write: if socket.meetsMinimumReadRate() { updateDeadline() } else { reset() }
        case .headIsLate:
            pendingInput.withUnsafeBufferPointer { bytes in
                let problem = ProblemDetails(status: 408, detail: "The head of the request took too long.")
                refuse(problem, parser?.readMethod(in: bytes), bytes)
            }
            flushAndUpdateInterest()
        case .bodyIsLate:
            guard let exchange else { return }
            exchange.abandon(because: .tooSlow)
            if state.hasResponse {
                close()
            } else {
                refuse(ProblemDetails(status: 408, detail: "The body of the request took too long."), exchange)
                flushAndUpdateInterest()
            }
        case .responseIsLate:
            guard let exchange else { return }
            exchange.abandon()
            refuse(ProblemDetails(status: 503, detail: "The answer took too long."), exchange)
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

    /// Reads what may be there. Whether the connection is idle no more, or was not in between.
    private func readIsOfUse() -> Bool {
        let before = state.requests
        read()
        if isIdle, state.requests == before { return false }
        flushAndUpdateInterest()
        return true
    }

    /// Goes on with what has been received before.
    func consumePendingInput() {
        if pendingInput.isEmpty { return }
        let bytes = pendingInput
        pendingInput = []
        let used = bytes.withUnsafeBufferPointer { consume($0) }
        if isClosed || used >= bytes.count { return }
        pendingInput = used == 0 ? bytes : Array(bytes[used...])
    }

    /// Serves the requests in these bytes until one has to wait. The answer is how many bytes are used up.
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
                // Not a request more for a client that has broken the connection off.
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
                refuse(ProblemDetails(error), method, head)
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
                case .noRoom: exchange?.refuseForNow()
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
        // An event stream has no end that its client could wait for.
        if pushed != nil || !goesOn(afterPeerClose: socket.isPeerGone) { close() }
    }

    /// After something happened outside of reading: serves what has been received meanwhile.
    func resume() {
        state.waitForTurn(false)
        if state.canConsume { consumePendingInput() }
        flushAndUpdateInterest()
    }

    // MARK: Sending

    /// Puts a part of a body behind what is staged.
    func append(_ body: ResponseBody, _ part: Range<Int>) {
        if !socket.append(body, part) { close() }
    }

    /// Sends what is staged, and keeps what the kernel does not take.
    ///
    /// - Parameter isEnd: whether the connection's end follows at once.
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

    // MARK: An answer that goes on

    /// Whether this is the stream at hand.
    func carries(_ stream: EventStream) -> Bool { pushed === stream && state.phase == .responding }

    /// Bytes that wait for the client to take them.
    var waitingBytes: Int { socket.waiting ?? 0 }

    /// The request at hand is answered by a stream: nothing of it is kept.
    func beginPushing(_ stream: EventStream) {
        exchange.map { worker.recycle($0.head.parser) }
        exchange = nil
        pendingInput = []
        pushed = stream
        flushAndUpdateInterest()
    }

    /// What is staged ends the stream.
    func endPushing() {
        pushed?.end()
        pushed = nil
        beginClosing()
    }

    // MARK: The end

    /// What is staged and waits is the last that this connection says.
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

    /// Closes at once.
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

    /// Closes so that the client sees an error and not an end.
    func reset() {
        if isClosed { return }
        socket.setResetOnClose()
        close()
    }

    /// Somebody else needs the place of this idle connection: closes it, unless a request turns out to be there already. Who has not
    /// been answered anything yet, and may be about to ask, is told why; for all others an end between requests is nothing unusual.
    func closeToFreeSlot() {
        guard isIdle, !readIsOfUse() else { return }
        if state.requests == 0 {
            socket.refuse()
            worker.observer?.connectionRefused(peer: peer)
        }
        close()
    }

    /// The server is stopping: closes what is idle, and lets the rest finish. Whose answer is out and whose body is only read to be dropped
    /// gets no chance of another request.
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
