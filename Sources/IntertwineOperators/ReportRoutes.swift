internal import Foundation
internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import IntertwineRouting

/// The route `GET /admin/reports?from=&to=&by=`: the totals of the ledger, grouped by one or two dimensions.
struct ReportRoutes: Sendable {
    private static let day: Int64 = 86_400_000
    /// The default span of a report in days.
    private static let span = 30

    let archive: any LedgerArchive
    /// The prefixes of the cell ids of advertisements, before the colon.
    let prefixes: [String]
    /// Returns the delivery statistics of campaigns by their ids.
    let figures: @Sendable () async throws -> [String: CampaignStatistics]

    private struct Answer: Encodable {
        var from: String
        var to: String
        var by: String
        var and: String?
        /// The standard error of the distinct viewers; nil if they are not estimated.
        var viewersError: Double?
        var rows: [ReportRow]
        /// Campaigns that cannot be shown in the current state; nil if there are none, or if the report is not grouped by campaign alone.
        var blocked: [Blocked]?
    }

    private struct Blocked: Encodable {
        var campaign: String
        var reason: String
    }

    private static let from = day("from", "The first day, in UTC.", example: "2026-11-01")
    private static let to = day("to", "The last day, in UTC.", example: "2026-11-30")
    private static let by = Parameter.word("by", default: LedgerReport.Grouping.day, "What the rows are.", example: .ad)
    private enum Second: String, CaseIterable, Sendable {
        case none, day, hour, ad, campaign, advertiser, creative, feed, section, position
    }

    private enum Format: String, CaseIterable, Sendable { case json, csv }

    private enum Viewers: String, CaseIterable, Sendable { case none, estimated }

    private static let and = Parameter.word("and", default: Second.none, "What the rows are divided by once more.", example: .hour)
    private static let format = Parameter.word("format", default: Format.json, "How the report is written.", example: .csv)
    private static let viewers = Parameter.word(
        "viewers", default: Viewers.none,
        """
        `estimated`: with how many different viewers, of those with a name, impressions counted. An estimate with a standard error of 0.8 %; \
        by one grouping but `verdict` and `reason`, or by one and `day`.
        """,
        example: Viewers.none)
    private static let pathBy = Parameter<LedgerReport.Grouping>.segment("by", "What the rows are.", example: .ad)

    private static func day(_ name: String, _ text: String, example: String) -> Parameter<String?> {
        Parameter.text(name, .date, text, example: "\"\(example)\"") { (query) throws(Problem) in
            let text = try query.text(name)
            guard text.map({ number(of: $0) != nil }) ?? true else {
                throw Problem(.badRequest, .invalidParameter, "\(name) must be a day in UTC, such as 2026-11-21.")
            }
            return text
        }
    }

    var routes: [Route] {
        [
            Route(.get, "/admin/reports", Self.operation("getReport", [Self.from, Self.to, Self.by, Self.and, Self.viewers, Self.format])) {
                request in
                try await report(request, by: try request[Self.by])
            },
            Route(
                .get, "/admin/reports/{by}",
                Self.operation("getReportBy", [Self.pathBy, Self.from, Self.to, Self.and, Self.viewers, Self.format])
            ) { request in
                try await report(request, by: try request[Self.pathBy])
            },
        ]
    }

