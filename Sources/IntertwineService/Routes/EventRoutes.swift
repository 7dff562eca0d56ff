internal import Foundation
internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer

struct EventRoutes: Sendable {
    static let limit = 500
    /// The maximum size of a body in bytes: 500 events with a token and a cell id each.
    private static let bodyLimit = 512 << 10

    static let types = [CommandKey.impression.rawValue] + CommandKey.playback.map(\.rawValue)
    private static let playback = CommandKey.playback.map { "`\($0.rawValue)`" }.joined(separator: ", ")

    let performer: ActionPerformer
    let clients: ClientReader
    let keys: IdempotencyKeys

    private struct Report: Decodable {
        struct Event: Decodable {
            var type: String
            var cell: String
            var token: String
        }

        var events: [Event]
    }

    private struct EventResults: DescribedAnswer {
        struct EventResult: DescribedAnswer {
            static let about: String? = "The verdict on an event."
            static let notes: [String: PropertyNote] = ["type": .init(.words(EventRoutes.types)), "verdict": .init(.verdict)]

            var type: String
            var cell: String
            var verdict: String
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
            disk before the response. A token counts once for each type and viewer. If no viewer is named, it counts once for each page and address. \
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
        let events = try Self.events(in: request)
        let client = try await clients.fingerprint(of: request.head, from: request.request.peer.address, now: request.now)
        let sightings = events.map { ActionPerformer.ImpressionReport(cell: $0.cell, token: $0.token, slot: CommandKey($0.type)) }
        let key = try keys.key(of: request, viewer: client.viewer)
        let verdicts = try await performer.impressions(sightings, for: client, now: request.now, idempotency: key)
        let results = zip(events, verdicts).map { EventResults.EventResult(type: $0.type, cell: $0.cell, verdict: $1.rawValue) }
        return try .noStore(json: EventResults(results: results))
    }

    private static func events(in request: RouteRequest) throws(Problem) -> [Report.Event] {
        let events = try request.body(as: Report.self, shape).events
        guard events.count <= limit else { throw .invalidBody(at: "/events", .tooMany, "At most \(limit) events are permitted.") }
        let unknown = events.indices.filter { !types.contains(events[$0].type) }
        guard unknown.isEmpty else {
            let detail = "The types of events are \(types.joined(separator: ", "))."
            throw .invalidBody(detail, unknown.map { InvalidValue(.pointer("/events/\($0)/type"), .unknown, detail) })
        }
        return events
    }
}
