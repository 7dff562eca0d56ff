internal import Dispatch
internal import Glibc
internal import HTTPTypes
internal import IntertwineHTTPServer

extension TestClient {
    init(port: UInt16) {
        self.init { request, body in
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<TestResponse, any Error>) in
                // The exchange blocks, so it runs outside the threads of Swift tasks.
                DispatchQueue(label: "test-client").async {
                    continuation.resume(with: Result { try SocketExchange(port: port).response(to: request, body) })
                }
            }
        } open: { request in
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue(label: "test-stream").async {
                    do {
                        let socket = try SocketExchange(port: port).open(request)
                        TestStream.read(from: socket) { continuation.resume(with: $0) }
                    } catch {
                        continuation.resume(throwing: error)
                    }
                }
            }
        }
    }
}

struct SocketExchange {
    private static let timeoutSeconds = 30

    let port: UInt16

    func response(to request: HTTPRequest, _ body: [UInt8]) throws -> TestResponse {
        let descriptor = try open(request, body)
        defer { close(descriptor) }
        return try Self.response(in: Self.all(from: descriptor), to: request.method)
    }

    func open(_ request: HTTPRequest, _ body: [UInt8] = []) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw TestServiceError.noResponse }
        var time = timeval(tv_sec: Self.timeoutSeconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        (address.sin_family, address.sin_port) = (sa_family_t(AF_INET), port.bigEndian)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        guard connected == 0 else {
            close(descriptor)
            throw TestServiceError.noResponse
        }
        send(head(of: request, body.count) + body, on: descriptor)
        return descriptor
    }

    private func head(of request: HTTPRequest, _ length: Int) -> [UInt8] {
        var text = "\(request.method.rawValue) \(request.path ?? "/") HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        if length > 0 || request.method != .get && request.method != .head { text += "Content-Length: \(length)\r\n" }
        for field in request.headerFields { text += "\(field.name.rawName): \(field.value)\r\n" }
        return Array((text + "\r\n").utf8)
    }

    private func send(_ bytes: [UInt8], on descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }

    private static func all(from descriptor: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(descriptor, &piece, piece.count, 0)
            if count <= 0 { return bytes }
            bytes += piece[..<count]
        }
    }

    private static func response(in bytes: [UInt8], to method: HTTPRequest.Method) throws -> TestResponse {
        guard let (status, fields, end) = try head(in: bytes) else { throw TestServiceError.noResponse }
        let rest = Array(bytes[end...])
        let body = fields[.transferEncoding] == "chunked" ? try dechunked(rest) : rest
        if method != .head, status != 304, let length = fields[.contentLength].flatMap({ Int($0) }), length != body.count {
            throw TestServiceError.noResponse
        }
        return TestResponse(status: status, fields: fields, body: body)
    }

    static func head(in bytes: [UInt8]) throws -> (status: Int, fields: HTTPFields, end: Int)? {
        let end: [UInt8] = [13, 10, 13, 10]
        guard let start = bytes.indices.first(where: { bytes[$0...].starts(with: end) }) else { return nil }
        let lines = String(decoding: bytes[..<start], as: UTF8.self).split(separator: "\r\n")
        guard let first = lines.first?.split(separator: " "), first.count > 1, let status = Int(first[1]) else {
            throw TestServiceError.noResponse
        }
        var fields = HTTPFields()
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = HTTPField.Name(String(parts[0])) else { throw TestServiceError.noResponse }
            fields.append(HTTPField(name: name, value: String(parts[1].drop { $0 == " " })))
        }
        return (status, fields, start + end.count)
    }

    private static func dechunked(_ bytes: [UInt8]) throws -> [UInt8] {
        var decoder = ChunkedDecoder(extensionBytes: 0, trailerBytes: 1 << 14, trailerFields: 100)
        return try bytes.withUnsafeBufferPointer { buffer in
            var (body, index) = ([UInt8](), 0)
            while true {
                switch try decoder.next(buffer, from: &index) {
                case .data(let range): body += buffer[range]
                case .end: return body
                case .needsMore: throw TestServiceError.noResponse
                }
            }
        }
    }
}
