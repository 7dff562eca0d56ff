import Foundation
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwinePrimitives

@Suite("Changes to a client's pages")
struct FeedChangesTests {
    private func page(_ fixture: Fixture, _ cursor: String? = nil, limit: Int = 4) async throws -> FeedPage {
        try await fixture.assembler().page(FeedRequest(cursor: cursor, limit: limit, now: Fixture.now, followsChanges: true))
    }

    private func held(_ fixture: Fixture, pages count: Int, limit: Int = 4) async throws -> [FeedPage] {
        var pages = [try await page(fixture, limit: limit)]
        while pages.count < count, let next = pages.last?.next {
            pages.append(try await page(fixture, Fixture.cursor(in: next), limit: limit))
        }
        return pages
    }

    private func changes(_ fixture: Fixture, _ pages: [FeedPage], now: Int64 = Fixture.now) async throws -> FeedChanges {
        try await fixture.assembler().changes(since: pages.map { $0.syncToken ?? "" }, FeedRequest(now: now))
    }

    private func changed(_ fixture: Fixture, _ pages: [FeedPage], now: Int64 = Fixture.now) async throws -> PageDiff {
        guard case .changed(let changed) = try await changes(fixture, pages, now: now) else { throw CancellationError() }
        return changed
    }

    @Test("An unchanged feed reports no changes and returns identical pages")
    func nothing() async throws {
        let fixture = try Fixture(users: 20, advertisements: 3)
        let pages = try await held(fixture, pages: 3)
        let changed = try await changed(fixture, pages)
        #expect(changed.changes.count == 0)
        #expect(changed.pages.map { $0.json() } == pages.map { $0.json() })
    }

    @Test("Pages have a sync token only on request, and their hrefs preserve the parameter")
    func wish() async throws {
        let fixture = try Fixture(users: 20)
        let plain = try await fixture.page(limit: 4)
        #expect(plain.syncToken == nil && !String(decoding: plain.json(), as: UTF8.self).contains("syncToken"))
        let page = try await page(fixture)
        #expect(page.syncToken != nil && page.next?.hasSuffix("&changes=true") == true)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(page.json())) as? [String: Any])
        #expect((object["page"] as? [String: Any])?["syncToken"] as? String == page.syncToken)
    }

    @Test("An inserted cell shifts later cells across pages without loss or duplicates")
    func inserted() async throws {
        let fixture = try Fixture(users: 20, advertisements: 1)
        let pages = try await held(fixture, pages: 2)
        fixture.store.put(Fixture.user("new", at: 1_500))
        let changed = try await changed(fixture, pages)
        #expect(changed.pages.map(\.contentIDs) == [["u0", "new", "u1", "u2"], ["u3", "u4", "u5", "u6"]].map { $0.map { "user:\($0)" } })
        #expect(changed.changes.inserted == [1])
        #expect(changed.changes.removed == [9])
        #expect(changed.pages.last?.next.flatMap { Fixture.cursor(in: $0) } != pages.last?.next.flatMap { Fixture.cursor(in: $0) })
    }

