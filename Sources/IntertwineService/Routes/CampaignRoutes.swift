internal import Foundation
internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineOperators
internal import IntertwinePrimitives
internal import IntertwineRouting

/// The route `GET /admin/campaigns`: the delivery of each campaign, its goal and its pace.
struct CampaignRoutes: Sendable {
    /// Returns the current campaigns.
    let campaigns: @Sendable () -> Campaigns
    let store: any FeedStore

    private struct Answer: Encodable {
        struct Campaign: Encodable {
            var campaign: String
            /// The advertiser; nil if only the campaign's id is known.
            var advertiser: String?
            var priority: String?
            var state: String
            var reason: String?
            var starts: String?
            var ends: String?
            var goal: Goal?
            var delivered: Int64?
            var deliveredToday: Int64?
            var reserved: Int64
            var pace: Double?

            static let columns = [
                "campaign", "advertiser", "priority", "state", "starts", "ends", "unit", "total", "daily", "due", "due_today", "delivered",
                "delivered_today", "reserved", "pace",
            ]

            var texts: [String] {
                func text(_ number: (some BinaryInteger)?) -> String { number.map { "\($0)" } ?? "" }
                return [campaign, advertiser ?? "", priority ?? "", state, starts ?? "", ends ?? "", goal?.unit ?? ""]
                    + [text(goal?.total), text(goal?.daily), text(goal?.due), text(goal?.dueToday), text(delivered), text(deliveredToday)]
                    + [text(reserved), pace.map(LedgerReport.rounded) ?? ""]
            }
        }

        struct Goal: Encodable {
            var unit: String
            var total: Int?
            var daily: Int?
            var due: Int64?
            var dueToday: Int64?
        }

        /// An advertisement whose campaigns do not exist any more.
        struct Withheld: Encodable {
            /// The item as `kind:id`.
            var item: String
            var campaigns: [String]
        }

        /// The number of processes that share the ledger, including this one.
        var processes: Int?
        var campaigns: [Campaign]
        var withheld: [Withheld]
    }

    private enum Format: String, CaseIterable, Sendable { case json, csv }

    private static let format = Parameter.word("format", default: Format.json, "How it is written.", example: .csv)

    var routes: [Route] {
        let operation = APIOperation(
            "getCampaigns", tag: "Reports", "Campaigns, and how far they have come",
            """
            Those of the file and those of the store, by priority and id. What is reserved stands on pages that were given out, and counts \
            until it is seen or `ads.reservation` is over. `pace` is what is delivered for each place that is due by now. A campaign of the store is stopped and released as any item: `/admin/takedowns`. \
            `withheld` are ads that belong to campaigns that are gone: they stay hidden until they, or those campaigns, are released there.
            """,
            parameters: [Self.format],
            responses: [
                .json(
                    .ok, "The campaigns.", .campaigns, [.noStore], orTexts: ["text/csv"],
                    example: """
                        {"processes": 1, "campaigns": [{"campaign": "spring", "advertiser": "ACME", "priority": "standard", "state": "paced", \
                        "reason": "it is ahead of its pace", "starts": "2026-11-01T00:00:00Z", "ends": "2026-12-01T00:00:00Z", \
                        "goal": {"unit": "impressions", "total": 100000, "due": 50000}, "delivered": 50010, "deliveredToday": 2100, \
                        "pace": 1.0002, "reserved": 3}], "withheld": [{"item": "ad:7", "campaigns": ["winter"]}]}
                        """),
                .notModified,
                .badRequest(
                    "A parameter is wrong, or the request cannot be understood at all.",
                    [.init(.invalidParameter("format", .unknown, "format must be json or csv."))]), .storeUnavailable,
            ])
        return [Route(.get, "/admin/campaigns", operation) { try await respond($0) }]
    }

    /// Returns the rows of campaigns that are taken down, with their delivery.
    private func takenDown(_ campaigns: Campaigns, now: Int64) async throws -> [Answer.Campaign] {
        let takenDown = try await campaigns.takenDown(in: store)
        let delivered = try await store.read(for: .background) { _ in
            campaigns.delivery.delivered(takenDown.map { $0.campaign ?? Campaign(id: $0.id, advertiser: "", creatives: []) }, now: now)
        }
        return takenDown.enumerated().map { number, one in
            let (campaign, counted) = (one.campaign, delivered.indices.contains(number) ? delivered[number] : nil)
            return Answer.Campaign(
                campaign: one.id, advertiser: campaign?.advertiser, priority: campaign?.priority.rawValue, state: "taken-down",
                reason: "it is taken down", starts: campaign?.starts.map(Timestamp.text(milliseconds:)),
                ends: campaign?.ends.map(Timestamp.text(milliseconds:)),
                goal: campaign?.goal.map { Answer.Goal(unit: $0.unit.rawValue, total: $0.total, daily: $0.daily) },
                delivered: counted?.total, deliveredToday: counted?.today, reserved: 0)
        }
    }

