internal import CIntertwineLinux
internal import Glibc

struct ClientSocket {
    /// The body size in bytes above which a body is sent at once, so that it is not copied if more output follows it.
    private static let stageLimit = 64 * 1024
    /// A file has a higher limit: the bytes that the kernel holds for one client, by default the maximum of `tcp_wmem`. Why: sending a file
    /// copies nothing, and each extra call and wake-up costs more than sending on.
    private static let maxBytesPerTick = 1 << 20
    private static let maxFileBytesPerTick = 4 << 20

    private let worker: Worker
    private let descriptor: Int32
    private var output: [(body: ResponseBody, rest: Range<Int>, reserved: Int)] = []
    private var outputBytes = 0
    /// The last instant at which the client's progress was checked, the bytes that it had received by then, and those handed to the kernel.
    /// Why: the kernel reports writability only after a large part of its buffer is empty.
    private var checked: MonotonicInstant
    private var received = 0
    private var handedOver = 0
    private var registration: Registration?
    private(set) var interest: ReadyEvents = [.readable, .peerClosed]
    private var timer: TimerToken?
    private var timerAt: MonotonicInstant

    init(_ descriptor: Int32, _ worker: Worker) {
        self.worker = worker
        self.descriptor = descriptor
        (timerAt, checked) = (worker.loop.now, worker.loop.now)
    }

    // MARK: The loop

    mutating func open(for connection: Connection, until deadline: MonotonicInstant) -> Bool {
        guard let registration = try? worker.loop.register(descriptor, for: interest, handler: connection) else { return false }
        self.registration = registration
        timerAt = deadline
        timer = worker.loop.schedule(connection, at: deadline)
        return true
    }

    mutating func watch(_ wanted: ReadyEvents) -> Bool {
        guard wanted != interest else { return true }
        interest = wanted
        guard let registration else { return true }
        return (try? worker.loop.update(registration, for: wanted)) != nil
    }

    mutating func wake(by deadline: MonotonicInstant) {
        guard deadline < timerAt, let timer else { return }
        timerAt = deadline
        worker.loop.reschedule(timer, at: deadline)
    }

    /// Returns the next instant of a timer that fired, so that it fires again by the deadline.
    mutating func nextWake(by deadline: MonotonicInstant, after now: MonotonicInstant) -> MonotonicInstant {
        timerAt = max(deadline, now.advanced(by: .milliseconds(1)))
        return timerAt
    }

    // MARK: Reading

    func read() -> Int? {
        let count = recv(descriptor, worker.scratch.baseAddress, worker.scratch.count, 0)
        if count >= 0 { return min(count, worker.scratch.count) }
        return errno == EAGAIN || errno == EINTR ? nil : -1
    }

    var hasUnread: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
    }

    // MARK: Sending

    var waiting: Int? { output.isEmpty ? nil : outputBytes }

    var waitingSince: MonotonicInstant? { output.isEmpty ? nil : checked }

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
            // The staged bytes are sent in one packet with the beginning of the body.
            guard flush(followed: true) else { return false }
            let sent = output.isEmpty ? send(body, part) : 0
            if sent < 0 { return false }
            return sent == part.count || enqueue(body, (part.lowerBound + sent)..<part.upperBound)
        }
    }

    mutating func flush(followed: Bool = false) -> Bool {
        let stage = worker.stage
        if stage.count == 0 { return true }
        defer { stage.clear() }
        let flags = followed ? Int32(MSG_MORE) : 0
        if let lent = stage.takeBorrowedBody() { return sendStaged(and: lent.body, lent.part, flags) }
        let sent = output.isEmpty ? send(stage.bytes, UnsafeRawBufferPointer(start: nil, count: 0), flags) : 0
        if sent >= 0, sent < stage.count { return enqueue(.bytes(Array(stage.bytes[sent...])), 0..<(stage.count - sent)) }
        return sent >= 0
    }

    private mutating func sendStaged(and body: [UInt8], _ part: Range<Int>, _ flags: Int32 = 0) -> Bool {
        let staged = worker.stage.bytes
        let first = part.prefix(Self.maxBytesPerTick)
        let sent = output.isEmpty ? body.withUnsafeBytes { send(staged, UnsafeRawBufferPointer(rebasing: $0[first]), flags) } : 0
        if sent < 0 { return false }
        if sent < staged.count, !enqueue(.bytes(Array(staged[sent...])), 0..<(staged.count - sent)) { return false }
        let start = part.lowerBound + max(0, sent - staged.count)
        return start == part.upperBound || enqueue(.bytes(body), start..<part.upperBound)
    }

    mutating func sendWaiting() -> Bool {
        var inTurn = 0
        while inTurn < Self.maxBytesPerTick, let (body, rest, reserved) = output.first {
            let sent = send(body, rest)
            if sent < 0 { return false }
            handedOver += sent
            outputBytes -= sent
            inTurn += sent
            if sent < rest.count {
                output[0].rest = rest.lowerBound + sent..<rest.upperBound
                break
            }
            worker.outputs.release(reserved)
            // An empty queue releases its memory.
            if output.count > 1 { output.removeFirst() } else { output = [] }
        }
        return true
    }

    private mutating func enqueue(_ body: ResponseBody, _ rest: Range<Int>) -> Bool {
        if output.isEmpty { beginMeasuring() }
        // Bytes of a file are not in memory. This client may become the last owner of other bytes.
        let reserved = if case .bytes = body { rest.count } else { 0 }
        output.append((body, rest, reserved))
        outputBytes += rest.count
        return worker.outputs.reserve(reserved, allowsExcess: true) || reserved == 0
    }

    private func send(_ body: ResponseBody, _ part: Range<Int>) -> Int {
        switch body {
        case .bytes(let bytes):
            return bytes.withUnsafeBytes {
                send(UnsafeRawBufferPointer(rebasing: $0[part.prefix(Self.maxBytesPerTick)]), UnsafeRawBufferPointer(start: nil, count: 0))
            }
        case .file(let file): return file.send(part.prefix(Self.maxFileBytesPerTick), to: descriptor)
        }
    }

    private func send(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, _ flags: Int32 = 0) -> Int {
        let flags = flags | Int32(MSG_NOSIGNAL)
        var sent: Int
        repeat {
            if second.isEmpty {
                sent = Glibc.send(descriptor, first.baseAddress, first.count, flags)
            } else {
                sent = withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2) { vectors in
                    // The const is missing only in the type: sendmsg does not write through these pointers.
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

    // MARK: Progress of the client

    /// The number of bytes that the kernel holds and the client has not received.
    var unsent: Int { Int(clinux_unsent(descriptor)) }

    mutating func beginMeasuring() { (checked, handedOver, received) = (worker.loop.now, 0, -unsent) }

    /// Returns true if the client has received bytes since the last check, so that it gets another write timeout.
    mutating func hasProgressed() -> Bool {
        let before = received
        (checked, received) = (worker.loop.now, handedOver - unsent)
        return received > before
    }

    // MARK: The end

    func endOutput() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Makes the following close send a reset, so that the client sees an error.
    func setResetOnClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    func refuse() { worker.refuse(descriptor) }

    mutating func close() {
        let reserved = output.reduce(0) { $0 + $1.reserved }
        (output, outputBytes) = ([], 0)
        worker.outputs.release(reserved)
        if let timer { worker.loop.cancel(timer) }
        if let registration { worker.loop.forget(registration) }
        (timer, registration) = (nil, nil)
        Glibc.close(descriptor)
    }
}
