internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import Synchronization

/// The route `GET /admin/events?after=&limit=&wait=&format=`: the events of the ledger in their order, for programs that follow them.
final class LedgerEventRoutes: Sendable {
    private static let interval = Duration.milliseconds(500)
    private static let waiterLimit = 16
    private static let longestWait = 30

    private enum Format: String, CaseIterable, Sendable { case json, ndjson }

    private struct Answer: Encodable {
        struct Page: Encodable {
            var limit: Int
            var next: String
        }

        var events: [EventRow]
        var page: Page
    }

    private static let after = Parameter.integer(
        "after", in: 0...Int.max,
        "The marker of the last event that the client has. Without it, the response begins with the oldest event. `page.next` contains it.",
        example: 4_711)
    private static let limit = Parameter.integer(
        "limit", in: 1...10_000, default: 1_000, "The maximum number of events in the response.", example: 1_000)
    private static let wait = Parameter.integer(
        "wait", in: 0...longestWait, default: 0, "The seconds to wait for the first event if there is none.", example: 30)
    private static let format = Parameter.word(
        "format", default: Format.json, "The format of the response. NDJSON has one event a line, and the next href in `Link`.",
        example: .ndjson)

    private let archive: any LedgerArchive
    private let isStopping: @Sendable () -> Bool
    private let waiters = Atomic(0)

    init(archive: any LedgerArchive, isStopping: @escaping @Sendable () -> Bool) {
        (self.archive, self.isStopping) = (archive, isStopping)
    }

