import Foundation
import IntertwineTesting
import TestSupport
import Testing

@testable import IntertwineService

@Suite("Concurrent requests for one page")
struct StampedeTests {
    private static let running = #"intertwine_store_reads_running{file="items"}"#
    private static let joined = "intertwine_feed_page_coalesced_requests_total"
    private static let misses = "intertwine_feed_page_cache_misses_total"
    private static let connections = #"intertwine_http_connections{listener="service"}"#
    private static let ahead = "intertwine_feed_prefetched_pages_total"

    /// A service with a valve in its main feed.
    private static func service(_ valve: Valve, _ settings: [String: String] = [:]) async throws -> TestService {
        var extensions = ServiceExtensions()
        extensions.dataSources["main"] = ValvedSource(valve)
        // The listed rotation avoids background reads of ad positions, which would change the counts.
        let own = ["limits.connections-per-peer": "1000", "limits.request-timeout": "60s", "ads.rotation": "listed"]
        return try await TestService(
            .socket, items: sampleItems(users: 60), settings: own.merging(settings) { $1 }, extensions: extensions)
    }

    private static func put(_ id: String, into service: TestService) throws {
        #expect(try service.admin("PUT", "/admin/items/user/\(id)", body: sampleUser(id)).status / 100 == 2)
    }

    @Test("After a write, 256 clients share one rendering, each with its own content coding")
    func once() async throws {
        let valve = Valve(isOpen: true)
        let service = try await Self.service(valve)
        try await offPool {
            for round in 1...2 {
                valve.close()
                try Self.put("new\(round)", into: service)
                let (misses, joined) = (try service.metric(Self.misses), try service.metric(Self.joined))
                let clients = try (0..<256).map { number in
                    try service.begin("/feed?limit=100", fields: number % 3 == 0 ? ["Accept-Encoding: gzip"] : [])
                }
                try service.reach(Self.joined, joined + 255)
                #expect(try service.metric(Self.running) == 1)
                valve.open()
                let answers = try clients.map { try $0.response() }
                #expect(answers.allSatisfy { $0.status == 200 })
                for (number, answer) in answers.enumerated() {
                    #expect((answer["content-encoding"] == "gzip") == (number % 3 == 0))
                }
                let (coded, plain) = (answers[0], answers[1])
                #expect(plain.text.contains("user:new\(round)"))
                for (number, answer) in answers.enumerated() {
                    #expect(answer.body == (number % 3 == 0 ? coded : plain).body)
                }
                try service.reach(Self.running, 0)
                #expect(try service.metric(Self.misses) == misses + 1)
                let tag = try #require(plain["etag"])
                #expect(try service.get("/feed?limit=100", fields: ["If-None-Match: \(tag)"]).status == 304)
                #expect(try service.metric(Self.misses) == misses + 1)
            }
        }
        await service.stop()
    }

    @Test("A request after an acknowledged write gets a new page, even during an older rendering")
    func newest() async throws {
        let valve = Valve(isOpen: false)
        let service = try await Self.service(valve)
        try await offPool {
            let early = try service.begin("/feed?limit=100")
            valve.reach(1)
            try Self.put("new", into: service)
            let late = try (1...3).map { _ in try service.begin("/feed?limit=100") }
            try service.reach(Self.joined, 3)
            valve.open()
            #expect(try !early.response().text.contains("user:new"))
            for client in late { #expect(try client.response().text.contains("user:new")) }
            try service.reach(Self.running, 0)
            #expect(try service.metric(Self.misses) == 2)
        }
        await service.stop()
    }

    @Test("A failed rendering returns 503 to all waiting clients, and nothing is cached")
    func failure() async throws {
        let valve = Valve(isOpen: false)
        let service = try await Self.service(valve)
        try await offPool {
            let clients = try (1...8).map { _ in try service.begin("/feed") }
            try service.reach(Self.joined, 7)
            valve.open(failing: true)
            for client in clients { #expect(try client.response().status == 503) }
            #expect(try service.metric(Self.misses) == 1)
            valve.open()
            #expect(try service.get("/feed").status == 200)
            #expect(try service.metric(Self.misses) == 2)
        }
        await service.stop()
    }

    @Test("The departure of the rendering client does not affect other clients of the page")
    func departure() async throws {
        let valve = Valve(isOpen: false)
        let service = try await Self.service(valve, ["store.readers": "1", "store.queue-timeout": "60s"])
        try await offPool {
            // Occupies the only reader. The service queues reads of its own, so the numbers of running and queued reads are not awaited.
            let first = try service.begin("/feed?limit=1")
            valve.reach(1)
            let maker = try service.begin("/feed?limit=2")
            try service.reach(Self.misses, 2)
            let others = try (1...3).map { _ in try service.begin("/feed?limit=2") }
            try service.reach(Self.joined, 3)
            let leaver = try service.begin("/feed?limit=2")
            try service.reach(Self.joined, 4)
            let connections = try service.metric(Self.connections)
            leaver.reset()
            try service.reach(Self.connections, connections - 1)
            maker.reset()
            // One remaining client renders the page, and the others wait for it.
            try service.reach(Self.misses, 3)
            valve.open()
            #expect(try first.response().status == 200)
            for client in others { #expect(try client.response().status == 200) }
            #expect(try service.metric(Self.misses) == 3)
        }
        await service.stop()
    }

    @Test("With feed.max-staleness, a cached page is served after a write")
    func stale() async throws {
        let service = try await Self.service(Valve(isOpen: true), ["feed.max-staleness": "1h"])
        try await offPool {
            let page = try service.get("/feed?limit=100").text
            try Self.put("new", into: service)
            #expect(try service.get("/feed?limit=100").text == page)
            #expect(try service.metric("intertwine_feed_stale_pages_total") == 1)
            #expect(try service.get("/feed?limit=99").text.contains("user:new"))
        }
        await service.stop()
    }

    @Test("The next page of a feed is prefetched, except during another read")
    func ahead() async throws {
        let valve = Valve(isOpen: true)
        let service = try await Self.service(valve)
        try await offPool {
            func next(_ answer: RawResponse) throws -> String {
                let match = try #require(answer.text.firstMatch(of: try Regex(#""next":"([^"]+)""#)))
                return String(try #require(match.output[1].substring))
            }
            let first = try service.get("/feed?limit=10")
            #expect(try service.metric(Self.ahead) == 0)
            let second = try service.get(try next(first))
            try service.reach(Self.ahead, 1)
            #expect(try service.metric(Self.misses) == 2)
            // Each prefetched page causes a prefetch of the next one.
            let third = try service.get(try next(second))
            try service.reach(Self.ahead, 2)
            let fourth = try service.get(try next(third))
            try service.reach(Self.ahead, 3)
            #expect(try service.metric(Self.misses) == 2)
            #expect([first, second, third, fourth].map(\.status) == [200, 200, 200, 200])
            #expect(Set([first, second, third, fourth].map(\.text)).count == 4)
            // No page is prefetched during another read.
            try Self.put("new", into: service)
            valve.close()
            let clients = [try service.begin("/feed?limit=20"), try service.begin(try next(first))]
            try service.reach(Self.running, 2)
            valve.open()
            for client in clients { #expect(try client.response().status == 200) }
        }
        await service.stop()
    }
}
