import Glibc
import Synchronization

/// One connection of an ``Origin``. Blocking, for the connection's own thread; ``abort()`` and ``delivered`` from any.
public final class OriginConnection: Sendable {
    public let number: Int
    private let descriptor: Int32
    private let sent = Atomic<Int>(0)
    private let acknowledged = Atomic<Int>(0)
    private let isOver = Atomic<Bool>(false)

    init(descriptor: Int32, number: Int) {
        self.descriptor = descriptor
        self.number = number
    }

    /// Bytes that the other side's kernel has taken, as of the last call that sent something.
    public var delivered: Int { acknowledged.load(ordering: .relaxed) }

    @discardableResult
    public func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Sends all of it, at the other side's pace. False where the connection is over.
    @discardableResult
    public func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty, !isOver.load(ordering: .relaxed) {
            let put = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)) }
            if put > 0 {
                sent.add(put, ordering: .relaxed)
                rest = rest.dropFirst(put)
            } else if errno == EAGAIN {
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&ready, 1, 2)
                if ready.revents & Int16(POLLERR | POLLHUP) != 0 { return false }
            } else if errno != EINTR {
                return false
            }
            noteDelivered()
        }
        return rest.isEmpty
    }

    /// Sends an answer with a length, and keeps the connection.
    public func answer(_ status: Int = 200, _ fields: [String] = [], body: [UInt8] = []) {
        let head = ["HTTP/1.1 \(status) Whatever"] + fields + ["Content-Length: \(body.count)", "", ""]
        send(Array(head.joined(separator: "\r\n").utf8) + body)
    }

    /// Waits until the other side closes.
    public func waitForClose() {
        var byte: UInt8 = 0
        while !isOver.load(ordering: .relaxed) {
            let got = recv(descriptor, &byte, 1, 0)
            if got == 0 || (got < 0 && errno != EINTR) { break }
        }
        finish()
    }

    /// Ends the connection after what was sent.
    public func finish() {
        isOver.store(true, ordering: .relaxed)
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Ends the connection with a reset.
    public func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        isOver.store(true, ordering: .relaxed)
    }

    func abort() {
        isOver.store(true, ordering: .relaxed)
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    func close() {
        Glibc.close(descriptor)
    }

    /// Nil at the end of the connection, or once it was finished from this side.
    func readHead() -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while !isOver.load(ordering: .relaxed) {
            let got = recv(descriptor, &byte, 1, 0)
            if got < 0, errno == EINTR { continue }
            guard got == 1 else { return nil }
            bytes.append(byte)
            if bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) { return String(decoding: bytes, as: UTF8.self) }
        }
        return nil
    }

    private func noteDelivered() {
        var queued: Int32 = 0
        if ioctl(descriptor, UInt(TIOCOUTQ), &queued) == 0 {
            acknowledged.store(sent.load(ordering: .relaxed) - Int(queued), ordering: .relaxed)
        }
    }
}
