import Foundation
import Synchronization
import Testing

@testable import IntertwineFeed

@Suite("Cache of rendered cells")
struct RenderedCellCacheTests {
    /// The same feed with a cache of cells and without one, and the counters of the cache.
    struct Pair {
        let kept: Fixture
        let new: Fixture
        let counters: RenderedCellCache.Counters

        init(_ fixture: Fixture, capacity: Int = RenderedCellCache.defaultCapacity) {
            counters = RenderedCellCache.Counters()
            var (kept, new) = (fixture, fixture)
            kept.cells = RenderedCellCache(capacity: capacity, counters: counters)
            new.cells = RenderedCellCache(capacity: 0)
            (self.kept, self.new) = (kept, new)
        }

        /// Whether both pages are equal, and the cursor of the next page; nil after the last page.
        func isSame(_ request: FeedRequest, for client: PageClient = PageClient()) async throws -> (Bool, next: String?) {
            let page = try await kept.assembler().page(request, for: client)
            let other = try await new.assembler().page(request, for: client)
            return (page.json() == other.json() && page.omissions == other.omissions, page.next.flatMap(Fixture.cursor))
        }
    }

    private final class Known: ImageMetadataStore {
        private let state = Mutex<[String: ImagePlaceholder]>([:])
        private let changes = Atomic<UInt64>(0)
        private let corrections = Atomic<UInt64>(0)
        var version: UInt64 { changes.load(ordering: .relaxed) }
        var revision: UInt64 { corrections.load(ordering: .relaxed) }
        func placeholder(of source: String) -> ImagePlaceholder? { state.withLock { $0[source] } }

        func learn(_ source: String, _ color: String = "#a1b2c3") {
            let old = state.withLock { state in
                defer { state[source] = ImagePlaceholder(width: 16, height: 9, color: color, placeholder: "AQID") }
                return state[source]
            }
            changes.add(1, ordering: .relaxed)
            if old != nil { corrections.add(1, ordering: .relaxed) }
        }

        func forget() {
            state.withLock { $0 = [:] }
            corrections.add(1, ordering: .relaxed)
        }
    }

    @Test("The templates of many client widths are bounded, and a new width still gets one")
    func widths() throws {
        let fixture = try Fixture(users: 1)
        let table = CellTemplate.TemplateTable()
        for width in 1...1_000 {
            let context = CellContext(links: fixture.links, tokens: fixture.tokens, now: Fixture.now, layout: .collection, width: width)
            var model = try fixture.factories.makeViewModel(for: Fixture.user("u0", at: 1), in: context)
            model.size = CellSize(width: Double(width), height: 10)
            let template = table.template(around: model)
            #expect(template != nil && table.template(around: model) === template, "\(width)")
        }
        #expect(table.count == CellTemplate.TemplateTable.capacity)
    }

