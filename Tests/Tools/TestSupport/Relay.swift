import CIntertwineLinux
import Foundation
import Glibc
import Synchronization

/// The way between a client and a PostgreSQL server's socket, which can be cut as a cable is: nothing comes through any more, and nobody is
/// told. It can note what the server answers, too.
public final class Relay: Sendable {
    /// One connection's two ends, open for as long as somebody reads from either.
    private final class Link: Sendable {
        let client: Int32
        let server: Int32

        init(client: Int32) {
            self.client = client
            server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        }

        deinit {
            close(client)
            close(server)
        }

        func end() { for end in [client, server] { shutdown(end, Int32(SHUT_RDWR)) } }
    }

    private struct State {
        var isCut = false
        /// Nil where nothing is noted.
        var answers: [[UInt8]]?
        var links: [Link] = []
    }

    /// Where the socket lies that leads to the server.
    public let folder: String
    private let target: String
    private let listener: Int32
    private let state = Mutex(State())

    public init(to server: PostgresServer) throws {
        folder = "/tmp/intertwine-relay-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let name = ".s.PGSQL.\(server.port)"
        target = "\(server.folder)/\(name)"
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard Self.withAddress("\(folder)/\(name)", { bind(listener, $0, $1) }) == 0, listen(listener, 128) == 0 else {
            throw RawClientError.system("listen", errno)
        }
        Thread.detachNewThread { [self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                waitWhileCut()
                join(client)
            }
        }
    }

    /// Nothing comes through from now on, and new connections get no answer.
    public func cut() { state.withLock { $0.isCut = true } }

    /// What was held up comes through.
    public func mend() { state.withLock { $0.isCut = false } }

    /// What the server answers while `body` runs, each answer with all that took one round trip.
    public func answers(to body: () throws -> Void) rethrows -> [[UInt8]] {
        state.withLock { $0.answers = [] }
        defer { state.withLock { $0.answers = nil } }
        try body()
        return state.withLock { $0.answers ?? [] }
    }

    /// Ends everything.
    public func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        let links = state.withLock { state in
            state.isCut = false
            return state.links
        }
        for link in links { link.end() }
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func join(_ client: Int32) {
        let link = Link(client: client)
        guard Self.withAddress(target, { connect(link.server, $0, $1) }) == 0 else { return }
        state.withLock { $0.links.append(link) }
        for (from, to) in [(link.client, link.server), (link.server, link.client)] {
            Thread.detachNewThread { [self] in
                forward(from, to, isAnswer: from == link.server)
                link.end()
                state.withLock { $0.links.removeAll { $0 === link } }
            }
        }
    }

    private func forward(_ from: Int32, _ to: Int32, isAnswer: Bool) {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        var answer: [UInt8] = []
        while true {
            let count = read(from, &chunk, chunk.count)
            waitWhileCut()
            guard count > 0 else { return }
            if isAnswer { note(chunk[..<count], in: &answer) }
            var sent = 0
            while sent < count {
                let taken = chunk[sent..<count].withUnsafeBytes { send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                guard taken > 0 else { return }
                sent += taken
            }
        }
    }

    /// An answer ends with the message that the server is ready for the next question: `Z`, its length, and one byte.
    private func note(_ chunk: ArraySlice<UInt8>, in answer: inout [UInt8]) {
        answer += chunk
        guard answer.dropLast().suffix(5) == [UInt8(ascii: "Z"), 0, 0, 0, 5] else { return }
        state.withLock { $0.answers?.append(answer) }
        answer = []
    }

    private func waitWhileCut() {
        while state.withLock({ $0.isCut }) { usleep(10_000) }
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        return withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }
}
