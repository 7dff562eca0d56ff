import Foundation
import TestSupport
import Testing

@testable import IntertwineHTTPServer

@Suite("Hostile clients")
struct HostileClientTests {
    private func withServer<Result: Sendable>(
        _ change: (inout HTTPServerConfiguration) -> Void, _ body: @escaping @Sendable (UInt16) throws -> Result
    ) async throws -> Result {
        let server = try await TestServer.start(EchoHandler(), change)
        let result = try await offPool { try body(server.port) }
        await server.server.shutdown(grace: .seconds(5))
        #expect(server.server.connectionLimiter.total == 0)
        return result
    }

    @Test("An idle connection is closed silently, before and after a request")
    func idle() async throws {
        try await withServer {
            $0.idleTimeout = .milliseconds(80)
        } _: { port in
            let silent = try RawClient(port: port)
            #expect(try silent.isClosedByServer())
            let client = try RawClient(port: port)
            try client.send(ConformanceCase.get())
            #expect(try client.response().status == 200)
            #expect(try client.isClosedByServer())
        }
    }

    @Test("Connections after a pause longer than the idle timeout have the full timeout", arguments: [false, true])
    func rested(afterRequest: Bool) async throws {
        try await withServer {
            $0.loops = 4
            $0.idleTimeout = .milliseconds(600)
            $0.connectionAge = afterRequest ? .milliseconds(500) : .seconds(60)
        } _: { port in
            // Deals one to each loop: those that did not accept rest from then on.
            for _ in 0..<2 {
                usleep(700_000)
                let clients = try (0..<8).map { _ in try RawClient(port: port) }
                if !afterRequest { usleep(200_000) }
                for client in clients { try client.send(ConformanceCase.get()) }
                for client in clients {
                    let answer = try client.response()
                    #expect(answer.status == 200 && !answer.closes)
                }
                for client in clients { client.close() }
            }
        }
    }

    @Test("A request received within the idle timeout is served, even by a late loop")
    func stalledLoop() async throws {
        // What a handler must not do, and what being stopped for a while does to a process.
        let handler = EchoHandler(later: { promise in
            usleep(1_000_000)
            promise.complete { EchoHandler.pending }
        })
        let server = try await TestServer.start(handler) {
            $0.loops = 1
            $0.idleTimeout = .milliseconds(500)
        }
        try await offPool {
            let port = server.port
            let clients = try (0..<20).map { _ in try RawClient(port: port) }
            for client in clients {
                try client.send(ConformanceCase.get())
                #expect(try client.response().status == 200)
            }
            let blocker = try RawClient(port: port)
            try blocker.send("GET /later/1 HTTP/1.1\r\nHost: a\r\n\r\n")
            usleep(20_000)
            for client in clients { try client.send(ConformanceCase.get()) }
            let answers = clients.filter { (try? $0.response().status) == 200 }
            #expect(answers.count == 20)
        }
        await server.server.shutdown(grace: .seconds(5))
    }

