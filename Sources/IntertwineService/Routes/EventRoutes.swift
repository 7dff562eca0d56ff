internal import Foundation
internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineRouting

/// The route `POST /events`: a batch of impressions that a client reports.
struct EventRoutes: Sendable {
    private static let limit = 500
    /// The maximum size of a body in bytes: 500 events with a token and a cell id each.
    private static let bodyLimit = 512 << 10

    static let types = [CommandKey.impression.rawValue] + CommandKey.playback.map(\.rawValue)
    private static let playback = CommandKey.playback.map { "`\($0.rawValue)`" }.joined(separator: ", ")

    let performer: ActionPerformer
    let clients: ClientReader
    let keys: IdempotencyKeys

    private struct Event: Decodable {
        var type: String
        var cell: String
        var token: String
    }

    private struct EventResult: Encodable {
        var type: String
        var cell: String
        var verdict: String
    }

    var routes: [Route] {
        let shape = #"The body must be a JSON array of {"type": "impression", "cell": "…", "token": "…"}."#
        let operation = APIOperation(
            "reportEvents", tag: "Actions", "Report what was seen and played",
            """
            The types are `impression` and, of what is played, \(Self.playback). Each event gets its verdict, in order. What counts is in the ledger, on disk, before it is answered. A token counts once for each type: for its \
            viewer or, where none is named, for its page view, which is one address with the page that the token came on, whatever it calls \
            its user agent. An idempotency key is kept where an event counted. With `dryRun=true` events are refused (400): what they \
            count for is known only once they are recorded.
            """,
            parameters: [FeedParameters.viewer, Parameter.idempotencyKey],
            body: RequestBodyDescription(
                .list(of: .event, maximum: Self.limit), text: "At most \(Self.limit) events and \(Self.bodyLimit >> 10) KiB.",
                example: #"[{"type": "impression", "cell": "ad:1", "token": "kWaFAAEAB5v5AABhZDoxhf68C_gOsrJndt62ynrVzA"}]"#),
            responses: [
                .json(
                    .accepted, "Judged.", .list(of: .judgedEvent, maximum: Self.limit), [.noStore],
                    example: #"[{"type": "impression", "cell": "ad:1", "verdict": "counted"}]"#),
                .badRequest(
                    "The body is not an array of events, or has more than \(Self.limit); or the viewer's name or the idempotency key is invalid.",
                    [.init(.invalidBody(at: "", .invalid, shape)), .wrongViewer]),
                .keyReused,
            ])
        return [Route(.post, "/events", operation, bodyLimit: Self.bodyLimit) { try await record($0) }]
    }

    private func record(_ request: RouteRequest) async throws -> ServerResponse {
        guard try !request[FeedParameters.dryRun] else {
            throw Problem.invalidParameter(
                FeedParameters.dryRun.description.name, .invalid, "Events cannot be simulated: what they count for is known once they are recorded.")
        }
        let events = try Self.events(in: request.request.body.bytes ?? [])
        let client = try clients.fingerprint(of: request.head, from: request.request.peer.address, now: request.now)
        let sightings = events.map { ActionPerformer.ImpressionReport(cell: $0.cell, token: $0.token, slot: CommandKey($0.type)) }
        let key = try keys.key(of: request, viewer: client.viewer)
        let verdicts = try await performer.impressions(sightings, for: client, now: request.now, idempotency: key)
        let judged = zip(events, verdicts).map { EventResult(type: $0.type, cell: $0.cell, verdict: $1.rawValue) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = try encoder.encode(judged)
        return ServerResponse(status: .accepted, fields: [.contentType: "application/json", .cacheControl: "no-store"], body: Array(body))
    }

    private static func events(in body: [UInt8]) throws(Problem) -> [Event] {
        let events: [Event]
        do {
            events = try JSONDecoder().decode([Event].self, from: Data(body))
        } catch {
            throw .invalidBody(
                at: "", .invalid, #"The body must be a JSON array of {"type": "impression", "cell": "…", "token": "…"}."#)
        }
        guard events.allSatisfy({ event in types.contains(event.type) }) else {
            throw .invalidBody(at: "", .unknown, "The types of events are \(types.joined(separator: ", ")).")
        }
        guard events.count <= limit else { throw .invalidBody(at: "", .tooMany, "At most \(limit) events at a time.") }
        return events
    }
}
