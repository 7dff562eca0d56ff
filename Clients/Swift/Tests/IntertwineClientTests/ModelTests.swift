import Foundation
import Testing

@testable import IntertwineClient

/// Tests the client with the real binary at `INTERTWINE_BINARY`.
@Suite(.enabled(if: RealServer.isAvailable, "no binary: build it, or set INTERTWINE_BINARY"), .serialized)
struct ModelTests {
    private static func items(_ users: Int) -> String {
        ((0..<users).map { RealServer.user("u\($0)") } + (0..<5).map(RealServer.advertisement)).joined(separator: "\n") + "\n"
    }

    @Test func paginatesInBothDirections() async throws {
        let server = try await RealServer(items: Self.items(45))
        let client = FeedClient(base: server.base)
        var page = try await client.page(client.url())
        let first = page
        var ids = page.cells.map(\.id)
        while let next = try await client.next(after: page) {
            page = next
            ids += page.cells.map(\.id)
        }
        #expect(ids.filter { $0.hasPrefix("user:") } == (0..<45).map { "user:u\($0)" })
        while let previous = try await client.previous(before: page) { page = previous }
        #expect(page.cells.map(\.id) == first.cells.map(\.id))
    }

    @Test func listsTheFeedsAndReportsTheLanguageOfAPage() async throws {
        let server = try await RealServer(
            items: Self.items(3),
            kinds: """
                languages: [en, de]
                sections: {people: {title: {en: People, de: Leute}, kinds: [user]}}
                feeds: {main: {title: Home, sections: [people]}}
                """)
        var client = FeedClient(base: server.base)
        client.languages = ["de"]
        let feed = try #require(try await client.feeds().first)
        #expect((feed.name, feed.title, feed.url.path()) == ("main", "Home", "/feed"))
        #expect(feed.layouts == ["collection", "table"])
        #expect(try feed.sections == [.init(name: "people", title: "Leute", url: client.url("/feeds/main/sections/people"))])
        for _ in 0..<2 { #expect(try await client.page(feed.url).language == "de", "the second response is 304") }
        client.languages = ["en"]
        #expect(try await client.page(feed.url).language == "en")
    }

    @Test func filtersAFeed() async throws {
        let server = try await RealServer(
            items: #"{"kind":"note","id":1,"topic":"a b","text":"x"}"# + "\n" + #"{"kind":"note","id":2,"topic":"c&d","text":"y"}"#,
            kinds: """
                kinds:
                  note:
                    fields: {topic: {type: text, choices: [a b, c&d, e]}, text: text}
                    cells: {collection: {identifier: Note, size: {width: 300, height: 40}, bind: {text: {text: text}}}}
                feeds: {main: {sections: [main], filters: [topic]}}
                """)
        let client = FeedClient(base: server.base)
        let filter = try #require(try await client.feeds().first?.filters.first)
        #expect((filter.name, filter.type) == ("topic", "choice"))
        #expect(filter.values.map(\.value) == ["a b", "c&d", "e"] && filter.values.map(\.count) == [1, 1, 0])
        #expect(try await client.page(client.url(filters: ["topic": ["c&d", "e"]])).cells.map(\.id) == ["note:2"])
    }

    @Test func selectsDismissesAndUndoes() async throws {
        let server = try await RealServer(items: Self.items(10))
        let client = FeedClient(base: server.base, viewer: "me")
        let list = FeedList(client: client)
        let actions = Actions(client: client)
        try await list.loadNext()
        let user = try #require(await list.sections.first?.cells.first { $0.id == "user:u3" })
        guard case .performed(let response) = try await actions.perform(.selection, of: user) else { throw URLError(.unknown) }
        #expect(response.presentation?["screen"]?.text == "ImageZoom")
        let undo = try #require(try await actions.perform(.dismissal, of: user, showing: .hiding(user, in: list)).undo)
        try await list.refresh()
        #expect(await list.sections.first?.cells.contains { $0.id == user.id } == false)
        try await actions.undo(undo)
        try await list.refresh()
        #expect(await list.sections.first?.cells.contains { $0.id == user.id } == true)
        let ad = try #require(await list.sections.first?.cells.first(where: \.isAdvertisement))
        let clock = LockedBox(0.0)
        let impressions = Impressions(client: client, now: { clock.withLock { $0 } })
        await impressions.record(visible: [.init(ad, share: 1)])
        clock.withLock { $0 = 5 }
        await impressions.record(visible: [])
        await impressions.flush()
        #expect(await impressions.pendingCount == 0)
    }

    /// A thousand operations with `TEST_ALL` in the environment.
    private static let operations = ProcessInfo.processInfo.environment["TEST_ALL", default: ""].isEmpty ? 100 : 1_000

    @Test func randomOperationsEqualANewPagination() async throws {
        let seed = UInt64(ProcessInfo.processInfo.environment["SEED"] ?? "") ?? 13
        var random = SeededGenerator(state: seed)
        let server = try await RealServer(items: Self.items(60))
        let client = FeedClient(base: server.base, viewer: "me")
        let list = FeedList(client: client, url: client.url(limit: 10))
        let actions = Actions(client: client)
        var world = World(server: server, users: (0..<60).map { "u\($0)" })
        for _ in 0..<4 { try await list.loadNext() }
        var updates = list.updates(.manual).makeAsyncIterator()
        var collection = Collection()
        var done = 0
        while done < Self.operations {
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                try await world.change(using: &random, list: list, actions: actions)
                done += 1
            }
            if Int.random(in: 0..<12, using: &random) == 0 { try await list.loadNext() }
            await list.setVisibleRange(0..<Int.random(in: 1...60, using: &random))
            try await list.refresh()
            let sections = await list.sections
            let fresh = FeedList(client: client, url: client.url(limit: 10))
            for _ in 0..<(await list.pageCount) { try await fresh.loadNext() }
            let expected = await fresh.sections
            #expect(sections.flatMap(\.cells).map(\.id) == expected.flatMap(\.cells).map(\.id), "seed \(seed), after \(done)")
            #expect(sections.flatMap(\.cells).map(\.bindings) == expected.flatMap(\.cells).map(\.bindings), "seed \(seed), after \(done)")
            guard sections.flatMap(\.cells).map(\.id) == expected.flatMap(\.cells).map(\.id) else { return }
            // Without a difference, `next` would wait.
            if !collection.isEqual(to: sections), let update = try await updates.next() {
                collection.perform(update)
                #expect(collection.isEqual(to: sections), "seed \(seed), after \(done)")
            }
        }
    }

