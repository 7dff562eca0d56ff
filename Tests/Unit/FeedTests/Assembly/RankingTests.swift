import Synchronization
import Testing

@testable import IntertwineFeed

/// Ranks the users by the remainders of their numbers; its cursor is the number of items returned so far.
private final class TestRanker: FeedRanker {
    struct Failure: Error {}
    struct State {
        var ids: [String] = []
        var fails = false
        var echoes = false
        var limits: [Int] = []
        var previews = 0
    }

    let state = Mutex(State())

    init(_ ids: [String]) { state.withLock { $0.ids = ids } }

    func skeleton(
        of feed: String, for context: FeedContext, limit: Int, after cursor: String?, isPreview: Bool
    ) async throws -> FeedSkeleton {
        try state.withLock { state in
            state.limits.append(limit)
            if isPreview { state.previews += 1 }
            if state.fails { throw Failure() }
            let start = cursor.flatMap { Int($0) } ?? 0
            let ids = state.ids.dropFirst(start).prefix(limit)
            let end = start + ids.count
            let items = ids.map { FeedSkeleton.Item(cell: $0, reason: context.viewer.map { "for \($0)" }) }
            return FeedSkeleton(items, cursor: state.echoes ? cursor ?? "1" : end < state.ids.count ? String(end) : nil)
        }
    }
}

@Suite("Ranked feeds")
struct RankingTests {
    private func fixture(_ ids: [String], users: Int = 12, advertisements: Int = 0) throws -> (Fixture, TestRanker) {
        var fixture = try Fixture(users: users, advertisements: advertisements)
        let ranker = TestRanker(ids)
        fixture.ranking = FeedRanking(of: "main", by: ranker)
        return (fixture, ranker)
    }

    private func page(
        _ fixture: Fixture, _ cursor: String? = nil, limit: Int = 4, viewer: String = "ann", hiding cells: Set<ByteString> = []
    ) async throws -> FeedPage {
        try await fixture.assembler().page(
            FeedRequest(cursor: cursor, limit: limit, now: Fixture.now), for: .viewer(viewer, hiding: cells))
    }

