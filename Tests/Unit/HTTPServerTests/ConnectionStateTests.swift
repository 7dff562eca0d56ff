import Testing

@testable import IntertwineHTTPServer

@Suite("State machine of a connection")
struct ConnectionStateTests {
    private static let get = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
    private static let post = "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
    private static let chunked =
        "PUT /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;a=\"b\"\r\nabc\r\n2\r\nde\r\n0\r\nX-Last: 1\r\n\r\n"

    @Test("A stream of requests has the same result for any segmentation")
    func splits() {
        let stream = "\r\n" + Self.get + Self.post + Self.chunked + Self.get
        let expected = ["GET /a", "end", "POST /b", "end hello", "PUT /c", "end abcde", "GET /a", "end"]
        for cut in 0...stream.utf8.count {
            var talk = Talk()
            talk.receive(stream.utf8.prefix(cut))
            talk.receive(stream.utf8.dropFirst(cut))
            #expect(talk.log == expected, "cut at \(cut)")
            #expect(talk.state.isBetweenRequests && talk.held.isEmpty)
        }
        var talk = Talk()
        for byte in stream.utf8 { talk.receive([byte]) }
        #expect(talk.log == expected)
    }

    @Test(
        "Invalid bytes end the connection at the same position for any segmentation",
        arguments: [
            ("GET /a HTTP/1.1\nHost: x\r\n\r\n", 400), ("GET /a HTTP/2.0\r\n", 505), ("GET /\(String(repeating: "a", count: 9000))", 414),
            ("GET / HTTP/1.1\r\nX: \(String(repeating: "a", count: 17_000))", 431),
        ])
    func faults(bytes: String, status: Int) {
        for cut in [0, 1, 5, 14, 16, bytes.utf8.count - 1] {
            var talk = Talk()
            talk.receive(Array(Self.get.utf8) + bytes.utf8.prefix(cut))
            talk.receive(bytes.utf8.dropFirst(cut))
            #expect(talk.log == ["GET /a", "end", "fault \(status)"], "cut at \(cut)")
        }
    }

    @Test("Pipelined requests wait until the current response is sent")
    func pipelined() {
        var talk = Talk(answersAtOnce: false)
        talk.receive(Self.post + Self.get + Self.get)
        #expect(talk.log == ["POST /b", "end hello"] && talk.state.phase == .responding)
        #expect(talk.held.count == 2 * Self.get.utf8.count)
        #expect(talk.state.mayRead(peerClosed: false, isSending: false) == .afterResponse)
        talk.answer()
        #expect(talk.log.suffix(2) == ["GET /a", "end"] && talk.held.count == Self.get.utf8.count)
        talk.answer()
        talk.answer()
        #expect(talk.log.count == 6 && talk.state.isBetweenRequests && talk.state.requests == 3)
    }

    @Test("A too long body is detected by its bytes, a chunk by its declared size")
    func tooLong() {
        var talk = Talk(bodyLimit: 4)
        talk.receive("PUT /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n1\r")
        #expect(talk.log == ["PUT /c"])
        talk.receive("\n")
        #expect(talk.log == ["PUT /c", "too long"])
        var other = Talk(bodyLimit: 4)
        other.receive(Self.post)
        #expect(other.log == ["POST /b", "too long"])
    }