    @Test func theDemoShowsAFeed() async throws {
        let server = try await RealServer(items: Self.items(3))
        let demo = Process()
        demo.executableURL = package.appending(path: ".build/debug/feed-demo")
        demo.arguments = [server.base.absoluteString]
        let output = Pipe()
        demo.standardOutput = output
        try demo.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        demo.waitUntilExit()
        #expect(demo.terminationStatus == 0)
        #expect(text.contains("300x200   [u0]\n"))
        #expect(text.contains("220x220   ad  ad:"))
    }
}

/// Random operations of operators and a viewer.
private struct World {
    let server: RealServer
    var users: [String]
    var count = 0
    var undos: [Invocation.Undo] = []

    mutating func change(using random: inout SeededGenerator, list: FeedList, actions: Actions) async throws {
        let index = users.isEmpty ? nil : Int.random(in: users.indices, using: &random)
        switch (Int.random(in: 0..<10, using: &random), index) {
        case (0...1, _), (_, nil):
            count += 1
            users.append("n\(count)")
            try await expect(200, operate([#"{"append": \#(RealServer.user("n\(count)"))}"#]))
        case (2...3, let index?):
            count += 1
            let target = users[index]
            users.insert("n\(count)", at: index)
            try await expect(200, operate([#"{"insert": \#(RealServer.user("n\(count)")), "before": "user:\#(target)"}"#]))
        case (4, let index?):
            let user = users.remove(at: index)
            try await expect(204, server.operate("DELETE", "/admin/items/user/\(user)"))
        case (5...6, let index?):
            let user = users.remove(at: index)
            guard let other = users.randomElement(using: &random) else { return users.append(user) }
            users.append(user)
            try await expect(200, operate([#"{"move": "user:\#(user)", "before": "user:\#(other)"}"#]))
        case (7, let index?):
            count += 1
            try await expect(
                200,
                server.operate(
                    "PUT", "/admin/items/user/\(users[index])", RealServer.user(users[index], name: "N\(count)"), fields: ["If-Match": "*"])
            )
        case (8, _):
            guard let cell = await list.sections.flatMap(\.cells).randomElement(using: &random) else { return }
            do {
                let change = OptimisticChange.hiding(cell, in: list)
                if let undo = try await actions.perform(.dismissal, of: cell, showing: change).undo { undos.append(undo) }
            } catch FeedClientError.refused(let problem) where problem.status == 404 {
                // An operator has removed the cell in the meantime.
            }
        default:
            guard let undo = undos.popLast() else { return }
            try await actions.undo(undo)
        }
    }

    private func operate(_ operations: [String]) async throws -> Int {
        try await server.operate("POST", "/admin/operations", #"{"operations": ["# + operations.joined(separator: ", ") + "]}")
    }

    private func expect(_ status: Int, _ actual: Int) {
        #expect(actual == status)
    }
}

/// A random number generator with a seed (SplitMix64).
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
