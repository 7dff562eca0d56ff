internal import Foundation
internal import HTTPTypes
package import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import IntertwineStorage

struct CampaignRoutes: Sendable {
    let campaigns: @Sendable () -> IntertwineFeed.Campaigns
    let store: any ItemStore

    private struct Campaigns: DescribedAnswer {
        struct CampaignProgress: DescribedAnswer {
            static let notes: [String: PropertyNote] = [
                "campaign": "The id.", "advertiser": "Absent if only the id is known of a campaign that is taken down.",
                "priority": .init(.words(Campaign.Priority.self)),
                "state": .init(
                    .words(IneligibilityReason.states),
                    """
                    `running`: shown to matching viewers. `scheduled`, `ended`: by its dates. `paused`: by its declaration or its hours. `reached`: \
                    the goal is delivered. `under-way`: the rest of the goal is expected from the offers so far. `paced`: ahead of its pace. \
                    `unknown`: its delivery is not known yet. `blocked`: no request can get it, because it has no ad slot, no creative, or \
                    targeting without matching viewers. `taken-down`: until it is released.
                    """),
                "reason": "The reason for the state, in words.",
                "origin": .init(.words(["file", "store"])),
                "override": .init(.words(Campaign.Override.self), "The value that an operator has set in place of `paused` of the file."),
                "delivered": "The total delivery in the goal's unit, or in impressions without a goal.",
                "surplus": "The events after a goal or a cap was reached. They are not delivered.",
                "offers": "The ad slots that were given to the campaign; absent without a goal.",
                "viewRate": .init(.number(minimum: 0), "The measured part of the offers that is seen, or clicked."),
                "lag": .init(.number(minimum: 0), "The seconds in which 63 % of these events follow their offer."),
                "expected": .init(.number(minimum: 0), "The number of events that the offers so far are expected to bring yet."),
                "pace": .init(
                    .number(minimum: 0), "Delivered events per due event, of the day if the campaign has only a daily goal."),
            ]

            var campaign: String
            var advertiser: String?
            var priority: String?
            var state: String
            var reason: String?
            var origin: String?
            var override: String?
            var starts: String?
            var ends: String?
            var goal: CampaignGoal?
            var delivered: Int64?
            var deliveredToday: Int64?
            var surplus: Int64?
            var offers: Int64?
            var viewRate: Double?
            var lag: Double?
            var expected: Double?
            var pace: Double?

            static let columns = [
                "campaign", "advertiser", "priority", "state", "starts", "ends", "unit", "total", "daily", "due", "due_today", "delivered",
                "delivered_today", "surplus", "offers", "view_rate", "lag", "expected", "pace",
            ]

            var texts: [String] {
                func text(_ number: (some BinaryInteger)?) -> String { number.map { "\($0)" } ?? "" }
                return [campaign, advertiser ?? "", priority ?? "", state, starts ?? "", ends ?? "", goal?.unit ?? ""]
                    + [text(goal?.total), text(goal?.daily), text(goal?.due), text(goal?.dueToday), text(delivered), text(deliveredToday)]
                    + [text(surplus), text(offers)] + [viewRate, lag, expected, pace].map { $0.map(LedgerReport.rounded) ?? "" }
            }
        }

        struct CampaignGoal: DescribedAnswer {
            static let notes: [String: PropertyNote] = [
                "unit": .init(.words(Campaign.Goal.Unit.self)), "total": .init(.integer(minimum: 1)), "daily": .init(.integer(minimum: 1)),
                "due": "The part of the total goal that is due now.",
                "dueToday": "The part of the daily goal that is due now, at most what is left of the total goal.",
            ]

            var unit: String
            var total: Int?
            var daily: Int?
            var due: Int64?
            var dueToday: Int64?
        }

        static let notes: [String: PropertyNote] = [
            "processes": .init(
                .integer(minimum: 1), "The known number of processes that share the ledger and serve campaigns, including this one.")
        ]

        var processes: Int?
        var campaigns: [CampaignProgress]
        var page: ListPage
    }

    private static let takenDown = "taken-down"

    private enum Format: String, CaseIterable, Sendable { case json, csv }

    private static let format = Parameter.word(
        "format", default: Format.json, "The format of the response. CSV has all campaigns, without pagination.", example: .csv)

