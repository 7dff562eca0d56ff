internal import Foundation
internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

struct ReportRoutes: Sendable {
    private static let day: Int64 = 86_400_000
    private static let span = 30

    let archive: any LedgerArchive
    let prefixes: [String]
    let figures: @Sendable () async throws -> [String: CampaignStatistics]
    let ownDays: @Sendable (ClosedRange<Int>) async throws -> LedgerReport

    private struct Answer: Encodable {
        var from: String
        var to: String
        var by: String
        var thenBy: String?
        var rows: [ReportRow]
        var blocked: [Blocked]?
        var unknownZones: [String]?
    }

    private struct Blocked: Encodable {
        var campaign: String
        var reason: String
    }

    private static let from = day(
        "from", "The first day of the report, in UTC. The default is 29 days before the last day.", example: "2026-11-01")
    private static let to = day("to", "The last day of the report, in UTC. The default is today.", example: "2026-11-30")
    private static let by = Parameter.word("by", default: LedgerReport.Grouping.day, "The grouping of the rows.", example: .ad)
    private enum Second: String, CaseIterable, Sendable {
        case none, day, hour, ad, campaign, advertiser, creative, feed, section, position
    }

    private enum Format: String, CaseIterable, Sendable { case json, csv }

    private static let thenBy = Parameter.word("thenBy", default: Second.none, "The second grouping of the rows.", example: .hour)
    private static let zone = Parameter.word(
        "zone", default: LedgerReport.Query.Zone.utc,
        "The time zone of the days. `campaign`: that of each campaign, in a report by campaign and then by day, without the events of house ads.",
        example: .campaign)
    private static let format = Parameter.word("format", default: Format.json, "The format of the report.", example: .csv)

    private static func day(_ name: String, _ text: String, example: String) -> Parameter<String?> {
        Parameter.text(name, .date, text, example: "\"\(example)\"") { (query) throws(Problem) in
            let text = try query.text(name)
            guard text.map({ number(of: $0) != nil }) ?? true else {
                throw .invalidParameter(name, .invalid, "\(name) must be a day in UTC, such as 2026-11-21.")
            }
            return text
        }
    }

    var routes: [Route] {
        [
            Route(.get, "/admin/reports", Self.operation) { try await report($0) }
        ]
    }

    private static let operation =
        APIOperation(
            "getReport", tag: "Reports", "A report on the ledger's counts",
            """
            The report includes both days. Rows have the counts of events with the verdict `counted`. Grouped by `verdict` or `reason`, rows have the \
            counts of all events; `reason` distinguishes the causes of the verdict `unknown`. Grouped by `choice`, rows are the values of input fields \
            with declared choices, and by `context` the values of filters in force; the second grouping can be `day`. Grouped by `campaign` alone, rows also have the current delivery of the campaign, \
            independent of the days.
            """,
            parameters: [from, to, by, thenBy, zone, format],
            responses: [
                .json(
                    .ok, "The report.", .report, [.noStore], orTexts: ["text/csv"],
                    example: """
                        {"from": "2026-11-21", "to": "2026-11-21", "by": "day", "rows": [{"key": "2026-11-21", "day": "2026-11-21", \
                        "counts": {"impression": 40, "click": 2}, "clickThroughRate": 0.05, "impressions": 40, "clicks": 2, "selections": 0, \
                        "deselections": 0, "dismissals": 0, "saves": 0, "undos": 0, "ctr": 0.05}]}
                        """),
                .notModified,
                .badRequest(
                    "A parameter is invalid, or the request is malformed.",
                    [.init(.invalidParameter("from", .invalid, "from must be a day in UTC, such as 2026-11-21."))]),
                .storeUnavailable,
            ])

