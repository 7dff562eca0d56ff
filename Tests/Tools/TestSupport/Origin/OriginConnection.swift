import Glibc
import Synchronization

/// One connection of an ``Origin``. Blocking, for the connection's own thread; ``abort()`` and ``delivered`` from any.
public final class OriginConnection: Sendable {
    public let number: Int
    private let descriptor: Int32
    /// The final count once the descriptor is closed.
    private let acknowledged = Mutex<Int?>(nil)
    private let isOver = Atomic<Bool>(false)

    init(descriptor: Int32, number: Int) {
        self.descriptor = descriptor
        self.number = number
    }

    /// Bytes that the other side's kernel has taken so far.
    public var delivered: Int { acknowledged.withLock { $0 ?? Self.acknowledged(descriptor) } }

    @discardableResult
    public func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Sends all of it, at the other side's pace. False where the connection is over.
    @discardableResult
    public func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty, !isOver.load(ordering: .relaxed) {
            let put = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)) }
            if put > 0 {
                rest = rest.dropFirst(put)
            } else if errno == EAGAIN {
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&ready, 1, 2)
                if ready.revents & Int16(POLLERR | POLLHUP) != 0 { return false }
            } else if errno != EINTR {
                return false
            }
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
        acknowledged.withLock { if $0 == nil { shutdown(descriptor, Int32(SHUT_RDWR)) } }
    }

    func close() {
        acknowledged.withLock { count in
            count = Self.acknowledged(descriptor)
            Glibc.close(descriptor)
        }
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

    /// `tcpi_bytes_acked`: unlike the length of the queue it stays right when a reset empties the queue.
    private static func acknowledged(_ descriptor: Int32) -> Int {
        var info = [UInt8](repeating: 0, count: 256)
        var length = socklen_t(info.count)
        guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0, length >= 128 else { return 0 }
        return info.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: 120, as: UInt64.self)) }
    }
}