    var routes: [Route] {
        let operation = APIOperation(
            "getCampaigns", tag: "Reports", "The campaigns and their delivery",
            """
            The campaigns of the file and of the store, sorted by priority and id; campaigns that are taken down are last. An offer is an ad slot \
            of a page that was given to a campaign with a goal. `/admin/takedowns` stops and releases a campaign of the store.
            """,
            parameters: [Self.format, ListPage.limit, ListPage.cursor],
            responses: [
                .json(
                    .ok, "The campaigns.", Campaigns.schema, [.noStore, .nextLink], orTexts: ["text/csv"],
                    example: """
                        {"processes": 1, "campaigns": [{"campaign": "spring", "advertiser": "ACME", "priority": "standard", "state": "paced", \
                        "reason": "it is ahead of its pace", "starts": "2026-11-01T00:00:00Z", "ends": "2026-12-01T00:00:00Z", \
                        "goal": {"unit": "impressions", "total": 100000, "due": 50000}, "delivered": 50010, "deliveredToday": 2100, \
                        "surplus": 2, "offers": 61200, "viewRate": 0.81, "lag": 24.5, "expected": 3.2, "pace": 1.0002}], \
                        "page": {"limit": 100, "next": null}}
                        """),
                .notModified,
                .badRequest(
                    "A parameter is invalid, or the request is malformed.",
                    [.init(.invalidParameter("format", .unknown, "format must be json or csv."), name: "format")]
                        + ListPage.invalidParameters),
                .storeUnavailable,
            ])
        let overriding = APIOperation(
            "overrideCampaign", tag: "Reports", "Pause or resume a campaign of the file",
            """
            The override replaces `paused` of the file until it is deleted. It is stored, so every process follows it and a restart keeps it. A \
            campaign of the store has `paused` in its item.
            """, parameters: [Self.id],
            body: RequestBodyDescription(
                .object([.required("paused", .boolean, "True pauses the campaign; false lets it run.")], isClosed: true), isRequired: true,
                example: #"{"paused": true}"#),
            responses: [
                .empty(.noContent, "The override is stored."),
                .badRequest(
                    "The body is invalid, or the request is malformed.",
                    [.init(.invalidBody(at: "", .invalid, "The body must be JSON: one object."))]),
                .forbidden, Self.undeclared, .contentTooLarge,
                .problem(.unprocessableContent, "`paused` is not a boolean, or another member is there.", [.init(Self.invalidPause)]),
                .storeUnavailable,
            ])
        let releasing = APIOperation(
            "releaseCampaign", tag: "Reports", "Return a campaign to its file", "The override is deleted.", parameters: [Self.id],
            responses: [
                .empty(.noContent, "The campaign is as its file declares it."), .badRequest, .forbidden, Self.undeclared, .storeUnavailable,
            ])
        return [
            Route(.get, "/admin/campaigns", operation) { try await respond($0) },
            Route(.put, "/admin/campaigns/{id}/override", overriding) { request in
                let fields = try request.object()
                try fields.refuseMembers(besides: ["paused"])
                guard let isPaused = try? fields.flag("paused") else { throw Self.invalidPause }
                return try await override(request, isPaused ? .paused : .running)
            },
            Route(.delete, "/admin/campaigns/{id}/override", releasing) { try await override($0, nil) },
        ]
    }

    private static let id = Parameter.segment("id", .string(minLength: 1), "The id of the campaign.", example: #""spring""#)
    private static let unknown = Problem(.notFound, nil, "The campaign file has no such campaign.")
    private static let undeclared = ResponseDescription.problem(.notFound, "The campaign file has no such campaign.", [.init(unknown)])
    private static let invalidPause = Problem.invalidMember("paused", .invalid, "must be a boolean")

    private func override(_ request: RouteRequest, _ override: Campaign.Override?) async throws -> ServerResponse {
        let id = try request[Self.id]
        let isDeclared = campaigns().isDeclared(id)
        guard isDeclared || override == nil else { throw Self.unknown }
        try await AuditContext.begin()
        if let override {
            _ = try await store.takeDown(ItemKey(kind: override.kind, id: id), at: request.now)
        } else {
            // The file may not declare the campaign any more.
            let count = try await store.release(Campaign.Override.allCases.map { ItemKey(kind: $0.kind, id: id) })
            guard isDeclared || count > 0 else { throw Self.unknown }
        }
        AuditContext.current?.record([override?.rawValue ?? "released": 1], items: ["\(Campaign.kind):\(id)"])
        return ServerResponse(status: .noContent)
    }

    private func takenDown(_ campaigns: IntertwineFeed.Campaigns, now: Int64) async throws -> [Campaigns.CampaignProgress] {
        let takenDown = try await campaigns.takenDown(in: store)
        let delivered = try await store.read(for: .background) { _ in
            campaigns.delivery.delivered(takenDown.map { $0.campaign ?? Campaign(id: $0.id, advertiser: "", creatives: []) }, now: now)
        }
        return takenDown.enumerated().map { number, one in
            let (campaign, counted) = (one.campaign, delivered.indices.contains(number) ? delivered[number] : nil)
            return Campaigns.CampaignProgress(
                campaign: one.id, advertiser: campaign?.advertiser, priority: campaign?.priority.rawValue, state: Self.takenDown,
                reason: "it is taken down", starts: campaign?.starts.map(Timestamp.text(milliseconds:)),
                ends: campaign?.ends.map(Timestamp.text(milliseconds:)),
                goal: campaign?.goal.map { Campaigns.CampaignGoal(unit: $0.unit.rawValue, total: $0.total, daily: $0.daily) },
                delivered: counted?.total, deliveredToday: counted?.today, surplus: counted?.surplus, offers: counted?.offers)
        }
    }

    private func respond(_ request: RouteRequest) async throws -> ServerResponse {
        let campaigns = campaigns()
        let campaignIndex = try await campaigns.campaignIndex(of: store)
        // The closure reads the ledger.
        let now = request.now
        func rounded(_ number: Double?) -> Double? { number.map { ($0 * 10_000).rounded() / 10_000 } }
        var rows: [Campaigns.CampaignProgress] =
            try await store.read(for: .background) { _ in
                campaignIndex.map { campaigns.delivery.progress(of: $0, now: now) } ?? []
            }.map { progress in
                let campaign = progress.campaign
                let goal = campaign.goal.map {
                    Campaigns.CampaignGoal(
                        unit: $0.unit.rawValue, total: $0.total, daily: $0.daily, due: progress.due, dueToday: progress.dueToday)
                }
                let isOver = [.ended, .goalReached, .paused, .stopped].contains(progress.obstacle)
                let blockage = isOver ? nil : campaignIndex.flatMap { campaigns.blockage(of: campaign.id, in: $0, now: now) }
                return Campaigns.CampaignProgress(
                    campaign: campaign.id, advertiser: campaign.advertiser, priority: campaign.priority.rawValue,
                    state: blockage == nil ? progress.obstacle?.state ?? "running" : "blocked",
                    reason: blockage ?? progress.obstacle?.reason,
                    origin: campaigns.isDeclared(campaign.id) ? "file" : "store", override: campaign.override?.rawValue,
                    starts: campaign.starts.map(Timestamp.text(milliseconds:)), ends: campaign.ends.map(Timestamp.text(milliseconds:)),
                    goal: goal,
                    delivered: progress.delivered?.total, deliveredToday: progress.delivered?.today,
                    surplus: progress.delivered?.surplus, offers: goal == nil ? nil : progress.delivered?.offers,
                    viewRate: rounded(progress.expectation?.viewRate), lag: rounded(progress.expectation?.lag),
                    expected: rounded(progress.expectation?.expected), pace: rounded(progress.figures.pace))
            }
        rows += try await takenDown(campaigns, now: now)
        if try request[Self.format] == .csv {
            return ServerResponse(
                status: .ok, fields: [.contentType: "text/csv; charset=utf-8", .cacheControl: "no-store"],
                body: Array(LedgerReport.csv([Campaigns.CampaignProgress.columns] + rows.map(\.texts)).utf8))
        }
        let (shown, page) = try ListPage.page(of: rows, for: request, path: "/admin/campaigns") { row in
            // Campaigns that are taken down are last.
            let tier = row.state == Self.takenDown ? nil : Campaign.Priority.allCases.firstIndex { $0.rawValue == row.priority }
            return "\(tier ?? 9):\(row.campaign)"
        }
        return try page.response(Campaigns(processes: campaigns.delivery.processes, campaigns: shown, page: page))
    }
}

extension IneligibilityReason {
    fileprivate static let states = [
        "running", "scheduled", "ended", "paused", "reached", "under-way", "paced", "unknown", "blocked", "taken-down",
    ]

    fileprivate var state: String {
        switch self {
        case .notStarted: "scheduled"
        case .ended: "ended"
        case .paused, .stopped, .outsideHours: "paused"
        case .goalReached, .dailyGoalReached: "reached"
        case .underWay: "under-way"
        case .pacing: "paced"
        case .unknownDelivery: "unknown"
        default: "running"
        }
    }

    package var reason: String {
        switch self {
        case .notStarted: "it has not started"
        case .ended: "it has ended"
        case .paused: "it is paused"
        case .stopped: "an operator has paused it"
        case .outsideHours: "it is not shown at this hour or day"
        case .goalReached: "its goal is reached"
        case .dailyGoalReached: "its goal of the day is reached"
        case .underWay: "what is left of its goal is expected from the ads that pages show already"
        case .pacing: "it is ahead of its pace"
        case .unknownDelivery: "its delivery is not known yet"
        case .feed: "targeting: not this feed"
        case .section: "targeting: not this section"
        case .layout: "targeting: not this layout"
        case .noCreative: "none of its creatives is there and fits the layout"
        case .locale: "targeting: none of its locales is wanted"
        case .attributes: "targeting: the viewer's attributes, or the filters of the page, do not fit"
        case .capped: "capped: the viewer has seen it as often as its caps permit"
        case .noViewer: "capped: no viewer is named, so its caps cannot be enforced"
        case .label: "a campaign of the same label is shown too near (ads.min-label-distance)"
        case .creativesShown: "its creatives are shown too near (ads.min-distance)"
        case .notShown: "its creatives cannot be shown: the viewer has dismissed them, or the client does not support their cells"
        case .lost: "another campaign was chosen"
        }
    }
}
