import Foundation
import Synchronization
import TestSupport
import Testing

@testable import IntertwineHTTPServer

@Suite("Connections")
struct ConnectionTests {
    private func shared<Result: Sendable>(_ body: @escaping @Sendable (UInt16) throws -> Result) async throws -> Result {
        let port = try await TestServer.shared.value.port
        return try await offPool { try body(port) }
    }

    private func withServer<Result: Sendable>(
        _ handler: EchoHandler = EchoHandler(), _ change: (inout HTTPServerConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (UInt16) throws -> Result
    ) async throws -> Result {
        let server = try await TestServer.start(handler, change)
        let result = try await offPool { try body(server.port) }
        await server.server.shutdown(grace: .seconds(5))
        #expect(server.server.connectionLimiter.total == 0)
        return result
    }

    @Test("Connection: close ends the connection, and later pipelined requests get no response", arguments: ["close", "Keep-Alive, CLOSE"])
    func closing(value: String) async throws {
        try await shared { port in
            let client = try RawClient(port: port)
            try client.send(ConformanceCase.get("Connection: \(value)") + ConformanceCase.get())
            let answer = try client.response()
            #expect(answer.status == 200 && answer.closes)
            #expect(try client.isClosedByServer())
        }
    }

    @Test("A silent client waits in the kernel for a moment, and is then accepted")
    func silent() async throws {
        let server = try await TestServer.start()
        try await offPool {
            let silent = try RawClient(port: server.port)
            let asking = try RawClient(port: server.port)
            try asking.send(ConformanceCase.get())
            #expect(try asking.response().status == 200)
            #expect(server.server.connectionLimiter.total == 1)
            let start = ContinuousClock.now
            while server.server.connectionLimiter.total < 2, start.duration(to: .now) < .seconds(15) { usleep(10_000) }
            #expect(server.server.connectionLimiter.total == 2)
            try silent.send(ConformanceCase.get())
            #expect(try silent.response().status == 200)
        }
        await server.server.shutdown(grace: .seconds(5))
    }

    @Test("HTTP/1.0 closes without keep-alive, and never gets chunks")
    func old() async throws {
        try await shared { port in
            let client = try RawClient(port: port)
            for _ in 0..<2 {
                try client.send("GET /page HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
                #expect(try client.response()["connection"] == "keep-alive")
            }
            try client.send("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            let streamed = try client.response()
            #expect(streamed.endsWithConnection && streamed.body.count == 3000 && streamed.closes)
        }
    }

    @Test("Pipelined responses are in order, encoded and streamed ones mixed")
    func pipelining() async throws {
        try await shared { port in
            let client = try RawClient(port: port)
            let paths = (0..<32).map { $0 % 3 == 0 ? "/page" : $0 % 3 == 1 ? "/n\($0)" : "/stream" }
            try client.send(paths.map { "GET \($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
            for path in paths {
                let answer = try client.response()
                switch path {
                case "/page": #expect(answer.body == EchoHandler.text)
                case "/stream": #expect(answer.body.count == 3000)
                default: #expect(answer.text == "GET a \(path)\n")
                }
            }
        }
    }

    @Test("A half-closed client still gets its responses", arguments: ["/page", "/n", "/stream", "/huge", "/huge-file"])
    func halfClose(path: String) async throws {
        try await shared { port in
            let client = try RawClient(port: port)
            try client.send("GET /first HTTP/1.1\r\nHost: a\r\n\r\nGET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
            client.finishSending()
            #expect(try client.response().text == "GET a /first\n")
            #expect(try client.response().status == 200)
            #expect(try client.isClosedByServer())
        }
    }

    @Test(
        "Responses from files and memory are in order, also for a slow client", arguments: [nil, 4096] as [Int32?])
    func files(receiveBuffer: Int32?) async throws {
        try await shared { port in
            let client = try RawClient(port: port, receiveBuffer: receiveBuffer)
            let paths = ["/page", "/file", "/fresh-file", "/n", "/fresh-file", "/file", "/page"]
            for line in ["GET", "HEAD", "GET"] {
                try client.send(paths.map { "\(line) \($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
                for path in paths {
                    let answer = try client.response(to: line)
                    let whole: [UInt8] =
                        switch path {
                        case "/page": EchoHandler.text
                        case "/n": Array("\(line) a /n\n".utf8)
                        default: (0..<(path == "/file" ? 1_000 : 3 << 20)).map { UInt8($0 % 251) }
                        }
                    #expect(answer["content-length"] == String(whole.count))
                    #expect(answer.body == (line == "HEAD" ? [] : whole), "\(path)")
                }
            }
            try client.send("GET /fresh-file HTTP/1.0\r\n\r\n")
            #expect(try client.response().body.count == 3 << 20)
            #expect(try client.isClosedByServer())
        }
    }

    @Test("A half-closed client gets pending responses")
    func halfCloseBehindMany() async throws {
        try await shared { port in
            let client = try RawClient(port: port, receiveBuffer: 4096)
            try client.send(String(repeating: "GET /page HTTP/1.1\r\nHost: a\r\n\r\n", count: 600))
            client.finishSending()
            for _ in 0..<600 { #expect(try client.response().body.count == EchoHandler.text.count) }
            #expect(try client.isClosedByServer())
            #expect(!client.wasReset)
        }
    }

    @Test("A streamed body is complete before the end of input")
    func halfCloseBehindBody() async throws {
        try await shared { port in
            for _ in 0..<5 {
                let client = try RawClient(port: port)
                try client.send("POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 4194304\r\n\r\n")
                try client.send([UInt8](repeating: 0x61, count: 4 << 20))
                client.finishSending()
                #expect(try client.response().text.hasPrefix("4194304 "))
                #expect(try client.isClosedByServer())
            }
        }
    }

    @Test("A request after the last response does not lose that response", arguments: ["/huge", "/huge-file", "/stream"])
    func requestBehindClose(path: String) async throws {
        try await shared { port in
            let client = try RawClient(port: port, receiveBuffer: 4096)
            try client.send("GET \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            usleep(5_000)
            client.sendIgnoringClose(Array("GET /n HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
            #expect(try client.response().status == 200)
            #expect(try client.isClosedByServer())
        }
    }

    @Test(
        "Rejections of malformed requests have the handler's fields",
        arguments: [
            ("GET / HTTP/1.1\r\nHost: a\r\nAccept-Language: de\r\nHost : b\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nAccept-Language: de\r\n\r\n", 400),
            ("GET /\(String(repeating: "a", count: 9_000)) HTTP/1.1\r\naccept-language:de\r\n\r\n", 414),
            ("GET / HTTP/1.1\r\nAccept-Language: \t de \r\nX: \(String(repeating: "a", count: 17_000))\r\n\r\n", 431),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\nAccept-Language: de\r\n\r\n", 501),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nAccept-Language: de\r\n\r\nx\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nAccept-Language: de\r\n\r\n1", 408),
            ("GET / HTTP/1.1\r\nHost: a\r\nAccept-Language: de\r\n", 408),
            ("GET /never HTTP/1.1\r\nAccept-Language: de\r\nHost: a\r\n\r\n", 503),
            ("GET / HTTP/2.0\r\nHost: a\r\nAccept-Language: de\r\n\r\n", 505),
        ])
    func refusalFields(request: String, status: Int) async throws {
        func change(_ configuration: inout HTTPServerConfiguration) {
            configuration.headTimeout = .milliseconds(200)
            configuration.bodyTimeout = .milliseconds(200)
            configuration.handlerTimeout = .milliseconds(200)
        }
        try await withServer(EchoHandler(), change) { port in
            let client = try RawClient(port: port)
            client.sendIgnoringClose(Array(request.utf8))
            let answer = try client.response()
            #expect(answer.status == status && answer["content-language"] == "de", "\(answer)")
        }
    }

    @Test("Vary is one line with each field once")
    func vary() async throws {
        try await shared { port in
            let client = try RawClient(port: port)
            try client.send("GET /varied HTTP/1.1\r\nHost: a\r\n\r\n")
            let answer = try client.response()
            #expect(answer.fields.filter { $0.name == "Vary" }.map(\.value) == ["X-One, Origin, accept-encoding, X-Two"])
        }
    }

    @Test("An early response announces the close if the first chunk is too long to discard")
    func chunkBeyondDiscarding() async throws {
        try await withServer(EchoHandler(), { $0.discardLimit = 1000 }) { port in
            for (size, closes) in [(1000, false), (1001, true), (Int.max, true)] {
                let client = try RawClient(port: port)
                let head = "POST /early HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                try client.send(head + String(size, radix: 16) + "\r\nabc")
                let answer = try client.response()
                #expect(answer.status == 403 && answer.closes == closes, "\(size)")
                if closes { continue }
                try client.send(String(repeating: "x", count: size - 3) + "\r\n0\r\n\r\n" + ConformanceCase.get())
                #expect(try client.response().status == 200)
            }
        }
    }

    @Test("An error reaches a client that first sends its complete 8 MiB body")
    func errorWhileSending() async throws {
        try await shared { port in
            let client = try RawClient(port: port)
            try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 8388608\r\n\r\n")
            for _ in 0..<128 { try client.send([UInt8](repeating: 0x61, count: 64 * 1024)) }
            #expect(try client.response().status == 413)
            #expect(try client.isClosedByServer())
            #expect(!client.wasReset)
        }
    }

    @Test("100 (Continue) precedes the body, and a rejection is sent without it")
    func expectContinue() async throws {
        try await shared { port in
            let client = try RawClient(port: port)
            try client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
            #expect(try client.response().status == 100)
            try client.send("hello")
            #expect(try client.response().text.hasSuffix("hello"))
            try client.send("POST /early HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
            let refusal = try client.response()
            #expect(refusal.status == 403 && refusal.closes)
            #expect(try client.isClosedByServer())
        }
    }

    @Test("The last permitted request of a connection gets Connection: close")
    func requestLimit() async throws {
        try await withServer(EchoHandler(), { $0.requestsPerConnection = 5 }) { port in
            let client = try RawClient(port: port)
            for number in 1...5 {
                try client.send(ConformanceCase.get())
                #expect(try client.response().closes == (number == 5))
            }
            #expect(try client.isClosedByServer())
        }
    }

    @Test("The first response after the age limit has Connection: close")
    func ageLimit() async throws {
        try await withServer(EchoHandler(), { $0.connectionAge = .milliseconds(1) }) { port in
            let client = try RawClient(port: port)
            var answers = 0
            repeat {
                try client.send(ConformanceCase.get())
                answers += 1
            } while try !client.response().closes && answers < 100_000
            #expect(try client.isClosedByServer())
        }
    }

    @Test("Allow lists the methods")
    func allow() async throws {
        try await shared { port in
            let client = try RawClient(port: port)
            for line in ["OPTIONS * HTTP/1.1", "FOO / HTTP/1.1", "TRACE / HTTP/1.1"] {
                try client.send("\(line)\r\nHost: a\r\n\r\n")
                #expect(try client.response()["allow"] == "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
            }
        }
    }

    @Test("Streams are chunked or have their declared length, and incomplete ones are aborted")
    func streaming() async throws {
        try await shared { port in
            let client = try RawClient(port: port)
            for path in ["/stream", "/stream-known"] {
                try client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
                let answer = try client.response()
                #expect(answer.body == [0x61, 0x62, 0x63].flatMap { [UInt8](repeating: $0, count: 1000) })
                #expect((answer["content-length"] == "3000") == (path == "/stream-known"))
            }
            for path in ["/stream-short", "/stream-long", "/stream-fails"] {
                let client = try RawClient(port: port)
                try client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(throws: (any Error).self) { try client.response() }
            }
        }
    }

    @Test("A handler cannot inject into a field or the status line")
    func injection() async throws {
        try await shared { port in
            let client = try RawClient(port: port)
            try client.send("GET /inject HTTP/1.1\r\nHost: a\r\n\r\n")
            let answer = try client.response()
            #expect(answer["x-injected"] == nil && answer["x-reason"] == nil && answer["x-value"] != nil)
        }
    }

    @Test("A streamed body is received completely in any segmentation", arguments: [true, false])
    func upload(isChunked: Bool) async throws {
        try await shared { port in
            let client = try RawClient(port: port)
            let bytes = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) }
            let sum = bytes.reduce(UInt64(0)) { $0 &* 31 &+ UInt64($1) }
            try client.send("POST /upload HTTP/1.1\r\nHost: a\r\n")
            if isChunked {
                try client.send("Transfer-Encoding: chunked\r\n\r\n")
                for start in stride(from: 0, to: bytes.count, by: 100_000) {
                    let part = bytes[start..<min(bytes.count, start + 100_000)]
                    try client.send(Array("\(String(part.count, radix: 16))\r\n".utf8) + part + [13, 10])
                }
                try client.send("0\r\n\r\n")
            } else {
                try client.send("Content-Length: \(bytes.count)\r\n\r\n")
                try client.send(bytes)
            }
            #expect(try client.response().text == "\(bytes.count) \(sum)")
            try client.send(ConformanceCase.get())
            #expect(try client.response().status == 200)
        }
    }

    @Test(
        "A reset cancels the handler; a half-close does if configured",
        arguments: ["/wait", "/wait-long"])
    func cancellation(path: String) async throws {
        let (cancelled, continuation) = AsyncStream<String>.makeStream()
        let server = try await TestServer.start(EchoHandler(cancelled: continuation))
        try await offPool {
            let client = try RawClient(port: server.port)
            try client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
            // The answer to another connection's request shows that the loop has seen this one.
            let other = try RawClient(port: server.port)
            try other.send(ConformanceCase.get())
            _ = try other.response()
            if path == "/wait" { client.close() } else { client.reset() }
        }
        var iterator = cancelled.makeAsyncIterator()
        #expect(await iterator.next() == path)
        await server.server.shutdown(grace: .seconds(5))
    }

    @Test("IPv6 is supported; a used port and a foreign address give one line")
    func binding() async throws {
        let six = try await TestServer.start { $0.host = "::1" }
        try await offPool {
            let client = try RawClient(port: six.port, host: "::1")
            try client.send("GET / HTTP/1.1\r\nHost: [::1]:\(six.port)\r\n\r\n")
            #expect(try client.response().status == 200)
        }
        await #expect(throws: HTTPServerError.addressInUse("[::1]:\(six.port)")) {
            _ = try await TestServer.start {
                $0.host = "::1"
                $0.port = six.port
            }
        }
        await #expect(throws: HTTPServerError.unknownAddress("192.0.2.1")) { _ = try await TestServer.start { $0.host = "192.0.2.1" } }
        await #expect(throws: HTTPServerError.unknownAddress("example.com")) { _ = try await TestServer.start { $0.host = "example.com" } }
        await six.server.shutdown(grace: .seconds(1))
    }

    @Test("an observer sees each request with its route, status and size, and each connection")
    func observation() async throws {
        let observer = RecordingObserver()
        let server = try await TestServer.start(observer: observer)
        let sizes = try await offPool {
            let client = try RawClient(port: server.port)
            var sizes: [Int] = []
            for (line, method) in [
                ("GET /page", "GET"), ("HEAD /page", "HEAD"), ("DELETE /feed", "GET"), ("GET /n", "GET"), ("BAD", "GET"),
            ] {
                try client.send("\(line) HTTP/1.1\r\nHost: a\r\n\r\n")
                sizes.append(try client.response(to: method).body.count)
            }
            return sizes
        }
        await server.server.shutdown(grace: .seconds(5))
        let records = observer.records.withLock { $0 }
        #expect(records.map(\.status) == [200, 200, 405, 200, 400])
        #expect(records.map(\.route) == ["page", "page", "feed", "echo", nil])
        #expect(zip(records, sizes).allSatisfy { $0.bytes > $1 })
        #expect(records.allSatisfy { $0.peer.address == "127.0.0.1" && $0.nanoseconds >= 0 })
        #expect(observer.connections.withLock { $0 } == [1, 0])
    }
}

private final class RecordingObserver: HTTPServerObserver {
    let records = Mutex<[RequestRecord]>([])
    let connections = Mutex<[Int]>([])

    func requestFinished(_ record: RequestRecord) { records.withLock { $0.append(record) } }
    func connectionOpened(open: Int) { connections.withLock { $0.append(open) } }
    func connectionClosed(open: Int) { connections.withLock { $0.append(open) } }
}
