import TestSupport
import Testing

@testable import IntertwineFeed

@Suite("Placement of advertisements")
struct PlacementTests {
    static let rules: [PlacementRule] = [
        .every(5, offset: 5), .every(3, offset: 0), .every(4, offset: 2), .every(1, offset: 7), .at([2, 7]), .at([0]),
    ]

    /// Sections of users with a placement rule and a sort order.
    private func fixture(_ rule: PlacementRule, users: [Int], order: SectionSort = .imported, ads: Int = 3) throws -> Fixture {
        var fixture = try Fixture(advertisements: ads, placement: rule.placement(perPage: 1, isOfFeed: true))
        for (section, count) in users.enumerated() {
            for index in 0..<count {
                fixture.store.put(Fixture.user("s\(section)-\(index)", at: Int64(index + 1) * 1_000), in: Self.lane(section))
            }
        }
        fixture.source = SectionedDataSource(
            users.indices.map { FeedSection("s\($0)", stream: Self.lane($0), order: order) }, showsAdsAlone: true)
        return fixture
    }

    private static func lane(_ section: Int) -> StreamID { section == 0 ? .content : StreamID(rawValue: Int64(section + 1)) }

    private func write(_ random: inout SeededRandom, sections: Int, in fixture: Fixture) {
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let section = Int.random(in: 0..<sections, using: &random)
            if Bool.random(using: &random) {
                let position = Int64.random(in: -5_000...60_000, using: &random)
                fixture.store.put(Fixture.user("s\(section)-n\(random.next())", at: position), in: Self.lane(section))
            } else {
                fixture.store.delete(kind: "user", id: "s\(section)-\(Int.random(in: 0..<40, using: &random))")
            }
        }
    }

    /// The numbers of a section's items that follow an advertisement, in the order of the walk.
    private func numbers(ofPlacesIn cells: [String], section: Int, firstIs start: Int64 = 0) -> [Int64] {
        var (numbers, count, pending): ([Int64], Int64, Bool) = ([], start, false)
        for cell in cells {
            if cell.hasPrefix("ad:") {
                pending = true
            } else {
                if cell.hasPrefix("user:s\(section)-") {
                    if pending { numbers.append(count) }
                    count += 1
                }
                pending = false
            }
        }
        return numbers
    }

    private func expected(_ rule: PlacementRule, _ numbers: Range<Int64>) -> [Int64] {
        numbers.filter { number in
            switch rule {
            case .every(let every, let offset):
                // Before the walk's first item, its numbering continues backward.
                number >= offset
                    ? (number - Int64(offset)) % Int64(every) == 0
                    : number <= 0 && numbers.lowerBound < number && number % Int64(every) == 0
            case .at(let numbers): numbers.contains(Int(number))
            case .midpoint, .pinned: false
            }
        }
    }

    @Test(
        "A forward walk skips or repeats no ad slot during concurrent writes", arguments: 0..<60)
    func forward(seed: Int) async throws {
        var random = SeededRandom(seed: UInt64(seed))
        let rule = Self.rules[seed % Self.rules.count]
        let users = seed % 2 == 0 ? [40] : [Int.random(in: 0...30, using: &random), 12, Int.random(in: 0...30, using: &random)]
        let fixture = try fixture(rule, users: users, order: seed % 3 == 0 ? .newest : .imported)
        var (met, cursor): ([String], String?) = ([], nil)
        repeat {
            let page = try await fixture.page(cursor, limit: .random(in: 1...9, using: &random))
            let ids = page.entries.map(\.id)
            #expect(Set(ids).count == ids.count)
            met += ids
            cursor = page.next.flatMap(Fixture.cursor)
            write(&random, sections: users.count, in: fixture)
        } while cursor != nil && met.count < 10_000
        for section in users.indices {
            let count = Int64(met.count { $0.hasPrefix("user:s\(section)-") })
            #expect(numbers(ofPlacesIn: met, section: section) == expected(rule, 0..<count), "\(rule.text) in \(section)")
        }
    }

    @Test("A backward walk skips or repeats no ad slot during concurrent writes", arguments: 0..<60)
    func backward(seed: Int) async throws {
        var random = SeededRandom(seed: UInt64(seed) &+ 1_000)
        let rule = Self.rules[seed % Self.rules.count]
        let users = seed % 2 == 0 ? [40] : [Int.random(in: 1...30, using: &random), 12, Int.random(in: 1...30, using: &random)]
        let fixture = try fixture(rule, users: users, order: seed % 3 == 0 ? .newest : .imported)
        let pages = try await fixture.walk(limit: .random(in: 1...9, using: &random))
        let all = pages.flatMap { $0.entries.map(\.id) }
        var page = try #require(pages.last)
        var met = page.entries.map(\.id)
        while let previous = page.previous, met.count < 10_000 {
            write(&random, sections: users.count, in: fixture)
            page = try await fixture.page(Fixture.cursor(in: previous), limit: .random(in: 1...9, using: &random))
            met = page.entries.map(\.id) + met
        }
        for section in users.indices {
            // Sections end at the same items as at the turn of the walk.
            let end = Int64(all.count { $0.hasPrefix("user:s\(section)-") })
            let start = end - Int64(met.count { $0.hasPrefix("user:s\(section)-") })
            #expect(numbers(ofPlacesIn: met, section: section, firstIs: start) == expected(rule, start..<end), "\(rule.text) in \(section)")
        }
    }

    @Test("Pages of a backward walk are identical to those of the forward walk", arguments: rules + [.pinned], [1, 2, 5, 20])
    func reverse(rule: PlacementRule, limit: Int) async throws {
        for order in [SectionSort.imported, .newest] {
            let fixture = try fixture(rule, users: [11, 0, 7], order: order, ads: 4)
            for (number, position) in [(0, Int64.min), (1, 3_000), (0, 3_500), (2, 11_000), (3, 20_000)] {
                fixture.store.list(Fixture.advertisement("\(number)", at: Int64(number + 1) * 1_000), behind: position)
            }
            let forward = try await fixture.walk(limit: limit)
            var backward = [try #require(forward.last)]
            while let previous = backward.last?.previous {
                backward.append(try await fixture.page(Fixture.cursor(in: previous), limit: limit))
            }
            #expect(backward.reversed().map { $0.json() } == forward.map { $0.json() })
        }
    }

    @Test("A walk without an ad slot on its first pages begins with the viewer's advertisement")
    func start() async throws {
        let fixture = try Fixture(users: 9, advertisements: 10, placement: EveryPlacement(every: 5))
        var first: Set<String> = []
        for number in 0..<10 {
            var cursor: String?
            repeat {
                let page = try await fixture.assembler().page(
                    FeedRequest(cursor: cursor, limit: 2, now: Fixture.now, rotationHour: CellTokens.bucket(of: Fixture.now)),
                    for: .viewer("v\(number)"))
                first.formUnion(page.adIDs)
                cursor = page.next.flatMap(Fixture.cursor)
            } while cursor != nil
        }
        #expect(first.count == 10)
    }

    @Test("Page-scoped positions apply to each page and include its end")
    func page() async throws {
        let fixture = try Fixture(users: 14, advertisements: 5, placement: PlacementRule.at([2, 7]).placement(perPage: 1, isOfFeed: false))
        let pages = try await fixture.walk(limit: 7)
        #expect(pages.map(\.adIDs) == [["ad:0", "ad:1"], ["ad:2", "ad:3"]])
        #expect(pages.allSatisfy { $0.ids.enumerated().filter { $0.element.hasPrefix("ad:") }.map(\.offset) == [2, 8] })
    }

    @Test("A repetition does not get the id of another item on the page")
    func ownIDs() async throws {
        let fixture = try Fixture(users: 20, advertisements: 1, placement: EveryPlacement(every: 3))
        fixture.store.put(Fixture.advertisement("0#2", at: 5_000), in: .advertisements)
        let ids = try await fixture.page().entries.map(\.id)
        #expect(Set(ids).count == ids.count && ids.contains("ad:0#2") && ids.contains("ad:0#3"), "\(ids)")
    }

    @Test("Repeated advertisements have distinct ids and tokens but report the same cell")
    func again() async throws {
        let fixture = try Fixture(users: 20, advertisements: 2, placement: EveryPlacement(every: 3))
        let page = try await fixture.page()
        let ads = page.entries.filter { $0.adSlot != nil }
        #expect(ads.map(\.id) == ["ad:0", "ad:1", "ad:0#2", "ad:1#2", "ad:0#3", "ad:1#3"])
        #expect(ads.map(\.adSlot) == Array(0..<6))
        let texts = ads.map { String(decoding: $0.json, as: UTF8.self) }
        #expect(Set(texts).count == 6)
        for (ad, text) in zip(ads, texts) {
            #expect(text.hasPrefix(#"{"id":"\#(ad.id)","identifier":"#))
            #expect(text.contains(#""cell":"ad:\#(ad.cell.item.id)","token""#))
        }
        #expect(String(decoding: page.json(), as: UTF8.self).contains(#""id":"ad:0#3""#))
    }

    @Test("Each pinned advertisement appears exactly as often as listed during concurrent content writes", arguments: 0..<60)
    func listed(seed: Int) async throws {
        var random = SeededRandom(seed: UInt64(seed) &+ 2_000)
        let fixture = try fixture(.pinned, users: seed % 2 == 0 ? [40] : [20, 3, 15], order: seed % 3 == 0 ? .newest : .imported, ads: 6)
        var wanted: [String: Int] = [:]
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            let number = Int.random(in: 0..<6, using: &random)
            let section = seed % 2 == 0 ? 0 : Int.random(in: 0..<3, using: &random)
            fixture.store.list(
                Fixture.advertisement("\(number)", at: Int64(number + 1) * 1_000), behind: .random(in: -1_000...45_000, using: &random),
                in: Self.lane(section))
            wanted["ad:\(number)", default: 0] += 1
        }
        var (met, cursor): ([String: Int], String?) = ([:], nil)
        var page: FeedPage
        repeat {
            page = try await fixture.page(cursor, limit: .random(in: 1...9, using: &random))
            #expect(Set(page.entries.map(\.id)).count == page.entries.count)
            for id in page.adIDs { met[id, default: 0] += 1 }
            cursor = page.next.flatMap(Fixture.cursor)
            write(&random, sections: seed % 2 == 0 ? 1 : 3, in: fixture)
        } while cursor != nil
        #expect(met == wanted)

        met = page.adIDs.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        while let previous = page.previous {
            page = try await fixture.page(Fixture.cursor(in: previous), limit: .random(in: 1...9, using: &random))
            for id in page.adIDs { met[id, default: 0] += 1 }
            write(&random, sections: seed % 2 == 0 ? 1 : 3, in: fixture)
        }
        #expect(met == wanted)
    }

    @Test("Placement rules round-trip through text, and invalid text is refused")
    func words() {
        for rule in Self.rules + [.midpoint, .pinned, .every(1_000, offset: 100_000)] { #expect(PlacementRule(rule.text) == rule) }
        #expect(PlacementRule("every: 5") == .every(5, offset: 5))
        #expect(PlacementRule("{every: 5, offset: 2}") == .every(5, offset: 2))
        #expect(PlacementRule("at: [2, 7]") == .at([2, 7]))
        for wrong in [
            "", "every", "every 0", "every -5", "every 1001", "every 5 offset", "every 5 from 2", "at", "at 7 2", "at 2 2", "pinned 1",
            "listed",
            "middle",
        ] {
            #expect(PlacementRule(wrong) == nil, "\(wrong)")
        }
    }

    @Test("Among 6,000 advertisements, rotations begin with each of the first 4,096")
    func manyAdvertisements() throws {
        var snapshot = MemoryStore.Snapshot()
        let store = MemoryStore()
        snapshot.lanes[.advertisements] = (0..<6_000).map { Fixture.advertisement("\($0)", at: Int64($0 + 1) << 20) }
        let rotation = HouseAdRotation(types: [ItemType(kind: "ad", variant: "image")])
        let stock = try rotation.inventory(at: store.version, in: snapshot, of: store)
        #expect(!stock.isEmpty && !stock.ends(within: 1, after: 4_096 << 20))
        let marks = (0..<4_096).compactMap { hour in rotation.offset(of: "v", hour: hour, in: stock) }
        #expect(Set(marks) == Set((1...4_096).map { Int64($0) << 20 }))
    }
}
