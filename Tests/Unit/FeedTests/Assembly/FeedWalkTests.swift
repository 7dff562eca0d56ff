import Logging
import Synchronization
import TestSupport
import Testing

@testable import IntertwineFeed

@Suite("Walks through the feed")
struct FeedWalkTests {
    @Test("A walk returns each initial, undeleted item exactly once during concurrent writes", arguments: 0..<60)
    func randomWriter(seed: Int) async throws {
        var random = SeededRandom(seed: UInt64(seed))
        let fixture = try Fixture(
            users: .random(in: 0...60, using: &random), advertisements: .random(in: 0...4, using: &random),
            placement: MidpointPlacement(advertisements: 1 + seed % 2))
        var survivors = Set(try await fixture.walk(limit: 100).flatMap(\.contentIDs))

        var met: [String] = []
        var cursor: String?
        repeat {
            let page = try await fixture.page(cursor, limit: .random(in: 1...7, using: &random))
            #expect(Set(page.ids).count == page.ids.count)
            met += page.ids
            cursor = page.next.flatMap(Fixture.cursor)
            write(&random, survivors: &survivors, in: fixture)
        } while cursor != nil && met.count < 10_000

        let users = met.filter { $0.hasPrefix("user:") }
        #expect(Set(users).count == users.count)
        #expect(survivors.subtracting(users).isEmpty)
    }

    @Test("A backward walk returns each initial, undeleted item exactly once during concurrent writes", arguments: 0..<60)
    func randomWriterBackward(seed: Int) async throws {
        var random = SeededRandom(seed: UInt64(seed) &+ 1_000)
        let fixture = try Fixture(
            users: .random(in: 1...60, using: &random), advertisements: 3,
            placement: MidpointPlacement(advertisements: 1 + seed % 2))
        let pages = try await fixture.walk(limit: .random(in: 1...7, using: &random))
        var survivors = Set(pages.flatMap(\.contentIDs))
        var page = try #require(pages.last)
        var met = page.ids
        for id in page.contentIDs { survivors.remove(id) }
        while let previous = page.previous, met.count < 10_000 {
            write(&random, survivors: &survivors, in: fixture)
            page = try await fixture.page(Fixture.cursor(in: previous), limit: .random(in: 1...7, using: &random))
            met = page.ids + met
        }
        let users = met.filter { $0.hasPrefix("user:") }
        #expect(Set(users).count == users.count)
        #expect(survivors.subtracting(users).isEmpty)
    }