    @Test("A small unread body is skipped, a large one closes the connection")
    func discarding() {
        var talk = Talk(answersEarly: true)
        talk.receive(Self.post + Self.chunked + Self.get)
        #expect(talk.log == ["POST /b", "answered", "PUT /c", "answered", "GET /a", "end"])
        var long = Talk(answersEarly: true)
        long.receive("POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 65537\r\n\r\n")
        #expect(!long.state.body.canBeDiscarded)
        var chunks = Talk(answersEarly: true)
        chunks.receive("PUT /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        #expect(chunks.state.body.canBeDiscarded)
        for _ in 0..<4 { chunks.receive("4000\r\n" + String(repeating: "a", count: 0x4000) + "\r\n") }
        #expect(chunks.log.last == "answered")
        chunks.receive("1\r\na")
        #expect(chunks.log.last == "too much")
    }

    @Test("100 (Continue) is sent unless the body has arrived or is not needed")
    func expectation() {
        let head = "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
        var waits = Talk()
        waits.receive(head)
        #expect(waits.log == ["POST /b", "continue"])
        waits.receive("hello")
        #expect(waits.log.last == "end hello")
        var comes = Talk()
        comes.receive(head + "h")
        #expect(comes.log == ["POST /b"])
        var refused = Talk(answersAtOnce: false, answersEarly: true)
        refused.receive(head)
        #expect(!refused.state.body.canBeDiscarded)
    }

    @Test("A paused reader gets no bytes; the end of a complete body is still reported")
    func pause() {
        var talk = Talk(answersAtOnce: false, pausesAfter: 1)
        talk.receive("PUT /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n")
        #expect(talk.log == ["PUT /c", "paused"])
        #expect(talk.state.mayRead(peerClosed: false, isSending: false) == .later)
        #expect(!talk.state.interest(current: [.readable], unsent: nil, talk.limits).contains(.readable))
        talk.resume()
        #expect(talk.log == ["PUT /c", "paused", "paused"])
        talk.resume()
        #expect(talk.log.last == "end ab")
        var length = Talk(answersAtOnce: false, pausesAfter: 5)
        length.receive(Self.post)
        #expect(length.log == ["POST /b", "paused", "end hello"])
    }

    @Test("A half-closed connection ends between requests, and gets a pending response")
    func halfClose() {
        var idle = Talk()
        #expect(idle.state.mayRead(peerClosed: true, isSending: false) == .now)
        #expect(idle.state.endOfInput(isSending: false) == false)
        var part = Talk()
        part.receive("GET /")
        #expect(part.state.endOfInput(isSending: false) == false)
        var sending = Talk()
        sending.receive(Self.get)
        #expect(sending.state.mayRead(peerClosed: true, isSending: true) == .later && sending.state.peerIsClosing)
        #expect(sending.state.endOfInput(isSending: true) && sending.state.phase == .closing)
        var body = Talk()
        body.receive(String(Self.post.dropLast(1)))
        #expect(body.state.endOfInput(isSending: false) == false)
        var responding = Talk(answersAtOnce: false)
        responding.receive(Self.get)
        #expect(responding.state.endOfInput(isSending: false) == true)
        #expect(responding.state.interest(current: [.readable, .peerClosed], unsent: 9, responding.limits) == .writable)
        responding.answer()
        #expect(responding.state.phase == .head && responding.state.peerHasClosed)
    }

    @Test("After a last response, input is discarded up to a limit")
    func lingering() {
        var talk = Talk()
        #expect(talk.state.beginClosing(lingering: false) == true)
        let now = talk.now
        var quiet = talk.state
        #expect(quiet.linger(at: now, talk.limits, hasUnread: false) == false)
        talk.receive("more")
        #expect(talk.held.isEmpty && talk.state.linger(at: now, talk.limits, hasUnread: false))
        talk.settle()
        #expect(talk.state.beginClosing(lingering: false) == false)
        #expect(!talk.state.received(talk.limits.linger - 1, at: now) && !talk.state.hasLingered)
        #expect(!talk.state.received(1, at: now) && talk.state.hasLingered)
        #expect(talk.lapse(after: .seconds(1)) == .nothing && talk.lapse(after: .seconds(2)) == .lingered)
        var gone = Talk()
        gone.receive(Self.get)
        _ = gone.state.endOfInput(isSending: true)
        _ = gone.state.beginClosing(lingering: true)
        #expect(gone.state.linger(at: now, gone.limits, hasUnread: true) == false)
        #expect(gone.state.close() && !gone.state.close() && gone.state.phase == .closed)
    }

    @Test("A connection with Connection: close, or at its request limit, gets its last response")
    func lastAnswer() {
        func closes(_ request: String, _ requests: Int = 1, after age: Duration = .zero, isDraining: Bool = false) -> Bool {
            var talk = Talk()
            for _ in 0..<requests { talk.receive(request) }
            guard let framing = talk.framing else { return false }
            return talk.state.mustClose(after: framing, at: talk.now.advanced(by: age), isDraining: isDraining, talk.limits)
        }
        #expect(!closes(Self.get) && closes(Self.get, isDraining: true))
        #expect(closes("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") && closes("GET / HTTP/1.0\r\n\r\n"))
        #expect(!closes(Self.get, 999) && closes(Self.get, 1000))
        #expect(!closes(Self.get, after: .seconds(3600)) && closes(Self.get, after: .seconds(3601)))
    }

    @Test("Each wait has its timeout: request, head, response, output")
    func deadlines() {
        var idle = Talk()
        #expect(idle.lapse(after: .seconds(59)) == .nothing && idle.lapse(after: .seconds(60)) == .idle)
        var head = Talk()
        head.receive("GET /")
        head.wait(.seconds(9))
        head.receive("a")
        #expect(head.lapse(after: .milliseconds(999)) == .nothing && head.lapse(after: .seconds(1)) == .headIsLate)
        var handler = Talk(answersAtOnce: false)
        handler.receive(Self.get)
        #expect(handler.lapse(after: .seconds(9)) == .nothing && handler.lapse(after: .seconds(10)) == .responseIsLate)
        handler.state.beginStreaming()
        handler.settle()
        #expect(handler.lapse(after: .seconds(3000)) == .nothing)
        var sending = Talk()
        sending.receive(Self.get)
        sending.settle(sendingSince: sending.now)
        #expect(sending.lapse(after: .seconds(29)) == .nothing && sending.lapse(after: .seconds(30)) == .write)
        var stopping = Talk()
        stopping.settle(isDraining: true)
        #expect(stopping.lapse(after: .milliseconds(500)) == .idle)
    }

    @Test("A body has a grace period, then a minimum rate and a deadline")
    func bodyRate() {
        let head = "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n"
        var slow = Talk()
        slow.receive(head)
        #expect(slow.lapse(after: .seconds(4)) == .nothing && slow.lapse(after: .seconds(5)) == .bodyIsLate)
        var steady = Talk()
        steady.receive(head)
        for second in 1...29 {
            steady.wait(.seconds(1))
            steady.receive(String(repeating: "a", count: 300))
            #expect(steady.lapse(after: .zero) == .nothing, "second \(second)")
        }
        #expect(steady.lapse(after: .seconds(1)) == .bodyIsLate)
    }

    @Test("Deferred requests do not block the connection indefinitely")
    func places() {
        var talk = Talk()
        #expect(talk.state.isNewcomer(at: talk.now) && !talk.state.isNewcomer(at: talk.now.advanced(by: .milliseconds(100))))
        talk.receive(Self.get)
        #expect(!talk.state.isNewcomer(at: talk.now))
        talk.state.waitForTurn(true)
        #expect(talk.state.mayRead(peerClosed: false, isSending: false) == .later)
        talk.state.waitForTurn(false)
        #expect(talk.state.mayRead(peerClosed: false, isSending: false) == .now)
        #expect(talk.state.startDrainGrace(at: talk.now, isIdle: true) == true)
        talk.settle()
        #expect(talk.lapse(after: .milliseconds(500)) == .idle)
        #expect(talk.state.startDrainGrace(at: talk.now.advanced(by: .seconds(2)), isIdle: true) == false)
    }
}

/// A client and a handler around a state: bytes go in, and what came of them is noted.
private struct Talk {
    var state: ConnectionState
    let limits = ConnectionState.Limits(HTTPServerConfiguration())
    /// What has come and is not used up.
    private(set) var held: [UInt8] = []
    private(set) var log: [String] = []
    private(set) var now = MonotonicInstant(nanoseconds: 1_000_000_000)
    private(set) var framing: MessageFraming?
    private let parser = HeadParser(limits: HTTPServerConfiguration().headLimits)
    private var content: [UInt8] = []
    private let answersAtOnce: Bool
    private let answersEarly: Bool
    private let pausesAfter: Int
    private let bodyLimit: Int

