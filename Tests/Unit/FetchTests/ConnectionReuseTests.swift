import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import IntertwineImages

@Suite("Persistent connections", .timeLimit(.untilStuck))
struct ConnectionReuseTests {
    private static func answer(_ body: [UInt8]) -> [UInt8] {
        Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
    }

    @Test(
        "Unsolicited bytes are no response (RFC 9112 section 6.3)",
        arguments: [answer([6, 6, 6]), Array("garbage\r\n\r\n".utf8), Array("HTTP/1.1 408 Timeout\r\nContent-Length: 0\r\n\r\n".utf8)])
    func unasked(_ extra: [UInt8]) async throws {
        let gate = Gate()
        let sent = EventLog<Bool>()
        let origin = try Origin { request, connection in
            connection.send(Self.answer(Array(request.path.utf8)))
            guard request.path == "/bad" else { return }
            gate.wait()
            connection.send(extra)
            sent.append(true)
        }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        #expect(try await fetcher.get(origin.url("/bad")).body == Array("/bad".utf8))
        gate.open()
        await sent.wait { !$0.isEmpty }
        let connection = try #require(origin.connection(1))
        while connection.delivered < Self.answer(Array("/bad".utf8)).count + extra.count { await Task.yield() }
        for path in ["/one", "/two", "/three"] {
            let fetched = try await fetcher.get(origin.url(path))
            #expect(fetched.failure == .some(nil) && fetched.body == Array(path.utf8))
            #expect(fetched.log.events.count { if case .stage(.headers) = $0 { true } else { false } } == 1)
        }
        #expect(origin.connections == 2)
        await fetcher.stop()
    }

    @Test("A second response after a long one is discarded with the connection")
    func behind() async throws {
        let long = [UInt8](repeating: 1, count: 60_000)
        let origin = try Origin { request, connection in
            if request.path == "/bad" {
                connection.send(Self.answer(long) + Self.answer([6, 6, 6]))
            } else {
                connection.send(Self.answer(Array(request.path.utf8)))
            }
        }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        #expect(try await fetcher.get(origin.url("/bad")).body == long)
        let connection = try #require(origin.connection(1))
        let all = Self.answer(long).count + Self.answer([6, 6, 6]).count
        while connection.delivered < all, origin.connection(1) != nil { await Task.yield() }
        for path in ["/one", "/two"] { #expect(try await fetcher.get(origin.url(path)).body == Array(path.utf8)) }
        await fetcher.stop()
    }

    @Test("A request lost on a persistent connection is retried once on a new one, within one deadline")
    func lost() async throws {
        let gate = Gate()
        let origin = try Origin { request, connection in
            if request.path == "/die" { return connection.reset() }
            gate.wait()
            connection.send(Self.answer([1]))
        }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        let warm = try (0..<4).map { try fetcher.start(origin.url("/\($0)")) }
        await origin.requested(4)
        gate.open()
        for fetched in warm { await fetched.ended() }
        let fetched = try await fetcher.get(origin.url("/die"))
        #expect(fetched.failure == .some(.connectionLost))
        #expect(origin.requests.count { $0.path == "/die" } == 2)
        #expect(fetched.repeats == 1)
        #expect(origin.connections == 5)
        await fetcher.stop()
    }

    @Test("A persistent connection that closes without a response does not fail the fetch")
    func replaced() async throws {
        let origin = try Origin { request, connection in
            if request.connection == 1, request.path == "/second" { return connection.reset() }
            connection.send(Self.answer(Array(request.path.utf8)))
        }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        for path in ["/first", "/second"] { #expect(try await fetcher.get(origin.url(path)).body == Array(path.utf8)) }
        #expect(origin.requests.count == 3)
        await fetcher.stop()
    }

    @Test("A line beyond curl's limit is reported as a too large head")
    func longLine() async throws {
        let origin = try Origin { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 200_000) + "\r\n\r\n")
            connection.finish()
        }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        #expect(try await fetcher.get(origin.url()).failure == .some(.headTooLarge))
        await fetcher.stop()
    }

    @Test("Non-UTF-8 bytes stay in references; a validator with them is ignored")
    func latin() async throws {
        let origin = try Origin { request, connection in
            guard request.path == "/" else {
                connection.send(Self.tagged)
                return
            }
            connection.send(Array("HTTP/1.1 302 X\r\nLocation: /".utf8) + [0xfc] + Array(".png\r\nContent-Length: 0\r\n\r\n".utf8))
        }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        let fetched = try await fetcher.get(origin.url())
        #expect(origin.requests.last?.path == "/%FC.png")
        #expect(fetched.head?.headers[.eTag] == nil && fetched.field("X-Name")?.isEmpty == false)
        #expect(fetched.head?.redirects.map(\.status) == [302])
        await fetcher.stop()
    }

    private static let tagged =
        Array("HTTP/1.1 200 OK\r\nETag: \"".utf8) + [0xe9] + Array("\"\r\nX-Name: ".utf8) + [0xe9]
        + Array("\r\nContent-Length: 0\r\n\r\n".utf8)
}
