import Foundation
import Testing

@testable import IntertwineClient

/// Tests the conformance fixtures in `Conformance/cases`.
@Suite struct ConformanceTests {
    @Test func everyFileHasCases() {
        for file in [
            "cells", "sizes", "actions", "bindings", "invocations", "changes", "problems", "sign-in", "advertisements", "event-stream",
        ] {
            #expect(!Conformance.cases(file).isEmpty, "\(file)")
        }
    }

    @Test(arguments: Conformance.cases("cells")) func cells(_ entry: Conformance) throws {
        let registry = CellRegistry<String>()
        for identifier in entry.given["registered"]?.array?.compactMap(\.text) ?? [] {
            registry.register(identifier, make: { identifier }, bind: { _, _ in })
        }
        registry.registerFallback(make: { "" }, bind: { _, _ in })
        let page = try #require(entry.given["page"].flatMap { FeedPage($0) })
        var section: JSONValue = .null
        let cells = page.cells.map { cell -> JSONValue in
            if cell.isSectionHeader { section = .text(String(cell.id.dropFirst("section:".count))) }
            return .object([
                "id": .text(cell.id), "identifier": cell.identifier.map(JSONValue.text) ?? .null,
                "shownAs": registry.identifier(for: cell).map(JSONValue.text) ?? .null,
                "size": .object(["width": .number(cell.size.width), "height": .number(cell.size.height)]), "section": section,
            ])
        }
        #expect(JSONValue.array(cells) == entry.expect["cells"])
        #expect(page.next?.absoluteString == entry.expect["next"]?.text)
        #expect(.boolean(page.syncToken != nil) == entry.expect["isFollowed"])
    }

    @Test(arguments: Conformance.cases("sizes")) func sizes(_ entry: Conformance) throws {
        let cell = try #require(FeedCell(.object(["id": .text("x"), "size": entry.given["size"] ?? .null])))
        let scale = try #require(entry.given["textScale"]?.number)
        let shown = ["width": JSONValue.number(cell.size.width), "height": .number(cell.size.height(textScale: scale))]
        #expect(.object(shown) == entry.expect)
    }

    @Test(arguments: Conformance.cases("actions")) func actions(_ entry: Conformance) throws {
        let cell = try #require(entry.given["cell"].flatMap { FeedCell($0) })
        let slot = try #require(entry.given["slot"]?.text)
        let action = cell.actions[.custom(slot)]
        let values = entry.given["values"]?.object?.compactMapValues(\.text) ?? [:]
        let actual: JSONValue
        switch action?.kind {
        case .bind(let bindings): actual = .object(["bind": .object(bindings.mapValues { .object($0.members) })])
        case .link(let url): actual = .object(["link": .object(["href": .text(url.absoluteString)])])
        case .request(let method, _, let body):
            var request: [String: JSONValue] = [
                "method": .text(method), "href": .text(action?.href(values) ?? ""), "hasKey": .boolean(Actions.needsKey(method)),
            ]
            request["body"] = body
            actual = .object(["request": .object(request)])
        case .other, nil: actual = .null
        }
        #expect(actual == entry.expect)
    }

    @Test(arguments: Conformance.cases("bindings")) func bindings(_ entry: Conformance) throws {
        let binding = entry.given["binding"]?.object.map { CellBinding($0) }
        let actual: JSONValue
        switch binding?.value {
        case .text(let text): actual = .object(["type": .text("text"), "value": .text(text)])
        case .image(let url): actual = .object(["type": .text("image"), "value": .text(url.absoluteString)])
        case .date(let date):
            let text = binding?.isDay == true ? String(Timestamps.text(date).prefix(10)) : Timestamps.text(date)
            actual = .object(["type": .text("date"), "value": .text(text)])
        case .number(let number): actual = .object(["type": .text("number"), "value": .number(number)])
        case .link(let url): actual = .object(["type": .text("link"), "value": .text(url.absoluteString)])
        case .media(let url): actual = .object(["type": .text("media"), "value": .text(url.absoluteString)])
        case nil: actual = .null
        }
        #expect(actual == entry.expect)
    }

