import IntertwineTesting
import Synchronization
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineService

/// Makes a cell of a card, whose body is `{"text":"…"}`.
private struct CardFactory: CellViewModelFactory {
    let identifier = "CardCell"
    let commands: CellCommands

    func makeViewModel(for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel {
        let text = String(decoding: try ItemFields(item.body).text("text", limit: 100), as: UTF8.self)
        return CellViewModel(
            identifier: identifier, size: CellSize(width: 300, height: 80),
            commands: commands.filled(by: BindCommand([CellBinding("text", text)])),
            subject: CommandSubject(cell: cell, item: item, context: context))
    }
}

private func card(_ id: Int, _ text: String? = nil, position: Int64 = 0) throws -> FeedItem {
    try FeedItem(kind: "card", id: "c\(id)", position: position, fields: ["text": text ?? "card \(id)"])
}

private func extensions(_ sources: [String: any DataSource]) -> ServiceExtensions {
    var extensions = ServiceExtensions { factories, registry in
        let commands = try CellCommands(
            kind: "card", slots: [.selection: ["analytics", "save"], .dismissal: ["dismiss"], .impression: ["analytics"]],
            registry: registry, offers: .viewer)
        try factories.register(CardFactory(commands: commands), for: ItemType(kind: "card", variant: ""), prefix: "card")
    }
    extensions.dataSources = sources
    return extensions
}

/// A source over an array, whose calls wait until the test opens it.
private final class GatedSource: DataSource {
    let items: ArrayDataSource
    let timeLimit: Duration
    let waitingLimit: Int
    /// The number of calls that have begun.
    let begun = AsyncStream.makeStream(of: Int.self)
    private let state = Mutex((calls: 0, isOpen: false, waiting: [CheckedContinuation<Void, Never>]()))

    init(_ items: [FeedItem], timeLimit: Duration = .seconds(60), waitingLimit: Int = 64) {
        (self.items, self.timeLimit, self.waitingLimit) = (ArrayDataSource(items), timeLimit, waitingLimit)
    }

    var version: UInt64 { items.version }
    var calls: Int { state.withLock { $0.calls } }

    func close() { state.withLock { $0.isOpen = false } }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.resume() }
    }

    private func pass() async {
        let count = state.withLock { state in
            state.calls += 1
            return state.calls
        }
        begun.continuation.yield(count)
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    let isNewestFirst = false

    func items(after position: Int64?, limit: Int, for context: FeedContext) async throws -> [FeedItem] {
        await pass()
        return await items.items(after: position, limit: limit)
    }

    func item(id: String, for context: FeedContext) async throws -> FeedItem? {
        await pass()
        return await items.item(id: id)
    }
}

private struct Page: Decodable {
    struct Cell: Decodable {
        let id: String
        let state: State?
    }
    struct State: Decodable { let isSelected: Bool? }
    struct Links: Decodable {
        let next: String?
        let previous: String?
        let syncToken: String?
        let sections: [String]?
    }

    let cells: [Cell]
    let page: Links
    /// The ids of content, without ads and headers.
    var ids: [String] { cells.map(\.id).filter { !$0.hasPrefix("ad:") && !$0.hasPrefix("section:") } }
}

private struct Answer: Decodable {
    struct Undo: Decodable { let href: String }
    let undo: Undo
}

@Suite("Data sources with items of their own", .timeLimit(.untilStuck))
struct DataSourceTests {
    private let viewer = ["X-Viewer-ID": "ann"]

    @Test("New, changed and removed items are on the next page, for viewers and from the cache", arguments: TestService.Transport.allCases)
    func changes(way: TestService.Transport) async throws {
        let cards = ArrayDataSource(try (0..<3).map { try card($0) })
        try await TestService.run(way, items: sampleItems(users: 1), extensions: extensions(["main": FlatDataSource(cards)])) { service in
            for fields in [[:], viewer] {
                cards.items = try (0..<3).map { try card($0) }
                for path in ["/feed", "/feed?limit=100", "/feeds/main"] {
                    func page() async throws -> Page { try await service.client.get(path, fields: fields).decoded() }
                    let before = try await page()
                    #expect(before.ids == ["card:c0", "card:c1", "card:c2"])
                    cards.append(try card(3))
                    let added = try await page()
                    #expect(added.ids.last == "card:c3")
                    cards.items.removeLast()
                    cards.append(try card(0, "changed"))
                    let text = try await service.client.get(path, fields: fields).text
                    #expect(text.contains("changed") && !text.contains("card:c3"))
                    cards.append(try card(0))
                }
            }
        }
    }

