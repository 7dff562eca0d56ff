import Foundation
import Testing

@testable import IntertwineClient

@Suite struct ImpressionsTests {
    private static func ad(_ id: Int, viewability: JSONValue? = nil) -> FeedCell {
        let event: JSONValue = .object(["type": .text("impression"), "cell": .text("ad:\(id)"), "token": .text("t\(id)")])
        var action = request("POST", "/events", body: .object(["events": .array([event])])).object ?? [:]
        action["viewable"] = viewability
        return cell("ad:\(id)", actions: ["impression": .object(action)])
    }

    private func events(_ server: FaultyServer) throws -> [[String]] {
        try server.requests.map { request in
            (try JSONValue(parsing: request.body)["events"]?.array ?? []).compactMap { $0["cell"]?.text }
        }
    }

    /// The test sets the clock; no timer fires.
    private func impressions(_ server: FaultyServer, _ clock: LockedBox<Double>) -> Impressions {
        Impressions(
            client: FeedClient(base: server.base, retry: .never), now: { clock.withLock { $0 } },
            sleep: { _ in try await Task.sleep(for: .seconds(3600)) })
    }

    @Test func anImpressionIsReportedOnceByTheThresholdOfItsAction() async throws {
        let server = FaultyServer { _, _ in FaultyServer.respond(200, #"{"results": []}"#) }
        defer { server.stop() }
        let clock = LockedBox(0.0)
        let impressions = impressions(server, clock)
        let video = Self.ad(3, viewability: .object(["share": .number(0.3), "seconds": .number(2)]))
        let sights = [Impressions.VisibleCell(Self.ad(1), share: 0.5), .init(Self.ad(2), share: 0.49), .init(video, share: 0.3)]
        await impressions.record(visible: sights)
        clock.withLock { $0 = 1 }
        await impressions.record(visible: sights)
        #expect(await impressions.pendingCount == 1)
        clock.withLock { $0 = 2 }
        await impressions.record(visible: [])
        await impressions.record(visible: sights)
        clock.withLock { $0 = 10 }
        await impressions.record(visible: [])
        await impressions.flush()
        #expect(try events(server) == [["ad:1", "ad:3"]], "the default threshold is half a cell for a second")
    }

    @Test func anInterruptionRestartsTheTime() async throws {
        let server = FaultyServer { _, _ in FaultyServer.respond(200, #"{"results": []}"#) }
        defer { server.stop() }
        let clock = LockedBox(0.0)
        let impressions = impressions(server, clock)
        for time in [0, 0.9, 1.8] {
            clock.withLock { $0 = time }
            await impressions.record(visible: [.init(Self.ad(1), share: 1)])
            clock.withLock { $0 = time + 0.8 }
            await impressions.record(visible: [])
        }
        #expect(await impressions.pendingCount == 0)
    }

    @Test func aFailedBatchIsRetriedWithItsKey() async throws {
        let isUnavailable = LockedBox(true)
        let server = FaultyServer { _, _ in isUnavailable.withLock { $0 } ? [] : FaultyServer.respond(200, #"{"results": []}"#) }
        defer { server.stop() }
        let clock = LockedBox(0.0)
        let impressions = impressions(server, clock)
        for number in 1...2 {
            await impressions.record(visible: [.init(Self.ad(number), share: 1)])
            clock.withLock { $0 += 1 }
            await impressions.record(visible: [])
            await impressions.flush()
        }
        #expect(await impressions.pendingCount == 2)
        isUnavailable.withLock { $0 = false }
        await impressions.flush()
        #expect(try events(server) == [["ad:1"], ["ad:1"], ["ad:1"], ["ad:2"]])
        #expect(Set(server.requests.prefix(3).map { $0.fields["idempotency-key"] }).count == 1)
        #expect(await impressions.pendingCount == 0)
    }

    @Test func aBatchHasAtMostAHundredImpressions() async throws {
        let server = FaultyServer { _, _ in FaultyServer.respond(200, #"{"results": []}"#) }
        defer { server.stop() }
        let clock = LockedBox(0.0)
        let impressions = impressions(server, clock)
        await impressions.record(visible: (0..<250).map { .init(Self.ad($0), share: 1) })
        clock.withLock { $0 = 1 }
        await impressions.record(visible: [])
        await impressions.flush()
        #expect(try events(server).map(\.count) == [100, 100, 50])
    }
}
