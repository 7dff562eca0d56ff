internal import IntertwineHTTPServer

extension Schema {
    static let changes = Schema.choice([.batchUpdate, .reload]).described(
        """
        The difference between the cells of the client's pages and the cells of as many current pages. The client applies it as a batch update, in \
        four steps. 1. Remove the cells at `removed` and at `from` of `moved`, by their old indices. 2. Insert the cells of `inserted` and the moved \
        cells at their new indices, in ascending order. 3. Replace the cells of `reconfigured` at their new indices. A cell can be in both `moved` \
        and `reconfigured`. 4. Replace the sync tokens by those of `pages`, and continue at `page.next`.
        """
    ).examples(
        #"""
        {"reload": false, "removed": [{"index": 4, "id": "user:cash"}], "inserted": [], "moved": [{"from": 0, "to": 2, "id":
        "user:tt"}], "reconfigured": [], "pages": [{"count": 21, "syncToken": "AZ-OYdNyCY8QFAAAAAt1c2VyOmFuZHJlYQ"}], "page": {
        "next": null, "previous": null}}
        """#
    ).named("Changes")
    private static let reload = Schema.object([
        .required("reload", .flag(true))
    ]).titled("Reload").described(
        """
        The client requests its pages again. Causes: more than 200 changes, more than 16 pages, or an invalid sync token. A sync token is invalid if \
        it is corrupt, of another feed, or older than the configuration, the signing key or the version of the service.
        """
    ).named("Reload")
    private static let batchUpdate = Schema.object([
        .required("reload", .flag(false)),
        .required(
            "removed",
            .list(
                of: .object([
                    .required("index", .count, "The index in the old list."),
                    .required("id", .string, "The cell's id."),
                ])), "The removed cells, by ascending index."),
        .required(
            "inserted",
            .list(
                of: .object([
                    .required("index", .count, "The index in the new list."),
                    .required("cell", .cell),
                ])), "The inserted cells, by ascending index."),
        .required(
            "moved",
            .list(
                of: .object([
                    .required("from", .count, "The index in the old list."),
                    .required("to", .count, "The index in the new list."),
                    .required("id", .string, "The cell's id."),
                ])), "The minimum number of moved cells."),
        .required(
            "reconfigured",
            .list(
                of: .object([
                    .required("index", .count, "The index in the new list."),
                    .required("cell", .cell),
                ])), "The cells with changed content or new tokens, by ascending index."),
        .required(
            "pages",
            .list(
                of: .object([
                    .required("count", .count, "The number of cells on the page."),
                    .required("syncToken", .string.orNull, "The new sync token of the page; null if the page is too large for one."),
                ])), "The current pages; fewer than before if the feed is shorter now."),
        .required(
            "page",
            .object([
                .required(
                    "next", .string(format: "uri-reference").orNull,
                    "The href of the next page; null on the last page. Clients follow it unchanged."),
                .required(
                    "previous", .string(format: "uri-reference").orNull,
                    "The href of the previous page; null on the first page. Clients follow it unchanged."),
                .optional(
                    "sections", .list(of: .string(minLength: 1)),
                    "The names of the sections on the pages, in order. Present only in feeds with sections."),
            ])),
    ]).titled("Batch update").named("BatchUpdate")
}
