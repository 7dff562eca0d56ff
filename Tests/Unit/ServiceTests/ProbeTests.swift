import Foundation
import TestSupport
import Testing

@Suite("The server as a process")
struct ProbeTests {
    private static var probe: String { BuiltProduct.path("HTTPProbe") }

    private static func serve(_ prefix: String = "") throws -> (SpawnedProcess, UInt16) {
        let process = try SpawnedProcess(["/bin/sh", "-c", "\(prefix) exec '\(probe)' serve"])
        let line = try process.line(containing: "listening on ")
        let port = try #require(line.split(separator: ":").last.flatMap { UInt16($0) })
        return (process, port)
    }

    @Test("Without descriptors the server rejects, closes idle connections, and recovers")
    func descriptors() async throws {
        try await offPool {
            let (process, port) = try Self.serve("ulimit -n 64;")
            let first = try RawClient(port: port)
            try first.send("GET /page HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try first.response().status == 200)
            first.close()
            // The first crowd also makes what is made once: the second must leave nothing behind.
            var base = process.openDescriptors + 4
            for _ in 0..<2 {
                let open = try knock(process, port: port, until: base)
                #expect(open <= base)
                base = open
            }
            let last = try RawClient(port: port)
            try last.send("GET /page HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try last.response().status == 200)
            process.signal(SIGTERM)
            #expect(process.wait() == 0)
        }
    }

    @Test("Without descriptors every request gets a response", arguments: [30, 200])
    func knocking(count: Int) async throws {
        try await offPool {
            let (process, port) = try Self.serve("ulimit -n 64;")
            let crowd = try (0..<count).map { _ in try RawClient(port: port) }
            for client in crowd { client.sendIgnoringClose(Array("GET /page HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8)) }
            // A connection that ends without an answer throws.
            let answers = try crowd.map { try $0.response().status }
            #expect(answers.allSatisfy { $0 == 200 || $0 == 503 }, "\(answers)")
            #expect(answers.count { $0 == 200 } >= 20, "\(answers)")
            // All descriptors are held by requests that are not complete: the next ones are told, in an orderly way.
            let holders = try (0..<64).map { _ in
                let client = try RawClient(port: port)
                client.sendIgnoringClose(Array("GET /page HTTP/1.1\r\n".utf8))
                return client
            }
            for _ in 0..<50 {
                let client = try RawClient(port: port)
                client.sendIgnoringClose(Array("GET /page HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
                let answer = try client.response()
                #expect(answer.status == 503 && answer["date"] != nil, "\(answer.status)")
            }
            for client in holders { client.close() }
            process.signal(SIGTERM)
            #expect(process.wait() == 0)
        }
    }

    @Test("SIGTERM ends the process with exit code 0")
    func termination() async throws {
        try await offPool {
            let (process, port) = try Self.serve()
            let client = try RawClient(port: port)
            try client.send("GET /page HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.response().status == 200)
            process.signal(SIGTERM)
            #expect(try client.isClosedByServer())
            #expect(try process.line(containing: "stopped") == "stopped")
            #expect(process.wait() == 0)
        }
    }

    @Test("Services that are created and released leak no descriptor")
    func embedded() async throws {
        try await offPool {
            let process = try SpawnedProcess([Self.probe, "embed", TestSize.full("30", small: "4")])
            while try process.nextLine(timeout: 120_000) != nil {}
            #expect(process.wait() == 0, "\(process.lines)")
        }
    }

    /// Two hundred clients knock at once; how many descriptors are open when they are gone.
    private func knock(_ process: SpawnedProcess, port: UInt16, until base: Int) throws -> Int {
        let crowd = try (0..<200).map { _ in try RawClient(port: port) }
        // In the middle of the crowd, newcomers are answered: those who knock and say nothing make room.
        for _ in 0..<20 {
            let client = try RawClient(port: port)
            client.sendIgnoringClose(Array("GET /page HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
            let answer = try client.response()
            #expect([200, 503].contains(answer.status))
            if answer.status == 200 { #expect(answer.body.count == 8192) }
        }
        for client in crowd { client.close() }
        var open = process.openDescriptors
        for _ in 0..<500 where open > base {
            usleep(10_000)
            open = process.openDescriptors
        }
        return open
    }
}
