import TestSupport
import Testing

@testable import IntertwineHTTPServer
@testable import IntertwineImages

@Suite("Cancellation of fetches", .timeLimit(.untilStuck))
struct CancelTests {
    @Test("With a silent name server, a cancelled fetch blocks neither loop nor thread")
    func resolving() async throws {
        let gate = Gate()
        defer { gate.open() }
        let fetcher = try Fetcher(
            ports: [80],
            lookup: { _ in
                gate.wait()
                return .failure(.hostNotFound)
            })
        var limits = FetchLimits()
        limits.resolve = .seconds(50)
        limits.total = .seconds(50)
        var fetches: [Fetched] = []
        for number in 0..<200 {
            let fetched = try fetcher.start("http://silent\(number).example/", limits: limits)
            await fetched.reached(.resolving)
            fetches.append(fetched)
        }
        for fetched in fetches {
            if let id = fetched.id { fetcher.transfers.cancel(id) }
        }
        // All two hundred are over while not one lookup has answered: nothing waited for them.
        for fetched in fetches {
            await fetched.ended()
            #expect(fetched.failure == .some(.cancelled))
        }
        #expect(await fetcher.transfers.count == 0)
        await fetcher.stop()
    }

    @Test("A lookup at a silent name server ends at its deadline")
    func resolveDeadline() async throws {
        let gate = Gate()
        defer { gate.open() }
        let fetcher = try Fetcher(
            ports: [80],
            lookup: { _ in
                gate.wait()
                return .failure(.hostNotFound)
            })
        var limits = FetchLimits()
        limits.resolve = .milliseconds(50)
        let fetched = try await fetcher.get("http://silent.example/", limits: limits)
        #expect(fetched.failure == .some(.resolveTimeout))
        await fetcher.stop()
    }

    @Test("Cancellation before the head and within the body closes the connection", arguments: ["/head", "/body"])
    func onTheWire(_ path: String) async throws {
        let origin = try Origin { request, connection in
            if request.path == "/body" {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n")
                connection.send([UInt8](repeating: 1, count: 10_000))
            }
            connection.waitForClose()
        }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        let fetched = try fetcher.start(origin.url(path))
        await origin.requested(1)
        if path == "/body" { await fetched.started() }
        if let id = fetched.id {
            fetcher.transfers.cancel(id)
            fetcher.transfers.cancel(id)
        }
        await fetched.ended()
        #expect(fetched.failure == .some(.cancelled))
        #expect(fetched.endings == 1)
        await origin.closed(1)
        await fetcher.stop()
    }

    @Test("A paused body stops, and resumes at the same byte")
    func paused() async throws {
        let origin = try Origin { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4000000\r\n\r\n")
            connection.send([UInt8](repeating: 1, count: 4_000_000))
        }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        let fetched = try fetcher.start(origin.url())
        if let id = fetched.id {
            await fetched.started()
            await fetcher.transfers.setPaused(true, id)
            await fetcher.transfers.setPaused(false, id)
        }
        await fetched.ended()
        #expect(fetched.failure == .some(nil))
        #expect(fetched.body.count == 4_000_000)
        await fetcher.stop()
    }

    @Test("Two thousand cancelled fetches leak no descriptor")
    func storm() async throws {
        let origin = try Origin { _, connection in connection.waitForClose() }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        for round in 0..<40 {
            var fetches: [Fetched] = []
            for _ in 0..<50 { fetches.append(try fetcher.start(origin.url())) }
            if round % 2 == 0 { await origin.requested(1) }
            for fetched in fetches {
                if let id = fetched.id { fetcher.transfers.cancel(id) }
            }
            for fetched in fetches { await fetched.ended() }
        }
        #expect(await fetcher.transfers.count == 0)
        #expect(await fetcher.transfers.watches.count == 0)
        await fetcher.stop()
    }
}
