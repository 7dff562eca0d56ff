import Foundation
import IntertwineClient
import IntertwineUI
import Testing

/// Tests the state behind the views.
@MainActor @Suite struct FeedModelTests {
    private nonisolated static func page(_ ids: [String], syncToken: String = "A") -> String {
        let cells = ids.map { #"{"id": "\#($0)", "identifier": "X", "actions": {"dismissal": \#(dismissal)}}"# }.joined(separator: ", ")
        return #"{"cells": [\#(cells)], "page": {"next": null, "syncToken": "\#(syncToken)"}}"#
    }
    private nonisolated static let dismissal = #"{"type": "request", "method": "POST", "href": "/dismissal"}"#

    private func client(_ respond: @escaping @Sendable (String) -> HTTPResponse) throws -> FeedClient {
        let transport = FixtureTransport { respond($0.url?.path ?? "") }
        return FeedClient(base: try #require(URL(string: "http://example.com")), retry: .never, transport: transport)
    }

    private nonisolated static func response(_ body: String, _ status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, fields: ["Content-Type": "application/json"], body: Data(body.utf8))
    }

    /// Runs a model until its state satisfies a predicate.
    private func run(_ model: FeedModel, until isReached: @escaping @MainActor (FeedModel) -> Bool) async {
        let (changes, change) = AsyncStream<Void>.makeStream()
        model.onChange = { change.yield() }
        let running = Task { await model.run() }
        for await _ in changes where isReached(model) { break }
        running.cancel()
        model.onChange = {}
        await running.value
    }

    private func ids(_ model: FeedModel) -> [String] { model.sections.flatMap(\.cells).map(\.id) }

    @Test func aFailedFirstPageIsAPhaseAndCanBeLoadedAgain() async throws {
        let isAvailable = LockedFlag()
        let model = FeedModel(
            client: try client { _ in isAvailable.value ? Self.response(Self.page(["a"])) : Self.response("{}", 403) }, mode: .manual)
        await run(model) { if case .failed = $0.phase { true } else { false } }
        guard case .failed(.refused) = model.phase else { throw URLError(.unknown) }
        isAvailable.value = true
        await run(model) { $0.phase == .loaded }
        #expect(ids(model) == ["a"])
        #expect(model.isAtEnd)
    }

    @Test func newCellsAboveTheVisibleOnesWaitForTheButton() async throws {
        let isLater = LockedFlag()
        let client = try client { path in
            guard path.hasSuffix("/changes") else { return Self.response(Self.page(["a", "b", "c"])) }
            isLater.value = true
            return Self.response(
                #"{"reload": false, "removed": [], "moved": [], "reconfigured": [], "inserted": [{"index": 0, "cell": {"id": "x"}}, "#
                    + #"{"index": 3, "cell": {"id": "y"}}], "pages": [{"count": 5, "syncToken": "B"}], "page": {"next": null}}"#)
        }
        let model = FeedModel(client: client, mode: .manual)
        await run(model) { $0.phase == .loaded }
        model.setVisible([model.sections[0].keys[1]: 1])
        try await model.list.refresh()
        await run(model) { $0.newCount == 1 }
        #expect(ids(model) == ["a", "b", "y", "c"])
        model.showNew()
        #expect(ids(model) == ["x", "a", "b", "y", "c"])
        #expect(model.newCount == 0)
    }

    @Test func theNextPageIsLoadedNearTheEndAndAgainOnRequestAfterAnError() async throws {
        let isAvailable = LockedFlag()
        let client = try client { path in
            guard path == "/next" else {
                return Self.response(Self.page(["a", "b", "c"]).replacing(#""next": null"#, with: #""next": "/next""#))
            }
            return isAvailable.value ? Self.response(Self.page(["d"], syncToken: "B")) : Self.response("{}", 400)
        }
        let model = FeedModel(client: client, mode: .manual)
        let (changes, change) = AsyncStream<Void>.makeStream()
        model.onChange = { change.yield() }
        let running = Task { await model.run() }
        defer { running.cancel() }
        for await _ in changes where model.phase == .loaded { break }
        model.setVisible([model.sections[0].keys[2]: 1])
        for await _ in changes where model.nextError != nil { break }
        isAvailable.value = true
        model.setVisible([model.sections[0].keys[2]: 1])
        #expect(ids(model) == ["a", "b", "c"], "after an error the person decides")
        await model.loadNext()
        if ids(model).count == 3 { for await _ in changes where ids(model).count == 4 { break } }
        #expect(model.isAtEnd && model.nextError == nil)
    }

    @Test func aRefusedDismissalReturnsWithANotice() async throws {
        let client = try client { $0 == "/dismissal" ? Self.response("{}", 404) : Self.response(Self.page(["a", "b"])) }
        let model = FeedModel(client: client, mode: .manual, sleep: { _ in try await Task.sleep(for: .seconds(3600)) })
        var announced: [String] = []
        model.onAnnouncement = { announced.append($0) }
        await run(model) { $0.phase == .loaded }
        await model.perform(.dismissal, of: model.sections[0].cells[0])
        #expect(model.notice != nil && model.notice?.undo == nil)
        #expect(announced == [model.notice?.message])
        #expect(await model.list.sections[0].cells.map(\.id) == ["a", "b"])
    }

    @Test func adsAreDisclosed() throws {
        let texts = FeedTexts()
        let members = #"{"type": "bind", "bindings": {"disclosure": {"type": "disclosure", "label": "Sponsored", "advertiser": "Lamps"}}}"#
        let ad = try #require(FeedCell(JSONValue(parsing: Data(#"{"id": "spot:1", "actions": {"configuration": \#(members)}}"#.utf8))))
        #expect(texts.disclosure(of: ad) == "Sponsored · Lamps")
        #expect(
            texts.disclosure(of: try #require(FeedCell(.object(["id": .text("spot:2"), "advertisement": .boolean(true)]))))
                == "Advertisement")
        #expect(texts.disclosure(of: try #require(FeedCell(.object(["id": .text("ad:2")])))) == nil)
    }

    @Test func aCellIsNotSeenBeforeItsPictures() async throws {
        let impression = #"{"type": "request", "method": "POST", "href": "/events", "viewable": {"share": 0.5, "seconds": 0}, "#
        let cell = #"{"id": "ad:1", "actions": {"impression": \#(impression)"body": {"events": [{"token": "t"}]}}}}"#
        let model = FeedModel(client: try client { _ in Self.response(#"{"cells": [\#(cell)], "page": {"next": null}}"#) }, mode: .manual)
        await run(model) { $0.phase == .loaded }
        let ad = model.sections[0].cells[0]
        model.setLoading("content", of: ad, true)
        model.setVisible([model.sections[0].keys[0]: 1])
        for _ in 0..<100 { await Task.yield() }
        #expect(await model.impressions.pendingCount == 0)
        model.setLoading("content", of: ad, false)
        for _ in 0..<10_000 where await model.impressions.pendingCount == 0 { await Task.yield() }
        #expect(await model.impressions.pendingCount == 1)
    }

    @Test(arguments: [
        #"{"type": "link", "href": "/click/x"}"#, #"{"type": "request", "method": "POST", "href": "/selection"}"#,
    ])
    func impressionsAreSentBeforeALinkIsOpened(selection: String) async throws {
        let impression = #"{"type": "request", "method": "POST", "href": "/events", "viewable": {"share": 0.5, "seconds": 0}, "#
        let cell =
            #"{"id": "ad:1", "actions": {"selection": \#(selection), "impression": \#(impression)"body": {"events": [{"token": "t"}]}}}}"#
        let isSent = LockedFlag()
        let client = try client { path in
            switch path {
            case "/events":
                isSent.value = true
                return Self.response(#"{"results": []}"#)
            case "/selection": return Self.response(#"{"commands": [], "open": {"href": "/click/x"}}"#)
            default: return Self.response(#"{"cells": [\#(cell)], "page": {"next": null}}"#)
            }
        }
        let model = FeedModel(client: client, mode: .manual)
        var opened: [String] = []
        model.onOpen = { opened.append("\($0.path) \(isSent.value ? "after" : "before") the impression") }
        await run(model) { $0.phase == .loaded }
        model.setVisible([model.sections[0].keys[0]: 1])
        for _ in 0..<10_000 where await model.impressions.pendingCount == 0 { await Task.yield() }
        await model.perform(.selection, of: model.sections[0].cells[0])
        #expect(opened == ["/click/x after the impression"])
    }

    @Test(.enabled(if: RealServer.isAvailable, "no binary: build it, or set INTERTWINE_BINARY"))
    func followsDismissesAndUndoesWithTheRealServer() async throws {
        let server = try await RealServer(items: ["a", "b", "c"].map { RealServer.user($0) }.joined(separator: "\n") + "\n")
        let model = FeedModel(
            client: FeedClient(base: server.base, viewer: "me"), sleep: { _ in try await Task.sleep(for: .seconds(3600)) })
        let (changes, change) = AsyncStream<Void>.makeStream()
        model.onChange = { change.yield() }
        var opened: [JSONValue] = []
        model.onPresentation = { opened.append($0) }
        let running = Task { await model.run() }
        defer { running.cancel() }
        func reach(_ wanted: [String]) async {
            guard ids(model) != wanted else { return }
            for await _ in changes where ids(model) == wanted { return }
        }
        await reach(["user:a", "user:b", "user:c"])
        await model.perform(.selection, of: model.sections[0].cells[0])
        #expect(opened.first?["screen"]?.text == "ImageZoom")
        await model.perform(.dismissal, of: model.sections[0].cells[1])
        await reach(["user:a", "user:c"])
        #expect(model.notice?.message == "Dismissed")
        // The returning cell is above the only visible one, and is not new.
        model.setVisible([model.sections[0].keys[1]: 1])
        await model.undo()
        #expect(model.notice == nil)
        await reach(["user:a", "user:b", "user:c"])
        #expect(model.newCount == 0)
        #expect(try await server.operate("DELETE", "/admin/items/user/a") == 204)
        await reach(["user:b", "user:c"])
    }

    @Test(.enabled(if: RealServer.isAvailable, "no binary: build it, or set INTERTWINE_BINARY"))
    func announcesTheFirstNewCellsOfTheRealServerOnce() async throws {
        let server = try await RealServer(items: ["a", "b", "c"].map { RealServer.user($0) }.joined(separator: "\n") + "\n")
        let model = FeedModel(client: FeedClient(base: server.base, viewer: "me"))
        let (changes, change) = AsyncStream<Void>.makeStream()
        model.onChange = { change.yield() }
        var announced: [String] = []
        model.onAnnouncement = { announced.append($0) }
        let running = Task { await model.run() }
        defer { running.cancel() }
        for await _ in changes where model.phase == .loaded { break }
        model.setVisible([model.sections[0].keys[1]: 1])
        for (id, count, wanted) in [("x", 1, ["1 new"]), ("y", 2, ["1 new"]), ("z", 1, ["1 new", "1 new"])] {
            if count < model.newCount { model.showNew() }
            let operations = #"{"operations": [{"insert": \#(RealServer.user(id)), "before": "user:a"}]}"#
            try await server.operate("POST", "/admin/operations", operations)
            for await _ in changes where model.newCount == count { break }
            #expect(announced == wanted, "once while the button is visible")
        }
    }
}

/// A flag that a transport reads.
// Unchecked, and safe: the lock protects the only mutable property.
private final class LockedFlag: @unchecked Sendable {
    private let lock = NSLock()
    private var flag = false

    var value: Bool {
        get { lock.withLock { flag } }
        set { lock.withLock { flag = newValue } }
    }
}