    private func respond(_ request: RouteRequest) async throws -> ServerResponse {
        let campaigns = campaigns()
        let campaignIndex = try await campaigns.campaignIndex(of: store)
        // The closure reads the ledger.
        let now = request.now
        var rows: [Answer.Campaign] =
            try await store.read(for: .background) { _ in
                campaignIndex.map { campaigns.delivery.progress(of: $0, now: now) } ?? []
            }.map { progress in
                let campaign = progress.campaign
                let goal = campaign.goal.map {
                    Answer.Goal(
                        unit: $0.unit.rawValue, total: $0.total, daily: $0.daily, due: progress.due, dueToday: progress.dueToday)
                }
                let isOver = progress.obstacle == .ended || progress.obstacle == .goalReached
                let blockage = isOver ? nil : campaignIndex.flatMap { campaigns.blockage(of: campaign.id, in: $0) }
                return Answer.Campaign(
                    campaign: campaign.id, advertiser: campaign.advertiser, priority: campaign.priority.rawValue,
                    state: blockage == nil ? progress.obstacle?.state ?? "running" : "blocked",
                    reason: blockage ?? progress.obstacle?.reason,
                    starts: campaign.starts.map(Timestamp.text(milliseconds:)), ends: campaign.ends.map(Timestamp.text(milliseconds:)),
                    goal: goal,
                    delivered: progress.delivered?.total, deliveredToday: progress.delivered?.today, reserved: progress.reserved,
                    pace: progress.figures.pace.map { ($0 * 10_000).rounded() / 10_000 })
            }
        rows += try await takenDown(campaigns, now: now)
        if try request[Self.format] == .csv {
            return ServerResponse(
                status: .ok, fields: [.contentType: "text/csv; charset=utf-8", .cacheControl: "no-store"],
                body: Array(LedgerReport.csv([Answer.Campaign.columns] + rows.map(\.texts)).utf8))
        }
        let withheld = (campaignIndex?.former ?? [:]).map { creative, campaigns in
            Answer.Withheld(item: "\(creative.kind):\(creative.id)", campaigns: campaigns)
        }.sorted { $0.item < $1.item }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return ServerResponse(
            status: .ok, fields: [.contentType: "application/json", .cacheControl: "no-store"],
            body: Array(try encoder.encode(Answer(processes: campaigns.delivery.processes, campaigns: rows, withheld: withheld))))
    }
}

extension IneligibilityReason {
    fileprivate static let states = [
        "running", "scheduled", "ended", "paused", "reached", "reserved", "paced", "unknown", "blocked", "taken-down",
    ]

    /// The state of a campaign that currently cannot be shown.
    fileprivate var state: String {
        switch self {
        case .notStarted: "scheduled"
        case .ended: "ended"
        case .paused, .outsideHours: "paused"
        case .goalReached, .dailyGoalReached: "reached"
        case .reserved: "reserved"
        case .pacing: "paced"
        case .unknownDelivery: "unknown"
        default: "running"
        }
    }

    /// The reason in words, for operators.
    package var reason: String {
        switch self {
        case .notStarted: "it has not started"
        case .ended: "it has ended"
        case .paused: "it is paused"
        case .outsideHours: "it is not shown at this hour or day"
        case .goalReached: "its goal is reached"
        case .dailyGoalReached: "its goal of the day is reached"
        case .reserved: "what is left of its goal is given out and not seen yet, or held by other processes"
        case .pacing: "it is ahead of its pace"
        case .unknownDelivery: "the ledger has not told yet what it has delivered"
        case .feed: "targeting: not this feed"
        case .section: "targeting: not this section"
        case .layout: "targeting: not this layout"
        case .noCreative: "none of its creatives is there and fits the layout"
        case .locale: "targeting: none of its locales is wanted"
        case .attributes: "targeting: the viewer's attributes do not fit"
        case .capped: "capped: the viewer has seen it as often as its caps permit"
        case .noViewer: "capped: no viewer is named, so its caps cannot be enforced"
        case .label: "a campaign of the same label is shown too near (ads.label-distance)"
        case .creativesShown: "its creatives are shown too near (ads.min-distance)"
        case .notShown: "its creatives cannot be shown: the viewer has dismissed them, or the client does not support their cells"
        case .lost: "another campaign was chosen"
        }
    }
}

extension Schema {
    static let campaigns = Schema.object([
        .optional("processes", .integer(minimum: 1), "Processes that share the ledger and give places, with this one, as far as it knows."),
        .required(
            "campaigns",
            .list(
                of: Schema.object([
                    .required("campaign", .string, "Its id."),
                    .optional("advertiser", .string, "Missing where nothing but the id is known of a campaign that is taken down."),
                    .optional("priority", .words(Campaign.Priority.self)),
                    .required(
                        "state", .words(IneligibilityReason.states),
                        """
                        `running`: shown to whom it fits. `scheduled` and `ended` by its dates, `paused` by its declaration or its hours, `reached` by its goal, \
                        `reserved` where what is left of that stands on pages that were given out, `paced` where it is ahead; `unknown` until the ledger has told what it has delivered; \
                        `blocked` where no request can get it as things are: no place, no creative, or targeting that nobody fits. `taken-down` until it is released.
                        """),
                    .optional("reason", .string, "The same in words."), .optional("starts", .string), .optional("ends", .string),
                    .optional(
                        "goal",
                        Schema.object([
                            .required("unit", .words(Campaign.Goal.Unit.self)), .optional("total", .integer(minimum: 1)),
                            .optional("daily", .integer(minimum: 1)), .optional("due", .count, "Of the total, at this time."),
                            .optional("dueToday", .count, "Of the day's goal, at this time."),
                        ]).titled("CampaignGoal")),
                    .optional("delivered", .count, "Of the goal's unit, impressions without one, in all."),
                    .optional("deliveredToday", .count), .required("reserved", .count, "Given out and not seen yet."),
                    .optional(
                        "pace", .number(minimum: 0),
                        "Delivered events per event that is due at this time: of the day where it alone has a goal."),
                ]).titled("CampaignProgress"))),
        .required(
            "withheld",
            .list(
                of: Schema.object([
                    .required("item", .string, "`kind:id` of the ad."),
                    .required("campaigns", .list(of: .string), "The ids of the campaigns that it belongs to, and that are gone."),
                ]).titled("WithheldAd"))),
    ]).named("Campaigns")
}