    var routes: [Route] {
        let event = """
            {"address": "192.0.2.0/24", "at": "2026-11-21T09:00:00.000Z", "campaign": null, "cell": "ad:8", "feed": "main", "input": null, \
            "kind": "click", "layout": "collection", "marker": 4712, "position": 1, "section": null, "userAgent": "ExampleApp/1.0", \
            "verdict": "counted", "viewer": "viewer-1"}
            """
        let operation = APIOperation(
            "listEvents", tag: "Reports", "The events of the ledger",
            """
            Every stored event, oldest first. `page.next` is always there: a client follows it unchanged, stores it after it has processed the events, and \
            so gets each event at least once, in order. Events that were committed before the request are in the response, or behind its last event.
            """,
            parameters: [Self.after, Self.limit, Self.wait, Self.format],
            responses: [
                .json(
                    .ok, "The events behind `after`; none if there was none until the end of `wait`, or if the service stops.",
                    .object([
                        .required("events", .list(of: .ledgerEvent)),
                        .required(
                            "page",
                            .object([
                                .required("limit", .integer(minimum: 1, maximum: 10_000)),
                                .required("next", .href, "The href of the events behind these."),
                            ])),
                    ]),
                    [
                        .noStore,
                        .init(
                            "Link", "`page.next` as a link (RFC 8288) with the relation `next`.", isRequired: true,
                            example: #"</admin/events?after=4712&limit=1000>; rel="next""#),
                    ], orTexts: ["application/x-ndjson"],
                    example: #"{"events": [\#(event)], "page": {"limit": 1000, "next": "/admin/events?after=4712&limit=1000"}}"#),
                .notModified,
                .badRequest(
                    "A parameter is invalid, or the request is malformed.",
                    [.init(.invalidParameter("wait", .outOfRange, "wait must be a whole number from 0 to \(Self.longestWait)."))]),
                .problem(
                    .gone,
                    "Events behind `after` were removed, or the ledger was restored from a backup that ends before `after`. `oldest` is the oldest valid marker.",
                    [.init(.eventsRemoved, Self.removed, members: Self.members(4_000))],
                    members: [.init("oldest", Schema.count.described("The marker behind which every event is stored.").value)]),
                .problem(
                    .serviceUnavailable, "The store does not respond, or too many clients wait for events.",
                    [.storeUnavailable, .init(nil, Self.busy)], [.problemCaching, .retryAfter]),
            ])
        return [
            Route(.get, "/admin/events", operation, cancelsOnPeerClose: true, timeLimit: .seconds(Self.longestWait + 30)) { [self] in
                try await events($0)
            }
        ]
    }

    private static let removed = "Events behind after are not stored any more. Continue with after=4000, and expect a gap."
    private static let busy = "\(waiterLimit) clients wait for events already. Ask without wait."

    private static func members(_ oldest: Int64) -> String { "\"oldest\":\(oldest)" }

    private func events(_ request: RouteRequest) async throws -> ServerResponse {
        let (limit, wait, format) = (try request[Self.limit], try request[Self.wait], try request[Self.format])
        var stored = try await archive.markers()
        let after = try request[Self.after].map(Int64.init) ?? stored.removed
        var events = stored.last > after ? try await archive.events(after: after, limit: limit) : []
        if events.isEmpty, wait > 0, after >= stored.removed, after <= stored.last {
            let isAdmitted = waiters.add(1, ordering: .relaxed).newValue <= Self.waiterLimit
            defer { waiters.subtract(1, ordering: .relaxed) }
            guard isAdmitted else { throw Problem(.serviceUnavailable, nil, Self.busy, fields: [.retryAfter: "5"]) }
            let end = ContinuousClock.now + .seconds(wait)
            // A number of the sequence can have no event. The events are read only after it has changed, because that read delays clicks.
            var seen = stored.last
            while events.isEmpty, ContinuousClock.now < end, !isStopping() {
                try await Task.sleep(for: Self.interval)
                stored = try await archive.markers()
                guard stored.last != seen else { continue }
                seen = stored.last
                events = try await archive.events(after: after, limit: limit)
            }
        }
        // Events that are removed during the read are missing in it.
        stored = try await archive.markers()
        guard after >= stored.removed, after <= stored.last else {
            var problem = Problem(
                .gone, .eventsRemoved, Self.removed.replacing("4000", with: "\(stored.removed)"))
            problem.members = Array(Self.members(stored.removed).utf8)
            throw problem
        }
        let next =
            "/admin/events?after=\(events.last?.sequence ?? after)&limit=\(limit)" + (wait > 0 ? "&wait=\(wait)" : "")
            + (format == .json ? "" : "&format=\(format.rawValue)")
        var fields: HTTPFields = [:]
        if let link = HTTPField.Name("Link") { fields[link] = "<\(next)>; rel=\"next\"" }
        switch format {
        case .json:
            return try .noStore(json: Answer(events: events.map(EventRow.init), page: .init(limit: limit, next: next)), fields: fields)
        case .ndjson:
            fields[.contentType] = "application/x-ndjson"
            fields[.cacheControl] = "no-store"
            return ServerResponse(status: .ok, fields: fields, body: try EventRow.lines(events))
        }
    }
}

extension Problem.ProblemType {
    static let eventsRemoved = Problem.ProblemType(
        "events-removed",
        "The ledger does not have all events behind the marker: the retention removed some, or the ledger was restored from an older backup. "
            + "Continue behind the marker in the member oldest.")
}

extension Schema {
    fileprivate static let ledgerEvent = Schema.object([
        .required("marker", .integer(minimum: 1), "The place in the ledger, ascending."),
        .required("at", .time, "The time of the event."),
        .required("kind", .string, "`impression`, `click`, …, or a slot such as `like`."),
        .required("cell", .string, "The id of the cell."),
        .required("verdict", .words(Verdict.publicCases.map(\.rawValue)), "`counted`, or the reason why the event does not count."),
        .required("viewer", Schema.string.orNull, "The viewer. Null for anonymous requests and after an erasure."),
        .required("address", Schema.string.orNull, "The address as `events.address` stores it."),
        .required("userAgent", Schema.string.orNull, "Null after an erasure."),
        .required("campaign", Schema.string.orNull, "The campaign that had the slot."),
        .required("feed", Schema.string.orNull, "The feed of the page; null if the request had no token of a page."),
        .required("section", Schema.string.orNull, "The section of the page."),
        .required("position", Schema.count.orNull, "The index of the cell, from 0."),
        .required("layout", Schema.string.orNull, "The layout of the page."),
        .required("input", .any, "The values that the person gave to the slot, as an object; null without input, and after an erasure."),
    ]).titled("Event of the ledger").described("A line of `intertwine export events`.").named("LedgerEvent")
}
