import Foundation
import Glibc
import Synchronization

/// A server on loopback that answers as a test wants, down to the byte, with a thread for each connection.
public final class Origin: Sendable {
    public struct Request: Sendable {
        public let path: String
        /// Names in lower case.
        public let headers: [String: String]
        public let connection: Int
    }

    public enum Event: Sendable {
        case connected(Int)
        case requested(Request)
        case closed(Int, at: ContinuousClock.Instant)
    }

    public let port: UInt16
    public let address: String
    public let log = EventLog<Event>()
    private let listener: Int32
    private let answer: @Sendable (Request, OriginConnection) -> Void
    private let open = Mutex<[Int: OriginConnection]>([:])

    /// - Parameters:
    ///   - port: 0 for any.
    ///   - answer: called on the connection's own thread; may block. What it leaves open is used for the next request.
    public init(_ address: String = "127.0.0.1", port: UInt16 = 0, answer: @escaping @Sendable (Request, OriginConnection) -> Void) throws {
        self.address = address
        self.answer = answer
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, 4)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        inet_pton(AF_INET, address, &name.sin_addr)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                bind(descriptor, name, length) == 0 && listen(descriptor, 4_096) == 0 && getsockname(descriptor, name, &length) == 0
            }
        }
        guard isBound else { throw OriginError(errno: errno) }
        listener = descriptor
        self.port = UInt16(bigEndian: name.sin_port)
        Thread.detachNewThread { self.acceptAll() }
    }

    public func url(_ path: String = "/") -> String { "http://\(address):\(port)\(path)" }

    public var requests: [Request] {
        log.events.compactMap { if case .requested(let request) = $0 { request } else { nil } }
    }

    public var connections: Int {
        log.events.count { if case .connected = $0 { true } else { false } }
    }

    public func requested(_ count: Int) async {
        await log.wait { $0.count { if case .requested = $0 { true } else { false } } >= count }
    }

    /// When the given number of connections had been closed by the other side.
    @discardableResult
    public func closed(_ count: Int) async -> ContinuousClock.Instant {
        let times = await log.wait { $0.compactMap(\.closedAt).count >= count }.compactMap(\.closedAt)
        return times[count - 1]
    }

    public func connection(_ number: Int) -> OriginConnection? { open.withLock { $0[number] } }

    public func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        for connection in open.withLock({ Array($0.values) }) { connection.abort() }
    }

    private func acceptAll() {
        var number = 0
        while case let descriptor = accept(listener, nil, nil), descriptor >= 0 {
            number += 1
            let connection = OriginConnection(descriptor: descriptor, number: number)
            open.withLock { $0[connection.number] = connection }
            log.append(.connected(number))
            Thread.detachNewThread { self.serve(connection) }
        }
        close(listener)
    }

    private func serve(_ connection: OriginConnection) {
        while let head = connection.readHead() {
            let lines = head.split(separator: "\r\n").map(String.init)
            var headers: [String: String] = [:]
            for line in lines.dropFirst() {
                let parts = line.split(separator: ":", maxSplits: 1)
                if parts.count == 2 { headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces) }
            }
            let words = lines.first?.split(separator: " ") ?? []
            let request = Request(path: words.count > 1 ? String(words[1]) : "", headers: headers, connection: connection.number)
            log.append(.requested(request))
            answer(request, connection)
        }
        open.withLock { $0[connection.number] = nil }
        connection.close()
        log.append(.closed(connection.number, at: .now))
    }
}

extension Origin.Event {
    var closedAt: ContinuousClock.Instant? { if case .closed(_, let at) = self { at } else { nil } }
}

public struct OriginError: Error {
    public let errno: Int32
}
