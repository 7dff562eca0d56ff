internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer

enum FeedParameters {
    /// Returns true for what advertisers, mail services and analytics add to links, and for what keeps a cache from answering.
    private static func isIgnored(_ name: String) -> Bool {
        let name = name.lowercased()
        let known = [
            "", "cachebuster", "cb", "ef_id", "epik", "igsh", "igshid", "li_fat_id", "mibextid", "mkt_tok", "nocache", "ref", "source",
            "srsltid", "t", "trk", "ts", "v",
        ]
        return known.contains(name) || ["_", "gad_", "hsa_", "mc_", "mtm_", "pk_", "utm_", "vero_"].contains { name.hasPrefix($0) }
            || ["braid", "cid", "clid", "clickid", "clkid"].contains { name.hasSuffix($0) }
    }

    /// Returns the values of the feed's filters, in one order for equal filters. A feed without filters ignores all unknown parameters: it has
    /// no filter whose name can be misspelled.
    static func filters(_ query: Query, besides known: [String] = [], of feed: FeedAssembler) throws(Problem) -> [String: [String]] {
        var filters: [String: [String]] = [:]
        guard !feed.filters.isEmpty else { return filters }
        let known = DeclaredFeeds.parameters + known
        func filter(_ name: String) -> ItemFilter? { feed.filters.first { $0.name == name } }
        for (name, text) in try query.pairs(where: { !known.contains($0) && (filter($0) != nil || !isIgnored($0)) }) {
            guard let filter = filter(name) else {
                let known = feed.filters.map(\.name).joined(separator: ", ")
                throw .invalidParameter(name, .unknown, "\(name) is not a filter of this feed. Its filters are \(known).")
            }
            do throws(ItemError) {
                filters[name, default: []].append(try filter.value(text))
            } catch {
                throw .invalidParameter(name, .unknown, "\(name) \(error.reason).")
            }
        }
        filters = filters.mapValues { Set($0.map { ByteString($0) }).map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
        if let name = filters.first(where: { $0.value.count > ItemFilter.valueLimit })?.key {
            throw .invalidParameter(name, .tooMany, "\(name) has more than \(ItemFilter.valueLimit) values.")
        }
        return filters
    }

    static let limit = Parameter.integer(
        "limit", in: FeedRequest.limits, default: FeedRequest.defaultLimit,
        "The maximum number of content items on the page. Ads are not included in it.", example: 20)

    /// - Note: The pattern matters, because cached pages are found by text, in which some characters beyond ASCII equal a letter.
    static let cursor = Parameter.text(
        "cursor", .string(minLength: 1, pattern: "^[A-Za-z0-9_-]+$"),
        """
        The opaque position of a page. `page.next` and `page.previous` contain it; clients follow these hrefs unchanged. Without a cursor, the \
        response is the first page. The service signs cursors. A cursor that is altered or belongs to another list is rejected (400, \
        `invalid-cursor`).
        """, example: nil
    ) { (query) throws(Problem) in
        let cursor: String?
        do throws(Problem) { cursor = try query.text("cursor") } catch {
            var problem = Problem(.badRequest, .invalidCursor, error.detail)
            problem.errors = error.errors
            throw problem
        }
        guard cursor?.utf8.allSatisfy({ $0 < 0x80 }) != false else { throw FeedError.cursor(.invalid).problem }
        return cursor
    }

    static let layout = Parameter.word(
        "layout", default: CellLayout.collection, "The layout of the cells: for a collection view or for a table view.", example: .table)

    static let width = Parameter.integer(
        "width", in: SizeRule.widths,
        "The width of the client's list in points. Each cell's size rule computes its size from it. Without a width, sizes are fixed.",
        example: 390)

    static let scale = Parameter.integer(
        "scale", in: FeedRequest.scales, default: 1,
        """
        Pixels per point of the client's screen. The hrefs of sized images have this scale. `page.next` and `page.previous` keep the parameter.
        """, example: 2)

    static let changes = Parameter.flag(
        "changes",
        "If true, the page has a sync token in `page.syncToken`. `page.next` and `page.previous` keep the parameter.")

    static let client = Parameter.text(
        "client", .string(pattern: "^[A-Za-z0-9_-]{16}$"),
        """
        The digest in the response of `PUT /clients/{name}`. It replaces `Accept-Cells`. `page.next` and `page.previous` keep the parameter.
        """,
        example: nil
    ) { (query) throws(Problem) in
        guard let digest = try query.text("client") else { return nil }
        guard digest.utf8.count == 16, digest.utf8.allSatisfy({ isPlain($0) && $0 != UInt8(ascii: ",") }) else {
            throw .unknownClient
        }
        return digest
    }

    static let acceptCells = Parameter.field(
        "Accept-Cells", .string,
        """
        The cells that the client supports, as a list (RFC 9651). A member is the identifier of a cell, with the newest supported version (`;v=2`) \
        or rejected (`;q=0`). `*` means all other cells. Without the field, the client supports everything. The page omits items without a \
        supported cell and counts them in `page.omitted`.
        """, example: #""UserSnapshotCollectionViewCell, CircularUserCollectionViewCell;v=2, *;q=0""#)

    static let acceptLanguage = Parameter.field(
        "Accept-Language", .string,
        """
        The preferred languages. The service selects one of its declared languages by lookup (RFC 4647, 3.4), or the first one if none matches. \
        The field of the setting `viewers.language-header` has priority. The service ignores both if no languages are declared.
        """, example: #""de-CH, fr;q=0.5""#)

    static let syncToken = Parameter.text(
        "syncToken", .string(minLength: 1, pattern: "^[A-Za-z0-9_,-]+$"),
        """
        The `page.syncToken` of each page of the client, in the order of the feed, separated by commas; at most 16. Each page must be the `next` \
        page of the preceding one. A client with more pages sends the tokens of the pages around its visible cells, and discards the others.
        """, isRequired: true, example: #""AZ-OYdNyCY8QFAAAAAt1c2VyOmFuZHJlYQ""#
    ) { (query) throws(Problem) in
        guard let syncTokens = try query.text("syncToken") else { return nil }
        guard !syncTokens.isEmpty, syncTokens.utf8.allSatisfy(isPlain) else { throw invalidSyncToken(.invalid) }
        return syncTokens
    }

    static func invalidSyncToken(_ code: InvalidValue.Code) -> Problem {
        .invalidParameter("syncToken", code, "syncToken must be the page.syncToken of each page of the client, separated by commas.")
    }

    static let lastEvent = Parameter.field(
        "Last-Event-ID", .string,
        "The id of the last received event, if the client reconnects. It replaces `syncToken`. Only with `Accept: text/event-stream`.",
        example: #""AZ-OYdNyCY8QFAAAAAt1c2VyOmFuZHJlYQ""#)

    static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ","):
            true
        default: false
        }
    }

    static let dryRun = Parameter.flag(
        "dryRun", "If true, the response has the commands that would be performed, and the service performs none of them.")

    static let plain = Schema.string(minLength: 1, pattern: #"^[^\u0000-\u001f\u007f]+$"#)

    static let cell = Parameter.segment(
        "id", plain.with("format", .text("cell-id")), "The id of the cell, percent-encoded.", example: #""user:tt""#)

    // MARK: Fields that are read elsewhere

    static let viewerField = "X-Viewer-ID"

    static let viewer = Parameter.field(
        viewerField, .string(maxLength: 256, pattern: #"^[^\u0000-\u001f\u007f-\u009f]*$"#),
        """
        The viewer's name, in UTF-8 with at most 256 characters and without control characters. The proxy that authenticates the viewer sets it. An empty value means no viewer. \
        Names are compared by bytes. The setting `viewers.header` has the name of the field.
        """, example: #""viewer-1""#)

    static let requiredViewer = Parameter.field(
        viewerField, .string(minLength: 1, maxLength: 256, pattern: #"^[^\u0000-\u001f\u007f-\u009f]+$"#),
        """
        The name of the viewer to whom the list belongs, in UTF-8 with at most 256 characters and without control characters. The proxy that authenticates the viewer sets it. \
        The setting `viewers.header` has the name of the field.
        """,
        isRequired: true, example: #""viewer-1""#)

    static let ifNoneMatch = Parameter.ifNoneMatch
}

extension ResponseDescription {
    static let usual: [ResponseDescription] = [
        .badRequest, .requestTimeout, .contentTooLarge, .uriTooLong, .unsupportedMediaType, .expectationFailed, .headerTooLarge,
        .internalServerError, .notImplemented, .serviceUnavailable, .versionNotSupported,
    ]

    private static let serviceUnavailable = problem(
        .serviceUnavailable, "The service is stopping or overloaded, or its store does not respond.",
        [.init(.storeUnavailable, "The store cannot do this now. Try again."), .init(nil, "The response took too long.")],
        [.problemCaching, .retryAfter]
    ).named("ServiceUnavailable")

    static let tooManyListeners = problem(
        .serviceUnavailable,
        "The service is stopping or overloaded, its store does not respond, or the number of event streams has reached its limit.",
        [.init(.storeUnavailable, "The store cannot do this now. Try again."), .init(nil, "There are too many listeners.")],
        [.problemCaching, .retryAfter])

    static func page(
        _ text: String, _ wrong: [ProblemExample], forbidden: ResponseDescription = .untrustedViewer
    ) -> [ResponseDescription] {
        [
            .json(.ok, "A page.", .page, [.pageCaching, .pageAge, .eTag, .vary, .link, .contentEncoding, .contentLanguage]),
            ResponseDescription.empty(
                .notModified, "The representation of the client is current.",
                [
                    .init("ETag", "The validator of the client's representation."), .init("Cache-Control", "As in 200."),
                    .init("Vary", "As in 200."), .init("Link", "As in 200."),
                ]
            ).named("PageNotModified"),
            .badRequest(text, wrong + [.wrongClient]), forbidden, .notAcceptable, .preconditionFailed,
        ]
    }
}

extension ResponseDescription {
    /// The refusal of a viewer's name from a peer that is no trusted proxy.
    static let untrustedViewer = problem(
        .forbidden, "The request names a viewer, and its sender is not in `server.trusted-proxies`.", [.untrustedViewer], [.problemCaching]
    ).named("UntrustedViewer")
    static let refusedWrite = problem(
        .forbidden,
        "The request names a viewer, and its sender is not in `server.trusted-proxies`; or a web page of another origin sent the request.",
        [.untrustedViewer, .foreignOrigin], [.problemCaching]
    ).named("RefusedWrite")
}

extension ResponseDescription.ProblemExample {
    static let untrustedViewer = ResponseDescription.ProblemExample(Problem.untrustedViewer(FeedParameters.viewerField))
    static let wrongLimit = ResponseDescription.ProblemExample(
        .invalidParameter("limit", .outOfRange, "limit must be a whole number from 1 to 100."))
    static let wrongCursor = ResponseDescription.ProblemExample(FeedError.cursor(.invalid).problem)
    static let wrongClient = ResponseDescription.ProblemExample(Problem.unknownClient)
    static let wrongViewer = ResponseDescription.ProblemExample(
        .invalidParameter("X-Viewer-ID", .tooLong, "X-Viewer-ID must be at most 256 characters long."))
}

extension ResponseDescription.Header {
    static let pageCaching = ResponseDescription.Header(
        "Cache-Control", "The lifetime of the page in caches. `private` if the page is personalized.", isRequired: true,
        example: "no-cache"
    ).named("PageCacheControl")
    static let pageAge = ResponseDescription.Header(
        "Age",
        """
        The seconds for which newer data may exist: only on pages from a standby while the primary is away (`store.degraded-reads`). On images, the \
        seconds since the origin generated or validated them.
        """,
        .string(pattern: "^[0-9]+$"), example: "12"
    ).named("PageAge")
    static let link = ResponseDescription.Header(
        "Link",
        "`page.next` and `page.previous` as links (RFC 8288) with the relations `next` and `prev`. Absent if the feed has only one page.",
        example: #"</feed?cursor=kWaF&limit=20>; rel="next""#
    ).named("Link")
    static let contentLanguage = ResponseDescription.Header(
        "Content-Language", "The language of the texts (RFC 5646). Absent if no languages are declared.", example: "de"
    ).named("ContentLanguage")
    static let verdict = ResponseDescription.Header(
        "X-Verdict",
        """
        The verdict of the click, or of the first recorded event if there is no click. Only with the setting `events.report-verdict`.
        """, .verdict
    ).named("Verdict")
    static let location = ResponseDescription.Header(
        "Location", "The stored clickthrough URL.", .uri, isRequired: true, example: "https://shop.example.com/1"
    ).named("Location")
}
