internal import IntertwineRouting

/// Schemas of the changes of pages.
extension Schema {
    static let changes = Schema.choice([.batchUpdate, .reload]).described(
        """
        What turns the cells of the pages that a client holds, one page after the other, into those of a walk over as many pages now. To apply \
        it as a batch update: take the cells at `removed` and at the `from` of `moved` out, all by their indices in the old list; put those of \
        `inserted` and the moved ones in, at their indices in the new list, the lowest first; replace those of `reconfigured`, by their indices \
        in the new list. A cell that moved and shows something else is in both. Then `pages` takes the place of what was held, and `page.next` \
        is where to go on.
        """
    ).examples(
        #"""
        {"reload": false, "removed": [{"index": 4, "id": "user:cash"}], "inserted": [], "moved": [{"from": 0, "to": 2, "id":
        "user:tt"}], "reconfigured": [], "pages": [{"count": 21, "since": "AZ-OYdNyCY8QFAAAAAt1c2VyOmFuZHJlYQ"}], "page": {
        "next": null, "previous": null}}
        """#
    ).named("Changes")
    private static let reload = Schema.object([
        .required("reload", .flag(true))
    ]).titled("Reload").described(
        """
        More has changed than is told (200 changes), more pages are held than can be asked about (16), or `since` cannot be read any more: \
        damaged, of another feed, or of an older configuration, key or version of the service. The client takes its pages anew.
        """
    ).named("Reload")
    private static let batchUpdate = Schema.object([
        .required("reload", .flag(false)),
        .required(
            "removed",
            .list(
                of: .object([
                    .required("index", .count, "In the old list."),
                    .required("id", .string, "The cell's id."),
                ])), "Cells that are gone from the list, by ascending index."),
        .required(
            "inserted",
            .list(
                of: .object([
                    .required("index", .count, "In the new list."),
                    .required("cell", .cell),
                ])), "Cells that are new in the list, by ascending index."),
        .required(
            "moved",
            .list(
                of: .object([
                    .required("from", .count, "In the old list."),
                    .required("to", .count, "In the new list."),
                    .required("id", .string, "The cell's id."),
                ])), "Cells that stand elsewhere among those that stay; as few as can be."),
        .required(
            "reconfigured",
            .list(
                of: .object([
                    .required("index", .count, "In the new list."),
                    .required("cell", .cell),
                ])), "Cells that show something else now, or whose tokens are new, by ascending index."),
        .required(
            "pages",
            .list(
                of: .object([
                    .required("count", .count, "Cells on the page."),
                    .required("since", .string.orNull, "What to ask with the next time; null as `page.since` is missing."),
                ])), "The pages that the list is made of now, fewer where the feed has become shorter."),
        .required(
            "page",
            .object([
                .required(
                    "next", .string(format: "uri-reference").orNull, "The href of the next page; null on the last. To be followed as it is."
                ),
                .required(
                    "previous", .string(format: "uri-reference").orNull,
                    "The href of the page before; null on the first. To be followed as it is."),
                .optional(
                    "sections", .list(of: .string(minLength: 1)),
                    "The names of the sections that the pages meet, in order. Only in feeds that have sections."),
            ])),
    ]).titled("Batch update").named("BatchUpdate")
}