    @Test(
        "The ranker's order is paged with reasons and ads, without missing, hidden and repeated items and ads", arguments: [1, 3, 4, 100])
    func order(limit: Int) async throws {
        let ids = ["u7", "none", "u3", "u7", "u0", "u1", "u9", "u3", "u2"].map { "user:\($0)" } + ["ad:0", "odd", ""]
        let (fixture, _) = try fixture(ids, advertisements: 1)
        var (shown, cursor, pages): ([String], String?, Int) = ([], nil, 0)
        repeat {
            let page = try await page(fixture, cursor, limit: limit, hiding: ["user:u1"])
            #expect(page.contentIDs.count <= limit && !page.isDegraded && page.previous == nil && page.syncToken == nil)
            if !page.contentIDs.isEmpty { #expect(page.adIDs == ["ad:0"]) }
            for entry in page.entries where entry.id.hasPrefix("user:") {
                #expect(String(decoding: entry.json, as: UTF8.self).contains(#""reason":"for ann""#))
            }
            shown += page.contentIDs
            cursor = page.next.flatMap(Fixture.cursor)
            pages += 1
        } while cursor != nil && pages < 20
        #expect(shown == ["u7", "u3", "u0", "u9", "u2"].map { "user:\($0)" })
        let json = String(decoding: try await page(fixture).json(), as: UTF8.self)
        #expect(!json.contains("degraded"))
    }

    @Test("A declared cell binds the reason of the ranker or of the data source, and other cells bind none")
    func reasons() async throws {
        var kind = KindFixture.event
        let title = BindingDeclaration("title", .text, "{{title}}{{#reason}} ({{.}}){{/reason}}")
        kind.cells[.collection] = [
            CellDeclaration(
                "EventCell", size: SizeRule(CellSize(width: 300, height: 160)),
                bindings: [title, BindingDeclaration("why", .text, "reason")])
        ]
        var fixture = try KindFixture.fixture(kind, items: [DeclaredCellTests.full, DeclaredCellTests.sparse])
        func texts(_ page: FeedPage) throws -> [[String?]] {
            try KindFixture.json(page).map { cell in
                let bindings = KindFixture.bindings(cell)
                return [cell["reason"] as? String] + ["title", "why"].map { bindings[$0]?["text"] as? String }
            }
        }
        let plain: [[String?]] = [[nil, "Swing", nil], [nil, "Jazz", nil]]
        #expect(try texts(try await fixture.page()) == plain)
        fixture.ranking = FeedRanking(of: "main", by: TestRanker(["event:b/2", "event:1"]))
        for viewer in ["ann", #"b"o"b"#] {
            let reason = "for \(viewer)"
            let wanted = [[reason, "Jazz (\(reason))", reason], [reason, "Swing (\(reason))", reason]]
            #expect(try texts(try await page(fixture, viewer: viewer)) == wanted)
        }
        fixture.ranking = nil
        #expect(try texts(try await fixture.page()) == plain)
        var items = [
            try KindFixture.item(DeclaredKind(kind), at: 1, DeclaredCellTests.sparse.replacing("b/2", with: "own")),
            FeedItem(stored: "event", id: "1", position: 2), FeedItem(stored: "event", id: "b/2", position: 3),
        ]
        (items[0].reason, items[1].reason, items[2].reason) = ("new", "near", "")
        fixture.source = FlatDataSource(ArrayDataSource(items))
        #expect(try texts(try await fixture.page()) == [["new", "Jazz (new)", "new"], ["near", "Swing (near)", "near"], plain[1]])
    }

    @Test("At most three further requests fill a page")
    func requests() async throws {
        let ids = (0..<40).map { $0 % 8 == 0 ? "user:u\($0 / 8)" : "user:none\($0)" }
        let (fixture, ranker) = try fixture(ids)
        let first = try await page(fixture, limit: 5)
        #expect(first.contentIDs == ["user:u0", "user:u1"])
        #expect(ranker.state.withLock { $0.limits } == [5, 4, 3, 3])
        let second = try await page(fixture, first.next.flatMap(Fixture.cursor), limit: 9)
        #expect(second.contentIDs == ["user:u2", "user:u3", "user:u4"])
    }

    @Test("A ranker that repeats its cursor has ended")
    func echo() async throws {
        let (fixture, ranker) = try fixture(["user:u1", "user:u2"])
        ranker.state.withLock { $0.echoes = true }
        let first = try await page(fixture, limit: 1)
        #expect(first.contentIDs == ["user:u1"])
        let second = try await page(fixture, first.next.flatMap(Fixture.cursor), limit: 1)
        #expect(second.contentIDs == ["user:u2"] && second.next == nil)
    }

    @Test("Without an answer, a page has the viewer's last skeleton, or else the feed's own order, and repeats nothing")
    func failures() async throws {
        let (fixture, ranker) = try fixture(["user:u5", "user:u0", "user:u9", "user:u8", "user:u7"])
        let ranked = try await page(fixture, limit: 2)
        ranker.state.withLock { $0.fails = true }
        let again = try await page(fixture, limit: 2)
        #expect(again.isDegraded && again.contentIDs == ranked.contentIDs)
        #expect(String(decoding: again.json(), as: UTF8.self).contains(#""degraded":true"#))
        let other = try await page(fixture, limit: 3, viewer: "bob")
        #expect(other.isDegraded && other.contentIDs == ["user:u0", "user:u1", "user:u2"])
        // The session of the first viewer continues in the feed's own order, forward and back.
        var (shown, cursor) = (ranked.contentIDs, ranked.next.flatMap(Fixture.cursor))
        var pages = [ranked]
        while let next = cursor {
            let page = try await page(fixture, next, limit: 3)
            #expect(page.isDegraded)
            shown += page.contentIDs
            pages.append(page)
            cursor = page.next.flatMap(Fixture.cursor)
        }
        #expect(shown.prefix(5) == ["u5", "u0", "u1", "u2", "u3"].map { "user:\($0)" }[...])
        #expect(shown.count == 12 && Set(shown).count == 12)
        let back = try await page(fixture, try #require(pages.last?.previous.flatMap(Fixture.cursor)), limit: 3)
        #expect(back.contentIDs == pages[pages.count - 2].contentIDs)
        // A later session is ranked again.
        ranker.state.withLock { $0.fails = false }
        #expect(try await page(fixture, limit: 2).isDegraded == false)
    }

    @Test("A preview has the ranker's order, which is not remembered for the viewer")
    func preview() async throws {
        let (fixture, ranker) = try fixture(["user:u5", "user:none", "user:u0"])
        let feed = fixture.assembler()
        var request = FeedRequest(limit: 2, now: Fixture.now)
        request.preview = FeedRequest.Preview(showsDrafts: false)
        let page = try await feed.page(request, for: .viewer("ann", hiding: []))
        #expect(page.contentIDs == ["user:u5", "user:u0"] && !page.isDegraded)
        #expect(ranker.state.withLock { $0.previews == $0.limits.count && $0.previews == 2 })
        ranker.state.withLock { $0.fails = true }
        let own = try await feed.page(FeedRequest(limit: 2, now: Fixture.now), for: .viewer("ann", hiding: []))
        #expect(own.contentIDs == ["user:u0", "user:u1"] && own.isDegraded)
        let degraded = try await feed.page(request, for: .viewer("ann", hiding: []))
        #expect(degraded.contentIDs == ["user:u0", "user:u1"] && degraded.isDegraded)
    }

    @Test("What is remembered of a viewer can be forgotten, with every filter, and that of others stays")
    func forgotten() async throws {
        // The composed and the decomposed name are different viewers.
        let (ann, other) = ("\u{E9}", "e\u{301}")
        let (fixture, ranker) = try fixture(["user:u5"])
        let feed = fixture.assembler()
        func page(_ viewer: String) async throws -> [String] {
            try await feed.page(FeedRequest(limit: 1, now: Fixture.now), for: .viewer(viewer, hiding: [])).contentIDs
        }
        for viewer in [ann, other] { #expect(try await page(viewer) == ["user:u5"]) }
        ranker.state.withLock { $0.fails = true }
        feed.forgetRanking(of: ann)
        #expect(try await page(ann) == ["user:u0"])
        #expect(try await page(other) == ["user:u5"])
    }

    @Test("A ranker that fails within a page ends the page, and the session continues after it")
    func partial() async throws {
        let (fixture, ranker) = try fixture(["user:u5", "user:none", "user:u9", "user:u8"])
        let first = try await page(fixture, limit: 1)
        ranker.state.withLock { $0.ids = ["user:u5", "user:none", "user:u5", "user:u9", "user:u8"] }
        let second = try await page(fixture, first.next.flatMap(Fixture.cursor), limit: 3)
        #expect(second.contentIDs == ["user:u9", "user:u8"] && second.next == nil)
    }

    @Test("A session has a bound of items, and its cursor stays short")
    func bound() async throws {
        let (fixture, _) = try fixture((0..<700).map { "user:u\($0)" }, users: 700)
        var (shown, cursor): ([String], String?) = ([], nil)
        repeat {
            let page = try await page(fixture, cursor, limit: 100)
            shown += page.contentIDs
            cursor = page.next.flatMap(Fixture.cursor)
            #expect(cursor?.utf8.count ?? 0 < 4_096)
        } while cursor != nil
        #expect(shown == (0..<600).map { "user:u\($0)" })
    }

    @Test("Cursors of a ranked feed are not those of the feed's own order")
    func cursors() async throws {
        let (ranked, _) = try fixture((0..<9).map { "user:u\($0)" })
        var plain = ranked
        plain.ranking = nil
        let cursor = try #require(try await page(ranked).next.flatMap(Fixture.cursor))
        await #expect(throws: FeedError.cursor(.otherFeed)) { _ = try await plain.page(cursor) }
    }
}