    private static func operation(_ id: String, _ parameters: [any RequestParameter]) -> APIOperation {
        APIOperation(
            id, tag: "Reports", "What the ledger counted",
            """
            Both days included, 30 of them up to today where none is named. What has the verdict `counted`, but by `verdict` and by `reason`, which \
            tells apart why tokens are unknown. By `choice` rows are the values of input fields that declare their choices, alone or by `day`. By `campaign` alone, rows tell besides how far the campaign has come by now, whatever the days.
            """,
            parameters: parameters,
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
                    "A parameter is wrong, or the request cannot be understood at all.",
                    [.init(.invalidParameter, "from must be a day in UTC, such as 2026-11-21.")]),
                .storeUnavailable,
            ])
    }

    private func report(_ request: RouteRequest, by: LedgerReport.Grouping) async throws -> ServerResponse {
        let last = try request[Self.to].flatMap(Self.number) ?? Int(request.now / Self.day)
        let first = try request[Self.from].flatMap(Self.number) ?? last - (Self.span - 1)
        guard first <= last else { throw Problem(.badRequest, .invalidParameter, "from must not be later than to.") }
        let question = LedgerReport.Query(
            days: first...last, by: by, and: LedgerReport.Grouping(rawValue: try request[Self.and].rawValue), prefixes: prefixes,
            countsViewers: try request[Self.viewers] == .estimated)
        if let fault = question.error { throw Problem(.badRequest, .invalidParameter, fault) }
        var report: LedgerReport
        var figures: [String: CampaignStatistics] = [:]
        do {
            report = try await archive.report(question)
            if question.includesPace {
                figures = try await self.figures()
                report.add(figures)
            }
        } catch is LedgerReport.TooManyRowsError {
            throw Problem(.badRequest, .invalidParameter, LedgerReport.TooManyRowsError.advice)
        }
        if try request[Self.format] == .csv {
            return ServerResponse(
                status: .ok, fields: [.contentType: "text/csv; charset=utf-8", .cacheControl: "no-store"],
                body: Array(report.csv(of: question).utf8))
        }
        let rows = report.rows.map { ReportRow(groupings: question.groupings, row: $0) }
        let blocked = figures.compactMap { campaign, figures in figures.blockage.map { Blocked(campaign: campaign, reason: $0) } }
            .sorted { $0.campaign < $1.campaign }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = try encoder.encode(
            Answer(
                from: Self.text(first), to: Self.text(last), by: by.rawValue, and: question.and?.rawValue,
                viewersError: question.countsViewers ? UniqueViewersSketch.error : nil,
                rows: rows, blocked: blocked.isEmpty ? nil : blocked))
        return ServerResponse(status: .ok, fields: [.contentType: "application/json", .cacheControl: "no-store"], body: Array(body))
    }

    private static func text(_ day: Int) -> String {
        CalendarDay(number: Int64(day)).text
    }

    /// Returns the number of a day since 1970-01-01.
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
        try row.encodeIfPresent(self.row.viewers, forKey: Name(stringValue: "viewers"))
        try row.encode(
            Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, $0.value) }), forKey: Name(stringValue: "counts"))
        try row.encodeIfPresent(clickThroughRate, forKey: Name(stringValue: "clickThroughRate"))
        for kind in LedgerEvent.Kind.allCases { try row.encode(counts[kind] ?? 0, forKey: Name(stringValue: "\(kind.rawValue)s")) }
        // The rate is rounded to four decimals, its meaningful precision.
        try row.encode(clickThroughRate.map { ($0 * 10_000).rounded() / 10_000 }, forKey: Name(stringValue: "ctr"))
        guard let campaign = self.row.campaign else { return }
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

/// Schemas of reports and explanations.
extension Schema {
    static let report = Schema.object([
        .required("from", .date),
        .required("to", .date),
        .required("by", .words(LedgerReport.Grouping.self)),
        .optional("and", .words(LedgerReport.Grouping.self)),
        .optional("viewersError", .number(minimum: 0), "The standard error of `viewers`, as a share of it."),
        .required("rows", .list(of: .reportRow)),
        .optional(
            "blocked",
            .list(of: Schema.object([.required("campaign", .string), .required("reason", .string)]).titled("BlockedCampaign")),
            "By `campaign` alone: campaigns that no request can get as things are, whether or not anything of them counted."),
    ]).named("Report")
    private static let reportRow = Schema.object([
        .required("key", .string, "The day, ad, …; also under the grouping's own name, as that of the second is."),
        .optional("hour", .time, "When it begins, in UTC."),
        .optional("campaign", .string, "Empty for none."),
        .optional("advertiser", .string, "Empty for none."),
        .optional("creative", .string, "`image`, `video`, …"),
        .optional("feed", .string, "Empty where no page's token tells."),
        .optional("section", .string, "Empty for none."),
        .optional("position", .string, "Among the cells of the page, from 0; empty where no page's token tells."),
        .optional("choice", .string, "A field of a slot's input and its value: `reason=spam`."),
        .optional("viewers", .count, "Different viewers whose impressions counted, estimated."),
        .optional("day", .date),
        .optional("ad", .string, "The cell's id."),
        .optional("verdict", .string),
        .optional(
            "reason", .string,
            "The verdict or, of what is unknown: `forged`, `misplaced` (another cell's token), `gone` (no such cell any more)."),
        .required("counts", .map(of: .count), "Events by kind; kinds without any are missing."),
        .optional("clickThroughRate", .number(minimum: 0), "Clicks per impression; missing without impressions."),
        .required("impressions", .count),
        .required("clicks", .count),
        .required("selections", .count),
        .required("deselections", .count),
        .required("dismissals", .count),
        .required("saves", .count),
        .required("undos", .count),
        .required("ctr", .number(minimum: 0).orNull, "The same rate with four decimals; null without impressions."),
        .optional("unit", .words(Campaign.Goal.Unit.self), "Of the campaign's goal."),
        .optional("total", .integer(minimum: 1), "Its goal in all."), .optional("daily", .integer(minimum: 1), "Its goal of a day."),
        .optional("delivered", .count, "Of the goal's unit, impressions without one, in all."), .optional("deliveredToday", .count),
        .optional("due", .count, "Of the total, at this time."), .optional("dueToday", .count, "Of the day's goal, at this time."),
        .optional("pace", .number(minimum: 0), "Delivered events per event that is due at this time."),
    ]).described("With the members of a row of `intertwine report --format json`.").named("ReportRow")
}