    /// Performs a few random writes, and removes deleted items from the survivors.
    private func write(_ random: inout SeededRandom, survivors: inout Set<String>, in fixture: Fixture) {
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let id = "u\(Int.random(in: 0..<80, using: &random))"
            switch Int.random(in: 0..<4, using: &random) {
            case 0: fixture.store.put(Fixture.user("n\(random.next())", at: .random(in: 1...70_000, using: &random)))
            case 1: fixture.store.put(Fixture.user("t\(random.next())", at: .random(in: 100_000...1_000_000, using: &random)))
            case 2 where survivors.contains("user:" + id):
                fixture.store.put(Fixture.user(id, at: .random(in: 1...70_000, using: &random), variant: "featured"))
            default:
                fixture.store.delete(kind: "user", id: id)
                survivors.remove("user:" + id)
            }
        }
    }

    @Test("A backward walk returns the same pages in reverse, including advertisements", arguments: [1, 2], [1, 2, 3, 5, 20])
    func reverse(perPage: Int, limit: Int) async throws {
        for (users, advertisements) in [(0, 1), (1, 1), (2, 2), (3, 5), (20, 3), (21, 2), (20, 7)] {
            let fixture = try Fixture(users: users, advertisements: advertisements, placement: MidpointPlacement(advertisements: perPage))
            let forward = try await fixture.walk(limit: limit)
            var backward = [try #require(forward.last)]
            while let previous = backward.last?.previous {
                backward.append(try await fixture.page(Fixture.cursor(in: previous), limit: limit))
            }
            #expect(backward.count == forward.count)
            for (page, mirrored) in zip(backward, forward.reversed()) {
                #expect(page.json() == mirrored.json())
                #expect((page.next == nil) == (mirrored.next == nil) && (page.previous == nil) == (mirrored.previous == nil))
            }
            // A second forward walk begins at the end of the backward walk.
            let again = try await fixture.walk(from: backward.last?.next.flatMap(Fixture.cursor), limit: limit)
            #expect(again.map(\.ids).suffix(max(1, forward.count - 1)) == forward.map(\.ids).suffix(max(1, forward.count - 1)))
        }
    }

    @Test("A cursor returns identical bytes within the hour if the store is unchanged")
    func sameCursorSamePage() async throws {
        let fixture = try Fixture(users: 50, advertisements: 3)
        let first = try await fixture.page(limit: 7)
        let cursor = try #require(first.next.flatMap(Fixture.cursor))
        let page = try await fixture.page(cursor, limit: 7)
        let later = try await fixture.assembler().page(FeedRequest(cursor: cursor, limit: 7, now: page.validUntil - 1))
        let nextHour = try await fixture.assembler().page(FeedRequest(cursor: cursor, limit: 7, now: page.validUntil))
        #expect(page.json() == later.json())
        #expect(page.json() != nextHour.json())
        #expect(page.ids == nextHour.ids)
    }

    @Test("Pages are full and the feed ends correctly despite broken or dismissed items", arguments: [1, 2, 3, 5, 10])
    func leavesOut(limit: Int) async throws {
        let fixture = try Fixture(users: 10, advertisements: 2)
        for index in 0..<300 { fixture.store.put(Fixture.broken("b\(index)", at: 2500 + Int64(index))) }
        fixture.store.put(Fixture.broken("tail", at: 90_000))
        fixture.store.put(Fixture.advertisement("bad", at: 500, variant: "video"), in: .advertisements)
        let hidden: Set<ByteString> = ["user:u4", "user:u9", "ad:0"]
        var pages = [try await fixture.page(limit: limit, hidden: hidden)]
        while let next = pages.last?.next { pages.append(try await fixture.page(Fixture.cursor(in: next), limit: limit, hidden: hidden)) }
        #expect(pages.flatMap(\.contentIDs) == [0, 1, 2, 3, 5, 6, 7, 8].map { "user:u\($0)" })
        #expect(pages.dropLast().allSatisfy { $0.contentIDs.count == limit } && pages.last?.contentIDs.isEmpty == false)
        #expect(pages.allSatisfy { $0.adIDs == ["ad:1"] })
        let broken = pages.flatMap(\.omissions).filter { if case .broken = $0.reason { true } else { false } }
        #expect(broken.count == 301, "each broken item is reported on one page of the walk")
    }

    @Test("A page of items without a cell, or of broken ones, reads a bounded number of them, and the next one continues")
    func bounded() async throws {
        let fixture = try Fixture(users: 1)
        for index in 0..<3_000 { fixture.store.put(Fixture.broken("b\(index)", at: 2_500 + Int64(index))) }
        for index in 0..<3_000 { fixture.store.put(Fixture.user("n\(index)", at: 9_500 + Int64(index), variant: "nobody")) }
        fixture.store.put(Fixture.user("last", at: 90_000))
        let pages = try await fixture.walk(limit: 5)
        #expect(pages.count > 2 && pages.flatMap(\.contentIDs) == ["user:u0", "user:last"])
        #expect(pages.allSatisfy { $0.omissions.count <= 2_300 } && pages.flatMap(\.omissions).count == 6_000)
    }

    @Test("Many broken items of one type are one line of the log")
    func lines() async throws {
        let fixture = try Fixture(users: 1)
        for index in 0..<200 {
            fixture.store.put(
                FeedItem(
                    kind: "user", id: "b\(index)", variant: "regular", position: 2_500 + Int64(index),
                    body: Array(#"{"username":"b","avatarUrl":"nonsense \#(index)","type":"regular"}"#.utf8)))
        }
        let lines = Mutex(0)
        let logger = Logger(label: "test") { _ in CountingHandler { lines.withLock { $0 += 1 } } }
        let assembler = FeedAssembler(
            name: "feed", store: fixture.store, source: fixture.source, factories: fixture.factories, cells: fixture.cells,
            placement: fixture.placement, keys: fixture.keys, links: fixture.links, tokens: fixture.tokens, logger: logger)
        for _ in 0..<3 {
            #expect(try await assembler.page(FeedRequest(limit: 5, now: Fixture.now), for: PageClient()).omissions.count == 200)
        }
        #expect(lines.withLock { $0 } == 1)
    }

    @Test("A page has a previous link only if items precede it, also after deletions")
    func deletedNeighbour() async throws {
        let fixture = try Fixture(users: 4)
        let first = try await fixture.page(limit: 2)
        let cursor = try #require(first.next.flatMap(Fixture.cursor))
        fixture.store.delete(kind: "user", id: "u0")
        fixture.store.delete(kind: "user", id: "u1")
        #expect(try await fixture.page(cursor, limit: 2).previous == nil)
        fixture.store.put(Fixture.user("new", at: 1))
        let page = try await fixture.page(cursor, limit: 2)
        let before = try await fixture.page(page.previous.flatMap(Fixture.cursor), limit: 2)
        #expect(before.ids == ["user:new"] && before.previous == nil && before.next != nil)
        for id in ["u2", "u3"] { fixture.store.delete(kind: "user", id: id) }
        let empty = try await fixture.page(cursor, limit: 2)
        #expect(empty.ids.isEmpty && empty.next == nil && empty.previous != nil)
        #expect(try await fixture.page(empty.previous.flatMap(Fixture.cursor), limit: 2).ids == ["user:new"])
    }

    @Test("Limits outside 1 to 100 are refused", arguments: [-1, 0, 101, .max, .min])
    func limits(limit: Int) async throws {
        let fixture = try Fixture(users: 2)
        await #expect(throws: FeedError.limitOutOfRange(limit)) { try await fixture.page(limit: limit) }
    }

    @Test("An explanation gives each advertisement's page and slot, or the reason of its absence", arguments: [1, 2])
    func explainsRotation(perPage: Int) async throws {
        let fixture = try Fixture(
            users: 6, advertisements: 10, placement: MidpointPlacement(advertisements: perPage))
        let assembler = fixture.assembler()
        var cursor: String?
        for number in 1...3 {
            let page = try await assembler.page(FeedRequest(cursor: cursor, limit: 2, now: Fixture.now))
            let explanation = try await assembler.explain(FeedRequest(cursor: cursor, limit: 2, now: Fixture.now))
            #expect(explanation.number == number)
            #expect(explanation.advertisements.map(\.rank) == Array(0..<10))
            let shown = 3 * perPage
            #expect(explanation.advertisements.map(\.page) == (0..<10).map { $0 < shown ? $0 / perPage + 1 : nil })
            #expect(explanation.advertisements.map(\.slot) == (0..<10).map { $0 < shown ? $0 % perPage : nil })
            let end = FeedExplanation.NotShownReason.feedEnds(pages: 3, shown: shown)
            #expect(explanation.advertisements.map(\.absence) == (0..<10).map { $0 < shown ? nil : end })
            let here = page.entries.filter { $0.adSlot != nil }.map(\.cell.item.id)
            #expect(explanation.advertisements.filter(\.isOnThisPage).map(\.id) == here && here.count == perPage)
            cursor = page.next.flatMap(Fixture.cursor)
        }
    }

    @Test("An explanation lists each entry, the omissions and the absence reason of each advertisement")
    func explains() async throws {
        let fixture = try Fixture(users: 2, advertisements: 1)
        fixture.store.put(Fixture.advertisement("clip", at: 9000, variant: "video"), in: .advertisements)
        fixture.store.put(Fixture.broken("b", at: 1500))
        let explanation = try await fixture.assembler().explain(FeedRequest(now: Fixture.now))
        #expect(explanation.page.entries.map(\.id) == ["user:u0", "ad:0", "user:u1"])
        #expect(explanation.page.entries.map(\.adSlot) == [nil, 0, nil])
        #expect(explanation.page.entries.map(\.position) == [1000, 1000, 2000])
        #expect(explanation.page.omissions.map(\.id) == ["b"])
        #expect(explanation.advertisements.map(\.absence) == [nil, .omitted(.noFactory)])
        #expect(explanation.advertisements.map(\.isOnThisPage) == [true, false])
        #expect(explanation.supply == .rotating(perPage: 1))
    }

    @Test("An explanation has the asked ad of campaigns, however many ads are before it")
    func asked() async throws {
        let fixture = try Fixture(users: 2, advertisements: 1_001)
        fixture.store.put(Fixture.advertisement("paid", at: .max / 2, house: false), in: .advertisements)
        for (cell, others) in [("ad:paid", ["paid"]), ("ad:1000", []), ("user:u1", []), ("nothing", [])] {
            let told = try await fixture.assembler().explain(FeedRequest(now: Fixture.now), and: cell).advertisements
            #expect(told.map(\.id) == (0..<1_000).map(String.init) + others)
            #expect(others.isEmpty || told.last?.absence == .inCampaigns([]))
        }
    }
}

private struct CountingHandler: LogHandler {
    let count: @Sendable () -> Void
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { count() }
}