    init(answersAtOnce: Bool = true, answersEarly: Bool = false, pausesAfter: Int = .max, bodyLimit: Int = 64 * 1024) {
        self.answersAtOnce = answersAtOnce
        self.answersEarly = answersEarly
        self.pausesAfter = pausesAfter
        self.bodyLimit = bodyLimit
        state = ConnectionState(now: now, limits)
    }

    mutating func receive(_ text: String) { receive(text.utf8) }

    mutating func receive(_ bytes: some Collection<UInt8>) {
        #expect(state.received(bytes.count, at: now) == true)
        held += bytes
        consume()
    }

    mutating func answer() {
        if state.finishResponse() { consume() }
        settle()
    }

    mutating func resume() {
        state.resumeBody()
        consume()
    }

    mutating func wait(_ duration: Duration) { now = now.advanced(by: duration) }

    mutating func settle(sendingSince: MonotonicInstant? = nil, isDraining: Bool = false) {
        state.updateDeadline(at: now, limits, sendingSince: sendingSince, isDraining: isDraining)
    }

    mutating func lapse(after duration: Duration) -> ConnectionState.TimeoutAction {
        state.timeoutFired(at: now.advanced(by: duration), limits)
    }

    private mutating func consume() {
        let bytes = held
        var offset = 0
        bytes.withUnsafeBufferPointer { while step($0, &offset) {} }
        held = Array(bytes.dropFirst(offset))
        settle()
    }