    @Test("Pages are made once for each version of the source", arguments: TestService.Transport.allCases)
    func cached(way: TestService.Transport) async throws {
        let source = GatedSource(try (0..<3).map { try card($0) })
        source.open()
        try await TestService.run(way, extensions: extensions(["main": FlatDataSource(source)])) { service in
            for fields in [[:], viewer, [:], ["X-Viewer-ID": "bob"]] {
                let page = try await service.client.get("/feed", fields: fields)
                #expect(page.status == 200)
            }
            #expect(source.calls == 1)
            source.items.append(try card(3))
            let page = try await service.client.get("/feed").text
            #expect(source.calls == 2 && page.contains("card:c3"))
        }
    }

    @Test("Cursors lead forward and back over insertions and deletions")
    func cursors() async throws {
        let cards = ArrayDataSource(try (0..<10).map { try card($0) })
        try await TestService.run(extensions: extensions(["main": FlatDataSource(cards)])) { service in
            func page(_ href: String?) async throws -> Page { try await service.client.get(try #require(href)).decoded() }
            let first = try await page("/feed?limit=4")
            #expect(first.ids == (0..<4).map { "card:c\($0)" } && first.page.previous == nil)
            cards.items.insert(try card(20), at: 0)
            cards.items.removeAll { $0.id == "c3" }
            let second = try await page(first.page.next)
            #expect(second.ids == (4..<8).map { "card:c\($0)" })
            let third = try await page(second.page.next)
            #expect(third.ids == ["card:c8", "card:c9"] && third.page.next == nil)
            let back = try await page(third.page.previous)
            #expect(back.ids == second.ids)
            let start = try await page(back.page.previous)
            #expect(start.ids == ["card:c20", "card:c0", "card:c1", "card:c2"])
        }
    }

    @Test("Cursors stay valid over any number of insertions at one place")
    func manyInsertions() async throws {
        for place in [1, 2, 3] {
            let items = try (0..<6).map { try card($0) }
            let source = ArrayDataSource(items)
            let all = await source.items(after: nil, limit: 100)
            let (second, fourth) = (all[1].position, all[3].position)
            // Each numbering of the items has room for at least 28 insertions.
            for number in 0..<150 {
                source.items.insert(try card(100 + number), at: place)
                let after = await source.items(after: fourth, limit: 100).map(\.id)
                #expect(after == ["c4", "c5"], "\(place) \(number)")
                let before = await source.items(before: second, limit: 1).map(\.id)
                #expect(before.last == (place == 1 ? "c\(100)" : "c0"), "\(place) \(number)")
            }
            source.items.removeAll { $0.id == "c3" || $0.id == "c1" }
            for number in 150..<200 { source.items.insert(try card(100 + number), at: place) }
            #expect(await source.items(after: fourth, limit: 100).map(\.id) == ["c4", "c5"])
            let positions = source.items.map(\.position)
            #expect(positions == positions.sorted() && Set(positions).count == positions.count)
        }
    }

    @Test("Cells are selected, undone, dismissed, listed, reported and looked up", arguments: TestService.Transport.allCases)
    func actions(way: TestService.Transport) async throws {
        let cards = ArrayDataSource(try (0..<3).map { try card($0) })
        try await TestService.run(
            way, items: sampleItems(users: 1), extensions: extensions(["cards": FlatDataSource(cards)])
        ) { service in
            let selection = try await service.client.post("/cells/card:c1/selection", fields: viewer)
            #expect(selection.status == 200)
            let saved: Page = try await service.client.get("/saved", fields: viewer).decoded()
            #expect(saved.ids == ["card:c1"])
            let undone = try await service.client.delete(try selection.decoded(as: Answer.self).undo.href, fields: viewer)
            #expect(undone.status == 200)
            let empty: Page = try await service.client.get("/saved", fields: viewer).decoded()
            #expect(empty.ids.isEmpty)
            let dismissal = try await service.client.post("/cells/card:c0/dismissal", fields: viewer)
            #expect(dismissal.status == 200)
            let page = try await service.client.get("/feeds/cards", fields: viewer)
            let rest: Page = try page.decoded()
            #expect(rest.ids == ["card:c1", "card:c2"])
            let one = try await service.client.get("/cells/card:c2")
            #expect(one.status == 200 && one.text.contains("card 2"))
            let person = viewer.merging(["User-Agent": "Mozilla/5.0"]) { $1 }
            let event = try #require(
                page.text.firstMatch(of: try Regex(#""body":(\{"events":\[\{"type":"impression","cell":"card:c1".*?\}\]\})"#)))
            let report = try await service.client.post("/events", fields: person, body: String(try #require(event.output[1].substring)))
            #expect(report.status == 200 && report.text.contains("counted"), "\(report.text)")
            for (path, status) in [("/cells/card:c9/selection", 404), ("/cells/user:0/selection", 200)] {
                let answer = try await service.client.post(path, fields: viewer)
                #expect(answer.status == status)
            }
            cards.items.removeAll { $0.id == "c2" }
            let gone = try await service.client.post("/cells/card:c2/selection", fields: viewer)
            #expect(gone.status == 404)
        }
    }

    @Test("The changes of pages have inserted, changed and removed cells")
    func batches() async throws {
        let cards = ArrayDataSource(try (0..<4).map { try card($0) })
        try await TestService.run(extensions: extensions(["main": FlatDataSource(cards)])) { service in
            let page: Page = try await service.client.get("/feed?changes=true&limit=3").decoded()
            let path = "/feed/changes?syncToken=\(try #require(page.page.syncToken))"
            let none = try await service.client.get(path)
            #expect(none.status == 200 && !none.text.contains("card:c9"))
            cards.items = try [card(9), card(0, "changed"), card(2)]
            let changes = try await service.client.get(path).text
            #expect(changes.contains("card:c9") && changes.contains("changed"), "\(changes)")
        }
    }

    @Test("Subscribers get the changes of a source at once, also while another source is slow")
    func live() async throws {
        let cards = ArrayDataSource(try (0..<2).map { try card($0) })
        let slow = GatedSource(try (0..<2).map { try card($0) })
        slow.open()
        let service = try await TestService(.socket, extensions: extensions(["main": FlatDataSource(cards), "slow": FlatDataSource(slow)]))
        func token(_ path: String) async throws -> String {
            try #require(try await service.client.get("\(path)?changes=true").decoded(as: Page.self).page.syncToken)
        }
        let (token, slowToken) = (try await token("/feed"), try await token("/feeds/slow"))
        try await offPool {
            func subscriber(_ path: String, _ token: String) throws -> RawClient {
                let client = try RawClient(port: service.port)
                let fields = "Host: localhost\r\nAccept: text/event-stream\r\n"
                try client.send("GET \(path)/changes?syncToken=\(token) HTTP/1.1\r\n\(fields)\r\n")
                _ = try Self.text(of: client, until: "retry:")
                return client
            }
            let (client, slowClient) = (try subscriber("/feed", token), try subscriber("/feeds/slow", slowToken))
            slow.close()
            slow.items.append(try card(6))
            cards.append(try card(7))
            let changes = try Self.text(of: client, until: "card:c7")
            #expect(changes.contains("event: changes") && changes.contains("card:c7"))
            slow.open()
            let late = try Self.text(of: slowClient, until: "card:c6")
            #expect(late.contains("event: changes") && late.contains("card:c6"))
        }
        await service.stop()
    }

    /// Reads until the text contains `end`, for at most 20 seconds.
    private static func text(of client: RawClient, until end: String) throws -> String {
        var text = ""
        for _ in 0..<20 where !text.contains(end) { text += String(decoding: try client.bytes(within: 1_000) ?? [], as: UTF8.self) }
        return text
    }

    @Test("A source that does not respond occupies no thread, and its requests are bounded", arguments: TestService.Transport.allCases)
    func slow(way: TestService.Transport) async throws {
        let source = GatedSource(try (0..<9).map { try card($0) }, waitingLimit: 40)
        try await TestService.run(way, items: sampleItems(users: 5), extensions: extensions(["slow": FlatDataSource(source)])) { service in
            // Different pages, so that none waits for another.
            let waiting = (1...40).map { limit in Task { try await service.client.get("/feeds/slow?limit=\(limit)").status } }
            for await count in source.begun.stream where count == 40 { break }
            for limit in 1...50 {
                let page = try await service.client.get("/feed?limit=\(limit)", fields: viewer)
                #expect(page.status == 200)
            }
            let refused = try await service.client.get("/feeds/slow?limit=41")
            #expect(refused.status == 503 && refused["retry-after"] != nil)
            source.open()
            for task in waiting {
                let status = try await task.value
                #expect(status == 200)
            }
            let page = try await service.client.get("/feeds/slow?limit=41")
            #expect(page.status == 200)
        }
    }

    @Test("An item is found while another source does not respond", arguments: TestService.Transport.allCases)
    func lookups(way: TestService.Transport) async throws {
        let sources: [String: any DataSource] = [
            "a": FlatDataSource(GatedSource([])), "b": FlatDataSource(ArrayDataSource(try (0..<3).map { try card($0) })),
        ]
        try await TestService.run(way, items: sampleItems(users: 1), extensions: extensions(sources)) { service in
            let cell = try await service.client.get("/cells/card:c1", fields: viewer)
            #expect(cell.status == 200)
            let selection = try await service.client.post("/cells/card:c2/selection", fields: viewer)
            #expect(selection.status == 200)
        }
    }

    @Test("A call that exceeds its time limit is 503, and so is an error of the source, which is logged")
    func failures() async throws {
        struct BrokenSource: DataSource {
            struct Failure: Error {}

            let version: UInt64 = 1

            func items(after position: Int64?, limit: Int, for context: FeedContext) async throws -> [FeedItem] { throw Failure() }

            func item(id: String, for context: FeedContext) async throws -> FeedItem? { throw Failure() }
        }
        struct UnorderedSource: DataSource {
            let version: UInt64 = 1

            func items(after position: Int64?, limit: Int, for context: FeedContext) async throws -> [FeedItem] {
                [try card(1, position: 5), try card(2, position: 5)]
            }

            func item(id: String, for context: FeedContext) async throws -> FeedItem? { nil }
        }
        let late = GatedSource([], timeLimit: .milliseconds(1))
        let sources: [String: any DataSource] = [
            "broken": FlatDataSource(BrokenSource()), "unordered": FlatDataSource(UnorderedSource()), "late": FlatDataSource(late),
        ]
        try await TestService.run(items: sampleItems(users: 1), extensions: extensions(sources)) { service in
            for (name, reason) in [
                ("broken", "BrokenSource failed: Failure()"), ("unordered", "do not descend"),
                ("late", "GatedSource exceeded its time limit"),
            ] {
                let page = try await service.client.get("/feeds/\(name)")
                #expect(page.status == 503 && page.text.contains("/problems/store-unavailable"), "\(name)")
                #expect(service.log.lines.contains { $0.level == .error && $0.text.contains(reason) }, "\(name)")
            }
            let page = try await service.client.get("/feed")
            #expect(page.status == 200 && page.text.contains("user:0"))
            late.open()
        }
    }

    @Test("Sections of the store and of sources are pages of one feed, and are served alone")
    func sections() async throws {
        let (cards, more) = (ArrayDataSource(try [card(0), card(1)]), ArrayDataSource(try [card(2)]))
        let home = SectionedDataSource([
            FeedSection("cards", title: "Cards", source: cards), FeedSection("users", title: "Users", stream: .content),
            FeedSection("more", source: more),
        ])
        try await TestService.run(items: sampleItems(users: 2), extensions: extensions(["home": home])) { service in
            var (ids, next): ([String], String?) = ([], "/feeds/home?limit=2")
            while let href = next {
                let page: Page = try await service.client.get(href).decoded()
                ids += page.ids
                next = page.page.next
            }
            #expect(ids == ["card:c0", "card:c1", "user:0", "user:1", "card:c2"], "\(ids)")
            let alone: Page = try await service.client.get("/feeds/home/sections/cards").decoded()
            #expect(alone.ids == ["card:c0", "card:c1"])
            more.append(try card(3))
            let page = try await service.client.get("/feeds/home").text
            #expect(page.contains("card:c3"))
        }
    }

    @Test("The elements of an asynchronous sequence are items in the order of their arrival")
    func sequence() async throws {
        let (stream, arrivals) = AsyncStream.makeStream(of: FeedItem.self)
        let source = ArrayDataSource(stream, keeping: 3)
        try await TestService.run(extensions: extensions(["main": FlatDataSource(source)])) { service in
            for id in 0..<5 { arrivals.yield(try card(id)) }
            arrivals.yield(try card(3, "again"))
            arrivals.finish()
            while source.version < 8 { await Task.yield() }
            let page = try await service.client.get("/feed")
            let decoded: Page = try page.decoded()
            #expect(decoded.ids == ["card:c2", "card:c3", "card:c4"] && page.text.contains("again"))
        }
    }

    /// Has a card for each viewer, with one id and one version for all of them.
    private struct PersonalSource: DataSource {
        let dependsOnViewer = true
        let version: UInt64 = 1

        func items(after position: Int64?, limit: Int, for context: FeedContext) async throws -> [FeedItem] {
            try await Task.sleep(for: .milliseconds(2))
            return position == nil ? [try item(for: context)] : []
        }

        func item(id: String, for context: FeedContext) async throws -> FeedItem? { id == "c1" ? try item(for: context) : nil }

        private func item(for context: FeedContext) throws -> FeedItem {
            try card(1, "secret of \(context.viewer ?? "nobody")/\(context.attributes["group"]?.joined(separator: "+") ?? "")", position: 1)
        }
    }

    /// A cache between viewers and the service that ignores `Vary`, and keeps what `Cache-Control` lets it keep.
    private final class SharedCache: Sendable {
        private let kept = Mutex<[String: (tag: String?, text: String)]>([:])
        let client: TestClient

        init(_ client: TestClient) { self.client = client }

        func get(_ path: String, _ fields: [String: String]) async throws -> String {
            let known = kept.withLock { $0[path] }
            var fields = fields
            fields["If-None-Match"] = known?.tag
            let response = try await client.get(path, fields: fields)
            if response.status == 304, let known { return known.text }
            let caching = response["cache-control"] ?? ""
            if !caching.contains("private"), !caching.contains("no-store") {
                kept.withLock { $0[path] = (response["etag"], response.text) }
            }
            return response.text
        }
    }

    @Test("No cache, request or entity tag shows a viewer the items of another", arguments: TestService.Transport.allCases)
    func personal(way: TestService.Transport) async throws {
        let sources: [String: any DataSource] = [
            "main": PersonalSource(), "home": SectionedDataSource([FeedSection("mine", title: "Mine", source: PersonalSource())]),
        ]
        let settings = ["viewers.attributes-header": "X-Viewer-Attributes"]
        try await TestService.run(way, items: sampleItems(users: 1), settings: settings, extensions: extensions(sources)) { service in
            let cache = SharedCache(service.client)
            let clients: [(name: String, fields: [String: String])] = [
                ("ann/a", ["X-Viewer-ID": "ann", "X-Viewer-Attributes": "group=a"]), ("bob/", ["X-Viewer-ID": "bob"]),
                ("nobody/", [:]), ("nobody/b", ["X-Viewer-Attributes": "group=b"]), ("e\u{301}/", ["X-Viewer-ID": "e\u{301}"]),
                ("\u{E9}/", ["X-Viewer-ID": "\u{E9}"]),
            ]
            let paths = ["/feed", "/feed?limit=3", "/feeds/main", "/feeds/home", "/feeds/home/sections/mine", "/cells/card:c1"]
            // Two rounds, each with fewer requests than the 64 calls that a source admits.
            for _ in 0..<2 {
                try await withThrowingTaskGroup { group in
                    for path in paths {
                        for (name, fields) in clients {
                            group.addTask {
                                // The cell of an item is looked up without attributes.
                                let name = path.hasPrefix("/cells") ? name.prefix { $0 != "/" } + "/" : name[...]
                                let text = try await cache.get(path, fields)
                                let isOwn = text.utf8.split(separator: UInt8(ascii: "\"")).contains {
                                    $0.elementsEqual("secret of \(name)".utf8)
                                }
                                #expect(isOwn, "\(path) for \(name): \(text)")
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            // Entity tags of another viewer.
            for path in paths {
                let tag = try #require(try await service.client.get(path, fields: clients[0].fields)["etag"])
                let crossed = try await service.client.get(path, fields: clients[1].fields.merging(["If-None-Match": tag]) { $1 })
                #expect(crossed.status == 200 && crossed.text.contains("secret of bob"))
                #expect(crossed["cache-control"]?.contains("private") == true)
                let own = try await service.client.get(path, fields: clients[0].fields.merging(["If-None-Match": tag]) { $1 })
                // Conditions are evaluated by the server.
                #expect(own.status == (way == .socket ? 304 : 200))
            }
            // Lists and updates.
            for (name, fields) in clients.prefix(2) {
                let token = try #require(
                    try await service.client.get("/feed?changes=true", fields: fields).decoded(as: Page.self).page.syncToken)
                let changes = try await service.client.get("/feed/changes?syncToken=\(token)", fields: fields).text
                #expect(!changes.contains("secret of") && changes.contains("syncToken"), "\(name): \(changes)")
                #expect(try await service.client.post("/cells/card:c1/selection", fields: fields).status == 200)
                let saved = try await service.client.get("/saved", fields: fields).text
                #expect(saved.contains("secret of \(name.prefix { $0 != "/" })"), "\(saved)")
            }
        }
    }

    @Test("A source that does not depend on the viewer learns no viewer")
    func impersonal() async throws {
        struct Curious: DataSource {
            func items(after position: Int64?, limit: Int, for context: FeedContext) async throws -> [FeedItem] {
                position == nil ? [try card(1, "\(context.viewer ?? "nobody") \(context.attributes.count)", position: 1)] : []
            }
        }
        try await TestService.run(extensions: extensions(["main": Curious()])) { service in
            let page = try await service.client.get("/feed", fields: ["X-Viewer-ID": "ann", "X-Viewer-Attributes": "group=a"])
            #expect(page.text.contains("nobody 0"))
        }
    }

    @Test("A data source with an order of its own shows the order of its current version")
    func order() async throws {
        /// Users of the store in an order that changes.
        final class Chosen: DataSource {
            let isNewestFirst = false
            private let state = Mutex((ids: ["1", "0"], version: UInt64(0)))

            var version: UInt64 { state.withLock { $0.version } }

            func choose(_ ids: [String]) { state.withLock { $0 = (ids, $0.version + 1) } }

            func items(after position: Int64?, limit: Int, for context: FeedContext) async throws -> [FeedItem] {
                state.withLock { $0.ids }.enumerated().dropFirst(Int(position ?? -1) + 1).prefix(limit).map { index, id in
                    FeedItem(stored: "user", id: id, position: Int64(index))
                }
            }
        }
        let chosen = Chosen()
        try await TestService.run(items: sampleItems(users: 3), extensions: extensions(["main": chosen])) { service in
            let before: Page = try await service.client.get("/feed").decoded()
            #expect(before.ids == ["user:1", "user:0"])
            chosen.choose(["2", "1"])
            let after: Page = try await service.client.get("/feed").decoded()
            #expect(after.ids == ["user:2", "user:1"])
        }
    }
}
