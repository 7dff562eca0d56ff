import Foundation
import Synchronization
import TestSupport
import Testing

@testable import IntertwineImages

@Suite("Fetching from a real origin", .timeLimit(.untilStuck))
struct CurlTransferTests {
    @Test("Head and body are received completely and in order; only the request is sent")
    func whole() async throws {
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let origin = try Origin { _, connection in connection.answer(200, ["Content-Type: image/png", "X-A: 1", "X-A: 2"], body: bytes) }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        let fetched = try await fetcher.get(origin.url("/a?b=c"))
        #expect(fetched.failure == .some(nil))
        #expect(fetched.body == bytes)
        #expect(fetched.head?.status == 200)
        #expect(fetched.field("X-A") == "1, 2")
        #expect(fetched.head?.contentLength == bytes.count)
        #expect(fetched.endings == 1)
        let request = try #require(origin.requests.first)
        #expect(request.path == "/a?b=c")
        #expect(Set(request.headers.keys) == ["host", "accept"])
        await fetcher.stop()
    }

    @Test("Connections are reused")
    func reuse() async throws {
        let origin = try Origin { _, connection in connection.answer(200, body: [1, 2, 3]) }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        for _ in 0..<10 {
            let fetched = try await fetcher.get(origin.url())
            #expect(fetched.body == [1, 2, 3])
        }
        #expect(origin.connections == 1)
        await fetcher.stop()
    }

    @Test("At most ten redirects are followed")
    func redirects() async throws {
        let origin = try Origin { request, connection in
            let left = Int(request.path.dropFirst()) ?? 0
            if left == 0 { connection.answer(200, body: [7]) } else { connection.answer(302, ["Location: \(left - 1)"], body: [9]) }
        }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        let ten = try await fetcher.get(origin.url("/10"))
        #expect(ten.failure == .some(nil))
        #expect(ten.body == [7])
        #expect(ten.head?.url.text == origin.url("/0"))
        let eleven = try await fetcher.get(origin.url("/11"))
        #expect(eleven.failure == .some(.tooManyRedirects))
        #expect(eleven.head == nil)
        await fetcher.stop()
    }

    @Test("Large or endless redirect bodies are not read", .timeLimit(.untilStuck))
    func redirectBody() async throws {
        let origin = try Origin { request, connection in
            guard request.path == "/from" else { return connection.answer(200, body: [7]) }
            connection.send("HTTP/1.1 301 X\r\nLocation: /to\r\n\r\n")
            while connection.send([UInt8](repeating: 0, count: 4_096)) {}
            connection.finish()
        }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        let fetched = try await fetcher.get(origin.url("/from"))
        #expect(fetched.body == [7])
        await fetcher.stop()
    }

    @Test("A body beyond the limit is aborted, despite its declared length (CVE-2025-59471, CVE-2026-44577)")
    func endless() async throws {
        let origin = try Origin { request, connection in
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            let chunk = Array("1000\r\n".utf8) + [UInt8](repeating: 1, count: 4_096) + Array("\r\n".utf8)
            while connection.send(chunk) {}
            connection.finish()
        }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        var limits = FetchLimits()
        limits.bodyBytes = 100_000
        let fetched = try await fetcher.get(origin.url(), limits: limits)
        #expect(fetched.failure == .some(.bodyTooLarge))
        #expect(fetched.body.count <= 100_000)
        await origin.closed(1)
        await fetcher.stop()
    }

    @Test(
        "Chunk extensions and trailers are bounded like content",
        arguments: [
            ("1;", "x", ""), ("", "1;a=\(String(repeating: "x", count: 1_000))\r\nb\r\n", ""), ("0\r\n", "A: b\r\n", ""),
            ("0\r\n", "Trailer-\(String(repeating: "x", count: 1_000)): b\r\n", ""),
        ])
    func framing(_ start: String, _ part: String, _ end: String) async throws {
        let sent = Atomic<Int>(0)
        let origin = try Origin { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(start)")
            let block = Array(String(repeating: part, count: max(1, 4_096 / part.utf8.count)).utf8)
            while connection.send(block) { sent.add(block.count, ordering: .relaxed) }
            connection.finish()
        }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        let fetched = try await fetcher.get(origin.url())
        #expect([.bodyTooLarge, .headTooLarge].contains(fetched.failure), "\(String(describing: fetched.failure))")
        await origin.closed(1)
        // With what the kernel holds on both sides.
        #expect(sent.load(ordering: .relaxed) < 12 << 20)
        await fetcher.stop()
    }

