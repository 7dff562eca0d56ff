import Testing

@testable import IntertwineFeed

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
                placement: MidpointPlacement(advertisements: perPage))
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
}
