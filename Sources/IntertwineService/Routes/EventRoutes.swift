internal import Foundation
internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

struct EventRoutes: Sendable {
    static let limit = 500
    /// The maximum size of a body in bytes: 500 events with a token and a cell id each.
    private static let bodyLimit = 512 << 10

    static let types = [CommandKey.impression.rawValue] + CommandKey.playback.map(\.rawValue)
    private static let playback = CommandKey.playback.map { "`\($0.rawValue)`" }.joined(separator: ", ")

    let performer: ActionPerformer
    let clients: ClientReader
    let keys: IdempotencyKeys

    private struct EventResults: DescribedAnswer {
        struct EventResult: DescribedAnswer {
            static let about: String? = "The verdict on an event."
            static let notes: [String: PropertyNote] = [
                "type": .init(.words(EventRoutes.types), "Missing if the event has none of these types."),
                "cell": "Missing if the event has none.", "verdict": .init(.verdict),
                "detail": "The reason why the event is malformed.",
            ]

            var type: String?
            var cell: String?
            var verdict = Verdict.unknown.rawValue
            var detail: String?
        }

        static let about: String? = "The verdicts on reported events."
        static let notes: [String: PropertyNote] = [
            "results": .init(
                .list(of: EventResult.schema, maximum: EventRoutes.limit), "One result for each event, in the order of the events.")
        ]

        var results: [EventResult]
    }

    private static let shape = #"The body must be {"events": [{"type": "impression", "cell": "…", "token": "…"}]}."#

    var routes: [Route] {
        let operation = APIOperation(
            "reportEvents", tag: "Actions", "Report impressions and playback",
            """
            The types of events are `impression` and, for media, \(Self.playback). The response has a verdict on each event, in order. Counted events are on \
            disk before the response. A malformed event is `unknown` with a `detail`, and the others count. A token \
            counts once for each type and viewer. If no viewer is named, it counts once for each page and address. \
            The service stores an idempotency key only if an event counted. A dry run of events is 400, because their verdicts are known only after \
            they are recorded.
            """,
            parameters: [FeedParameters.viewer, Parameter.idempotencyKey],
            body: RequestBodyDescription(
                .events, text: "At most \(Self.limit) events and \(Self.bodyLimit >> 10) KiB.",
                example: #"{"events": [{"type": "impression", "cell": "ad:1", "token": "kWaFAAEAB5v5AABhZDoxhf68C_gOsrJndt62ynrVzA"}]}"#),
            responses: [
                .json(
                    .ok, "The verdicts.", EventResults.schema, [.noStore],
                    example: #"{"results": [{"type": "impression", "cell": "ad:1", "verdict": "counted"}]}"#),
                .badRequest(
                    "The body is not an object with events, or has more than \(Self.limit); or the viewer's name or the idempotency key is invalid.",
                    [.init(.invalidBody(at: "/events", .required, Self.shape)), .wrongViewer]),
                .keyReused,
            ])
        return [Route(.post, "/events", operation, bodyLimit: Self.bodyLimit) { try await record($0) }]
    }

    private func record(_ request: RouteRequest) async throws -> ServerResponse {
        guard try !request[FeedParameters.dryRun] else {
            throw Problem.invalidParameter(
                FeedParameters.dryRun.description.name, .invalid,
                "Events have no dry run: their verdicts are known only after they are recorded.")
        }
        var results: [EventResults.EventResult] = []
        var reports: [(index: Int, report: ActionPerformer.ImpressionReport)] = []
        for (index, event) in try Self.events(in: request).enumerated() {
            let (result, report) = Self.read(event)
            results.append(result)
            if let report { reports.append((index, report)) }
        }
        let client = try await clients.fingerprint(of: request.head, from: request.request.peer.address, now: request.now)
        let key = try keys.key(of: request, viewer: client.viewer)
        let verdicts = try await performer.impressions(reports.map(\.report), for: client, now: request.now, idempotency: key)
        for (report, verdict) in zip(reports, verdicts) { results[report.index].verdict = verdict.rawValue }
        return try .noStore(json: EventResults(results: results))
    }

    /// Clients send the events of many cells together, so that a malformed one must not cost the others.
    private static func read(_ event: ItemFields?) -> (EventResults.EventResult, ActionPerformer.ImpressionReport?) {
        var result = EventResults.EventResult()
        do throws(ItemError) {
            guard let event else { throw ItemError(reason: "is no object") }
            func text(_ field: String) throws(ItemError) -> String {
                String(decoding: try event.text(field, limit: bodyLimit), as: UTF8.self)
            }
            // The result has as much of the event as can be read.
            result.cell = try? text("cell")
            let type = try event.choice("type", among: types)
            result.type = type
            return (result, .init(cell: try text("cell"), token: try text("token"), slot: CommandKey(type)))
        } catch {
            result.detail = error.description
            return (result, nil)
        }
    }

    private static func events(in request: RouteRequest) throws(Problem) -> [ItemFields?] {
        guard let body = try? ItemFields(JSONPreamble.text(request.request.body.bytes ?? []), isLenient: true) else {
            throw .invalidBody(shape, [InvalidValue(.body([]), .invalid, shape)])
        }
        let bytes = body.object.bytes
        guard let list = try? body.token("events"), list.kind == .array,
            let array = try? JSONArray(Array(bytes[list.range]), isLenient: true)
        else {
            let isMissing = !body.object.members.contains { body.object.matches($0.name, "events") }
            throw .invalidBody(at: "/events", isMissing ? .required : .invalid, shape)
        }
        guard array.elements.count <= limit else { throw .invalidBody(at: "/events", .tooMany, "At most \(limit) events are permitted.") }
        return array.elements.map { $0.kind == .object ? try? ItemFields(array.bytes(of: $0), isLenient: true) : nil }
    }
}
