import Glibc
import TestSupport

/// An origin that accepts connections, and answers only on request of the test. Blocking.
final class StuckOrigin {
    private let listener: Int32
    let port: UInt16

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0 ? getsockname(listener, $0, &length) : -1
            }
        }
        if result != 0 { throw RawClientError.system("listen", errno) }
        self.listener = listener
        port = address.sin_port.bigEndian
    }

    deinit { close(listener) }

    func accept() throws -> Upstream {
        var poller = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        if poll(&poller, 1, 15_000) <= 0 { throw RawClientError.timedOut }
        return Upstream(descriptor: Glibc.accept(listener, nil, nil))
    }

    /// The origin's end of one connection.
    final class Upstream {
        private let descriptor: Int32

        init(descriptor: Int32) { self.descriptor = descriptor }

        deinit { close(descriptor) }

        /// Answers with a status and no content.
        func answer(_ status: Int) {
            let bytes = Array("HTTP/1.1 \(status) Status\r\nContent-Length: 0\r\n\r\n".utf8)
            _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        }

        /// Returns whether the other side ended the connection in time.
        func waitForEnd(milliseconds: Int32) -> Bool {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while true {
                var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                if poll(&poller, 1, milliseconds) <= 0 { return false }
                if recv(descriptor, &buffer, buffer.count, 0) <= 0 { return true }
            }
        }
    }
}