    @Test("Requests behind unread responses do not reach other connections", arguments: ["/page", "/echo", "/gate"])
    func brokenPipeline(last: String) async throws {
        try await withServer {
            $0.loops = 1
            $0.outputHighWater = 8 * 1024
        } _: { port in
            let page = "GET /page HTTP/1.1\r\nHost: a\r\n\r\n"
            let pipeline = Array((String(repeating: page, count: 1000) + "GET \(last) HTTP/1.1\r\nHost: a\r\n\r\n").utf8)
            for _ in 0..<20 {
                let broken = try RawClient(port: port)
                broken.sendIgnoringClose(pipeline)
                broken.reset()
                let client = try RawClient(port: port)
                try client.send("GET /mine HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                #expect(try client.response().text == "GET a /mine\n")
                #expect(try client.isClosedByServer())
                #expect(!client.wasReset)
            }
        }
    }

    @Test("A slow head ends at the deadline of the head")
    func slowHead() async throws {
        try await withServer {
            $0.headTimeout = .milliseconds(150)
        } _: { port in
            let client = try RawClient(port: port)
            var dripped = 0
            for byte in ConformanceCase.get("X-Slow: " + String(repeating: "x", count: 2000)).utf8 {
                client.sendIgnoringClose([byte])
                dripped += 1
                usleep(1000)
                if let answer = try? client.bytes(within: 0), !answer.isEmpty {
                    #expect(String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 408 "))
                    break
                }
            }
            #expect(dripped < 1500)
        }
    }

    @Test("The timeout of a slow HEAD sends a head only")
    func slowHeadOfHead() async throws {
        try await withServer {
            $0.headTimeout = .milliseconds(80)
        } _: { port in
            let client = try RawClient(port: port)
            try client.send("HEAD / HTTP/1.1\r\nHost: a\r\n")
            #expect(try client.response(to: "HEAD").status == 408)
            #expect(try client.isClosedByServer())
        }
    }

    @Test("A slow body ends by its rate, a long steady one by its deadline", arguments: [true, false])
    func slowBody(byRate: Bool) async throws {
        try await withServer {
            $0.bodyRateGrace = byRate ? .milliseconds(50) : .seconds(20)
            $0.minimumBodyRate = 1_000_000
            $0.bodyTimeout = byRate ? .seconds(20) : .milliseconds(150)
        } _: { port in
            let client = try RawClient(port: port)
            try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\nabc")
            let answer = try client.response()
            #expect(answer.status == 408 && answer.closes)
        }
    }

    @Test("A stalled reader is disconnected, and others are served meanwhile", arguments: ["/huge", "/huge-file"])
    func slowReader(path: String) async throws {
        try await withServer {
            $0.writeTimeout = .milliseconds(300)
        } _: { port in
            let slow = try RawClient(port: port, receiveBuffer: 4096)
            try slow.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
            let other = try RawClient(port: port)
            for _ in 0..<20 {
                try other.send(ConformanceCase.get())
                #expect(try other.response().status == 200)
            }
            // It is noticed when the rest never comes.
            usleep(1_500_000)
            #expect(try slow.rest().count < 8 << 20)
        }
    }

    @Test("A file shorter than declared aborts the connection")
    func shortFile() async throws {
        try await withServer {
            $0.writeTimeout = .seconds(10)
        } _: { port in
            let client = try RawClient(port: port)
            try client.send("GET /short-file HTTP/1.1\r\nHost: a\r\n\r\n")
            let all = String(decoding: try client.rest(), as: UTF8.self)
            #expect(all.contains("Content-Length: 300000\r\n") && all.utf8.count < 2_000)
        }
    }

    @Test("A slow reader that makes progress gets the complete response", arguments: ["/huge", "/huge-file"])
    func steadyReader(path: String) async throws {
        try await withServer {
            $0.writeTimeout = .milliseconds(300)
        } _: { port in
            let slow = try RawClient(port: port)
            try slow.send("GET \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            var taken = 0
            var buffer = [UInt8](repeating: 0, count: 16 * 1024)
            for _ in 0..<TestSize.full(100, small: 40) {
                taken += max(0, recv(slow.descriptor, &buffer, buffer.count, 0))
                usleep(15_000)
            }
            let rest = try slow.rest().count
            #expect(taken + rest > 8 << 20)
            #expect(!slow.wasReset)
        }
    }

    @Test("Request bodies share a memory budget: 503 beyond it, and memory is released afterwards", arguments: [true, false])
    func bodies(together: Bool) async throws {
        try await withServer {
            $0.bodiesLimit = 110_000
        } _: { port in
            let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n"
            let holders = try (0..<2).map { _ in
                let client = try RawClient(port: port)
                try client.send(head + String(repeating: "x", count: 45_000))
                return client
            }
            // What follows comes after theirs: each of them has been seen to be there.
            for holder in holders { while holder.unsent > 0 { usleep(1_000) } }
            usleep(50_000)
            let late = try RawClient(port: port)
            if together {
                try late.send(head + String(repeating: "x", count: 45_000))
            } else {
                try late.send(head)
                for _ in 0..<45 { late.sendIgnoringClose(Array(String(repeating: "x", count: 1_000).utf8)) }
            }
            let refusal = try late.response()
            #expect(refusal.status == 503 && refusal["retry-after"] == "1" && refusal.closes)
            // What needs no body is answered all the same.
            let other = try RawClient(port: port)
            try other.send(ConformanceCase.get())
            #expect(try other.response().status == 200)
            try holders[0].send(String(repeating: "x", count: 5_000))
            holders[1].close()
            try holders[0].send(String(repeating: "x", count: 10_000))
            #expect(try holders[0].response().body.count == 60_009)
            for _ in 0..<5 {
                // What the others held is given back behind their last byte.
                var status = 503
                for _ in 0..<500 where status == 503 {
                    let client = try RawClient(port: port)
                    try client.send(head + String(repeating: "x", count: 60_000))
                    status = try client.response().status
                }
                #expect(status == 200)
            }
        }
    }

    @Test("A bursty body ends at the deadline of the body")
    func burstsOfBody() async throws {
        try await withServer {
            $0.bodyTimeout = .milliseconds(400)
            $0.minimumBodyRate = 0
        } _: { port in
            let client = try RawClient(port: port)
            try client.send("POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 60000000\r\n\r\n")
            for _ in 0..<150 {
                client.sendIgnoringClose([UInt8](repeating: 0x61, count: 300_000))
                usleep(20_000)
                if let answer = try? client.bytes(within: 0), !answer.isEmpty {
                    #expect(String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 408 "))
                    return
                }
            }
            Issue.record("the body went on")
        }
    }

    @Test("Bytes received with the head count for the rate of a body", arguments: [true, false])
    func rateFromTheHead(together: Bool) async throws {
        let start = ContinuousClock.now
        try await withServer {
            $0.bodyRateGrace = .milliseconds(100)
            $0.minimumBodyRate = 1000
        } _: { port in
            let client = try RawClient(port: port)
            let (head, body) = ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n\r\n", String(repeating: "a", count: 1000))
            if together { try client.send(head + body) } else { client.send(parts: [Array(head.utf8), Array(body.utf8)]) }
            #expect(try client.response().status == 408)
        }
        #expect(ContinuousClock.now - start > .milliseconds(900))
    }

    @Test("trailers are counted to the byte", arguments: [0, 1])
    func trailers(more: Int) async throws {
        try await withServer {
            $0.trailerLimit = 64
        } _: { port in
            let line = "A: " + String(repeating: "x", count: 64 - 5 + more) + "\r\n"
            let request = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + line + "\r\n"
            let client = try RawClient(port: port)
            try client.send(request)
            #expect(try client.response().status == (more == 0 ? 200 : 400))
        }
    }

    @Test("Other clients get responses within 50 ms of a quiet machine during attacks", arguments: Crowd.allCases)
    func others(crowd: Crowd) async throws {
        try await withServer {
            $0.connectionLimit = 400
            $0.connectionsPerPeer = 400
        } _: { port in
            let clients = try (0..<150).map { _ in try RawClient(port: port, receiveBuffer: 4096) }
            let honest = try RawClient(port: port)
            var times: [Duration] = []
            for round in 0..<40 {
                for client in clients { crowd.act(client, round) }
                let began = ContinuousClock.now
                try honest.send(ConformanceCase.get())
                #expect(try honest.response().status == 200)
                times.append(ContinuousClock.now - began)
            }
            // One slow answer may be the machine's own doing.
            #expect(times.sorted()[35] < MachineSpeed.bound(.milliseconds(50)), "\(times)")
            for client in clients { client.close() }
        }
    }

    enum Crowd: CaseIterable {
        case heads, bodies, readers, halfClosed, resetting

        func act(_ client: RawClient, _ round: Int) {
            switch self {
            case .heads: client.sendIgnoringClose(Array((round == 0 ? "GET / HTTP/1.1\r\nHost: a\r\nX-Slow: " : "x").utf8))
            case .bodies:
                client.sendIgnoringClose(Array((round == 0 ? "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n" : "x").utf8))
            case .readers:
                if round == 0 { client.sendIgnoringClose(Array("GET /huge HTTP/1.1\r\nHost: a\r\n\r\n".utf8)) }
            case .halfClosed:
                if round == 0 {
                    client.sendIgnoringClose(Array("GET /huge HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
                    client.finishSending()
                }
            case .resetting:
                if round == 0 { client.sendIgnoringClose(Array("GET /huge-file HTTP/1.1\r\nHost: a\r\n\r\n".utf8)) }
                // A few in each round, while their answers are under way.
                if Int(client.descriptor) % 40 == round { client.reset() }
            }
        }
    }

    @Test("A slow handler is cancelled, and the client gets an error")
    func slowHandler() async throws {
        let (cancelled, continuation) = AsyncStream<String>.makeStream()
        let server = try await TestServer.start(EchoHandler(cancelled: continuation)) { $0.handlerTimeout = .milliseconds(80) }
        try await offPool {
            let client = try RawClient(port: server.port)
            try client.send("GET /never HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.response().status == 503)
        }
        var iterator = cancelled.makeAsyncIterator()
        #expect(await iterator.next() == "/never")
        await server.server.shutdown(grace: .seconds(5))
    }

    @Test(
        "each limit can be set",
        arguments: [
            ("GET /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa HTTP/1.1\r\nHost: a\r\n\r\n", 414),
            ("GET / HTTP/1.1\r\nHost: a\r\nA: \(String(repeating: "x", count: 100))\r\n\r\n", 431),
            ("GET / HTTP/1.1\r\nHost: a\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\n", 431),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n123456789", 413),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;abcdefgh\r\na\r\n0\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: 0123456789012345678\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: 1\r\nB: 2\r\n\r\n", 400),
            ("POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\n", 403),
        ])
    func limits(request: String, status: Int) async throws {
        try await withServer {
            $0.requestLineLimit = 64
            $0.fieldBlockLimit = 96
            $0.fieldLimit = 3
            $0.bodyLimit = 8
            $0.chunkExtensionLimit = 8
            $0.trailerLimit = 20
            $0.trailerFieldLimit = 1
            $0.discardLimit = 7
        } _: { port in
            let client = try RawClient(port: port)
            client.sendIgnoringClose(Array(request.utf8))
            let answer = try client.response()
            #expect(answer.status == status && answer.closes)
        }
    }

    @Test("A body of exactly the limit is read, by its length, in one chunk and in several, with and without Expect", arguments: [0, 1])
    func bodies(more: Int) async throws {
        try await withServer {
            $0.bodyLimit = 8
            $0.discardLimit = 64
        } _: { port in
            let body = String(repeating: "x", count: 8 + more)
            let pieces = [[body], ["xxx", String(body.dropFirst(3))], body.map { String($0) }]
            let chunked = pieces.map { pieces in pieces.map { "\(String($0.utf8.count, radix: 16))\r\n\($0)\r\n" }.joined() + "0\r\n\r\n" }
            for request in ["Content-Length: \(body.utf8.count)\r\n\r\n\(body)"]
                + chunked.map({ "Transfer-Encoding: chunked\r\n\r\n\($0)" })
            {
                let client = try RawClient(port: port)
                client.sendIgnoringClose(Array("POST / HTTP/1.1\r\nHost: a\r\n\(request)".utf8))
                let answer = try client.response()
                #expect(answer.status == (more == 0 ? 200 : 413), "\(request)")
                #expect(more > 0 || answer.text.hasSuffix(body), "\(request)")
            }
            let client = try RawClient(port: port)
            try client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: \(body.utf8.count)\r\n\r\n")
            #expect(try client.response().status == (more == 0 ? 100 : 413))
        }
    }

    @Test("Limits of lines are exact to the byte", arguments: [0, 1])
    func lengths(more: Int) async throws {
        try await withServer {
            $0.requestLineLimit = 256
            $0.fieldBlockLimit = 512
        } _: { port in
            let line = "GET /" + String(repeating: "a", count: 256 - 14 + more) + " HTTP/1.1\r\n"
            let field = "A: " + String(repeating: "x", count: 512 - "Host: a\r\nA: \r\n".utf8.count + more) + "\r\n"
            let requests = [(line + "Host: a\r\n\r\n", 414), ("GET / HTTP/1.1\r\nHost: a\r\n" + field + "\r\n", 431)]
            for (request, refusal) in requests {
                for parts in [[Array(request.utf8)], request.utf8.map { [$0] }] {
                    let client = try RawClient(port: port)
                    client.send(parts: parts)
                    #expect(try client.response().status == (more == 0 ? 200 : refusal))
                }
            }
        }
    }

    @Test("A full server serves clients up to its limit and rejects the others", arguments: [10, 40])
    func crowd(size: Int) async throws {
        try await withServer {
            $0.connectionLimit = 20
        } _: { port in
            let holders = try (0..<10).map { _ in
                let client = try RawClient(port: port)
                try client.send("GET / HTTP/1.1\r\nHost: a\r\n")
                return client
            }
            for _ in 0..<20 {
                let clients = try (0..<size).map { _ in try RawClient(port: port) }
                for client in clients { client.sendIgnoringClose(Array(ConformanceCase.get("Connection: close").utf8)) }
                // Silence would throw here.
                let answers = try clients.map { try $0.response().status }
                #expect(answers.allSatisfy { $0 == 200 || (size > 10 && $0 == 503) }, "\(answers)")
                #expect(answers.contains(200))
            }
            for client in holders {
                try client.send("\r\n")
                #expect(try client.response().status == 200)
            }
        }
    }

    @Test("Idle connections are closed from four fifths of the limit on", arguments: [(4, 4), (5, 4), (10, 8), (12, 10)])
    func crowding(limit: Int, first: Int) async throws {
        try await withServer {
            $0.connectionLimit = limit
            $0.loops = 1
        } _: { port in
            func join() throws -> RawClient {
                let client = try RawClient(port: port)
                try client.send(ConformanceCase.get())
                #expect(try client.response().status == 200)
                return client
            }
            let idle = try (1..<first).map { _ in try join() }
            for client in idle {
                try client.send(ConformanceCase.get())
                #expect(try client.response().status == 200)
            }
            _ = try join()
            #expect(try idle[0].isClosedByServer())
        }
    }

    @Test("Connections beyond the limit close the longest idle ones, or are refused if all are busy")
    func flood() async throws {
        try await withServer {
            $0.connectionLimit = 10
            $0.loops = 1
        } _: { port in
            let idle = try (0..<9).map { _ in
                let client = try RawClient(port: port)
                try client.send(ConformanceCase.get())
                _ = try client.response()
                return client
            }
            let late = try RawClient(port: port)
            try late.send(ConformanceCase.get())
            #expect(try late.response().status == 200)
            #expect(try idle[0].isClosedByServer())

            let busy = try (0..<10).map { _ in
                let client = try RawClient(port: port)
                // The invitation shows that the server has seen the request: the connection is not idle.
                try client.send("POST /wait HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n")
                #expect(try client.response().status == 100)
                return client
            }
            let refusal = try RawClient(port: port).response()
            #expect(refusal.status == 503 && refusal["retry-after"] == "1" && refusal["date"] != nil && refusal.closes)
            for client in busy { client.close() }
        }
    }

    @Test("One address cannot use all connections")
    func peerLimit() async throws {
        try await withServer {
            $0.connectionsPerPeer = 3
        } _: { port in
            let clients = try (0..<3).map { _ in try RawClient(port: port) }
            for client in clients {
                try client.send(ConformanceCase.get())
                #expect(try client.response().status == 200)
            }
            let fourth = try RawClient(port: port)
            #expect(try fourth.response().status == 503)
            clients[0].close()
            var served = false
            for _ in 0..<500 where !served {
                let client = try RawClient(port: port)
                client.sendIgnoringClose(Array(ConformanceCase.get().utf8))
                served = (try? client.response().status) == 200
            }
            #expect(served)
        }
    }

    @Test("Responses that wait for slow clients have one limit, and other clients are served")
    func outputs() async throws {
        try await withServer {
            $0.outputsLimit = 20 << 20
        } _: { port in
            // A response of 8 MiB each, of which a client takes almost nothing.
            let slow = try (0..<6).map { _ in try RawClient(port: port, receiveBuffer: 4096) }
            for client in slow { try client.send("GET /huge HTTP/1.1\r\nHost: a\r\n\r\n") }
            var closed = 0
            for client in slow {
                var length = 0
                while length < 8 << 20, let bytes = try? client.bytes(within: 2_000), !bytes.isEmpty { length += bytes.count }
                if length < 8 << 20 { closed += 1 }
            }
            #expect((2...4).contains(closed), "\(closed) of 6 connections are closed")
            let client = try RawClient(port: port)
            try client.send("GET /huge HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.response().body.count == 8 << 20)
        }
    }

    @Test("Resets within responses leak nothing")
    func resets() async throws {
        try await withServer { _ in
        } _: { port in
            for number in 0..<60 {
                let client = try RawClient(port: port, receiveBuffer: 4096)
                try client.send("GET \(["/huge", "/stream", "/wait"][number % 3]) HTTP/1.1\r\nHost: a\r\n\r\n")
                if number % 2 == 0 { _ = try? client.bytes(within: 5) }
                client.reset()
            }
            let client = try RawClient(port: port)
            try client.send(ConformanceCase.get())
            #expect(try client.response().status == 200)
        }
    }

    @Test("64 KiB of noise is rejected at the first invalid byte", arguments: 1...5)
    func noise(seed: UInt64) async throws {
        let port = try await TestServer.shared.value.port
        try await offPool {
            var random = SeededRandom(seed: seed)
            let client = try RawClient(port: port)
            client.sendIgnoringClose((0..<65_536).map { _ in UInt8(truncatingIfNeeded: random.next()) })
            let answer = try client.response()
            #expect([400, 505].contains(answer.status) && answer.closes)
            #expect(try client.isClosedByServer())
        }
    }
}