    @Test("New image metadata appears in the cells of the image; other cells remain cached")
    func looks() async throws {
        let known = Known()
        let pair = Pair(try Fixture(users: 3, links: Links(known: known)))
        let first = try await pair.kept.page()
        #expect(!String(decoding: first.json(), as: UTF8.self).contains("placeholder") && first.isAwaiting)
        _ = try await pair.kept.page()
        #expect(pair.counters.misses == 3)
        known.learn("https://img.example/u1.png")
        #expect(try await pair.isSame(FeedRequest(now: Fixture.now)).0)
        let text = String(decoding: try await pair.kept.page().json(), as: UTF8.self)
        #expect(
            text.contains(
                ##""type":"image","href":"https://img.example/u1.png","width":50,"height":50,"placeholder":"AQID","color":"#a1b2c3","##
                    + #""original":{"width":16,"height":9}"#))
        for user in ["u0", "u2"] { known.learn("https://img.example/\(user).png") }
        let page = try await pair.kept.page()
        #expect(!page.isAwaiting)
        known.learn("https://img.example/other.png")
        #expect(try await pair.isSame(FeedRequest(now: Fixture.now)).0)
    }

    @Test("Corrected or forgotten image metadata updates its cells at once; other cells remain cached")
    func corrections() async throws {
        let known = Known()
        for user in ["u0", "u1", "u2", "other"] { known.learn("https://img.example/\(user).png") }
        let pair = Pair(try Fixture(users: 3, links: Links(known: known)))
        _ = try await pair.kept.page()
        known.learn("https://img.example/u1.png", "#ff0000")
        known.learn("https://img.example/other.png", "#ff0000")
        let page = try await pair.kept.page()
        let text = String(decoding: page.json(), as: UTF8.self)
        #expect(text.split(separator: "#ff0000").count == 2 && text.split(separator: "#a1b2c3").count == 3)
        known.forget()
        let forgotten = try await pair.kept.page()
        #expect(forgotten.isAwaiting && !String(decoding: forgotten.json(), as: UTF8.self).contains("placeholder"))
    }

    @Test("Cached and uncached pages are identical for all viewers, layouts, hours and changes")
    func same() async throws {
        var configuration = CellConfiguration()
        configuration.userCommands[.impression] = ["analytics"]
        let fixture = try Fixture(
            users: 30, advertisements: 5, placement: MidpointPlacement(advertisements: 3), configuration: configuration)
        fixture.store.put(Fixture.broken("b", at: 4_500))
        let pair = Pair(fixture)
        for round in 0..<4 {
            for (layout, width) in [(CellLayout.collection, nil), (.collection, 200), (.table, nil), (.table, 414)] as [(_, Int?)] {
                for client in [PageClient(), .viewer(hiding: ["user:u3", "ad:1"])] {
                    for now in [Fixture.now, Fixture.now + 60_000, Fixture.now + 3_600_000] {
                        var cursor: String?
                        repeat {
                            let (isSame, next) = try await pair.isSame(
                                FeedRequest(cursor: cursor, limit: 7, now: now, layout: layout, width: width, followsChanges: true),
                                for: client)
                            #expect(isSame)
                            cursor = next
                        } while cursor != nil
                    }
                }
            }
            fixture.store.put(Fixture.user("u\(round)", at: 0, name: "New name \(round)"))
            fixture.store.put(Fixture.user("u\(round + 5)", at: 0, variant: "featured"))
            fixture.store.put(Fixture.advertisement("\(round)", at: 0, variant: round == 2 ? "video" : "image"), in: .advertisements)
            fixture.store.delete(kind: "user", id: "u\(round + 10)")
        }
        #expect(pair.counters.hits > 1_000 && pair.counters.misses > 100)
    }

    /// Binds the page's number beside the token.
    struct Telltale: CellViewModelFactory {
        let identifier = "Telltale"

        func makeViewModel(for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel {
            let bind = BindCommand([CellBinding("page", .text(String(context.page)))])
            return CellViewModel(
                identifier: identifier, size: CellSize(width: 1, height: 1), commands: [.configuration: bind],
                subject: CommandSubject(cell: cell, item: item, context: context))
        }
    }

    @Test("Page-dependent content of a factory is correct on every page")
    func telltale() async throws {
        var fixture = try Fixture(users: 9)
        try fixture.factories.register(
            Telltale(), for: ItemType(kind: "note", variant: ""), prefix: "note", stream: .advertisements)
        fixture.store.put(FeedItem(kind: "note", id: "1", variant: "", position: 1, body: Array("{}".utf8)), in: .advertisements)
        let pair = Pair(fixture)
        for _ in 0..<2 {
            var cursor: String?
            repeat {
                let (isSame, next) = try await pair.isSame(FeedRequest(cursor: cursor, limit: 2, now: Fixture.now))
                #expect(isSame)
                cursor = next
            } while cursor != nil
        }
    }

    @Test("The cache respects its byte limit and counts evictions")
    func bound() async throws {
        let capacity = 200_000
        let pair = Pair(try Fixture(users: 900, advertisements: 3), capacity: capacity)
        for _ in 0..<2 { _ = try await pair.kept.walk(limit: 20) }
        #expect((1...capacity).contains(pair.kept.cells.contents.bytes) && pair.kept.cells.contents.cells > 50)
        #expect(pair.counters.evictions > 50 && pair.counters.misses > 900)
        // A few cells are cached only after several pages if their part of the cache is full.
        for _ in 0..<48 { _ = try await pair.kept.page(limit: 5) }
        let (hits, misses) = (pair.counters.hits, pair.counters.misses)
        for _ in 0..<3 { _ = try await pair.kept.page(limit: 5) }
        #expect(pair.counters.hits > hits + 10 && pair.counters.misses <= misses + 7)
        let none = Pair(try Fixture(users: 9), capacity: 0)
        _ = try await none.kept.page()
        #expect(none.kept.cells.contents == (0, 0) && none.counters.hits == 0)
    }

    @Test("Repeated walks over more cells than the capacity mostly hit the cache")
    func walks() async throws {
        let all = try Fixture(users: 1_000)
        _ = try await all.walk(limit: 100)
        let pair = Pair(all, capacity: all.cells.contents.bytes * 3 / 4)
        for _ in 0..<3 { _ = try await pair.kept.walk(limit: 100) }
        let (hits, misses) = (pair.counters.hits, pair.counters.misses)
        for _ in 0..<3 { _ = try await pair.kept.walk(limit: 100) }
        #expect(pair.counters.hits - hits > pair.counters.misses - misses)
    }

    @Test("Cells of a kind share cached parts but have correct ids and sizes")
    func frames() async throws {
        let fixture = try Fixture(links: Links(base: "https://feed.example", known: Known()))
        let ids = [
            ("a", "a", "a"), ("user:", "user:", "user:"), ("a b", "a b", "a%20b"), ("50%/#1", "50%/#1", "50%25%2F%231"),
            ("\u{1}", "\\u0001", "%01"),
        ]
        let body = Array(#"{"username":"n","avatarUrl":"https://img.example/n.png"}"#.utf8)
        for (index, id) in ids.enumerated() {
            fixture.store.put(FeedItem(kind: "user", id: id.0, variant: "regular", position: Int64(index + 1), body: body))
        }
        for width in [nil, 320, 700] as [Int?] {
            let page = try await fixture.assembler().page(FeedRequest(now: Fixture.now, width: width), for: .viewer())
            #expect(page.entries.count == ids.count)
            for (entry, (_, written, inPath)) in zip(page.entries, ids) {
                let size = try fixture.viewModel(of: entry, hasViewer: true, width: width).size
                let text = String(decoding: entry.json, as: UTF8.self)
                #expect(
                    text.hasPrefix(
                        #"{"id":"user:\#(written)","identifier":"UserSnapshotCollectionViewCell","size":{"width":\#(Int(size.width)),"#
                            + #""height":\#(Int(size.height)),"textHeight":24},"actions":{"configuration":{"type":"bind","bindings":{"username":{"type":"text","text":"n"},"#
                    ))
                for slot in ["selection", "dismissal"] {
                    #expect(
                        text.contains(
                            #""\#(slot)":{"type":"request","method":"POST","href":"https://feed.example/cells/user:\#(inPath)/\#(slot)"}"#))
                }
                let parsed = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
                #expect(text.hasSuffix(#"/dismissal"}}}"#) && parsed?["id"] as? String == entry.id)
            }
        }
        let many = try Fixture(users: 1_000)
        _ = try await many.walk(limit: 100)
        let (cells, bytes) = many.cells.contents
        let page = try await many.page()
        // A cached cell uses less memory than its JSON and a constant.
        #expect(cells == 1_000 && bytes / cells < 384 + page.json().count / page.entries.count)
    }
}
