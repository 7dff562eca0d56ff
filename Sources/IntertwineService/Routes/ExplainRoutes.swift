internal import Foundation
internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

struct ExplainRoutes: Sendable {
    let feeds: @Sendable () -> FeedCatalogue
    let kinds: ItemKinds
    let ledger: any Ledger
    let campaigns: @Sendable () -> Campaigns

    private struct Explanation: DescribedAnswer {
        struct Place: DescribedAnswer {
            static let notes: [String: PropertyNote] = [
                "position": .init(.integer, "The position of the item in the order of its kind."),
                "identifier": "The reuse identifier of the cell.",
                "factory": "The factory that made the cell.",
                "adSlot": "The index among the ads of the page; absent for content.",
                "campaign": "The campaign that the ad is shown for; absent for content and for house ads.",
            ]

            var cell: String
            var kind: String
            var type: String
            var position: Int64
            var identifier: String
            var factory: String?
            var adSlot: Int?
            var campaign: String?
        }

        struct CampaignPlace: DescribedAnswer {
            struct CampaignReason: DescribedAnswer {
                var campaign: String
                var reason: String
            }

            static let notes: [String: PropertyNote] = [
                "campaign": "The campaign that has the ad slot; absent if a house ad has it, or if it is empty.",
                "others": "The reason why each of the other campaigns does not have the slot.",
            ]

            var section: String?
            var campaign: String?
            var others: [CampaignReason]
        }

        struct AdvertisementPlace: DescribedAnswer {
            static let notes: [String: PropertyNote] = [
                "position": .init(.integer, "The position in the order of the ads."),
                "rank": "The number of ads before it in the rotation; absent if it is not part of the rotation.",
                "page": .init(.integer(minimum: 1), "The first page that shows it; absent if none does."),
                "slot": "The index among the ads of that page.",
                "reason": "The reason why no page shows it; absent if a page does.",
            ]

            var kind: String
            var type: String
            var id: String
            var position: Int64
            var isOnThisPage: Bool
            var rank: Int?
            var page: Int?
            var slot: Int?
            var reason: String?
        }

        struct Omission: DescribedAnswer {
            static let notes: [String: PropertyNote] = ["position": .init(.integer)]

            var kind: String
            var type: String
            var id: String
            var position: Int64
            var reason: String
        }

        struct TakenDown: DescribedAnswer {
            var kind: String
            var id: String
        }

        struct Rotation: DescribedAnswer {
            static let notes: [String: PropertyNote] = [
                "scope": .init(
                    .words(["page", "place", "pinned"]),
                    """
                    `page`: each page has `perPage` ads, and the next page the next ones. `place`: each ad slot of `ads.placement` has the next \
                    ad. `pinned`: each ad is pinned at its position.
                    """),
                "page": .init(
                    .integer(minimum: 1),
                    """
                    The number of the page; absent if pagination from the start of the feed, with this limit, layout and width, does not reach \
                    its cursor.
                    """),
                "start": .init(
                    .integer, "The position of the first ad of the page, at which the rotation continues; absent if the page has none."),
            ]

            var scope: String
            var perPage: Int?
            var start: Int64?
            var page: Int?
        }

        static let notes: [String: PropertyNote] = [
            "adSlots": "The ad slots that campaigns were considered for; empty if no campaign can have one.",
            "omitted": "The items that were omitted from the page.",
            "advertisements":
                """
            The first 1,000 ads, with the page and index at which pagination from the start of the feed, with this limit, layout and width, \
            shows each.
            """,
            "excludedAdvertisements": "The ads that no page shows.",
            "takenDown":
                "The first 1,000 campaigns and the first 1,000 ads that are taken down. No page shows them until they are released.",
            "next": "The href of the next page of the feed; absent on the last page.",
            "previous": "The href of the previous page; absent on the first page.",
        ]

        var rotation: Rotation
        var cells: [Place]
        var adSlots: [CampaignPlace]
        var omitted: [Omission]
        var advertisements: [AdvertisementPlace]
        var excludedAdvertisements: [Omission]
        var takenDown: [TakenDown]
        var next: String?
        var previous: String?
    }

    private static let viewer = text(
        "viewer",
        "The viewer of the page. The page omits the cells that the viewer dismissed; the caps of campaigns apply to the viewer.",
        example: "viewer-1")
    private static let attributes = text(
        "attributes", "The attributes of the viewer, in the format of `viewers.attributes-header`.", example: "plan=free")
    private static let feed = text("feed", "The name of the feed, as in `GET /feeds`.", example: "main")
    private static let section = text("section", "The name of a section of the feed. The page then has this section only.", example: "main")
    private static let cell = text(
        "cell", "An ad of campaigns. It is explained even if it is not among the first 1,000 ads.", example: "ad:7")
    private static let languages = text(
        "languages", "The preferred languages, in the format of `Accept-Language`.", example: "de-AT, en;q=0.5")

