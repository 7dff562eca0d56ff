import TestSupport
import Testing

@testable import IntertwineHTTPServer

@Suite("Pending responses")
struct PendingResponseTests {
    /// A server that hands out the promises of `/later/…` instead of calling them.
    private func server(
        _ change: (inout HTTPServerConfiguration) -> Void = { _ in }
    ) async throws -> (server: TestServer, promises: AsyncStream<ResponsePromise>) {
        let (promises, handedOut) = AsyncStream<ResponsePromise>.makeStream()
        return (try await TestServer.start(EchoHandler(later: { handedOut.yield($0) }), change), promises)
    }

    private static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n" }

    @Test("They are sent in request order")
    func pipelining() async throws {
        let port = try await TestServer.shared.value.port
        try await offPool {
            let client = try RawClient(port: port)
            let paths = (0..<32).map { ["/page", "/n\($0)", "/later/\($0)"][$0 % 3] }
            try client.send(paths.map(Self.get).joined())
            for path in paths {
                let answer = try client.response()
                let expected = path == "/page" ? EchoHandler.text : Array((path.hasPrefix("/n") ? "GET a \(path)\n" : "later").utf8)
                #expect(answer.body == expected)
            }
            try client.send("HEAD /later/1 HTTP/1.1\r\nHost: a\r\n\r\n")
            let head = try client.response(to: "HEAD")
            #expect(head.status == 200 && head["content-length"] == "5" && head.body.isEmpty)
        }
    }

    @Test("They can be completed once, from any thread")
    func once() async throws {
        let (server, promises) = try await server()
        let answers = Task {
            try await offPool {
                let client = try RawClient(port: server.port)
                try client.send(Self.get("/later/1") + Self.get("/page"))
                return try (0..<2).map { _ in try client.response().body }
            }
        }
        for await promise in promises {
            promise.complete { EchoHandler.pending }
            promise.complete { EchoHandler.pending }
            break
        }
        #expect(try await answers.value == [Array("later".utf8), EchoHandler.text])
        await server.server.shutdown(grace: .seconds(5))
    }

    @Test("They are 503 after the timeout, and later results are ignored")
    func never() async throws {
        let (server, promises) = try await server { $0.handlerTimeout = .milliseconds(100) }
        let statuses = try await offPool {
            let client = try RawClient(port: server.port)
            try client.send(Self.get("/later/1"))
            let answer = try client.response()
            #expect(answer.closes)
            return answer.status
        }
        #expect(statuses == 503)
        for await promise in promises {
            promise.complete { EchoHandler.pending }
            break
        }
        try await offPool {
            let client = try RawClient(port: server.port)
            try client.send(Self.get("/page"))
            #expect(try client.response().body == EchoHandler.text)
        }
        await server.server.shutdown(grace: .seconds(5))
        #expect(server.server.connectionLimiter.total == 0)
    }

    @Test("They are dropped for a disconnected client")
    func gone() async throws {
        let (server, promises) = try await server()
        // The client goes away with the end of its scope.
        try await offPool { try RawClient(port: server.port).send(Self.get("/later/1")) }
        for await promise in promises {
            promise.complete { EchoHandler.pending }
            break
        }
        await server.server.shutdown(grace: .seconds(5))
        #expect(server.server.connectionLimiter.total == 0)
    }

    @Test("They are cancelled once without a waiter, and never after completion")
    func calledOff() async throws {
        let (promises, handedOut) = AsyncStream<ResponsePromise>.makeStream()
        let (ends, end) = AsyncStream<Void>.makeStream()
        let server = try await TestServer.start(EchoHandler(later: { handedOut.yield($0) }, calledOff: { end.yield() }))
        try await offPool {
            let client = try RawClient(port: server.port)
            try client.send(Self.get("/later/1"))
        }
        for await _ in ends { break }
        var iterator = promises.makeAsyncIterator()
        _ = await iterator.next()
        let answer = Task {
            try await offPool {
                let client = try RawClient(port: server.port)
                try client.send("GET /later/2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                return try client.response().status
            }
        }
        if let promise = await iterator.next() { promise.complete { EchoHandler.pending } }
        #expect(try await answer.value == 200)
        await server.server.shutdown(grace: .seconds(5))
        end.finish()
        var more = 0
        for await _ in ends { more += 1 }
        #expect(more == 0)
    }

    @Test("The shutdown waits for them, and they close their connection")
    func stopping() async throws {
        let (server, promises) = try await server()
        let answer = Task {
            try await offPool {
                let client = try RawClient(port: server.port)
                try client.send(Self.get("/later/1"))
                let answer = try client.response()
                #expect(try client.isClosedByServer())
                return answer
            }
        }
        for await promise in promises {
            let stopping = Task { await server.server.shutdown(grace: .seconds(20)) }
            // The port is free once the listener is closed.
            try await offPool { while let client = try? RawClient(port: server.port) { client.close() } }
            promise.complete { EchoHandler.pending }
            await stopping.value
            break
        }
        #expect(try await answer.value.text == "later")
        #expect(try await answer.value.closes)
        #expect(server.server.connectionLimiter.total == 0)
    }
}