    private func report(_ request: RouteRequest) async throws -> ServerResponse {
        let last = try request[Self.to].flatMap(Self.number) ?? Int(request.now / Self.day)
        let first = try request[Self.from].flatMap(Self.number) ?? last - (Self.span - 1)
        guard first <= last else { throw Problem.invalidParameters(["from", "to"], .conflict, "from must not be later than to.") }
        var question = LedgerReport.Query(
            days: first...last, by: try request[Self.by], and: LedgerReport.Grouping(rawValue: try request[Self.thenBy].rawValue),
            prefixes: prefixes)
        question.zone = try request[Self.zone]
        if let fault = question.error {
            throw Problem.invalidParameters([Self.by.description.name, Self.thenBy.description.name], .conflict, fault)
        }
        var report: LedgerReport
        var figures: [String: CampaignStatistics] = [:]
        do {
            report = try await question.zone == .campaign ? ownDays(question.days) : archive.report(question)
            if question.includesPrice {
                figures = try await self.figures()
                report.add(figures)
            }
        } catch is LedgerReport.TooManyRowsError {
            throw Problem.invalidParameters(["from", "to"], .outOfRange, LedgerReport.TooManyRowsError.advice)
        }
        if try request[Self.format] == .csv {
            return ServerResponse(
                status: .ok, fields: [.contentType: "text/csv; charset=utf-8", .cacheControl: "no-store"],
                body: Array(report.csv(of: question).utf8))
        }
        let rows = report.rows.map { ReportRow(groupings: question.groupings, row: $0) }
        let blocked = (question.includesPace ? figures : [:]).compactMap { campaign, figures in
            figures.blockage.map { Blocked(campaign: campaign, reason: $0) }
        }
        .sorted { $0.campaign < $1.campaign }
        return try .noStore(
            json: Answer(
                from: Self.text(first), to: Self.text(last), by: question.by.rawValue, thenBy: question.and?.rawValue,
                rows: rows, blocked: blocked.isEmpty ? nil : blocked,
                unknownZones: report.unknownZones.isEmpty ? nil : report.unknownZones.sorted()))
    }

    private static func text(_ day: Int) -> String {
        CalendarDay(number: Int64(day)).text
    }

    private static func number(of day: String) -> Int? {
        CalendarDay(day).map { Int($0.number) }
    }
}

/// A row of a report: the members of a row of `intertwine report --format json`, and the earlier members of this route.
struct ReportRow: Encodable {
    private struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    let groupings: [LedgerReport.Grouping]
    let row: LedgerReport.Row

    func encode(to encoder: any Encoder) throws {
        let (keys, counts, clickThroughRate) = (self.row.keys.map(\.text), self.row.counts, self.row.clickThroughRate)
        var row = encoder.container(keyedBy: Name.self)
        try row.encode(keys[0], forKey: Name(stringValue: "key"))
        for (grouping, key) in zip(groupings, keys) { try row.encode(key, forKey: Name(stringValue: grouping.rawValue)) }
        try row.encode(
            Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, $0.value) }), forKey: Name(stringValue: "counts"))
        try row.encodeIfPresent(clickThroughRate, forKey: Name(stringValue: "clickThroughRate"))
        for kind in LedgerEvent.Kind.allCases { try row.encode(counts[kind] ?? 0, forKey: Name(stringValue: "\(kind.rawValue)s")) }
        // The rate is rounded to four decimals, its meaningful precision.
        try row.encode(clickThroughRate.map { ($0 * 10_000).rounded() / 10_000 }, forKey: Name(stringValue: "ctr"))
        guard let campaign = self.row.campaign else { return }
        try row.encodeIfPresent(campaign.spend(of: counts), forKey: Name(stringValue: "spend"))
        try row.encodeIfPresent(campaign.price?.currency, forKey: Name(stringValue: "currency"))
        guard groupings.count == 1 else { return }
        try row.encodeIfPresent(campaign.unit?.rawValue, forKey: Name(stringValue: "unit"))
        try row.encodeIfPresent(campaign.total, forKey: Name(stringValue: "total"))
        try row.encodeIfPresent(campaign.daily, forKey: Name(stringValue: "daily"))
        try row.encodeIfPresent(campaign.delivered, forKey: Name(stringValue: "delivered"))
        try row.encodeIfPresent(campaign.deliveredToday, forKey: Name(stringValue: "deliveredToday"))
        try row.encodeIfPresent(campaign.due, forKey: Name(stringValue: "due"))
        try row.encodeIfPresent(campaign.dueToday, forKey: Name(stringValue: "dueToday"))
        try row.encodeIfPresent(campaign.pace.map { ($0 * 10_000).rounded() / 10_000 }, forKey: Name(stringValue: "pace"))
    }
}

