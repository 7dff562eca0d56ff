import CIntertwineLinux
import Glibc

/// A client that sends exactly the bytes it is told to and believes nothing it receives. Blocking: use it within ``offPool(_:)``.
public final class RawClient {
    public let descriptor: Int32
    private var received: [UInt8] = []
    private let timeout: Int32
    private var isOpen = true
    /// The server has broken the connection off instead of ending it.
    public private(set) var wasReset = false

    /// - Parameters:
    ///   - source: the IPv4 address to come from; any where nil.
    ///   - timeout: milliseconds that any call waits at most.
    ///   - receiveBuffer: bytes of the kernel's receive buffer, for slow readers.
    public init(
        port: UInt16, host: String = "127.0.0.1", from source: String? = nil, timeout: Int32 = 15_000, receiveBuffer: Int32? = nil
    ) throws {
        let isSix = host.contains(":")
        descriptor = socket(isSix ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        self.timeout = timeout
        if descriptor < 0 { throw RawClientError.system("socket", errno) }
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
        if var size = receiveBuffer { setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, 4) }
        if let source {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            inet_pton(AF_INET, source, &address.sin_addr)
            _ = withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
            }
        }
        let result: Int32
        if isSix {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            inet_pton(AF_INET6, host, &address.sin6_addr)
            result = withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size)) }
            }
        } else {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            inet_pton(AF_INET, host, &address.sin_addr)
            result = withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
            }
        }
        if result < 0 {
            let number = errno
            Glibc.close(descriptor)
            isOpen = false
            throw RawClientError.system("connect", number)
        }
    }

    deinit { close() }

    public func close() {
        if isOpen { Glibc.close(descriptor) }
        isOpen = false
    }

    /// Breaks the connection off with RST.
    public func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    public func send(_ text: String) throws { try send(Array(text.utf8)) }

    public func send(_ bytes: some Collection<UInt8>) throws {
        let bytes = Array(bytes)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0 { throw RawClientError.system("send", errno) }
            sent += count
        }
    }

    /// Sends as `send`, but goes on silently where the server has closed already: its answer is what counts then.
    public func sendIgnoringClose(_ bytes: some Collection<UInt8>) {
        try? send(bytes)
    }

    /// Sends each part in a segment of its own, as far as the kernel lets it.
    public func send(parts: [[UInt8]]) {
        for part in parts { sendIgnoringClose(part) }
    }

    /// Bytes that have been sent and not arrived.
    public var unsent: Int { Int(clinux_unsent(descriptor)) }

    /// Closes the sending side.
    public func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Waits for the next response, final or interim, and holds it against the rules that every response has to keep.
    ///
    /// - Parameter method: of the request that is answered; it decides whether there is a body.
    public func response(to method: String = "GET") throws -> RawResponse {
        while true {
            if let (response, used) = try ResponseParser.parse(received, method: method, atEnd: false) {
                received.removeFirst(used)
                return try checked(response, method)
            }
            if try !receive() {
                guard !received.isEmpty, let (response, used) = try ResponseParser.parse(received, method: method, atEnd: true) else {
                    throw RawClientError.closed
                }
                received.removeFirst(used)
                return try checked(response, method)
            }
        }
    }

    private func checked(_ response: RawResponse, _ method: String) throws -> RawResponse {
        let findings = ResponseLint.findings(in: response, method: method)
        if !findings.isEmpty { throw RawClientError.lint(findings) }
        return response
    }

    /// All bytes up to the end of the stream. A reset counts as the end.
    public func rest() throws -> [UInt8] {
        while try receive() {}
        defer { received = [] }
        return received
    }

    /// Waits for the end of the stream: true where not one more byte came before it.
    public func isClosedByServer() throws -> Bool { try rest().isEmpty }

    /// Bytes that are there already or come within `milliseconds`; nil at the end of the stream.
    public func bytes(within milliseconds: Int32) throws -> [UInt8]? {
        do {
            let isOpen = try receive(timeout: milliseconds)
            defer { received = [] }
            return isOpen || !received.isEmpty ? received : nil
        } catch RawClientError.timedOut {
            defer { received = [] }
            return received
        }
    }

    /// False at the end of the stream.
    private func receive(timeout: Int32? = nil) throws -> Bool {
        var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        if poll(&poller, 1, timeout ?? self.timeout) == 0 { throw RawClientError.timedOut }
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0 {
            if errno == ECONNRESET || errno == EPIPE {
                wasReset = true
                return false
            }
            throw RawClientError.system("recv", errno)
        }
        received += buffer[0..<count]
        return count > 0
    }
}
