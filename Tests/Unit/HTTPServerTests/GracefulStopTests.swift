import Dispatch
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import IntertwineHTTPServer

@Suite("Graceful stop")
struct GracefulStopTests {
    @Test("Running requests finish with Connection: close, and new connections are refused")
    func underWay() async throws {
        let (opened, gate) = AsyncStream<Void>.makeStream()
        let (arrived, arrival) = AsyncStream<Void>.makeStream()
        let server = try await TestServer.start(
            EchoHandler(gate: {
                arrival.yield()
                for await _ in opened {}
            }))
        let answer = Task {
            try await offPool {
                let client = try RawClient(port: server.port)
                try client.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n")
                let answer = try client.response()
                #expect(try client.isClosedByServer())
                return answer
            }
        }
        for await _ in arrived { break }
        let stopping = Task { await server.server.shutdown(grace: .seconds(20)) }
        try await offPool {
            // The port is free once the listener is closed.
            while let client = try? RawClient(port: server.port) { client.close() }
        }
        gate.finish()
        #expect(try await answer.value.text == "through")
        #expect(try await answer.value.closes)
        await stopping.value
        #expect(server.server.connectionLimiter.total == 0)
    }

    @Test("A connection with a response in transit ends soon after it")
    func answerOnItsWay() async throws {
        let server = try await TestServer.start()
        let (arrived, arrival) = AsyncStream<Void>.makeStream()
        let reader = Task {
            try await offPool {
                let client = try RawClient(port: server.port, receiveBuffer: 4096)
                try client.send("GET /huge HTTP/1.1\r\nHost: a\r\n\r\n")
                var byte: UInt8 = 0
                #expect(recv(client.descriptor, &byte, 1, Int32(MSG_PEEK)) == 1)
                arrival.yield()
                while (try? RawClient(port: server.port)) != nil {}
                #expect(try client.response().body.count == 8 << 20)
                #expect(try client.isClosedByServer())
                #expect(!client.wasReset)
            }
        }
        for await _ in arrived { break }
        let start = ContinuousClock.now
        await server.server.shutdown(grace: .seconds(60))
        #expect(ContinuousClock.now - start < MachineSpeed.bound(.seconds(30)))
        try await reader.value
    }

    @Test("While draining, requests are served with Connection: close, new connections are accepted, and idle ones stay")
    func draining() async throws {
        let (opened, gate) = AsyncStream<Void>.makeStream()
        let (arrived, arrival) = AsyncStream<Void>.makeStream()
        let server = try await TestServer.start(
            EchoHandler(gate: {
                arrival.yield()
                for await _ in opened {}
            }))
        let answer = Task {
            try await offPool {
                let client = try RawClient(port: server.port)
                try client.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n")
                let answer = try client.response()
                return (answer.text, answer.closes)
            }
        }
        for await _ in arrived { break }
        let requests = [
            ("GET", "/page"), ("HEAD", "/n"), ("POST", "/upload"), ("GET", "/later/a"), ("GET", "/stream"), ("DELETE", "/feed"),
        ]
        try await offPool {
            let idle = try requests.map { _ in
                let client = try RawClient(port: server.port)
                try client.send(ConformanceCase.get())
                #expect(try !client.response().closes)
                return client
            }
            let isDraining = DispatchSemaphore(value: 0)
            Task {
                await server.server.closeAfterResponses()
                isDraining.signal()
            }
            isDraining.wait()
            for ((method, path), idle) in zip(requests, idle) {
                for client in [idle, try RawClient(port: server.port)] {
                    try client.send("\(method) \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
                    let answer = try client.response(to: method)
                    #expect(answer.status == (method == "DELETE" ? 405 : 200) && answer.closes, "\(path): \(answer.status)")
                    #expect(try client.isClosedByServer())
                }
            }
        }
        gate.finish()
        let (text, closes) = try await answer.value
        #expect(text == "through" && closes)
        await server.server.shutdown(grace: .seconds(5))
    }

    @Test("No request of active clients is lost")
    func underLoad() async throws {
        let server = try await TestServer.start()
        let answered = Tally()
        let (busy, continuation) = AsyncStream<Void>.makeStream()
        try await withThrowingTaskGroup { group in
            for number in 0..<8 {
                group.addTask {
                    try await offPool {
                        let client = try RawClient(port: server.port)
                        while true {
                            try client.send("GET \(number % 2 == 0 ? "/page" : "/n") HTTP/1.1\r\nHost: a\r\n\r\n")
                            // Every request that was sent is answered; the last answer says that it is the last.
                            let answer = try client.response()
                            #expect(answer.status == 200)
                            if answered.increment() == 200 {
                                continuation.finish()
                            }
                            if answer.closes { break }
                        }
                        #expect(try client.isClosedByServer())
                    }
                }
            }
            for await _ in busy {}
            await server.server.shutdown(grace: .seconds(10))
            try await group.waitForAll()
        }
        #expect(answered.value >= 200)
    }

    @Test("Requests beyond the grace period are aborted")
    func cutOff() async throws {
        let (cancelled, continuation) = AsyncStream<String>.makeStream()
        let server = try await TestServer.start(EchoHandler(cancelled: continuation))
        try await offPool {
            let client = try RawClient(port: server.port)
            try client.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\nX")
            let other = try RawClient(port: server.port)
            try other.send(ConformanceCase.get())
            _ = try other.response()
            Task { await server.server.shutdown(grace: .milliseconds(50)) }
            #expect(try client.isClosedByServer())
        }
        var iterator = cancelled.makeAsyncIterator()
        #expect(await iterator.next() == "/wait")
    }
}

private final class Tally: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func increment() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
