import Foundation
import Testing

@testable import IntertwineClient

private let done =
    #"{"selection": "s", "commands": [], "undo": {"type": "request", "method": "DELETE", "href": "/selections/s", "expires": "2026-01-02T03:04:05Z"}}"#

@Suite struct ActionsTests {
    private let user = cell(
        "user:a",
        actions: [
            "selection": request("POST", "/cells/user:a/selection"), "dismissal": request("POST", "/cells/user:a/dismissal"),
            "link": .object(["type": .text("link"), "href": .text("/click/x")]), "later": .object(["type": .text("hologram")]),
        ])

    private static func moment(_ text: String) -> Date { Timestamps.date(text) ?? .distantPast }

    @Test func aMissingSlotAndAnUnknownTypeAreNothingToDo() async throws {
        let server = FaultyServer { _, _ in FaultyServer.answer(200, done) }
        defer { server.stop() }
        let actions = Actions(client: FeedClient(base: server.base, retry: .never))
        guard case .nothing = try await actions.perform("like", of: user) else { throw URLError(.unknown) }
        guard case .nothing = try await actions.perform("later", of: user) else { throw URLError(.unknown) }
        guard case .link(let url) = try await actions.perform("link", of: user) else { throw URLError(.unknown) }
        #expect(url == server.base.appending(path: "click/x"))
        #expect(server.requests.isEmpty)
    }

    @Test func whatTheServerRefusesIsTakenBack() async throws {
        let server = FaultyServer { _, _ in FaultyServer.answer(404) }
        defer { server.stop() }
        let actions = Actions(client: FeedClient(base: server.base, retry: .never))
        let seen = Locked<[String]>([])
        let change = OptimisticChange(apply: { seen.withLock { $0.append("shown") } }, takeBack: { seen.withLock { $0.append("back") } })
        await #expect(throws: FeedClientError.self) { try await actions.perform("dismissal", of: user, showing: change) }
        #expect(seen.withLock { $0 } == ["shown", "back"])
        #expect(await actions.waiting == 0)
    }

    @Test func undoIsBoundByItsMoment() async throws {
        let server = FaultyServer { request, _ in request.method == "DELETE" ? FaultyServer.answer(204) : FaultyServer.answer(200, done) }
        defer { server.stop() }
        let clock = Locked(Self.moment("2026-01-02T03:04:04Z"))
        let actions = Actions(client: FeedClient(base: server.base, retry: .never), now: { clock.withLock { $0 } })
        let undo = try #require(try await actions.perform("dismissal", of: user).undo)
        try await actions.undo(undo)
        #expect(server.requests.last?.target == "/selections/s")
        #expect(server.requests.last?.fields["idempotency-key"] != nil)
        clock.withLock { $0 = Self.moment("2026-01-02T03:04:05Z") }
        await #expect(throws: ActionError.undoExpired) { try await actions.undo(undo) }
        #expect(server.requests.count == 2, "what has expired is not asked for")
    }

    @Test(arguments: [(409, ActionError.cannotBeUndone), (410, .undoExpired)])
    func whatCannotBeUndoneIsSaid(_ status: Int, _ error: ActionError) async throws {
        let server = FaultyServer { request, _ in
            request.method == "DELETE" ? FaultyServer.answer(status) : FaultyServer.answer(200, done)
        }
        defer { server.stop() }
        let actions = Actions(client: FeedClient(base: server.base, retry: .never), now: { .distantPast })
        let undo = try #require(try await actions.perform("dismissal", of: user).undo)
        await #expect(throws: error) { try await actions.undo(undo) }
    }

    @Test func whatIsDoneOfflineIsSentOnceInItsOrderAndSurvivesTheApp() async throws {
        let isAway = Locked(true)
        let performed = Locked<[String: String]>([:])
        let server = FaultyServer { request, number in
            guard !isAway.withLock({ $0 }) else { return [] }
            let key = request.fields["idempotency-key"] ?? ""
            let isFirst = performed.withLock { $0.updateValue(request.target, forKey: key) == nil }
            // The first answer of each is lost: it is performed, and sent again.
            return isFirst ? [] : FaultyServer.answer(200, done)
        }
        defer { server.stop() }
        let file = FileManager.default.temporaryDirectory.appending(path: "actions-\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        do {
            let actions = Actions(client: FeedClient(base: server.base, retry: .never), file: file)
            for slot in ["selection", "dismissal"] {
                guard case .queued = try await actions.perform(slot, of: user) else { throw URLError(.unknown) }
            }
            #expect(await actions.waiting == 2)
        }
        isAway.withLock { $0 = false }
        let client = FeedClient(base: server.base, retry: Pauses().policy())
        let actions = Actions(client: client, file: file)
        #expect(await actions.waiting == 2)
        async let one = actions.sendWaiting()
        async let other = actions.sendWaiting()
        #expect(await [one, other] == [true, true])
        #expect(performed.withLock { $0.count } == 2)
        let sent = server.requests.suffix(4).map(\.target)
        #expect(sent == ["/cells/user:a/selection", "/cells/user:a/selection", "/cells/user:a/dismissal", "/cells/user:a/dismissal"])
        #expect(await Actions(client: client, file: file).waiting == 0)
    }

    @Test func whatWaitsIsTakenBackWithoutTheServer() async throws {
        let server = FaultyServer { _, _ in [] }
        defer { server.stop() }
        let actions = Actions(client: FeedClient(base: server.base, retry: .never))
        let isBack = Locked(false)
        let change = OptimisticChange(apply: {}, takeBack: { isBack.withLock { $0 = true } })
        let undo = try #require(try await actions.perform("dismissal", of: user, showing: change).undo)
        try await actions.undo(undo)
        #expect(isBack.withLock { $0 })
        #expect(await actions.waiting == 0)
    }

    @Test func whatWaitedAndIsRefusedIsTakenBackAndTold() async throws {
        let isAway = Locked(true)
        let server = FaultyServer { _, _ in isAway.withLock { $0 } ? [] : FaultyServer.answer(404) }
        defer { server.stop() }
        let told = Locked<[Int?]>([])
        let isBack = Locked(false)
        let actions = Actions(
            client: FeedClient(base: server.base, retry: .never),
            refused: { refusal in told.withLock { $0.append(refusal.problem?.status) } })
        _ = try await actions.perform(
            "dismissal", of: user, showing: OptimisticChange(apply: {}, takeBack: { isBack.withLock { $0 = true } }))
        isAway.withLock { $0 = false }
        #expect(await actions.sendWaiting())
        #expect(told.withLock { $0 } == [404])
        #expect(isBack.withLock { $0 })
    }

    @Test func whatHasWaitedForLongerThanTheServerKnowsItsKeyIsNotSent() async throws {
        let server = FaultyServer { _, _ in [] }
        defer { server.stop() }
        let clock = Locked(Date(timeIntervalSince1970: 0))
        let told = Locked(0)
        let actions = Actions(
            client: FeedClient(base: server.base, retry: .never), now: { clock.withLock { $0 } },
            refused: { _ in told.withLock { $0 += 1 } })
        _ = try await actions.perform("dismissal", of: user)
        clock.withLock { $0 = Date(timeIntervalSince1970: 90_000) }
        let before = server.requests.count
        #expect(await actions.sendWaiting())
        #expect(server.requests.count == before)
        #expect(told.withLock { $0 } == 1)
    }
}
