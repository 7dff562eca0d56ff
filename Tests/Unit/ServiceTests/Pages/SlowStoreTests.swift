import Foundation
import IntertwineTesting
import TestSupport
import Testing

@testable import IntertwineService

@Suite("Slow store")
struct SlowStoreTests {
    private static let running = #"intertwine_store_reads_running{file="items"}"#
    private static let waiting = #"intertwine_store_reads_queued{file="items"}"#

    private static func service(_ valve: Valve, patience: String) async throws -> TestService {
        var extensions = ServiceExtensions()
        extensions.dataSources["slow"] = ValvedSource(valve)
        return try await TestService(
            .socket, items: sampleItems(users: 40), settings: ["store.readers": "2", "store.queue-timeout": patience],
            extensions: extensions)
    }

    private static func link(_ pattern: String, in text: String) throws -> String {
        let match = try #require(text.firstRange(of: try Regex(pattern)))
        return String(text[match])
    }

    @Test("A blocked store delays only uncached pages, which return 503 after the queue timeout")
    func meanwhile() async throws {
        let valve = Valve(isOpen: false)
        let service = try await Self.service(valve, patience: "1s")
        try await offPool {
            let page = try service.get("/feed").text
            let (click, image) = (try Self.link("/click/[^\"]+", in: page), try Self.link("/images/[^\"]+", in: page))
            // The target of a link is read once.
            #expect(try service.get(click).status == 302)
            // One request per reader thread.
            let slow = try (1...2).map { try service.begin("/feeds/slow?limit=\($0)") }
            valve.reach(2)
            #expect(try service.get("/healthz").status == 200)
            #expect(try service.get("/feed").text == page)
            #expect(try service.get(click).status == 302)
            #expect(try service.get(image).status == 200)
            #expect(try service.get("/feed?limit=0").status == 400)
            let late = try service.get("/feed?limit=3")
            #expect(late.status == 503 && late["retry-after"] == "1" && late["content-type"] == "application/problem+json")
            #expect(late.text.contains("store-unavailable"))
            #expect(try service.get("/feed?limit=4", fields: ["X-Viewer-ID: v"]).status == 503)
            #expect(try service.get("/healthz").status == 200)
            // Both pages are refused; polls of takedowns may be refused too.
            #expect(try service.metric(#"intertwine_store_refused_reads_total{file="items"}"#) >= 2)
            valve.open()
            for client in slow { #expect(try client.response().status == 200) }
            #expect(try service.get("/feed?limit=3").status == 200)
            try service.reach(Self.running, 0)
        }
        await service.stop()
    }

    @Test("A disconnected client's page leaves the queue")
    func departure() async throws {
        let valve = Valve(isOpen: false)
        let service = try await Self.service(valve, patience: "60s")
        try await offPool {
            let slow = try (1...2).map { try service.begin("/feeds/slow?limit=\($0)") }
            valve.reach(2)
            let waiting = try (5...9).map { try service.begin("/feed?limit=\($0)") }
            try service.reach(Self.waiting, 5...6)
            for client in waiting { client.reset() }
            try service.reach(Self.waiting, 0...1)
            valve.open()
            for client in slow { #expect(try client.response().status == 200) }
            #expect(try service.metric(#"intertwine_store_refused_reads_total{file="items"}"#) == 0)
        }
        await service.stop()
    }
}
