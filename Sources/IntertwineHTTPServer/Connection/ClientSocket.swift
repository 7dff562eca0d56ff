internal import CIntertwineLinux
internal import Glibc
internal import IntertwineEventLoop

/// A connection's side of the kernel: its descriptor, what that is watched for, the timer, and what waits to be sent.
struct ClientSocket {
    /// Bodies above this size are sent at once, so that they are not copied where more comes behind them.
    private static let stageLimit = 64 * 1024
    /// A client that takes as fast as it is sent has no more than this of a body before the other connections have their turn. Of a file
    /// it may be as much as the kernel keeps for one client (the most of `tcp_wmem`, by default): nothing is copied, and each call and each
    /// wake-up that it takes instead costs more than to go on.
    private static let maxBytesPerTick = 1 << 20
    private static let maxFileBytesPerTick = 4 << 20

    private let worker: Worker
    private let descriptor: Int32
    /// What waits for the client to take it, in the order it is to go out. Not copied: each part lies where it was made.
    private var output: [(body: ResponseBody, rest: Range<Int>)] = []
    /// The bytes of that.
    private var outputBytes = 0
    private var pace = WriteThroughputMonitor()
    private var registration: Registration?
    private(set) var interest: ReadyEvents = [.readable, .peerClosed]
    private var timer: TimerToken?
    private var timerAt: MonotonicInstant

    init(_ descriptor: Int32, _ worker: Worker) {
        self.worker = worker
        self.descriptor = descriptor
        timerAt = worker.loop.now
    }

    // MARK: The loop

    /// Begins to watch the descriptor and the time. False where the kernel refuses.
    mutating func open(for connection: Connection, until deadline: MonotonicInstant) -> Bool {
        guard let registration = try? worker.loop.register(descriptor, for: interest, handler: connection) else { return false }
        self.registration = registration
        timerAt = deadline
        timer = worker.loop.schedule(connection, at: deadline)
        return true
    }

    /// Changes what the descriptor is watched for. False where the kernel refuses.
    mutating func watch(_ wanted: ReadyEvents) -> Bool {
        guard wanted != interest else { return true }
        interest = wanted
        guard let registration else { return true }
        return (try? worker.loop.update(registration, for: wanted)) != nil
    }

    /// Has the timer be due by then: a deadline that moves away costs nothing.
    mutating func wake(by deadline: MonotonicInstant) {
        guard deadline < timerAt, let timer else { return }
        timerAt = deadline
        worker.loop.reschedule(timer, at: deadline)
    }

    /// The timer was due, and is to be so again by then.
    mutating func nextWake(by deadline: MonotonicInstant, after now: MonotonicInstant) -> MonotonicInstant {
        timerAt = max(deadline, now.advanced(by: .milliseconds(1)))
        return timerAt
    }

    // MARK: Reading

    /// Reads what is there into the worker's scratch: how many bytes, 0 at their end, nil where there is nothing, -1 where the connection
    /// is broken.
    func read() -> Int? {
        let count = recv(descriptor, worker.scratch.baseAddress, worker.scratch.count, 0)
        if count >= 0 { return min(count, worker.scratch.count) }
        return errno == EAGAIN || errno == EINTR ? nil : -1
    }

