import Foundation
import Testing

@testable import IntertwineClient

@Suite struct ImpressionsTests {
    private static func ad(_ id: Int, viewability: JSONValue? = nil) -> FeedCell {
        let event: JSONValue = .object(["type": .text("impression"), "cell": .text("ad:\(id)"), "token": .text("t\(id)")])
        var action = request("POST", "/events", body: .array([event])).object ?? [:]
        action["viewable"] = viewability
        return cell("ad:\(id)", actions: ["impression": .object(action)])
    }

    private func events(_ server: FaultyServer) throws -> [[String]] {
        try server.requests.map { request in
            (try JSONValue(parsing: request.body).array ?? []).compactMap { $0["cell"]?.text }
        }
    }

    /// A clock that the test moves, and nobody who sleeps wakes by it.
    private func impressions(_ server: FaultyServer, _ clock: Locked<Double>) -> Impressions {
        Impressions(
            client: FeedClient(base: server.base, retry: .never), now: { clock.withLock { $0 } },
            sleep: { _ in try await Task.sleep(for: .seconds(3600)) })
    }

    @Test func aCellCountsOnceForAsLongAsItsActionAsks() async throws {
        let server = FaultyServer { _, _ in FaultyServer.answer(202, "[]") }
        defer { server.stop() }
        let clock = Locked(0.0)
        let impressions = impressions(server, clock)
        let video = Self.ad(3, viewability: .object(["share": .number(0.3), "seconds": .number(2)]))
        let sights = [Impressions.Sight(Self.ad(1), share: 0.5), .init(Self.ad(2), share: 0.49), .init(video, share: 0.3)]
        await impressions.see(sights)
        clock.withLock { $0 = 1 }
        await impressions.see(sights)
        #expect(await impressions.waiting == 1)
        clock.withLock { $0 = 2 }
        await impressions.see([])
        await impressions.see(sights)
        clock.withLock { $0 = 10 }
        await impressions.see([])
        await impressions.flush()
        #expect(try events(server) == [["ad:1", "ad:3"]], "half a cell, and a second; and of each one once")
    }

    @Test func aPauseBeginsAnew() async throws {
        let server = FaultyServer { _, _ in FaultyServer.answer(202, "[]") }
        defer { server.stop() }
        let clock = Locked(0.0)
        let impressions = impressions(server, clock)
        for moment in [0, 0.9, 1.8] {
            clock.withLock { $0 = moment }
            await impressions.see([.init(Self.ad(1), share: 1)])
            clock.withLock { $0 = moment + 0.8 }
            await impressions.see([])
        }
        #expect(await impressions.waiting == 0)
    }

    @Test func whatWasNotAnsweredIsSentAgainUnderItsKey() async throws {
        let isAway = Locked(true)
        let server = FaultyServer { _, _ in isAway.withLock { $0 } ? [] : FaultyServer.answer(202, "[]") }
        defer { server.stop() }
        let clock = Locked(0.0)
        let impressions = impressions(server, clock)
        for number in 1...2 {
            await impressions.see([.init(Self.ad(number), share: 1)])
            clock.withLock { $0 += 1 }
            await impressions.see([])
            await impressions.flush()
        }
        #expect(await impressions.waiting == 2)
        isAway.withLock { $0 = false }
        await impressions.flush()
        #expect(try events(server) == [["ad:1"], ["ad:1"], ["ad:1"], ["ad:2"]])
        #expect(Set(server.requests.prefix(3).map { $0.fields["idempotency-key"] }).count == 1)
        #expect(await impressions.waiting == 0)
    }

    @Test func aBatchHoldsAHundred() async throws {
        let server = FaultyServer { _, _ in FaultyServer.answer(202, "[]") }
        defer { server.stop() }
        let clock = Locked(0.0)
        let impressions = impressions(server, clock)
        await impressions.see((0..<250).map { .init(Self.ad($0), share: 1) })
        clock.withLock { $0 = 1 }
        await impressions.see([])
        await impressions.flush()
        #expect(try events(server).map(\.count) == [100, 100, 50])
    }
}