    private static func text(_ name: String, _ text: String, example: String) -> Parameter<String?> {
        Parameter.text(name, .string(minLength: 1, maxLength: 2_048), text, example: "\"\(example)\"") { (query) throws(Problem) in
            let text = try query.text(name)
            guard (1...2_048).contains(text?.unicodeScalars.count ?? 1) else {
                throw .invalidParameter(name, text?.isEmpty == true ? .invalid : .tooLong, "\(name) must be 1 to 2048 characters long.")
            }
            return text
        }
    }

    var routes: [Route] {
        typealias P = FeedParameters
        let operation = APIOperation(
            "explain", tag: "Explanations", "A page with the reason for each cell",
            """
            The page that a feed or a section returns for equal parameters and filters, for the given viewer or without one. Without `feed`, the feed is \
            that of the cursor; without a cursor, it is `/feed`.
            """,
            parameters: [
                Self.feed, Self.section, P.cursor, P.limit, P.layout, P.width, Self.viewer, Self.attributes, Self.languages, Self.cell,
                P.acceptCells,
            ],
            responses: [
                .json(
                    .ok, "The explanation of the page.", Explanation.schema, [.noStore],
                    example: """
                        {"rotation": {"scope": "page", "perPage": 1, "start": 1}, "cells": [{"cell": "ad:1", "kind": "ad", \
                        "type": "image", "position": 1, "identifier": "AdvertisementCollectionViewCell", \
                        "factory": "AdvertisementCellFactory", "adSlot": 0}], "adSlots": [], "omitted": [], \
                        "advertisements": [{"kind": "ad", "type": "image", "id": "1", "position": 1, "isOnThisPage": true, \
                        "rank": 0, "page": 1, "slot": 0}], "excludedAdvertisements": [{"kind": "ad", "type": "video", \
                        "id": "9", "position": 9, "reason": "this layout has no cell for ad of the type video"}], \
                        "takenDown": [{"kind": "campaign", "id": "autumn"}], \
                        "next": "/feed?cursor=AQ&limit=20"}
                        """),
                .notModified,
                .badRequest("A parameter is invalid, or the request is malformed.", [.wrongLimit, .wrongCursor]),
                .problem(
                    .notFound, "There is no such feed, or no such section in it.",
                    [
                        .init(.unknownFeed, "There is no such feed."), .init(.unknownSection, "There is no such section in this feed."),
                    ]),
                .storeUnavailable,
            ])
        return [Route(.get, "/admin/explain", operation) { try await explain($0) }]
    }

    private func explain(_ request: RouteRequest) async throws -> ServerResponse {
        let cursor = try request[FeedParameters.cursor]
        let feeds = feeds()
        let (name, section) = (try request[Self.feed], try request[Self.section])
        func filters(of feed: FeedAssembler) throws(Problem) -> [String: [String]] {
            let own = ["feed", "section", "viewer", "attributes", "languages", "cell"]
            return try FeedParameters.filters(request.query, besides: own, of: feed)
        }
        let feed =
            if let section {
                try feeds.section(section, of: name ?? DeclaredFeeds.mainName)
            } else if let name { try feeds.feed(name) } else if let cursor {
                try feeds.feed(of: cursor) { (try? filters(of: $0)) ?? [:] }
            } else { feeds.main }
        let viewer = try request[Self.viewer]
        var asked = FeedRequest(
            cursor: cursor, limit: try request[FeedParameters.limit], now: request.now, layout: try request[FeedParameters.layout],
            width: try request[FeedParameters.width], rotationHour: CellTokens.bucket(of: request.now))
        asked.filters = try filters(of: feed)
        if let text = request.head.headerFields[.acceptCells] {
            asked.unsupportedCells = UnsupportedCells(try ClientCapabilities(text), among: feed.factories.cells)
        }
        let targeting = TargetingContext(
            viewer: viewer, attributes: try request[Self.attributes].map { ViewerAttributes($0) },
            languages: try request[Self.languages].map { LanguagePreferences($0) },
            moment: viewer == nil ? request.now << 16 : request.now / TargetingContext.displayPeriod, allocates: false)
        let explanation = try await feed.explain(
            asked, for: PageClient(viewer, in: ledger, targeting: targeting, attributes: targeting.attributes), and: try request[Self.cell])
        func reason(_ absence: FeedExplanation.NotShownReason, for ad: FeedExplanation.Advertisement) -> String {
            guard case .inCampaigns(let ids) = absence, !ids.isEmpty else { return self.reason(absence, for: ad) }
            return ids.map { "the campaign \($0): \(self.reason(ofCampaign: $0, in: explanation, now: request.now))" }.joined(
                separator: "; ")
        }
        let stopped = explanation.takenDown.filter { $0.kind == Campaign.kind }.map(\.id)
        let page = explanation.page
        let start = page.entries.first { $0.adSlot != nil }?.position
        let rotation =
            switch explanation.supply {
            case .rotating(let perPage):
                Explanation.Rotation(scope: "page", perPage: perPage, start: start, page: explanation.number)
            case .perSlot: Explanation.Rotation(scope: "place", perPage: nil, start: start, page: explanation.number)
            case .pinned: Explanation.Rotation(scope: "pinned", perPage: nil, page: explanation.number)
            }
        let answer = Explanation(
            rotation: rotation,
            cells: page.entries.map { entry in
                let form = entry.cell.item.type
                return Explanation.Place(
                    cell: entry.id, kind: form.kind, type: form.variant, position: entry.position, identifier: entry.cell.identifier,
                    factory: feed.factories[form, asked.layout].map { String(describing: type(of: $0)) }, adSlot: entry.adSlot,
                    campaign: entry.campaign)
            },
            adSlots: explanation.decisions.map { decision in
                Explanation.CampaignPlace(
                    section: decision.section, campaign: decision.campaign,
                    others: decision.others.map { other in
                        let winner = other.obstacle == .lost ? decision.campaign.map { ": \($0)" } ?? "" : ""
                        let known = other.obstacle == .noCreative ? self.reason(ofCampaign: other.campaign, at: request.now) : nil
                        return .init(campaign: other.campaign, reason: known ?? other.obstacle.reason + winner)
                    } + stopped.map { .init(campaign: $0, reason: "it is taken down") })
            }, omitted: page.omissions.map(omission),
            advertisements: explanation.advertisements.map { ad in
                Explanation.AdvertisementPlace(
                    kind: ad.form.kind, type: ad.form.variant, id: ad.id, position: ad.position, isOnThisPage: ad.isOnThisPage,
                    rank: ad.rank,
                    page: ad.page, slot: ad.slot, reason: ad.absence.map { reason($0, for: ad) })
            },
            excludedAdvertisements: explanation.advertisements.compactMap { ad in
                ad.absence.map { absence in
                    Explanation.Omission(
                        kind: ad.form.kind, type: ad.form.variant, id: ad.id, position: ad.position, reason: reason(absence, for: ad))
                }
            },
            takenDown: explanation.takenDown.map { Explanation.TakenDown(kind: $0.kind, id: $0.id) },
            next: page.next, previous: page.previous)
        return try .noStore(json: answer)
    }