    /// Whether something lies in the kernel that nobody has read.
    var hasUnread: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
    }

    // MARK: Sending

    /// Bytes that wait until the kernel has room; nil where there is nothing.
    var waiting: Int? { output.isEmpty ? nil : outputBytes }

    /// Since when it is watched what the client takes of them.
    var waitingSince: MonotonicInstant? { output.isEmpty ? nil : pace.since }

    /// Puts a part of a body behind what is staged. False where the connection is broken.
    mutating func append(_ body: ResponseBody, _ part: Range<Int>) -> Bool {
        let part = part.clamped(to: 0..<body.count)
        switch body {
        case .bytes(let bytes) where part.count <= Self.stageLimit:
            worker.stage.append(bytes, part)
            return true
        case .bytes(let bytes) where worker.stage.borrowedBody == nil:
            defer { worker.stage.clear() }
            return sendStaged(and: bytes, part)
        case .bytes, .file:
            if part.isEmpty { return true }
            // What is staged leaves in one packet with the beginning of the body.
            guard flush(followed: true) else { return false }
            let sent = output.isEmpty ? send(body, part) : 0
            if sent < 0 { return false }
            if sent < part.count { enqueue(body, (part.lowerBound + sent)..<part.upperBound) }
            return true
        }
    }

    /// Sends what is staged, and keeps what the kernel does not take. False where the connection is broken.
    ///
    /// - Parameter followed: whether something follows at once, be it the connection's end: the last bytes then leave together with that.
    mutating func flush(followed: Bool = false) -> Bool {
        let stage = worker.stage
        if stage.count == 0 { return true }
        defer { stage.clear() }
        let flags = followed ? Int32(MSG_MORE) : 0
        if let lent = stage.takeBorrowedBody() { return sendStaged(and: lent.body, lent.part, flags) }
        let sent = output.isEmpty ? send(stage.bytes, UnsafeRawBufferPointer(start: nil, count: 0), flags) : 0
        if sent >= 0, sent < stage.count { enqueue(.bytes(Array(stage.bytes[sent...])), 0..<(stage.count - sent)) }
        return sent >= 0
    }

    /// Sends what is staged with a body behind it, which lies elsewhere, and keeps what the kernel does not take. The caller clears the
    /// stage. False where the connection is broken.
    private mutating func sendStaged(and body: [UInt8], _ part: Range<Int>, _ flags: Int32 = 0) -> Bool {
        let staged = worker.stage.bytes
        let first = part.prefix(Self.maxBytesPerTick)
        let sent = output.isEmpty ? body.withUnsafeBytes { send(staged, UnsafeRawBufferPointer(rebasing: $0[first]), flags) } : 0
        if sent < 0 { return false }
        if sent < staged.count { enqueue(.bytes(Array(staged[sent...])), 0..<(staged.count - sent)) }
        let start = part.lowerBound + max(0, sent - staged.count)
        if start < part.upperBound { enqueue(.bytes(body), start..<part.upperBound) }
        return true
    }

    /// Sends of what waits as much as the kernel takes, within one turn. False where the connection is broken.
    mutating func sendWaiting() -> Bool {
        var inTurn = 0
        while inTurn < Self.maxBytesPerTick, let (body, rest) = output.first {
            let sent = send(body, rest)
            if sent < 0 { return false }
            pace.handOver(sent)
            outputBytes -= sent
            inTurn += sent
            if sent < rest.count {
                output[0].rest = rest.lowerBound + sent..<rest.upperBound
                break
            }
            Self.recordFreed(body)
            // Whoever has been sent all keeps no memory for it.
            if output.count > 1 { output.removeFirst() } else { output = [] }
        }
        return true
    }

    private mutating func enqueue(_ body: ResponseBody, _ rest: Range<Int>) {
        if output.isEmpty { beginMeasuring() }
        output.append((body, rest))
        outputBytes += rest.count
    }

    /// A body that waited for its client waits no more, and may have been held for it alone.
    private static func recordFreed(_ body: ResponseBody) {
        if case .bytes(let bytes) = body, bytes.count >= stageLimit { MallocTrimmer.shared.recordFreed(bytes.count) }
    }

    /// A part of a body, or what of it goes out in one turn. Bytes taken, 0 where there is no room, -1 where the connection is broken.
    private func send(_ body: ResponseBody, _ part: Range<Int>) -> Int {
        switch body {
        case .bytes(let bytes):
            return bytes.withUnsafeBytes {
                send(UnsafeRawBufferPointer(rebasing: $0[part.prefix(Self.maxBytesPerTick)]), UnsafeRawBufferPointer(start: nil, count: 0))
            }
        case .file(let file): return file.send(part.prefix(Self.maxFileBytesPerTick), to: descriptor)
        }
    }

    /// One call to the kernel. Bytes taken, 0 where there is no room, -1 where the connection is broken.
    private func send(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, _ flags: Int32 = 0) -> Int {
        let flags = flags | Int32(MSG_NOSIGNAL)
        var sent: Int
        repeat {
            if second.isEmpty {
                sent = Glibc.send(descriptor, first.baseAddress, first.count, flags)
            } else {
                sent = withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2) { vectors in
                    // sendmsg does not write through these; their type only lacks the const.
                    vectors[0] = iovec(iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress), iov_len: first.count)
                    vectors[1] = iovec(iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress), iov_len: second.count)
                    var message = msghdr()
                    message.msg_iov = vectors.baseAddress
                    message.msg_iovlen = 2
                    return sendmsg(descriptor, &message, flags)
                }
            }
        } while sent < 0 && errno == EINTR
        if sent < 0 { return errno == EAGAIN ? 0 : -1 }
        return sent
    }

    // MARK: What the client takes

    /// Bytes that this end has and the other has not.
    var unsent: Int { Int(clinux_unsent(descriptor)) }

    /// Begins to watch how much the client takes.
    mutating func beginMeasuring() { pace.begin(at: worker.loop.now, unsent: unsent, required: worker.requiredBytes) }

    /// The time for taking some of what waits is over: whether the client took enough for another.
    ///
    /// Of a client on this machine it is known what it has read; of others, what their end has. At the beginning the latter is looked at for
    /// all of them, which costs less, and at worst is to the disadvantage of the first look, for which there is credit.
    mutating func meetsMinimumReadRate() -> Bool {
        let untaken = unsent + Int(clinux_peer_unread(descriptor))
        return pace.isEnough(at: worker.loop.now, unsent: untaken, required: worker.requiredBytes)
    }

    // MARK: The end

    /// Whether the client, which has closed its sending side, receives no more either. Known of clients on this machine; nil for others.
    var isPeerGone: Bool? {
        let sides = clinux_peer_closed_sides(descriptor)
        return sides < 0 ? nil : sides & 1 != 0
    }

    /// Nothing more is sent.
    func endOutput() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Has the client see an error at the end that comes.
    func setResetOnClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Says that there is no room for this client. The descriptor stays open.
    func refuse() { worker.refuse(descriptor) }

    mutating func close() {
        for (body, _) in output { Self.recordFreed(body) }
        (output, outputBytes) = ([], 0)
        if let timer { worker.loop.cancel(timer) }
        if let registration { worker.loop.forget(registration) }
        (timer, registration) = (nil, nil)
        Glibc.close(descriptor)
    }
}
