internal import IntertwineFeed
internal import IntertwineRouting

/// Reports and explanations.
extension Schema {
    static let report = Schema.object([
        .required("from", .date),
        .required("to", .date),
        .required("by", .words(LedgerReport.Grouping.self)),
        .required("rows", .list(of: .reportRow)),
    ]).named("Report")
    static let reportRow = Schema.object([
        .required("key", .string, "The day, ad or verdict; also under the grouping's own name."),
        .optional("day", .date),
        .optional("ad", .string, "The cell's id."),
        .optional("verdict", .string),
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
    ]).described("With the members of a row of `intertwine report --format json`.").named("ReportRow")
    private static let advertisementPlace = Schema.object([
        .required("kind", .string), .required("type", .string), .required("id", .string),
        .required("position", .integer, "Where it stands in the order of advertisements."), .required("isOnThisPage", .boolean),
        .optional("rank", .count, "How many advertisements come before it in the rotation; missing where it has no part in it."),
        .optional("page", .integer(minimum: 1), "The first page that shows it; missing where none does."),
        .optional("slot", .count, "Its index within that page's advertisements."),
        .optional("reason", .string, "Why no page shows it; missing where one does."),
    ]).titled("AdvertisementPlace")
    static let explanation = Schema.object([
        .required(
            "rotation",
            Schema.object([
                .required(
                    "scope", .words(["page", "feed"]),
                    "`page`: so many on each page, the next ones on the next. `feed`: all of them once, at the feed's midpoint."),
                .optional("perPage", .count),
                .optional(
                    "page", .integer(minimum: 1),
                    """
                    The page's number; missing where a walk from the feed's start, with this limit, layout and width, does not meet its cursor.
                    """),
                .optional(
                    "start", .integer,
                    "The position of the page's first advertisement, with which the rotation goes on here; missing where the page has none."
                ),
            ]).titled("Rotation")),
        .required(
            "items",
            .list(
                of: Schema.object([
                    .required("cell", .string),
                    .required("kind", .string),
                    .required("type", .string),
                    .required("position", .integer, "Where the item stands in the order of its kind."),
                    .required("identifier", .string, "The reuse identifier of the cell."),
                    .optional("factory", .string, "What made the cell."),
                    .optional("adSlot", .count, "The index within the page's advertisements; missing for content."),
                ]).titled("Place"))),
        .required("leftOut", .list(of: .omission), "What would have been on the page, and is not."),
        .required(
            "advertisements", .list(of: .advertisementPlace),
            """
            The first 1,000 advertisements, and where in the feed each is shown, as a walk from its start with this limit, layout and width \
            finds it.
            """),
        .required("excludedAdvertisements", .list(of: .omission), "Those of them that no page shows."),
        .optional("next", .string, "The href of the next page of the feed; missing on the last."),
        .optional("previous", .string, "The same of the one before."),
    ]).named("Explanation")
    static let omission = Schema.object([
        .required("kind", .string),
        .required("type", .string),
        .required("id", .string),
        .required("position", .integer),
        .required("reason", .string),
    ]).named("Omission")
}
