import Testing

@testable import IntertwineFeed

@Suite("Pages of a viewer's list")
struct ViewerListTests {
    let now = Fixture.now

    func fixture() async throws -> (Fixture, ViewerListAssembler) {
        var configuration = CellConfiguration()
        configuration.userCommands[.selection] = ["save"]
        let fixture = try Fixture(users: 12, configuration: configuration)
        for index in 0..<12 {
            _ = try await fixture.performer().perform(
                .selection, of: "user:u\(index)", for: ClientFingerprint(viewer: "ann"), now: now, response: { $0.json() })
        }
        let assembler = ViewerListAssembler(
            list: .saved, path: "/saved", store: fixture.store, ledger: fixture.ledger, factories: fixture.factories, keys: fixture.keys,
            tokens: fixture.tokens)
        return (fixture, assembler)
    }

    @Test("A viewer's list has full pages, newest first, without deleted items", arguments: [1, 2, 3, 5, 11, 100])
    func walk(limit: Int) async throws {
        let (fixture, assembler) = try await fixture()
        for id in ["u3", "u4", "u5", "u11", "u0"] { fixture.store.delete(kind: "user", id: id) }
        var pages = [try await assembler.page(of: "ann", cursor: nil, limit: limit, now: now)]
        while let next = pages.last?.next {
            #expect(next.hasPrefix("/saved?cursor="))
            pages.append(try await assembler.page(of: "ann", cursor: Fixture.cursor(in: next), limit: limit, now: now))
        }
        #expect(pages.flatMap(\.ids) == [10, 9, 8, 7, 6, 2, 1].map { "user:u\($0)" })
        #expect(pages.dropLast().allSatisfy { $0.ids.count == limit } && pages.last?.ids.isEmpty == false)
        #expect(fixture.ledger.listed(.saved, "ann").count == 12)
    }

    @Test("A backward walk returns the same pages in reverse", arguments: [1, 2, 3, 5, 11, 100])
    func reverse(limit: Int) async throws {
        let (fixture, assembler) = try await fixture()
        for id in ["u3", "u4", "u11", "u0"] { fixture.store.delete(kind: "user", id: id) }
        func page(_ href: String?) async throws -> FeedPage {
            try await assembler.page(of: "ann", cursor: href.flatMap { Fixture.cursor(in: $0) }, limit: limit, now: now)
        }
        var forward = [try await page(nil)]
        while let next = forward.last?.next { forward.append(try await page(next)) }
        var backward = [try #require(forward.last)]
        while let previous = backward.last?.previous { backward.append(try await page(previous)) }
        #expect(backward.map { $0.json() } == forward.reversed().map { $0.json() })
        #expect(forward.first?.previous == nil && forward.dropFirst().allSatisfy { $0.previous != nil })
        #expect(backward.last?.next == (forward.count > 1 ? forward[0].next : nil))
    }

    @Test("A page of a list whose items are gone reads a bounded number of entries, and the next one continues")
    func longGone() async throws {
        let fixture = try Fixture(users: 1)
        for index in 0..<3_000 {
            _ = try await fixture.ledger.commit(
                LedgerEntry(changes: [
                    .add(list: .saved, viewer: "ann", cell: "user:gone\(index)", performance: "p\(index)", at: now)
                ]))
        }
        let lists = ViewerListAssembler(
            list: .saved, path: "/saved", store: fixture.store, ledger: fixture.ledger, factories: fixture.factories, keys: fixture.keys,
            tokens: fixture.tokens)
        var pages = [try await lists.page(of: "ann", cursor: nil, limit: 20, now: now)]
        while let next = pages.last?.next {
            pages.append(try await lists.page(of: "ann", cursor: Fixture.cursor(in: next), limit: 20, now: now))
        }
        #expect(pages.count >= 5 && pages.count <= 8 && pages.allSatisfy(\.ids.isEmpty), "\(pages.count)")
    }

    @Test("An empty page after deletions leads back to the previous page")
    func emptied() async throws {
        let (fixture, assembler) = try await fixture()
        func page(_ href: String?) async throws -> FeedPage {
            try await assembler.page(of: "ann", cursor: href.flatMap { Fixture.cursor(in: $0) }, limit: 10, now: now)
        }
        let first = try await page(nil)
        for id in ["u0", "u1"] { fixture.store.delete(kind: "user", id: id) }
        let empty = try await page(first.next)
        #expect(empty.ids.isEmpty && empty.next == nil)
        let back = try await page(empty.previous)
        #expect(back.ids == first.ids && back.next == nil && back.previous == nil)
    }

    @Test("Cursors of another viewer or of the feed are refused, and lists are private")
    func foreign() async throws {
        let (fixture, assembler) = try await fixture()
        let cursor = try await assembler.page(of: "ann", cursor: nil, limit: 2, now: now).next.flatMap(Fixture.cursor)
        let feed = try await fixture.page(limit: 2).next.flatMap(Fixture.cursor)
        for (viewer, cursor) in [("bob", cursor), ("ann", feed)] {
            await #expect(throws: FeedError.cursor(.otherFeed)) {
                try await assembler.page(of: viewer, cursor: cursor, limit: 2, now: now)
            }
        }
        #expect(try await assembler.page(of: "bob", cursor: nil, limit: 2, now: now).ids.isEmpty)
        await #expect(throws: FeedError.limitOutOfRange(0)) { try await assembler.page(of: "ann", cursor: nil, limit: 0, now: now) }
    }
}
