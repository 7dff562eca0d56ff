internal import IntertwineRouting

/// How remote sources are doing.
extension Schema {
    static let sources = Schema.object([
        .required("sources", .list(of: .source))
    ]).named("Sources")
    static let source = Schema.object([
        .required("name", .string),
        .required("url", .string, "Without its query, where keys are often kept."),
        .required("kind", .string),
        .required("every", .string),
        .required("state", .words(["running", "waiting", "failing"])),
        .optional(
            "progress",
            Schema.object([
                .required("pages", .count),
                .required("items", .count),
                .required("bytes", .count),
            ]).titled("Progress"), "Of a synchronisation under way."),
        .optional("lastSuccess", .time),
        .optional("lastAttempt", .time),
        .optional("nextAttempt", .time),
        .required("lag", .number, "Seconds since the store was last known to be in step."),
        .optional("items", .count),
        .required("skipped", .count),
        .required("pages", .count),
        .required(
            "withheld", .count, "Taken down, and therefore left out when the list was last compared with the store."),
        .required("withheldItems", .list(of: .string, maximum: 20), "The first of them, by `klass:id`."),
        .optional(
            "lastChange",
            Schema.object([
                .required("at", .time),
                .required("added", .count),
                .required("changed", .count),
                .required("removed", .count),
            ]).titled("Change")),
        .optional("lastError", .string),
        .required("failures", .count, "In a row."),
    ]).named("Source")
}