    @Test("A body in chunks of one byte with short extensions is accepted")
    func crumbs() async throws {
        let body = (0..<500).map { UInt8(truncatingIfNeeded: $0) }
        let origin = try Origin { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            connection.send(body.flatMap { Array("1;a\r\n".utf8) + [$0] + Array("\r\n".utf8) } + Array("0\r\n\r\n".utf8))
        }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        var limits = FetchLimits()
        limits.framingBytes = 100
        for _ in 0..<2 { #expect(try await fetcher.get(origin.url(), limits: limits).body == body) }
        #expect(origin.connections == 1)
        await fetcher.stop()
    }

    @Test("A declared length above the limit is refused at the head")
    func declaredTooLarge() async throws {
        let origin = try Origin { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n")
            connection.waitForClose()
        }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        let fetched = try await fetcher.get(origin.url())
        #expect(fetched.failure == .some(.bodyTooLarge))
        #expect(fetched.head == nil)
        await fetcher.stop()
    }

    @Test(
        "An endless head is aborted (CVE-2023-38039)",
        arguments: ["X-Filler: \(String(repeating: "x", count: 100))\r\n", "A: b\r\n"])
    func endlessHead(_ line: String) async throws {
        let origin = try Origin { _, connection in
            connection.send("HTTP/1.1 200 OK\r\n")
            for _ in 0..<10_000 where !connection.send(line) { break }
            connection.waitForClose()
        }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        let fetched = try await fetcher.get(origin.url())
        #expect(fetched.failure == .some(.headTooLarge))
        await fetcher.stop()
    }

    @Test("Endless interim responses are aborted")
    func endlessInterim() async throws {
        let origin = try Origin { _, connection in
            while connection.send("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n") {}
            connection.finish()
        }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        let fetched = try await fetcher.get(origin.url())
        #expect(fetched.failure == .some(.headTooLarge))
        await fetcher.stop()
    }

    @Test("Fewer bytes than declared is a failure")
    func lyingLength() async throws {
        let origin = try Origin { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort")
            connection.finish()
        }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        let fetched = try await fetcher.get(origin.url())
        #expect(fetched.failure == .some(.truncated))
        await fetcher.stop()
    }

    @Test(
        "A response that is not HTTP is a failure",
        arguments: ["SSH-2.0-OpenSSH\r\n\r\n", "\0\0\0\0", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n"])
    func nonsense(_ answer: String) async throws {
        let origin = try Origin { _, connection in
            connection.send(answer)
            connection.finish()
        }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        let fetched = try await fetcher.get(origin.url())
        #expect(fetched.failure == .some(.protocolError))
        await fetcher.stop()
    }

    @Test("A reset before the head is a lost connection, and retryable")
    func reset() async throws {
        let origin = try Origin { _, connection in connection.reset() }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        let fetched = try await fetcher.get(origin.url())
        #expect(fetched.failure == .some(.connectionLost))
        #expect(FetchError.connectionLost.isWorthRetrying)
        await fetcher.stop()
    }

    @Test("A silent origin hits the head deadline, a slow one the total deadline (CVE-2022-41952)")
    func slow() async throws {
        let origin = try Origin { request, connection in
            guard request.path == "/drip" else { return connection.waitForClose() }
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n")
            while connection.send([1]) {}
            connection.finish()
        }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        var limits = FetchLimits()
        limits.head = .milliseconds(150)
        let silent = try await fetcher.get(origin.url("/silent"), limits: limits)
        #expect(silent.failure == .some(.headTimeout))
        limits.total = .milliseconds(300)
        let drip = try await fetcher.get(origin.url("/drip"), limits: limits)
        #expect(drip.failure == .some(.totalTimeout))
        await fetcher.stop()
    }

    @Test("The time before the head may exceed the stall limit of the body")
    func thoughtful() async throws {
        let origin = try Origin { request, connection in
            if request.path == "/body" {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
                return connection.waitForClose()
            }
            Thread.sleep(forTimeInterval: 2.5)
            connection.answer(200, body: [1, 2, 3])
        }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        var limits = FetchLimits()
        limits.slowSeconds = 1
        limits.head = .seconds(20)
        limits.total = .seconds(30)
        let head = try fetcher.start(origin.url("/head"), limits: limits)
        let body = try await fetcher.get(origin.url("/body"), limits: limits)
        #expect(body.failure == .some(.tooSlow))
        await head.ended()
        #expect(head.failure == .some(nil) && head.body == [1, 2, 3])
        await fetcher.stop()
    }

    @Test(
        "Conflicting or invalid lengths are an error; equal ones and those with a transfer coding are not (RFC 9112)",
        arguments: [
            (["Content-Length: 3", "Content-Length: 2"], false), (["Content-Length: 3, 2"], false), (["Content-Length: +3"], false),
            (["Content-Length: "], false), (["Content-Length: 3,"], false), (["Content-Length: 99999999999999999999999"], false),
            (["Content-Length: 3", "Content-Length: 3"], true), (["Content-Length: 3, 3"], true), (["Content-Length: 3"], true),
        ])
    func lengths(_ fields: [String], _ isSound: Bool) async throws {
        let origin = try Origin { _, connection in
            connection.send((["HTTP/1.1 200 OK"] + fields + ["", "abc"]).joined(separator: "\r\n"))
            connection.finish()
        }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        let fetched = try await fetcher.get(origin.url())
        #expect(fetched.failure == .some(isSound ? nil : .protocolError))
        #expect(fetched.body == (isSound ? Array("abc".utf8) : []))
        await fetcher.stop()
    }

    @Test("A length with a transfer coding is ignored")
    func codedLength() async throws {
        let origin = try Origin { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
        }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        let fetched = try await fetcher.get(origin.url())
        #expect(fetched.body == Array("abc".utf8) || fetched.failure == .some(.protocolError))
        await fetcher.stop()
    }

    @Test("A refused connection is a failure")
    func refused() async throws {
        let origin = try Origin { _, _ in }
        origin.stop()
        let fetcher = try Fetcher(ports: [origin.port])
        let fetched = try await fetcher.get(origin.url())
        #expect(fetched.failure == .some(.connectFailed) || fetched.failure == .some(.connectionLost))
        await fetcher.stop()
    }

    @Test("A handler that cancels ends the fetch and is not called again")
    func rejected() async throws {
        let origin = try Origin { _, connection in connection.answer(200, body: [1, 2, 3]) }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        let fetched = try fetcher.start(origin.url()) { _ in false }
        await fetched.ended()
        #expect(fetched.failure == .some(.rejected))
        #expect(fetched.body.isEmpty)
        await fetcher.stop()
    }

    @Test(
        "A compressed body that was not requested is decompressed, with any content coding in the head",
        arguments: ["gzip", "", "utf-8", "br"])
    func compressed(_ coding: String) async throws {
        let body = Array("[1,2,3]".utf8)
        let packed = gzipped(gzipped(body)) + [0, 0, 0]
        let origin = try Origin { _, connection in connection.answer(200, ["Content-Encoding: \(coding)"], body: packed) }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        let fetched = try await fetcher.get(origin.url())
        #expect(fetched.body == body)
        #expect(origin.requests.first?.headers["accept-encoding"] == nil)
        await fetcher.stop()
    }

    @Test("After the shutdown of the client every fetch ends at once")
    func shutDown() async throws {
        let origin = try Origin { _, connection in connection.waitForClose() }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        let fetched = try fetcher.start(origin.url())
        await origin.requested(1)
        await fetcher.transfers.shutDown()
        #expect(fetched.failure == .some(.shuttingDown))
        let late = try await fetcher.get(origin.url())
        #expect(late.failure == .some(.shuttingDown))
        await fetcher.stop()
    }
}
