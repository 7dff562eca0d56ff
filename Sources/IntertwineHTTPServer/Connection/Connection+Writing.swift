internal import CIntertwineLinux
internal import Glibc
internal import IntertwineEventLoop

extension Connection {
    /// Bodies above this size are sent from where they lie instead of being copied into the stage.
    private static let copyLimit = 64 * 1024

    /// Puts a part of a body behind what is staged.
    func append(_ body: [UInt8], _ part: Range<Int>) {
        if part.count <= Self.copyLimit {
            body.withUnsafeBytes { worker.stage.append(UnsafeRawBufferPointer(rebasing: $0[part.clamped(to: 0..<body.count)])) }
            return
        }
        if !pending.isEmpty {
            flush()
            hold(Segment(bytes: body, rest: part))
            return
        }
        let sent = body.withUnsafeBytes { send(worker.stage.bytes, UnsafeRawBufferPointer(rebasing: $0[part.clamped(to: 0..<body.count)])) }
        let staged = worker.stage.count
        if sent >= 0, sent < staged { hold(Segment(bytes: Array(worker.stage.bytes[sent...]), rest: 0..<(staged - sent))) }
        worker.stage.clear()
        let start = part.lowerBound + max(0, sent - staged)
        if sent >= 0, start < part.upperBound { hold(Segment(bytes: body, rest: start..<part.upperBound)) }
        if sent < 0 { close() }
    }

    /// Sends what is staged, and keeps what the kernel does not take.
    func flush() {
        let stage = worker.stage
        if stage.count == 0 { return }
        defer { stage.clear() }
        if phase == .closed { return }
        if !pending.isEmpty {
            hold(Segment(bytes: Array(stage.bytes), rest: 0..<stage.count))
            return
        }
        let sent = send(stage.bytes, UnsafeRawBufferPointer(start: nil, count: 0))
        if sent < 0 {
            close()
        } else if sent < stage.count {
            hold(Segment(bytes: Array(stage.bytes[sent...]), rest: 0..<(stage.count - sent)))
        }
    }

    func writePending() {
        while let first = pending.first {
            let sent = first.bytes.withUnsafeBytes {
                send(UnsafeRawBufferPointer(rebasing: $0[first.rest]), UnsafeRawBufferPointer(start: nil, count: 0))
            }
            if sent < 0 {
                close()
                return
            }
            handedOver += sent
            pendingBytes -= sent
            if sent < first.rest.count {
                pending[0].rest = (first.rest.lowerBound + sent)..<first.rest.upperBound
                break
            }
            pending.removeFirst()
        }
        if pendingBytes < worker.configuration.outputHighWater, let exchange, !exchange.waiters.isEmpty {
            let waiters = exchange.waiters
            exchange.waiters = []
            for waiter in waiters { waiter.resume() }
        }
        if pending.isEmpty {
            pending = []
            if phase == .head || phase == .body { consumeHeld() }
        }
    }

    /// Begins to watch how much the client takes.
    func beginMeasuring() {
        measure()
        takingCredit = 2 * requiredBytes
    }

    private func measure() {
        lastProgress = worker.loop.now
        unsentBefore = Int(clinux_unsent(descriptor))
        handedOver = 0
    }

    /// What a client has to take in the time for that.
    private var requiredBytes: Double {
        Double(worker.configuration.minimumWriteRate) * (worker.configuration.writeTimeout / .seconds(1))
    }

    /// The time for taking some of what waits is over: whether the client took enough for another. The kernel says what it has left; that
    /// there is room again it only says when a good part of its buffer is empty.
    ///
    /// Clients make room in steps: what one took beyond what it had to counts for the next time, as far as that.
    func hasTakenEnough() -> Bool {
        let taken = unsentBefore + handedOver - Int(clinux_unsent(descriptor))
        let required = requiredBytes
        takingCredit = min(takingCredit + Double(max(0, taken)), 3 * required) - required
        measure()
        return required > 0 ? takingCredit > 0 : taken > 0
    }

    private func hold(_ segment: Segment) {
        if pending.isEmpty { beginMeasuring() }
        pending.append(segment)
        pendingBytes += segment.rest.count
    }

    /// One call to the kernel. Bytes taken, 0 where there is no room, -1 where the connection is broken.
    private func send(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int {
        var sent: Int
        repeat {
            if second.isEmpty {
                sent = Glibc.send(descriptor, first.baseAddress, first.count, Int32(MSG_NOSIGNAL))
            } else {
                sent = withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2) { vectors in
                    // sendmsg does not write through these; their type only lacks the const.
                    vectors[0] = iovec(iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress), iov_len: first.count)
                    vectors[1] = iovec(iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress), iov_len: second.count)
                    var message = msghdr()
                    message.msg_iov = vectors.baseAddress
                    message.msg_iovlen = 2
                    return sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL))
                }
            }
        } while sent < 0 && errno == EINTR
        if sent < 0 { return errno == EAGAIN ? 0 : -1 }
        return sent
    }
}
