import Foundation

@testable import IntertwineClient

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The flag of `send` that prevents a signal if the client has closed the connection. Apple's systems have an option of the socket instead.
#if canImport(Glibc)
    private let noSignal = Int32(MSG_NOSIGNAL)
#else
    private let noSignal: Int32 = 0
#endif

/// A test server on a socket with configurable failures: one thread and one request for each connection.
// Unchecked, and safe: all mutable state is in `LockedBox`.
final class FaultyServer: @unchecked Sendable {
    struct Request: Sendable {
        let method: String
        let target: String
        let fields: [String: String]
        let body: Data
    }
    enum Step: Sendable {
        case send(String)
        /// Waits until the test calls `release`.
        case hold
        /// Waits until the client closes the connection.
        case awaitClose
        /// Resets the connection.
        case reset
    }
    enum Event: Sendable {
        case request(Request)
        case closed(String)
    }

    let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let steps: @Sendable (Request, _ number: Int) -> [Step]
    private let listener: Int32
    private let state = LockedBox<[Request]>([])
    private let held = DispatchSemaphore(value: 0)
    let port: UInt16

    /// - Parameter steps: Returns the steps for each request, counted from 0.
    init(_ steps: @escaping @Sendable (Request, _ number: Int) -> [Step]) {
        self.steps = steps
        (events, continuation) = AsyncStream.makeStream()
        #if canImport(Glibc)
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let listener = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        self.listener = listener
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) + listen(listener, 64) + getsockname(listener, $0, &length)
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in accept() }
    }

    var base: URL {
        guard let url = URL(string: "http://127.0.0.1:\(port)") else { fatalError("no address") }
        return url
    }

    var requests: [Request] { state.withLock { $0 } }

    /// Resumes one waiting connection.
    func release() { held.signal() }

    /// Accepts no more connections.
    func stop() {
        // The accepting thread closes the descriptor. Why: closed here, its number could be reused before that thread notices.
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// Returns a response with its length.
    static func respond(_ status: Int, _ body: String = "", fields: [String] = []) -> [Step] {
        let head = ["HTTP/1.1 \(status) X", "Content-Length: \(body.utf8.count)", "Connection: close"] + fields
        return [.send((head + ["", body]).joined(separator: "\r\n"))]
    }

    private func accept() {
        defer { close(listener) }
        while true {
            #if canImport(Glibc)
                let client = Glibc.accept(listener, nil, nil)
            #else
                let client = Darwin.accept(listener, nil, nil)
            #endif
            guard client >= 0 else { return }
            Thread.detachNewThread { [self] in serve(client) }
        }
    }

    private func serve(_ client: Int32) {
        defer { close(client) }
        #if !canImport(Glibc)
            var isOn: Int32 = 1
            setsockopt(client, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
        #endif
        guard let request = read(client) else { return }
        let number = state.withLock { requests in
            requests.append(request)
            return requests.count - 1
        }
        continuation.yield(.request(request))
        for step in steps(request, number) {
            switch step {
            case .send(let text):
                let bytes = Array(text.utf8)
                var sent = 0
                while sent < bytes.count {
                    let count = bytes[sent...].withUnsafeBytes { send(client, $0.baseAddress, $0.count, noSignal) }
                    guard count > 0 else { return }
                    sent += count
                }
            case .hold: held.wait()
            case .awaitClose:
                var byte: UInt8 = 0
                while recv(client, &byte, 1, 0) > 0 {}
                continuation.yield(.closed(request.target))
            case .reset:
                var now = linger(l_onoff: 1, l_linger: 0)
                setsockopt(client, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
            }
        }
    }

    private func read(_ client: Int32) -> Request? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        var head: (end: Int, fields: [String: String], line: [Substring])?
        while true {
            if head == nil, let end = Self.find(Array("\r\n\r\n".utf8), in: bytes) {
                let lines = String(decoding: bytes[..<end], as: UTF8.self).components(separatedBy: "\r\n")
                var fields: [String: String] = [:]
                for line in lines.dropFirst() {
                    let parts = line.split(separator: ":", maxSplits: 1)
                    if parts.count == 2 { fields[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces) }
                }
                head = (end + 4, fields, lines[0].split(separator: " "))
            }
            if let head, bytes.count >= head.end + (Int(head.fields["content-length"] ?? "") ?? 0) {
                return Request(
                    method: String(head.line[0]), target: String(head.line[1]), fields: head.fields, body: Data(bytes[head.end...]))
            }
            let count = recv(client, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
    }

    private static func find(_ wanted: [UInt8], in bytes: [UInt8]) -> Int? {
        guard bytes.count >= wanted.count else { return nil }
        return (0...bytes.count - wanted.count).first { Array(bytes[$0..<$0 + wanted.count]) == wanted }
    }
}

extension AsyncStream where Element == FaultyServer.Event {
    /// Waits for the first event that satisfies a predicate.
    func first(_ isWanted: (FaultyServer.Event) -> Bool) async {
        for await event in self where isWanted(event) { return }
    }
}

/// A retry policy that records its delays instead of waiting.
final class Delays: Sendable {
    private let recorded = LockedBox<[Double]>([])
    var all: [Double] { recorded.withLock { $0 } }

    func policy(maxAttempts: Int = 4) -> RetryPolicy {
        RetryPolicy(maxAttempts: maxAttempts, jitter: { 1 }, sleep: { seconds in self.recorded.withLock { $0.append(seconds) } })
    }
}
