import IntertwineAds
import IntertwineFeed
import Testing

@Suite("Midpoint placement")
struct MidpointPlacementTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var users: Int
        var advertisements: Int
        var limit: Int
        var testDescription: String { "\(users) users, \(advertisements) advertisements, limit \(limit)" }
    }

    static let cases = [0, 1, 2, 3, 20, 21].flatMap { users in
        [0, 1, 2, 5].flatMap { advertisements in
            [1, 2, 3, 7, 20, 100].map { Case(users: users, advertisements: advertisements, limit: $0) }
        }
    }

    @Test("Advertisements are placed at half of each page's content count, on all pages", arguments: cases)
    func pageScope(_ table: Case) async throws {
        for perPage in [1, 2, 3] {
            let fixture = try Fixture(
                users: table.users, advertisements: table.advertisements,
                placement: MidpointPlacement(scope: .page(advertisements: perPage)))
            let pages = try await fixture.walk(limit: table.limit)
            #expect(pages.count == max(1, (table.users + table.limit - 1) / table.limit))
            var turn = 0
            for (number, page) in pages.enumerated() {
                let isLast = number == pages.count - 1
                let count = page.contentIDs.count
                #expect(count == (isLast ? table.users - table.limit * number : table.limit))
                let shown = min(perPage, table.advertisements)
                let expected = (0..<shown).map { "ad:\((turn + $0) % table.advertisements)" }
                turn += shown
                #expect(page.adIDs == expected)
                #expect(Array(page.ids.dropFirst(count / 2).prefix(shown)) == expected)
                #expect(page.entries.compactMap(\.adSlot) == Array(0..<shown))
            }
            #expect(pages.flatMap(\.contentIDs) == (0..<table.users).map { "user:u\($0)" })
        }
    }

    @Test("All advertisements are placed once at half of the whole feed's content count", arguments: cases)
    func feedScope(_ table: Case) async throws {
        let fixture = try Fixture(
            users: table.users, advertisements: table.advertisements, placement: MidpointPlacement(scope: .feed))
        let pages = try await fixture.walk(limit: table.limit)
        var expected = (0..<table.users).map { "user:u\($0)" }
        expected.insert(contentsOf: (0..<table.advertisements).map { "ad:\($0)" }, at: table.users / 2)
        #expect(pages.flatMap(\.ids) == expected)
        for page in pages.dropLast() { #expect(page.contentIDs.count == table.limit) }
    }

    @Test("The advertisement block remains if the middle item is deleted during the walk", arguments: [1, 2, 3, 5])
    func deletedMiddle(limit: Int) async throws {
        let fixture = try Fixture(users: 10, advertisements: 2, placement: MidpointPlacement(scope: .feed))
        var page = try await fixture.page(limit: limit)
        var ids = page.ids
        fixture.store.delete(kind: "user", id: "u5")
        while let next = page.next {
            page = try await fixture.page(Fixture.cursor(in: next), limit: limit)
            ids += page.ids
        }
        let isMet = limit == 5 ? ids.contains("user:u5") : false
        #expect(ids.filter { $0.hasPrefix("ad:") } == ["ad:0", "ad:1"])
        #expect(ids.filter { $0.hasPrefix("user:") }.count == (isMet ? 10 : 9))
    }

    @Test("The midpoint of the feed is computed again after a store change")
    func memoisedMidpoint() async throws {
        let fixture = try Fixture(users: 4, advertisements: 1, placement: MidpointPlacement(scope: .feed))
        let assembler = fixture.assembler()
        let request = FeedRequest(now: Fixture.now)
        #expect(try await assembler.page(request).ids == ["user:u0", "user:u1", "ad:0", "user:u2", "user:u3"])
        fixture.store.put(Fixture.user("u4", at: 9000))
        fixture.store.put(Fixture.user("u5", at: 9001))
        #expect(try await assembler.page(request).ids.firstIndex(of: "ad:0") == 3)
    }
}