    /// False where there is nothing more to be done with the bytes.
    private mutating func step(_ bytes: UnsafeBufferPointer<UInt8>, _ offset: inout Int) -> Bool {
        let start = offset
        switch state.next(bytes, from: &offset, parser) {
        case .none, .body(.needsMore), .body(.waits): return false
        case .partOfHead:
            if state.isBetweenRequests { state.beginHead(at: now) }
            return false
        case .parseError(let error):
            log.append("fault \(error.status)")
            _ = state.beginClosing(lingering: true)
            offset = bytes.count
            return false
        case .head: receiveHead(UnsafeBufferPointer(rebasing: bytes[start..<offset]), UnsafeBufferPointer(rebasing: bytes[offset...]))
        case .body(.content(let part)):
            content += bytes[part]
            if part.count >= pausesAfter {
                log.append("paused")
                state.pauseBody()
            }
        case .body(.dropped): break
        case .body(.end):
            if state.body.isDiscarding { _ = state.finishResponse() } else { endBody() }
        case .body(.tooLong): end("too long")
        case .body(.tooMuchToDrop): end("too much")
        case .body(.parseError(let error)): end("fault \(error.status)")
        }
        return true
    }

    private mutating func receiveHead(_ head: UnsafeBufferPointer<UInt8>, _ rest: UnsafeBufferPointer<UInt8>) {
        log.append("\(ByteView(head, parser.method).string) \(ByteView(head, parser.target).string)")
        defer { parser.reset() }
        guard let framing = try? MessageFraming(parser, head) else { return end("no framing") }
        self.framing = framing
        content = []
        state.beginRequest(framing, afterHead: rest, limits)
        state.limitBody(to: bodyLimit)
        if state.body.isComplete {
            endBody()
        } else if answersEarly {
            log.append("answered")
            _ = state.finishResponse()
        } else if state.acceptBody() {
            log.append("continue")
        }
    }

    private mutating func endBody() {
        log.append(content.isEmpty ? "end" : "end \(String(decoding: content, as: UTF8.self))")
        state.respond(by: now.advanced(by: .seconds(10)))
        if answersAtOnce { _ = state.finishResponse() }
    }

    private mutating func end(_ reason: String) {
        log.append(reason)
        _ = state.beginClosing(lingering: true)
    }
}