    @Test("Changes as JSON contain ids, indices, cells and the next sync tokens")
    func json() async throws {
        let fixture = try Fixture(users: 6)
        let pages = try await held(fixture, pages: 1)
        fixture.store.delete(kind: "user", id: "u1")
        fixture.store.put(Fixture.user("u2", at: 3_000, variant: "featured"))
        fixture.store.delete(kind: "user", id: "u0")
        fixture.store.put(Fixture.user("u0", at: 3_500))
        let changes = try await changes(fixture, pages)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(changes.json())) as? [String: Any])
        #expect(object["reload"] as? Bool == false)
        let removed = try #require(object["removed"] as? [[String: Any]])
        #expect(removed.map { $0["id"] as? String } == ["user:u1"] && removed.map { $0["index"] as? Int } == [1])
        let moved = try #require((object["moved"] as? [[String: Any]])?.first)
        #expect(moved["id"] as? String == "user:u0" && moved["from"] as? Int == 0 && moved["to"] as? Int == 1)
        let inserted = try #require((object["inserted"] as? [[String: Any]])?.first)
        #expect(inserted["index"] as? Int == 3 && (inserted["cell"] as? [String: Any])?["id"] as? String == "user:u4")
        let reconfigured = try #require((object["reconfigured"] as? [[String: Any]])?.first)
        #expect((reconfigured["cell"] as? [String: Any])?["identifier"] as? String == "CircularUserCollectionViewCell")
        let next = try #require((object["pages"] as? [[String: Any]])?.first)
        #expect(next["count"] as? Int == 4)
        let syncToken = try #require(next["syncToken"] as? String)
        guard case .changed(let after) = try await fixture.assembler().changes(since: [syncToken], FeedRequest(now: Fixture.now)) else {
            Issue.record("must not reload")
            return
        }
        #expect(after.changes.count == 0)
    }

    @Test("A dismissed cell is removed from the viewer's pages and returns after undo")
    func dismissed() async throws {
        let fixture = try Fixture(users: 8)
        let request = FeedRequest(limit: 4, now: Fixture.now, followsChanges: true)
        let syncToken = try #require(try await fixture.assembler().page(request, for: .viewer()).syncToken)
        func changes(since token: String, hiding cells: Set<ByteString>) async throws -> PageDiff {
            let changes = try await fixture.assembler().changes(since: [token], request, for: .viewer(hiding: cells))
            guard case .changed(let diff) = changes else { throw CancellationError() }
            return diff
        }
        let without = try await changes(since: syncToken, hiding: ["user:u2"])
        #expect(without.changes.removed == [2] && without.changes.inserted == [3])
        let next = try #require(without.pages.first?.syncToken)
        let back = try await changes(since: next, hiding: [])
        #expect(back.pages.first?.ids == ["user:u0", "user:u1", "user:u2", "user:u3"])
    }

    @Test("A new token hour reconfigures only cells with tokens")
    func hour() async throws {
        let fixture = try Fixture(users: 8, advertisements: 1)
        let pages = try await held(fixture, pages: 1)
        let changed = try await changed(fixture, pages, now: Fixture.now + 3_600_000)
        #expect(changed.changes.count == changed.changes.reconfigured.count)
        #expect(changed.changes.reconfigured.contains(2))
    }

    @Test("A client must reload beyond the limits or with another feed, key or version")
    func reload() async throws {
        let fixture = try Fixture(users: 400)
        let page = try await page(fixture, limit: 4)
        let many = try await held(fixture, pages: FeedAssembler.clientPageLimit + 1)
        #expect(try await !mustReload(fixture, Array(many.dropLast())))
        #expect(try await mustReload(fixture, many))
        let second = try #require(try await held(fixture, pages: 2).last)
        #expect(try await mustReload(try Fixture(users: 400, keyByte: 9), [second]))
        let other = try await fixture.assembler(name: "other").changes(since: [page.syncToken ?? ""], FeedRequest(now: Fixture.now))
        #expect(String(decoding: other.json(), as: UTF8.self) == #"{"reload":true}"#)
        var old = second
        let bytes = try #require(Base64URL.decode((second.syncToken ?? "").utf8))
        old.syncToken = Base64URL.encode([9] + bytes.dropFirst())
        #expect(try await mustReload(fixture, [old]))
        let all = try await held(fixture, pages: 3, limit: 100)
        for index in 0..<150 { fixture.store.delete(kind: "user", id: "u\(index)") }
        #expect(try await mustReload(fixture, all))
    }

    @Test("Pages that are not consecutive require a reload, with or without changes", arguments: [false, true])
    func order(isChanged: Bool) async throws {
        let fixture = try Fixture(users: 20, advertisements: 3)
        let pages = try await held(fixture, pages: 4)
        if isChanged {
            fixture.store.put(Fixture.user("new", at: 4_500))
            fixture.store.delete(kind: "user", id: "u7")
        }
        for wrong in [[0, 0], [0, 2], [1, 0], [0, 1, 1], [0, 1, 3], [1, 2, 0], [2, 2]] {
            #expect(try await mustReload(fixture, wrong.map { pages[$0] }), "\(wrong)")
        }
        for right in [[0], [0, 1], [1, 2, 3], [0, 1, 2, 3], [3]] {
            #expect(try await !mustReload(fixture, right.map { pages[$0] }), "\(right)")
        }
        // The pages of the response are consecutive too, as is the page after them.
        let now = try await changed(fixture, Array(pages.prefix(3))).pages
        #expect(try await !mustReload(fixture, now))
        let next = try await page(fixture, now.last?.next.flatMap(Fixture.cursor))
        #expect(try await !mustReload(fixture, now + [next]))
    }

    @Test(
        "Pages of a backward walk are consecutive, also after changes between them", arguments: [false, true])
    func backward(isChanged: Bool) async throws {
        let fixture = try Fixture(users: 20, advertisements: 3)
        var pages = [try #require(try await held(fixture, pages: 4).last)]
        while let previous = pages[0].previous {
            // The new item belongs to the page before, behind the position from which the client's page was read.
            if isChanged { fixture.store.put(Fixture.user("new\(pages.count)", at: 12_500 - 4_000 * Int64(pages.count - 1))) }
            pages.insert(try await page(fixture, Fixture.cursor(in: previous)), at: 0)
        }
        #expect(pages.count > 3 && pages.contains { $0.contentIDs.contains("user:new1") } == isChanged)
        #expect(try await !mustReload(fixture, pages))
        #expect(try await mustReload(fixture, [pages[0], pages[2]]))
        #expect(try await mustReload(fixture, [pages[1], pages[1]]))
    }

    private func mustReload(_ fixture: Fixture, _ pages: [FeedPage]) async throws -> Bool {
        guard case .reload = try await changes(fixture, pages) else { return false }
        return true
    }

    @Test("Arbitrary bytes as a sync token get a response")
    func mutations() async throws {
        let fixture = try Fixture(users: 30, advertisements: 2)
        let syncToken = try #require(try await held(fixture, pages: 2).last?.syncToken)
        var random = SeededRandom(seed: 3)
        for _ in 0..<5_000 {
            var text = Array(syncToken.utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                switch Int.random(in: 0..<3, using: &random) {
                case 0: text = Array(text.prefix(Int.random(in: 0...text.count, using: &random)))
                case 1 where !text.isEmpty:
                    text[Int.random(in: 0..<text.count, using: &random)] = UInt8.random(in: 0x2D...0x7A, using: &random)
                default: text.insert(UInt8.random(in: 0x30...0x39, using: &random), at: Int.random(in: 0...text.count, using: &random))
                }
            }
            _ = try await fixture.assembler().changes(since: [String(decoding: text, as: UTF8.self)], FeedRequest(now: Fixture.now))
        }
        #expect(try await mustReload(fixture, []))
    }

    @Test(
        "A page state is encoded and decoded without loss for any ids",
        arguments: [["user:a", "user:ab", "user:b", "ad:1", "ad:1"], [], ["", "é", "e\u{301}", "日本", String(repeating: "x", count: 520)]])
    func packing(ids: [String]) throws {
        let cells = ids.enumerated().map { ClientCell(id: $1, digest: UInt64($0) * 0x0102_0304_0506 & 0xFFFF_FFFF_FFFF) }
        let cursor = Base64URL.encode(Array(repeating: 200, count: 200))
        for page in [
            ClientPageState(feed: 1, cursor: nil, limit: 1, layout: .collection, width: nil, cells: cells),
            ClientPageState(
                feed: .max, cursor: cursor, limit: 100, layout: .table, width: 10_000,
                edges: ClientPageState.Edges(before: 1, after: 0xFFFF_FFFF_FFFF),
                cells: cells),
        ] {
            let text = try #require(page.text)
            #expect(ClientPageState(text: text) == page)
        }
    }

    @Test("A twenty-cell sync token has under 400 characters, and an oversized page has no token")
    func size() async throws {
        let fixture = try Fixture(users: 60, advertisements: 3)
        let syncToken = try #require(try await held(fixture, pages: 2, limit: 20).last?.syncToken)
        #expect(syncToken.count < 400)
        let cells = (0..<100).map { ClientCell(id: String(repeating: "\($0)", count: 200), digest: 0) }
        #expect(ClientPageState(feed: 1, cursor: nil, limit: 100, layout: .collection, width: nil, cells: cells).text == nil)
    }
}