extension Schema {
    static let report = Schema.object([
        .required("from", .date),
        .required("to", .date),
        .required("by", .words(LedgerReport.Grouping.self)),
        .optional("thenBy", .words(LedgerReport.Grouping.self), "The second grouping; absent if there is none."),
        .required("rows", .list(of: .reportRow)),
        .optional(
            "blocked",
            .list(of: Schema.object([.required("campaign", .string), .required("reason", .string)]).titled("BlockedCampaign")),
            "Grouped by `campaign` alone: the campaigns that cannot be shown in the current state, with or without counted events."),
        .optional(
            "unknownZones", .list(of: .string),
            "With `zone=campaign`: the campaigns with counts that are gone, so that their zone is not known. They have no rows."),
    ]).named("Report")
    private static let reportRow = Schema.object([
        .required(
            "key", .string,
            "The value of the first grouping. A member with the name of the grouping has the same value. The second grouping has such a member too."
        ),
        .optional("hour", .time, "The start of the hour, in UTC."),
        .optional("campaign", .string, "The id; empty without a campaign."),
        .optional("advertiser", .string, "The name; empty without an advertiser."),
        .optional("creative", .string, "The type of the creative: `image`, `video`, …"),
        .optional("feed", .string, "The name of the feed; empty if the event has no token of a page."),
        .optional("section", .string, "The name; empty without a section."),
        .optional("position", .string, "The index among the cells of the page; empty if the event has no token of a page."),
        .optional("choice", .string, "A field of a slot's input and its value, such as `reason=spam`."),
        .optional("context", .string, "A filter and its value, such as `category=music`."),
        .optional("day", .date),
        .optional("ad", .string, "The id of the cell."),
        .optional("verdict", .string),
        .optional(
            "reason", .string,
            "The verdict. Instead of `unknown`: `forged`, `misplaced` (the token of another cell) or `gone` (the cell does not exist any more)."
        ),
        .required("counts", .map(of: .count), "The number of events by kind. Kinds without events are absent."),
        .optional("clickThroughRate", .number(minimum: 0), "Clicks per impression; absent without impressions."),
        .required("impressions", .count),
        .required("clicks", .count),
        .required("selections", .count),
        .required("deselections", .count),
        .required("dismissals", .count),
        .required("saves", .count),
        .required("undos", .count),
        .required("ctr", .number(minimum: 0).orNull, "`clickThroughRate`, rounded to four decimals; null without impressions."),
        .optional("unit", .words(Campaign.Goal.Unit.self), "The unit of the campaign's goal."),
        .optional("total", .integer(minimum: 1), "The total goal."), .optional("daily", .integer(minimum: 1), "The daily goal."),
        .optional("delivered", .count, "The total delivery in the goal's unit, or in impressions without a goal."),
        .optional("deliveredToday", .count, "The delivery of the current day."),
        .optional("due", .count, "The part of the total goal that is due now."),
        .optional("dueToday", .count, "The part of the daily goal that is due now, at most what is left of the total goal."),
        .optional("pace", .number(minimum: 0), "Delivered events per due event."),
        .optional("spend", .string, "Grouped by `campaign` first: the price of the row's counted events, if the campaign has a price."),
        .optional("currency", .string, "The currency of `spend`."),
    ]).described("A row has all members of a row of `intertwine report --format json`.").named("ReportRow")
}
