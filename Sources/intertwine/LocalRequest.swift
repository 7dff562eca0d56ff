import Foundation
import Glibc

/// A GET request to a listener on this machine, over a blocking socket. It needs no HTTP client library, so that a health check starts in
/// milliseconds.
struct LocalRequest {
    private static let timeout = timeval(tv_sec: 2, tv_usec: 0)
    private static let responseLimit = 64 << 10

    private let host: String
    private let port: Int

    init(host: String, port: Int) {
        self.host = ["0.0.0.0": "127.0.0.1", "::": "::1"][host] ?? host
        self.port = port
    }

    var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    var isAnswered: Bool {
        guard let descriptor = try? connected() else { return false }
        close(descriptor)
        return true
    }

    func get(_ path: String) throws(ExitError) -> (status: Int, body: Data) {
        let descriptor = try connected()
        defer { close(descriptor) }
        let request = Array("GET \(path) HTTP/1.1\r\nHost: \(authority)\r\nConnection: close\r\n\r\n".utf8)
        guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { throw failure("send") }
        var response: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while response.count < Self.responseLimit {
            let count = recv(descriptor, &piece, piece.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("receive") }
            guard count > 0 else { break }
            response += piece[..<count]
        }
        let text = String(decoding: response, as: UTF8.self)
        guard let end = text.firstRange(of: "\r\n\r\n"), let status = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { throw ExitError("http://\(authority)\(path): the response is not HTTP") }
        return (status, Data(text[end.upperBound...].utf8))
    }

    private func connected() throws(ExitError) -> Int32 {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(host, String(port), &hints, &found)
        guard result == 0 else { throw ExitError("http://\(authority): \(String(cString: gai_strerror(result)))") }
        defer { freeaddrinfo(found) }
        var next = found
        while let address = next?.pointee {
            next = address.ai_next
            let descriptor = socket(address.ai_family, address.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), address.ai_protocol)
            guard descriptor >= 0 else { continue }
            var timeout = Self.timeout
            for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
                setsockopt(descriptor, SOL_SOCKET, option, &timeout, socklen_t(MemoryLayout<timeval>.size))
            }
            if connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 { return descriptor }
            let reason = errno
            close(descriptor)
            errno = reason
        }
        throw failure("connect")
    }

    private func failure(_ step: String) -> ExitError {
        // A timeout of a blocking socket is reported as EAGAIN, of its connect as EINPROGRESS.
        let reason =
            [EAGAIN, EINPROGRESS].contains(errno) ? "no response within \(Self.timeout.tv_sec) s" : String(cString: strerror(errno))
        return ExitError("http://\(authority): \(step): \(reason)")
    }
}
