import Foundation
import TestSupport
import Testing

@testable import IntertwineFeed

@Suite("The first advertisement of a walk")
struct HouseAdRotationTests {
    private static let hour: Int64 = 3_600_000

    private func page(
        _ fixture: Fixture, _ cursor: String? = nil, viewer: String?, hours: Int64 = 0, limit: Int = 4, follows: Bool = false
    ) async throws -> FeedPage {
        let now = Fixture.now + hours * Self.hour
        return try await fixture.assembler().page(
            FeedRequest(
                cursor: cursor, limit: limit, now: now, rotationHour: CellTokens.bucket(of: now), followsChanges: follows),
            for: viewer.map { PageClient.viewer($0) } ?? PageClient())
    }

    @Test("An outdated advertisement stock claims neither emptiness nor exclusive use of its stream")
    func aged() async throws {
        let fixture = try Fixture(users: 2)
        let store = fixture.store
        let rotation = HouseAdRotation(types: [ItemType(kind: "ad", variant: "image")], maximumWait: .zero)
        let look = { @Sendable in
            let version = store.version
            return try await store.read { try rotation.inventory(at: version, in: $0, of: store) }
        }
        let none = try await look()
        #expect(none.isEmpty && none.ownsStream)
        store.put(Fixture.advertisement("0", at: 1_000), in: .advertisements)
        let aged = try await look()
        #expect(!aged.isEmpty && !aged.ownsStream)
    }

    @Test("The inventory has all house ads, however many ads of campaigns are before them")
    func campaignAds() async throws {
        let store = try Fixture(users: 2).store
        for number in 1...5_000 {
            store.put(Fixture.advertisement("c\(number)", at: Int64(number), house: false), in: .advertisements)
        }
        let rotation = HouseAdRotation(types: [ItemType(kind: "ad", variant: "image")], maximumWait: .seconds(600))
        let look = { @Sendable in
            let version = store.version
            return try await store.read { try rotation.inventory(at: version, in: $0, of: store) }
        }
        #expect(try await look().isEmpty)
        for position in [6_000, 7_000] as [Int64] { store.put(Fixture.advertisement("\(position)", at: position), in: .advertisements) }
        let found = try await look()
        #expect(found.isKnown && found.positions == [6_000, 7_000] && found.ownsStream)
        #expect(found.next(.forward, of: 6_500) == 7_000 && found.next(.forward, of: 7_000) == 6_000)
        #expect(found.next(.backward, of: nil) == 7_000 && found.next(.backward, of: 6_000) == 7_000)
    }

    @Test("Each of ten advertisements is on 7 to 13 % of 400 first pages", arguments: [0, 1, 23] as [Int64])
    func viewers(hours: Int64) async throws {
        let fixture = try Fixture(users: 5, advertisements: 10)
        for name in ["viewer-", "v", ""] {
            var counts: [String: Int] = [:]
            for number in 0..<400 {
                for id in try await page(fixture, viewer: "\(name)\(number)", hours: hours).adIDs { counts[id, default: 0] += 1 }
            }
            #expect(counts.count == 10 && counts.values.allSatisfy { (28...52).contains($0) }, "\(name): \(counts)")
        }
    }

    @Test("Random viewer names get an even distribution for any number of advertisements", arguments: [2, 3, 7, 31, 64])
    func anyNames(count: Int) async throws {
        let fixture = try Fixture(users: 1, advertisements: count)
        var random = SeededRandom(seed: UInt64(count))
        var counts: [String: Int] = [:]
        let viewers = 100 * count
        for _ in 0..<viewers {
            let name = String(random.next(), radix: 16) + "-" + String(random.next(), radix: 16)
            for id in try await page(fixture, viewer: name).adIDs { counts[id, default: 0] += 1 }
        }
        // The bounds are five standard deviations of a fair choice.
        #expect(counts.count == count && counts.values.allSatisfy { (50...150).contains($0) }, "\(counts)")
    }

    @Test("Without a viewer, each hour begins with another advertisement until all ten are shown")
    func hours() async throws {
        let fixture = try Fixture(users: 3, advertisements: 10)
        var met: [String] = []
        for hour in 0..<10 as Range<Int64> {
            let ids = try await page(fixture, viewer: nil, hours: hour).ids
            #expect(try await page(fixture, viewer: nil, hours: hour).ids == ids)
            met += ids.filter { $0.hasPrefix("ad:") }
        }
        #expect(Set(met).count == 10)
    }

    @Test("A walk rotates advertisements from its start in both directions, across hours and deletions", arguments: 0..<20)
    func walks(seed: Int) async throws {
        let fixture = try Fixture(users: 30, advertisements: 7, placement: MidpointPlacement(advertisements: seed % 3 + 1))
        let viewer = "viewer \(seed)"
        var pages = [try await page(fixture, viewer: viewer)]
        while let next = pages.last?.next.flatMap(Fixture.cursor) {
            pages.append(try await page(fixture, next, viewer: viewer, hours: Int64(pages.count)))
        }
        let shown = pages.flatMap(\.adIDs)
        let first = try #require(shown.first.flatMap { Int($0.dropFirst(3)) })
        #expect(shown == shown.indices.map { "ad:\((first + $0) % 7)" })
        var back = try #require(pages.last)
        for page in pages.dropLast().reversed() {
            back = try await self.page(fixture, Fixture.cursor(in: try #require(back.previous)), viewer: viewer)
            #expect(back.ids == page.ids)
        }
        fixture.store.delete(kind: "ad", id: "\(first)")
        let left = try await page(fixture, viewer: viewer).adIDs
        #expect(!left.isEmpty && !left.contains("ad:\(first)") && Set(left).count == left.count)
    }

    @Test("A later page of a walk needs two store reads with a cached stock", arguments: [true, false])
    func looks(isFair: Bool) async throws {
        let fixture = try Fixture(users: 30, advertisements: 7, configuration: CellConfiguration())
        let assembler = fixture.assembler()
        let hour = isFair ? CellTokens.bucket(of: Fixture.now) : nil
        let first = try await assembler.page(FeedRequest(limit: 4, now: Fixture.now, rotationHour: hour))
        let cursor = try #require(first.next.flatMap(Fixture.cursor))
        // No walk has begun since this write.
        fixture.store.put(Fixture.user("new", at: 100_000))
        for isFirst in [true, false] {
            let before = fixture.store.looks
            let page = try await assembler.page(FeedRequest(cursor: cursor, limit: 4, now: Fixture.now, rotationHour: hour))
            #expect(page.adIDs.count == 1 && (isFirst || fixture.store.looks - before == 2))
        }
    }

    @Test("Client pages retain their advertisements when the hour changes")
    func changes() async throws {
        let fixture = try Fixture(users: 9, advertisements: 5)
        let first = try await page(fixture, viewer: "ann", follows: true)
        let second = try await page(fixture, first.next.flatMap(Fixture.cursor), viewer: "ann", follows: true)
        let now = Fixture.now + Self.hour
        let request = FeedRequest(now: now, rotationHour: CellTokens.bucket(of: now))
        let tokens = [first.syncToken ?? "", second.syncToken ?? ""]
        let changes = try await fixture.assembler().changes(since: tokens, request, for: .viewer("ann"))
        guard case .changed(let pages) = changes else { throw Failure() }
        #expect(pages.pages.map(\.ids) == [first.ids, second.ids])
        #expect(try await page(fixture, viewer: "ann", hours: 1).ids != first.ids)
    }

    private struct Failure: Error {}
}
