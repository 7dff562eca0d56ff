internal import Feed
internal import Foundation
internal import HTTPServer
internal import HTTPTypes

/// `GET /admin/explain?cursor=&limit=&layout=&width=`: a page of any feed, with the reason for each of its cells.
struct ExplainRoutes: Sendable {
    let live: LiveComposition

    private struct Answer: Encodable {
        struct Place: Encodable {
            var cell: String
            var kind: String
            var type: String
            var position: Int64
            var identifier: String
            var factory: String?
            var adSlot: Int?
        }

        struct Omission: Encodable {
            var kind: String
            var type: String
            var id: String
            var position: Int64
            var reason: String
        }

        struct Rotation: Encodable {
            var scope: String
            var perPage: Int?
            var start: Int64?
        }

        var rotation: Rotation
        var items: [Place]
        var leftOut: [Omission]
        var excludedAdvertisements: [Omission]
        var next: String?
        var previous: String?
    }

    var routes: [Route] {
        [Route(.get, "/admin/explain") { try await explain($0) }]
    }

    private func explain(_ request: RouteRequest) async throws -> ServerResponse {
        let limit = try request.query.integer("limit", in: FeedRequest.limits, default: FeedRequest.defaultLimit)
        let cursor = try request.query.cursor()
        let feeds = live.current.feeds
        let feed = try cursor.map { try feeds.feed(of: $0) } ?? feeds.main
        let explanation = try await feed.explain(
            FeedRequest(
                cursor: cursor, limit: limit, now: request.now, layout: try request.query.layout(), width: try request.query.width()))
        let rotation =
            switch explanation.supply {
            case .rotating(let perPage): Answer.Rotation(scope: "page", perPage: perPage, start: explanation.rotationStart)
            case .onceAtMidpoint: Answer.Rotation(scope: "feed", perPage: nil)
            }
        let answer = Answer(
            rotation: rotation,
            items: explanation.places.map { place in
                Answer.Place(
                    cell: place.cell, kind: place.form.kind, type: place.form.variant, position: place.position,
                    identifier: place.identifier, factory: place.factory, adSlot: place.adSlot)
            }, leftOut: explanation.omissions.map(Self.omission),
            excludedAdvertisements: explanation.excludedAdvertisements.map(Self.omission),
            next: explanation.next, previous: explanation.previous)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return ServerResponse(
            status: .ok, fields: [.contentType: "application/json", .cacheControl: "no-store"], body: Array(try encoder.encode(answer)))
    }

    private static func omission(_ omission: FeedPage.Omission) -> Answer.Omission {
        let reason =
            switch omission.reason {
            case .noFactory: "no factory makes cells for \(omission.form.kind) of type \(omission.form.variant)"
            case .broken(let why): "broken: \(why)"
            case .dismissed: "dismissed by the viewer"
            }
        return Answer.Omission(
            kind: omission.form.kind, type: omission.form.variant, id: omission.id, position: omission.position, reason: reason)
    }
}