    @Test(arguments: Conformance.cases("invocations")) func invocations(_ entry: Conformance) async throws {
        let body = try entry.given["response"].map { $0 == .null ? Data() : try $0.encoded() }
        let response = HTTPResponse(status: body?.isEmpty == false ? 200 : 204, body: try #require(body))
        let transport = FixtureTransport { _ in response }
        let base = try #require(URL(string: "http://example.com"))
        let actions = Actions(client: FeedClient(base: base, retry: .never, transport: transport))
        let user = cell("user:a", actions: ["selection": request("POST", "/x")])
        guard case .performed(let performed) = try await actions.perform(.selection, of: user) else { throw URLError(.unknown) }
        var undo: JSONValue = .null
        if case .request(let method, let href)? = performed.undo?.operation {
            undo = .object([
                "method": .text(method), "href": .text(href),
                "expiresAt": performed.undo?.expiresAt.map { .text(Timestamps.text($0)) } ?? .null,
            ])
        }
        let expected = try entry.expect["open"]?.text.map { try #require(URL(string: $0, relativeTo: base)?.absoluteURL) }
        #expect(performed.open == expected)
        let actual: JSONValue = .object([
            "id": performed.id.map(JSONValue.text) ?? .null, "slot": performed.slot.map { .text($0.rawValue) } ?? .null,
            "commands": .array(performed.commands.map { .object($0.members) }), "presentation": performed.presentation ?? .null,
            "open": entry.expect["open"] ?? .null, "undo": undo,
        ])
        #expect(actual == entry.expect)
    }

    @Test(arguments: Conformance.cases("changes")) func changes(_ entry: Conformance) throws {
        var pages = FeedListState(first: URL(filePath: "/feed"))
        let ids = (entry.given["list"]?.array ?? []).compactMap(\.text)
        let cells = ids.map { JSONValue.object(["id": .text($0)]) }
        let page = FeedPage(.object(["cells": .array(cells), "page": .object(["syncToken": .text("A")])]))
        pages.append(try #require(page))
        let before = FeedSection.sections(of: pages.entries)
        let changes = try #require(entry.given["response"].flatMap { FeedChanges($0, base: nil) })
        let window = try #require(pages.window(around: 0..<1, maxLength: 100))
        guard pages.apply(changes, to: window) == .applied else {
            #expect(entry.expect["reload"] == .boolean(true))
            #expect(pages.entries.map(\.cell.id) == ids, "a reload changes nothing")
            return
        }
        let list = pages.entries.map { JSONValue.text($0.cell.id) }
        #expect(.array(list) == entry.expect["list"])
        let update = FeedUpdate(from: before, to: FeedSection.sections(of: pages.entries))
        #expect(Self.described(update) == entry.expect["update"])
    }

    @Test(arguments: Conformance.cases("problems")) func problems(_ entry: Conformance) async throws {
        let method = try #require(entry.given["request"]?["method"]?.text)
        let hasKey = entry.given["request"]?["hasKey"]?.boolean ?? false
        let now = entry.given["now"]?.text.flatMap(Timestamps.date)
        let response = entry.given["response"].flatMap { given in
            given["status"]?.number.map {
                HTTPResponse(
                    status: Int($0), fields: (given["headers"]?.object ?? [:]).compactMapValues(\.text),
                    body: Data((given["body"]?.text ?? "").utf8))
            }
        }
        let transport = FixtureTransport { _ in
            guard let response else { throw URLError(.cannotConnectToHost) }
            return response
        }
        let base = try #require(URL(string: "http://example.com"))
        let delays = Delays()
        var client = FeedClient(
            base: base, retry: delays.policy(maxAttempts: 2), transport: transport)
        if let now { client.now = { now } }
        var actual: [String: JSONValue]
        do {
            let response = try await client.submit(method, "/x", body: nil, key: hasKey ? "k" : nil).response
            actual = ["outcome": .text("ok"), "status": .number(Double(response.status))]
        } catch FeedClientError.signInRequired(let status, _) where status >= 300 {
            actual = ["outcome": .text("refused"), "status": .number(Double(status)), "title": .text("The server answered \(status)")]
            for member in ["type", "detail", "instance"] { actual[member] = .null }
            actual["errors"] = .array([])
        } catch FeedClientError.refused(let problem) {
            actual = [
                "outcome": .text("refused"), "status": .number(Double(problem.status)), "type": problem.type.map(JSONValue.text) ?? .null,
                "title": .text(problem.title), "detail": problem.detail.map(JSONValue.text) ?? .null,
                "instance": problem.instance.map(JSONValue.text) ?? .null, "errors": .array(problem.errors.map(Self.described)),
            ]
        } catch let error as FeedClientError where error.isRetryable {
            var retryAfter: JSONValue = .null
            if case .unavailable(_, let seconds?) = error { retryAfter = .number(seconds) }
            actual = ["outcome": .text("unavailable"), "isRetried": .boolean(transport.requests.count == 2), "retryAfter": retryAfter]
        }
        #expect(JSONValue.object(actual) == entry.expect)
    }

    @Test(arguments: Conformance.cases("sign-in")) func signIn(_ entry: Conformance) async throws {
        let response = entry.given["response"].flatMap { given -> HTTPResponse? in
            guard let status = given["status"]?.number else { return nil }
            return HTTPResponse(
                status: given["type"]?.text == "opaqueredirect" ? 303 : Int(status),
                fields: (given["headers"]?.object ?? [:]).compactMapValues(\.text), body: Data((given["body"]?.text ?? "").utf8))
        }
        let signIns = LockedBox(0)
        // Later requests succeed.
        func client() throws -> (FeedClient, FixtureTransport) {
            let sent = LockedBox(0)
            let transport = FixtureTransport { _ in
                if sent.withLock({
                    $0 += 1; return $0
                }) > 1 {
                    return HTTPResponse(status: 204)
                }
                guard let response else { throw URLError(.cannotConnectToHost) }
                return response
            }
            var client = FeedClient(base: try #require(URL(string: "http://example.com")), retry: .never, transport: transport)
            client.onSignInRequired = { _ in signIns.withLock { $0 += 1 } }
            return (client, transport)
        }
        let isHidden = LockedBox(false)
        let change = OptimisticChange(apply: { isHidden.withLock { $0 = true } }, revert: { isHidden.withLock { $0 = false } })
        let actions = Actions(client: try client().0)
        var action = "reverted"
        do {
            let dismissed = cell("user:a", actions: ["dismissal": request("POST", "/d")])
            if case .queued = try await actions.perform(.dismissal, of: dismissed, showing: change) {
                action = "queued"
            } else {
                action = "performed"
            }
        } catch is FeedClientError {}
        #expect(isHidden.withLock { $0 } == (action != "reverted"))
        #expect(await actions.pendingCount == (action == "queued" ? 1 : 0))

        let (sender, transport) = try client()
        // The timers of the time of an impression and of batches fire at once.
        let impressions = Impressions(client: sender, now: { 0 }, sleep: { _ in await Task.yield() })
        let body: JSONValue = .object(["events": .array([.object(["token": .text("t")])])])
        var seen = request("POST", "/events", body: body).object ?? [:]
        seen["viewable"] = .object(["seconds": .number(0)])
        await impressions.record(visible: [.init(cell("spot:1", actions: ["impression": .object(seen)]), share: 1)])
        while await impressions.pendingCount > 0 { try await Task.sleep(for: .milliseconds(1)) }
        let isRefused = action == "reverted"
        #expect(
            entry.expect
                == .object([
                    "signInRequired": .boolean(signIns.withLock { $0 } == 2), "action": .text(action),
                    "impressions": .text(transport.requests.count > 1 ? "kept" : isRefused ? "dropped" : "sent"),
                ]))
    }

    @Test(arguments: Conformance.cases("advertisements")) func advertisements(_ entry: Conformance) throws {
        let cell = try #require(entry.given["cell"].flatMap { FeedCell($0) })
        let (label, advertiser) = (cell.disclosure?.label, cell.disclosure?.advertiser)
        #expect(
            entry.expect
                == .object([
                    "isAdvertisement": .boolean(cell.isAdvertisement), "label": label.map(JSONValue.text) ?? .null,
                    "advertiser": advertiser.map(JSONValue.text) ?? .null,
                ]))
    }

    @Test(arguments: Conformance.cases("event-stream")) func eventStream(_ entry: Conformance) throws {
        var stream = EventStreamParser()
        var events: [JSONValue] = []
        for chunk in entry.given["chunks"]?.array?.compactMap(\.text) ?? [] {
            for event in try stream.receive(Data(chunk.utf8)) {
                events.append(.object(["id": .text(event.id), "event": .text(event.name), "data": .text(event.data)]))
            }
        }
        #expect(.array(events) == entry.expect["events"])
        #expect(.text(stream.lastID) == entry.expect["lastEventId"])
        #expect((stream.retry.map { .number($0 * 1000) } ?? .null) == entry.expect["retry"])
    }

    private static func described(_ error: FeedProblem.FieldError) -> JSONValue {
        var members: [String: JSONValue] = ["code": .text(error.code)]
        members["parameter"] = error.parameter.map(JSONValue.text)
        members["pointer"] = error.pointer.map(JSONValue.text)
        members["detail"] = error.detail.map(JSONValue.text)
        return .object(members)
    }

    private static func described(_ update: FeedUpdate) -> JSONValue {
        func path(_ path: IndexPath) -> JSONValue { .array(path.map { .number(Double($0)) }) }
        func set(_ set: IndexSet, descending: Bool = false) -> JSONValue {
            .array((descending ? set.reversed() : Array(set)).map { .number(Double($0)) })
        }
        return .object([
            "sectionsRemoved": set(update.sectionDeletions, descending: true), "sectionsInserted": set(update.sectionInsertions),
            "sectionsReconfigured": set(update.sectionReconfigurations), "removed": .array(update.deletions.map(path)),
            "inserted": .array(update.insertions.map(path)),
            "moved": .array(update.moves.map { .object(["from": path($0.from), "to": path($0.to)]) }),
            "reconfigured": .array(update.reconfigurations.map(path)),
        ])
    }
}