    private func omission(_ omission: FeedPage.SkippedItem) -> Explanation.Omission {
        Explanation.Omission(
            kind: omission.form.kind, type: omission.form.variant, id: omission.id, position: omission.position,
            reason: reason(omission.reason, for: omission.form))
    }

    private func reason(_ absence: FeedExplanation.NotShownReason, for ad: FeedExplanation.Advertisement) -> String {
        switch absence {
        case .omitted(let why): reason(why, for: ad.form)
        case .campaignTakenDown: "its campaign is taken down"
        case .dismissed: "the viewer has dismissed it"
        case .inCampaigns: "it is for campaigns alone (\"house\": false), and none names it"
        case .feedEnds(let pages, let shown, let paid) where shown > 0 && paid == shown:
            "campaigns have all ad slots of the feed, \(shown) on \(Self.count(pages, "page")) of this limit; no slot remains for house ads"
        case .feedEnds(let pages, let shown, let paid):
            "the feed has \(Self.count(pages, "page")) of this limit, with \(Self.count(shown, "advertisement")) in all"
                + (paid > 0 ? ", \(paid) of them for campaigns" : "")
                + ", and the rotation does not reach this one: \(ad.rank ?? 0) precede it"
        case .notAmong(let pages): "none of the first \(pages) pages of this limit shows it; further pages were not searched"
        }
    }

    /// The reason that holds for all slots; nil if there is none.
    private func reason(ofCampaign id: String, at now: Int64) -> String? {
        let campaigns = campaigns()
        if let pause = campaigns.campaign(id)?.pause(at: now) { return pause.reason }
        return campaigns.blockage(of: id, now: now).map { "it is blocked: \($0)" }
    }

    private func reason(ofCampaign id: String, in explanation: FeedExplanation, now: Int64) -> String {
        if let reason = reason(ofCampaign: id, at: now) { return reason }
        var reasons: [String] = []
        for decision in explanation.decisions {
            guard let other = decision.others.first(where: { $0.campaign == id }), !reasons.contains(other.obstacle.reason) else {
                continue
            }
            reasons.append(other.obstacle.reason)
        }
        return reasons.isEmpty ? "it has no ad slot on the searched pages" : reasons.joined(separator: ", ")
    }

    private static func count(_ number: Int, _ thing: String) -> String { "\(number) \(thing)\(number == 1 ? "" : "s")" }

    private func reason(_ reason: FeedPage.SkippedItem.Reason, for form: ItemType) -> String {
        switch reason {
        case .noFactory:
            kinds[form.kind] == nil
                ? "the kind \(form.kind) is not declared" + (kinds.note.map { ": \($0)" } ?? "")
                : "this layout has no cell for \(form.kind)\(form.variant.isEmpty ? "" : " of the type \(form.variant)")"
        case .broken(let why): "broken: \(why)"
        case .unknownToClient: reason.lack ?? ""
        }
    }
}
