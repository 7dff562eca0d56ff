import Foundation
import Testing

@testable import IntertwineClient

private let done =
    #"{"invocation": {"id": "s"}, "slot": "dismissal", "commands": [], "undo": {"type": "request", "method": "DELETE", "href": "/invocations/s", "expiresAt": "2026-01-02T03:04:05Z"}}"#

@Suite struct ActionsTests {
    private let user = cell(
        "user:a",
        actions: [
            "selection": request("POST", "/cells/user:a/selection"), "dismissal": request("POST", "/cells/user:a/dismissal"),
            "link": .object(["type": .text("link"), "href": .text("/click/x")]), "later": .object(["type": .text("hologram")]),
        ])

    private static func date(_ text: String) -> Date { Timestamps.date(text) ?? .distantPast }

    @Test func aMissingSlotAndAnUnknownTypeAreNoOperation() async throws {
        let server = FaultyServer { _, _ in FaultyServer.respond(200, done) }
        defer { server.stop() }
        let actions = Actions(client: FeedClient(base: server.base, retry: .never))
        guard case .noOperation = try await actions.perform(.custom("like"), of: user) else { throw URLError(.unknown) }
        guard case .noOperation = try await actions.perform(.custom("later"), of: user) else { throw URLError(.unknown) }
        guard case .link(let url) = try await actions.perform(.custom("link"), of: user) else { throw URLError(.unknown) }
        #expect(url == server.base.appending(path: "click/x"))
        #expect(server.requests.isEmpty)
    }

    @Test func aRefusedActionIsReverted() async throws {
        let server = FaultyServer { _, _ in FaultyServer.respond(404) }
        defer { server.stop() }
        let actions = Actions(client: FeedClient(base: server.base, retry: .never))
        let seen = LockedBox<[String]>([])
        let change = OptimisticChange(apply: { seen.withLock { $0.append("shown") } }, revert: { seen.withLock { $0.append("back") } })
        await #expect(throws: FeedClientError.self) { try await actions.perform(.dismissal, of: user, showing: change) }
        #expect(seen.withLock { $0 } == ["shown", "back"])
        #expect(await actions.pendingCount == 0)
    }

    @Test func undoExpires() async throws {
        let server = FaultyServer { request, _ in request.method == "DELETE" ? FaultyServer.respond(204) : FaultyServer.respond(200, done) }
        defer { server.stop() }
        let clock = LockedBox(Self.date("2026-01-02T03:04:04Z"))
        let actions = Actions(client: FeedClient(base: server.base, retry: .never), now: { clock.withLock { $0 } })
        let undo = try #require(try await actions.perform(.dismissal, of: user).undo)
        try await actions.undo(undo)
        #expect(server.requests.last?.target == "/invocations/s")
        #expect(server.requests.last?.fields["idempotency-key"] != nil)
        clock.withLock { $0 = Self.date("2026-01-02T03:04:05Z") }
        await #expect(throws: ActionError.undoExpired) { try await actions.undo(undo) }
        #expect(server.requests.count == 2, "an expired undo sends no request")
    }

    @Test(arguments: [(409, ActionError.cannotBeUndone), (410, .undoExpired)])
    func aRefusedUndoThrows(_ status: Int, _ error: ActionError) async throws {
        let server = FaultyServer { request, _ in
            request.method == "DELETE" ? FaultyServer.respond(status) : FaultyServer.respond(200, done)
        }
        defer { server.stop() }
        let actions = Actions(client: FeedClient(base: server.base, retry: .never), now: { .distantPast })
        let undo = try #require(try await actions.perform(.dismissal, of: user).undo)
        await #expect(throws: error) { try await actions.undo(undo) }
    }

    @Test func offlineActionsAreSentOnceInOrderAfterARestart() async throws {
        let isUnavailable = LockedBox(true)
        let performed = LockedBox<[String: String]>([:])
        let server = FaultyServer { request, number in
            guard !isUnavailable.withLock({ $0 }) else { return [] }
            let key = request.fields["idempotency-key"] ?? ""
            let isFirst = performed.withLock { $0.updateValue(request.target, forKey: key) == nil }
            // The first response to each request is lost, so it is sent again.
            return isFirst ? [] : FaultyServer.respond(200, done)
        }
        defer { server.stop() }
        let file = FileManager.default.temporaryDirectory.appending(path: "actions-\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        do {
            let actions = Actions(client: FeedClient(base: server.base, retry: .never), file: file)
            for slot in [CellSlot.selection, .dismissal] {
                guard case .queued = try await actions.perform(slot, of: user) else { throw URLError(.unknown) }
            }
            #expect(await actions.pendingCount == 2)
        }
        isUnavailable.withLock { $0 = false }
        let client = FeedClient(base: server.base, retry: Delays().policy())
        let actions = Actions(client: client, file: file)
        #expect(await actions.pendingCount == 2)
        async let one = actions.sendPending()
        async let other = actions.sendPending()
        #expect(await [one, other] == [true, true])
        #expect(performed.withLock { $0.count } == 2)
        let sent = server.requests.suffix(4).map(\.target)
        #expect(sent == ["/cells/user:a/selection", "/cells/user:a/selection", "/cells/user:a/dismissal", "/cells/user:a/dismissal"])
        #expect(await Actions(client: client, file: file).pendingCount == 0)
    }

    @Test func aQueuedActionIsUndoneWithoutTheServer() async throws {
        let server = FaultyServer { _, _ in [] }
        defer { server.stop() }
        let actions = Actions(client: FeedClient(base: server.base, retry: .never))
        let isReverted = LockedBox(false)
        let change = OptimisticChange(apply: {}, revert: { isReverted.withLock { $0 = true } })
        let undo = try #require(try await actions.perform(.dismissal, of: user, showing: change).undo)
        try await actions.undo(undo)
        #expect(isReverted.withLock { $0 })
        #expect(await actions.pendingCount == 0)
    }

    @Test func aRefusedQueuedActionIsRevertedAndReported() async throws {
        let isUnavailable = LockedBox(true)
        let server = FaultyServer { _, _ in isUnavailable.withLock { $0 } ? [] : FaultyServer.respond(404) }
        defer { server.stop() }
        let failures = LockedBox<[Int?]>([])
        let isReverted = LockedBox(false)
        let actions = Actions(
            client: FeedClient(base: server.base, retry: .never),
            onFailure: { failure in failures.withLock { $0.append(failure.problem?.status) } })
        _ = try await actions.perform(
            .dismissal, of: user, showing: OptimisticChange(apply: {}, revert: { isReverted.withLock { $0 = true } }))
        isUnavailable.withLock { $0 = false }
        #expect(await actions.sendPending())
        #expect(failures.withLock { $0 } == [404])
        #expect(isReverted.withLock { $0 })
    }

    @Test func aQueuedActionWithAnExpiredKeyIsNotSent() async throws {
        let server = FaultyServer { _, _ in [] }
        defer { server.stop() }
        let clock = LockedBox(Date(timeIntervalSince1970: 0))
        let failures = LockedBox(0)
        let actions = Actions(
            client: FeedClient(base: server.base, retry: .never), now: { clock.withLock { $0 } },
            onFailure: { _ in failures.withLock { $0 += 1 } })
        _ = try await actions.perform(.dismissal, of: user)
        clock.withLock { $0 = Date(timeIntervalSince1970: 90_000) }
        let before = server.requests.count
        #expect(await actions.sendPending())
        #expect(server.requests.count == before)
        #expect(failures.withLock { $0 } == 1)
    }
}
