import Foundation
import Testing

@testable import IntertwineClient

@Suite struct FeedListTests {
    private static func page(_ ids: [String], next: String?, syncToken: String) -> String {
        let items = ids.map { "{\"id\": \"\($0)\", \"identifier\": \"X\"}" }.joined(separator: ", ")
        return
            "{\"cells\": [\(items)], \"page\": {\"next\": \(next.map { "\"\($0)\"" } ?? "null"), \"previous\": null, \"syncToken\": \"\(syncToken)\"}}"
    }

    private static func change(removed: (Int, String), count: Int, syncToken: String) -> String {
        """
        {"reload": false, "removed": [{"index": \(removed.0), "id": "\(removed.1)"}], "inserted": [], "moved": [], "reconfigured": [], \
        "pages": [{"count": \(count), "syncToken": "\(syncToken)"}], "page": {"next": null, "previous": null}}
        """
    }

    @Test func hiddenCellsReturnToTheirPosition() async throws {
        let server = FaultyServer { _, _ in FaultyServer.respond(200, Self.page(["a", "b", "c"], next: nil, syncToken: "A")) }
        defer { server.stop() }
        let list = FeedList(client: FeedClient(base: server.base, retry: .never))
        try await list.loadNext()
        var updates = list.updates(.manual).makeAsyncIterator()
        #expect(try await updates.next()?.insertions.count == 3)
        await list.hide("b")
        #expect(try await updates.next()?.deletions == [IndexPath(indexes: [0, 1])])
        await list.unhide("b")
        #expect(try await updates.next()?.insertions == [IndexPath(indexes: [0, 1])])
    }

    @Test("Hiding a cell hides the other cells of its item, and no other item whose id begins like it")
    func companions() throws {
        let cells = [("user:a", nil), ("user:a#photos", "user:a"), ("user:a#x", nil), ("user:ab", nil), ("user:a#2", "user:a")].map {
            let primary = $0.1.map { #", "primary": "\#($0)""# } ?? ""
            return #"{"id": "\#($0.0)"\#(primary), "actions": {"dismissal": {"type": "request", "method": "POST", "href": "/same"}}}"#
        }
        let page = try JSONValue(parsing: Data(#"{"cells": [\#(cells.joined(separator: ", "))], "page": {}}"#.utf8))
        var state = FeedListState(first: try #require(URL(string: "http://example.com")))
        state.append(try #require(FeedPage(page)))
        func shown() -> [String] { state.entries.filter { !$0.isHidden }.map(\.cell.id) }
        state.setHidden("user:a", isHidden: true)
        #expect(shown() == ["user:a#x", "user:ab"])
        state.setHidden("user:a", isHidden: false)
        state.setHidden("user:a#photos", isHidden: true)
        #expect(shown() == ["user:a", "user:a#x", "user:ab", "user:a#2"])
    }

    @Test func oneTaskFollowsAList() async throws {
        let server = FaultyServer { request, number in
            switch number {
            case 0: FaultyServer.respond(503)
            case 1: FaultyServer.respond(200, Self.page(["a", "b"], next: nil, syncToken: "A"))
            case 2:
                FaultyServer.respond(
                    200, Self.change(removed: (0, "a"), count: 1, syncToken: "B"), fields: ["Content-Type: application/json"])
            default: FaultyServer.respond(404)
            }
        }
        defer { server.stop() }
        let list = FeedList(client: FeedClient(base: server.base, retry: Delays().policy(maxAttempts: 1)))
        var seen: [[IndexPath]] = []
        await #expect(throws: FeedClientError.self) {
            for try await update in list.updates(.polling) { seen.append(update.insertions + update.deletions) }
        }
        #expect(seen == [[[0, 0], [0, 1]], [[0, 0]]], "the first load lists its insertions")
    }

    @Test func anEmptyFeedIsAnUpdate() async throws {
        let transport = FixtureTransport(page: #"{"cells": [], "page": {}}"#)
        let list = FeedList(client: FeedClient(base: try #require(URL(string: "http://example.com")), transport: transport))
        for try await update in list.updates() {
            #expect(update.isEmpty && update.sections == [.empty])
            break
        }
    }

    @Test func aSlowConsumerGetsOneUpdate() async throws {
        let server = FaultyServer { request, _ in
            FaultyServer.respond(200, Self.page([request.target], next: "/\(request.target.count)" + request.target, syncToken: "A"))
        }
        defer { server.stop() }
        let list = FeedList(client: FeedClient(base: server.base, retry: .never), url: server.base.appending(path: "feed"))
        var updates = list.updates(.manual).makeAsyncIterator()
        try await list.loadNext()
        #expect(try await updates.next()?.insertions.count == 1)
        for _ in 0..<4 { try await list.loadNext() }
        #expect(try await updates.next()?.insertions.count == 4)
    }

    @Test func concurrentCallsShareOneRequest() async throws {
        let server = FaultyServer { _, _ in [.hold] + FaultyServer.respond(200, Self.page(["a"], next: nil, syncToken: "A")) }
        defer { server.stop() }
        let list = FeedList(client: FeedClient(base: server.base, retry: .never))
        async let first = list.loadNext()
        async let second = list.loadNext()
        await server.events.first { _ in true }
        server.release()
        _ = try await (first, second)
        #expect(await list.sections.first?.cells.count == 1)
    }

    @Test func appliesLiveEventsAndReconnects() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        let server = FaultyServer { request, number in
            switch number {
            case 0: FaultyServer.respond(200, Self.page(["a", "b", "c"], next: nil, syncToken: "A"))
            case 1:
                // A heartbeat, an event in two pieces, and the end.
                [.send(head + ": \n\ndata: "), .send(Self.change(removed: (0, "a"), count: 2, syncToken: "B") + "\n\n")]
            case 2: [.send(head + "data: " + Self.change(removed: (1, "c"), count: 1, syncToken: "C") + "\n\n"), .awaitClose]
            default: []
            }
        }
        defer { server.stop() }
        let list = FeedList(client: FeedClient(base: server.base, retry: Delays().policy()))
        for try await update in list.updates() where update.sections.first?.cells.map(\.id) == ["b"] { break }
        #expect(server.requests[1].fields["accept"]?.hasPrefix("text/event-stream") == true)
        #expect(server.requests[2].target.hasSuffix("syncToken=B"), "it continues at its position")
        await server.events.first { if case .closed = $0 { true } else { false } }
    }

    @Test func pollsWithoutAnEventStream() async throws {
        let server = FaultyServer { request, number in
            switch number {
            case 0: FaultyServer.respond(200, Self.page(["a", "b"], next: nil, syncToken: "A"))
            // The response of a server without event streams.
            case 1:
                FaultyServer.respond(
                    200, Self.change(removed: (0, "a"), count: 1, syncToken: "B"), fields: ["Content-Type: application/json"])
            case 2:
                FaultyServer.respond(
                    200, Self.change(removed: (0, "a"), count: 1, syncToken: "B"), fields: ["Content-Type: application/json"])
            default: [.awaitClose]
            }
        }
        defer { server.stop() }
        let list = FeedList(client: FeedClient(base: server.base, retry: Delays().policy()))
        for try await update in list.updates() where update.sections.first?.cells.map(\.id) == ["b"] { break }
    }

    @Test(arguments: [true, false]) func longTokensAreSentInABodyIfTheServerAcceptsIt(_ acceptsBody: Bool) async throws {
        let long = String(repeating: "A", count: 5000)
        let server = FaultyServer { request, number in
            switch (request.method, number) {
            case (_, 0): FaultyServer.respond(200, Self.page(["a"], next: "/feed?cursor=b", syncToken: long))
            case (_, 1): FaultyServer.respond(200, Self.page(["b"], next: nil, syncToken: long))
            case ("POST", _):
                acceptsBody
                    ? FaultyServer.respond(200, Self.change(removed: (0, "a"), count: 1, syncToken: "B")) : FaultyServer.respond(405)
            default: FaultyServer.respond(200, Self.change(removed: (0, "a"), count: 0, syncToken: "B"))
            }
        }
        defer { server.stop() }
        let list = FeedList(client: FeedClient(base: server.base, retry: .never))
        for _ in 0..<2 { try await list.loadNext() }
        try await list.refresh()
        #expect(server.requests[2].body == Data("{\"syncTokens\":[\"\(long)\",\"\(long)\"]}".utf8))
        #expect(server.requests.count == (acceptsBody ? 3 : 4))
        #expect(server.requests.last?.target == (acceptsBody ? "/feed/changes" : "/feed/changes?syncToken=\(long)"))
    }

    @Test func changesFromStreamAndPollingAreAppliedOnce() throws {
        var pages = FeedListState(first: URL(filePath: "/feed"))
        pages.append(try #require(FeedPage(JSONValue(parsing: Data(Self.page(["a", "b"], next: nil, syncToken: "A").utf8)))))
        let window = try #require(pages.window(around: 0..<1, maxLength: 1_000))
        let changes = { syncToken in
            try FeedChanges(JSONValue(parsing: Data(Self.change(removed: (0, "a"), count: 1, syncToken: syncToken).utf8)), base: nil)
        }
        for _ in 0..<2 {
            #expect(pages.apply(try #require(try changes("B")), to: window) == .applied)
            #expect(pages.entries.map(\.cell.id) == ["b"])
        }
        #expect(pages.apply(try #require(try changes("C")), to: window) == .reload, "the changes are of other pages")
    }

    @Test func aRefusedCursorKeepsTheListAndAReloadContinues() async throws {
        let problem = #"{"type": "/problems/invalid-cursor", "title": "Bad Request", "status": 400}"#
        let server = FaultyServer { request, number in
            switch number {
            case 0: FaultyServer.respond(200, Self.page(["a"], next: "/feed?cursor=old", syncToken: "A"))
            case 1: FaultyServer.respond(400, problem)
            case 2: FaultyServer.respond(200, Self.page(["a"], next: "/feed?cursor=new", syncToken: "B"))
            default: FaultyServer.respond(200, Self.page(["b"], next: nil, syncToken: "C"))
            }
        }
        defer { server.stop() }
        let list = FeedList(client: FeedClient(base: server.base, retry: .never))
        try await list.loadNext()
        await #expect(throws: FeedClientError.self) { try await list.loadNext() }
        #expect(await list.sections.first?.cells.map(\.id) == ["a"])
        try await list.reload()
        try await list.loadNext()
        #expect(await list.sections.first?.cells.map(\.id) == ["a", "b"])
        #expect(server.requests.map(\.target).last == "/feed?cursor=new")
    }

    @Test func aReloadKeepsExistingCells() async throws {
        let server = FaultyServer { request, number in
            switch number {
            case 0: FaultyServer.respond(200, Self.page(["a", "b"], next: nil, syncToken: "A"))
            case 1: FaultyServer.respond(200, #"{"reload": true}"#)
            default: FaultyServer.respond(200, Self.page(["b", "c"], next: nil, syncToken: "B"))
            }
        }
        defer { server.stop() }
        let list = FeedList(client: FeedClient(base: server.base, retry: .never))
        try await list.loadNext()
        var updates = list.updates(.manual).makeAsyncIterator()
        _ = try await updates.next()
        try await list.refresh()
        let update = try await updates.next()
        #expect(update?.deletions == [IndexPath(indexes: [0, 0])])
        #expect(update?.insertions == [IndexPath(indexes: [0, 1])])
        #expect(update?.reconfigurations == [])
    }
}
