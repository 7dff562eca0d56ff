import Foundation
import Testing

@testable import IntertwineClient

/// Tests the conformance fixtures in `Documentation/fixtures/conformance`.
@Suite struct ConformanceTests {
    @Test func everyFileHasCases() {
        for file in ["cells", "sizes", "actions", "bindings", "invocations", "changes", "problems", "event-stream"] {
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
