import Foundation
import TestSupport
import Testing

@testable import IntertwineFeed

@Suite("Sections of a feed")
struct SectionTests {
    private static let stars = StreamID(rawValue: 2)
    private static let others = StreamID(rawValue: 3)

    /// `stars` and `others` with the given numbers of users, and an empty section between them.
    private func fixture(
        stars: Int, others: Int, advertisements: Int = 0, placement: any AdPlacement = MidpointPlacement(),
        order: SectionSort = .imported
    ) throws -> Fixture {
        var fixture = try Fixture(advertisements: advertisements, placement: placement)
        for index in 0..<stars { fixture.store.put(Fixture.user("s\(index)", at: Int64(index + 1) * 1000), in: Self.stars) }
        for index in 0..<others { fixture.store.put(Fixture.user("o\(index)", at: Int64(index + 1) * 1000), in: Self.others) }
        fixture.source = SectionedDataSource(
            [
                FeedSection("stars", title: "Stars & \"more\"", stream: Self.stars, order: order),
                FeedSection("nobody", title: "Nobody", stream: StreamID(rawValue: 9)),
                FeedSection("others", title: "Others", stream: Self.others, order: order),
            ], showsAdsAlone: true)
        return fixture
    }

    @Test("A section header is a separate cell before the first item and has no actions")
    func header() async throws {
        let fixture = try fixture(stars: 1, others: 1)
        let text = String(decoding: try await fixture.page().json(), as: UTF8.self)
        #expect(
            text.hasPrefix(
                #"{"cells":[{"id":"section:stars","identifier":"SectionHeaderCollectionReusableView","size":{"width":320,"height":50,"textHeight":24},"#
                    + #""actions":{"configuration":{"type":"bind","bindings":{"title":{"type":"text","text":"Stars & \"more\""}}}}},{"id":"user:s0","#
            ))
        #expect(text.hasSuffix(#""page":{"protocol":1,"limit":20,"next":null,"previous":null,"sections":["stars","others"]}}"#))
        let table = try await fixture.assembler().page(FeedRequest(now: Fixture.now, layout: .table, width: 414))
        #expect(table.ids == ["section:stars", "user:s0", "section:others", "user:o0"])
        #expect(table.entries[0].cell.identifier == "SectionHeaderTableViewHeaderFooterView")
        #expect(String(decoding: table.entries[0].json, as: UTF8.self).contains(#""size":{"width":414,"height":28,"textHeight":20}"#))
    }

    @Test(
        "One cursor crosses sections, headers are not counted, and pages list their sections", arguments: [1, 2, 3, 4, 100])
    func walk(limit: Int) async throws {
        let fixture = try fixture(stars: 3, others: 2)
        let pages = try await fixture.walk(limit: limit)
        #expect(pages.flatMap(\.ids) == ["section:stars", "user:s0", "user:s1", "user:s2", "section:others", "user:o0", "user:o1"])
        #expect(pages.dropLast().allSatisfy { $0.contentIDs.count == limit })
        for page in pages {
            let met = page.contentIDs.map { $0.hasPrefix("user:s") ? "stars" : "others" }
            #expect(page.sections == met.reduce(into: []) { if $0.last != $1 { $0.append($1) } })
        }
        var backward = [try #require(pages.last)]
        while let previous = backward.last?.previous {
            backward.append(try await fixture.page(Fixture.cursor(in: previous), limit: limit))
        }
        #expect(backward.reversed().map { $0.json() } == pages.map { $0.json() })
    }

    @Test("A section can be sorted newest first, with correct pages in both directions", arguments: [1, 2, 5])
    func newest(limit: Int) async throws {
        let fixture = try fixture(stars: 3, others: 2, advertisements: 1, placement: FixedPlacement(at: [2], scope: .feed), order: .newest)
        let pages = try await fixture.walk(limit: limit)
        #expect(
            pages.flatMap(\.ids) == [
                "section:stars", "user:s2", "user:s1", "ad:0", "user:s0", "section:others", "user:o1", "user:o0",
            ])
        var backward = [try #require(pages.last)]
        while let previous = backward.last?.previous {
            backward.append(try await fixture.page(Fixture.cursor(in: previous), limit: limit))
        }
        #expect(backward.reversed().map { $0.json() } == pages.map { $0.json() })
    }

    @Test("An empty last page leads back to the previous items in either sort order", arguments: [false, true])
    func emptyLastPage(isDescending: Bool) async throws {
        var fixture = try Fixture(users: 4)
        fixture.source = FlatDataSource(order: SectionSort(isDescending: isDescending))
        let users = isDescending ? ["u3", "u2", "u1", "u0"] : ["u0", "u1", "u2", "u3"]
        let first = try await fixture.page(limit: 2)
        for id in users.suffix(2) { fixture.store.delete(kind: "user", id: id) }
        let empty = try await fixture.page(first.next.flatMap(Fixture.cursor), limit: 2)
        #expect(empty.ids.isEmpty && empty.next == nil)
        #expect(try await fixture.page(empty.previous.flatMap(Fixture.cursor), limit: 2).ids == users.prefix(2).map { "user:" + $0 })
    }

    @Test("Each section's part of a page has distinct advertisements")
    func advertisements() async throws {
        let two = try fixture(stars: 4, others: 2, advertisements: 3)
        #expect(
            try await two.page().ids == [
                "section:stars", "user:s0", "user:s1", "ad:0", "user:s2", "user:s3", "section:others", "user:o0", "ad:1", "user:o1",
            ])
        #expect(try await two.page().entries.map(\.adSlot).compactMap { $0 } == [0, 1])
        let one = try fixture(stars: 4, others: 2, advertisements: 1)
        #expect(try await one.page().adIDs == ["ad:0"])
        let pages = try await two.walk(limit: 3)
        #expect(pages.map(\.adIDs) == [["ad:0"], ["ad:1", "ad:2"]])
    }

    @Test("A section's placement applies only to that section")
    func ownPlacement() async throws {
        var fixture = try fixture(stars: 2, others: 2, advertisements: 5)
        fixture.source = SectionedDataSource([
            FeedSection("stars", stream: Self.stars, placement: MidpointPlacement(advertisements: 0)),
            FeedSection("others", stream: Self.others, placement: MidpointPlacement(advertisements: 2)),
        ])
        #expect(try await fixture.page().ids == ["user:s0", "user:s1", "user:o0", "ad:0", "ad:1", "user:o1"])
    }

    @Test("Pages without advertisements preserve the rotation in both directions", arguments: [1, 2, 3])
    func rotationAcrossGaps(limit: Int) async throws {
        for (quiet, loud) in [(0, 1), (1, 0)] {
            for advertisements in [1, 2, 4] {
                var fixture = try fixture(stars: 3, others: 3, advertisements: advertisements)
                let none = MidpointPlacement(advertisements: 0)
                var sections = [FeedSection("stars", stream: Self.stars), FeedSection("others", stream: Self.others)]
                sections[quiet].placement = none
                // A third section with advertisements, for either choice of the section without them.
                sections.append(FeedSection("nobody", stream: StreamID(rawValue: 9)))
                fixture.store.put(Fixture.user("n0", at: 1), in: StreamID(rawValue: 9))
                fixture.store.put(Fixture.user("n1", at: 2), in: StreamID(rawValue: 9))
                fixture.source = SectionedDataSource(sections)
                let pages = try await fixture.walk(limit: limit)
                var backward = [try #require(pages.last)]
                while let previous = backward.last?.previous {
                    backward.append(try await fixture.page(Fixture.cursor(in: previous), limit: limit))
                }
                #expect(backward.reversed().map(\.ids) == pages.map(\.ids), "\(loud) \(advertisements)")
                // A second forward walk begins at the end of the backward walk.
                var again = [try #require(backward.last)]
                while let next = again.last?.next { again.append(try await fixture.page(Fixture.cursor(in: next), limit: limit)) }
                #expect(again.map(\.ids) == pages.map(\.ids), "\(loud) \(advertisements)")
            }
        }
    }

    @Test(
        "An empty feed shows only advertisements if configured, and otherwise no cells",
        arguments: [
            (MidpointPlacement(), ["ad:0"]), (MidpointPlacement(advertisements: 0), []),
        ])
    func empty(placement: MidpointPlacement, advertisements: [String]) async throws {
        var fixture = try fixture(stars: 0, others: 0, advertisements: 2, placement: placement)
        let page = try await fixture.page()
        #expect(page.ids == advertisements)
        #expect(page.sections == [] && page.next == nil && page.previous == nil)
        fixture.source = SectionedDataSource([FeedSection("stars", title: "Stars", stream: Self.stars)])
        let section = try await fixture.page()
        #expect(
            String(decoding: section.json(), as: UTF8.self)
                == #"{"cells":[],"page":{"protocol":1,"limit":20,"next":null,"previous":null,"sections":[]}}"#)
    }

    @Test("An empty feed uses the placement of the first section that permits advertisements")
    func emptyOwnPlacement() async throws {
        var fixture = try fixture(stars: 0, others: 0, advertisements: 5)
        let (none, two) = (MidpointPlacement(advertisements: 0), MidpointPlacement(advertisements: 2))
        let stars = FeedSection("stars", stream: Self.stars, placement: none)
        fixture.source = SectionedDataSource([stars, FeedSection("others", stream: Self.others, placement: two)], showsAdsAlone: true)
        #expect(try await fixture.page().ids == ["ad:0", "ad:1"])
        fixture.source = SectionedDataSource([stars], showsAdsAlone: true)
        #expect(try await fixture.page().ids.isEmpty)
    }

    @Test("An empty last page of a feed with items has no advertisements")
    func emptyLast() async throws {
        let fixture = try fixture(stars: 3, others: 0, advertisements: 2)
        let first = try await fixture.page(limit: 2)
        fixture.store.delete(kind: "user", id: "s2")
        #expect(try await fixture.page(first.next.flatMap(Fixture.cursor), limit: 2).ids.isEmpty)
    }

    @Test("A cursor is valid only for its feed and sections, and mutations are refused")
    func cursors() async throws {
        let fixture = try fixture(stars: 3, others: 3)
        let cursor = try #require(try await fixture.page(limit: 4).next.flatMap(Fixture.cursor))
        try fixture.assembler().validate(cursor: cursor)
        #expect(throws: FeedError.cursor(.otherFeed)) { try fixture.assembler(name: "else").validate(cursor: cursor) }
        for source in [
            FlatDataSource(), SectionedDataSource([FeedSection("others", stream: Self.others), FeedSection("stars", stream: Self.stars)]),
            FlatDataSource(Self.stars, order: .newest),
        ] as [any DataSource] {
            var other = fixture
            other.source = source
            #expect(throws: FeedError.cursor(.otherFeed)) { try other.assembler().validate(cursor: cursor) }
        }
        var random = SeededRandom(seed: 1)
        for _ in 0..<2_000 {
            let text = Mutation.of(cursor, using: &random)
            guard text != cursor else { continue }
            #expect(throws: FeedError.cursor(.invalid)) { try fixture.assembler().validate(cursor: text) }
        }
    }

    @Test("The header precedes the first visible item, and an empty section has no header")
    func leftOut() async throws {
        let fixture = try fixture(stars: 2, others: 1)
        fixture.store.put(Fixture.broken("b", at: 1), in: Self.stars)
        let page = try await fixture.page(hidden: ["user:s0", "user:o0"])
        #expect(page.ids == ["section:stars", "user:s1"])
        #expect(page.sections == ["stars"])
    }

    /// Numbers of one section as users, ascending, or descending by position, of which some are items of the store.
    private struct Numbers: DataSource {
        let section: Int
        let isNewestFirst: Bool

        func items(after position: Int64?, limit: Int, for context: FeedContext) async throws -> [FeedItem] {
            let all = (0..<section).map { index in
                let position = isNewestFirst ? Int64(-index) : Int64(index)
                return index % 2 == 0
                    ? Fixture.user("\(section)-\(index)", at: position)
                    : FeedItem(stored: "user", id: "\(section)-\(index)", position: position)
            }
            return Array(all.filter { item in position.map { isOrdered($0, item.position) } ?? true }.prefix(limit))
        }
    }

    @Test(
        "Data sources with own items and items of the store are paged across sections in both directions", arguments: [1, 2, 3, 10],
        [false, true])
    func ownDataSource(limit: Int, isNewestFirst: Bool) async throws {
        var fixture = try Fixture(advertisements: 1, placement: FixedPlacement(at: [2], scope: .feed))
        for section in 2...3 { fixture.store.put(Fixture.user("\(section)-1", at: 9), in: Self.others) }
        fixture.source = SectionedDataSource(
            (0..<4).map { FeedSection(source: Numbers(section: $0, isNewestFirst: isNewestFirst)) }, showsAdsAlone: true)
        let pages = try await fixture.walk(limit: limit)
        #expect(pages.flatMap(\.ids) == ["user:1-0", "user:2-0", "user:2-1", "user:3-0", "user:3-1", "ad:0", "user:3-2"])
        #expect(pages.allSatisfy { $0.sections == nil })
        var backward = [try #require(pages.last)]
        while let previous = backward.last?.previous {
            backward.append(try await fixture.page(Fixture.cursor(in: previous), limit: limit))
        }
        #expect(backward.reversed().map { $0.json() } == pages.map { $0.json() })
    }

    @Test("Items of the store that do not exist are left out of a source's page, which is filled")
    func missingItems() async throws {
        struct Chosen: DataSource {
            func items(after position: Int64?, limit: Int, for context: FeedContext) async throws -> [FeedItem] {
                Array(
                    (0..<40).lazy.filter { $0 > position ?? -1 }.prefix(limit).map { FeedItem(stored: "user", id: "\($0)", position: $0) })
            }
            let isNewestFirst = false
        }
        var fixture = try Fixture(advertisements: 0)
        for id in stride(from: 0, to: 40, by: 5) { fixture.store.put(Fixture.user("\(id)", at: Int64(100 - id)), in: .content) }
        fixture.source = Chosen().asFeed
        let pages = try await fixture.walk(limit: 3)
        #expect(pages.map(\.ids) == [["user:0", "user:5", "user:10"], ["user:15", "user:20", "user:25"], ["user:30", "user:35"]])
    }

    @Test("Sort positions compare by key, then by position")
    func places() {
        let places = [
            SortPosition(position: 3), SortPosition(key: .number(-1), position: 9), SortPosition(key: .number(2), position: 1),
            SortPosition(key: .number(2), position: 2), SortPosition(key: .text([]), position: 0),
            SortPosition(key: .text([65]), position: 0),
            SortPosition(key: .text([65, 66]), position: -1),
        ]
        for (index, place) in places.enumerated() {
            for (other, second) in places.enumerated() { #expect((place < second) == (index < other)) }
        }
    }
}
