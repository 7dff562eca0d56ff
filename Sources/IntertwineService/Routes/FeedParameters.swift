internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineRouting

/// The request parameters that several routes of feeds share.
enum FeedParameters {
    static let limit = Parameter.integer(
        "limit", in: FeedRequest.limits, default: FeedRequest.defaultLimit,
        "Content items on the page; advertisements come on top of it.", example: 20)

    /// - Note: The pattern matters, because cached pages are found by text, in which some characters beyond ASCII equal a letter.
    static let cursor = Parameter.text(
        "cursor", .string(minLength: 1, pattern: "^[A-Za-z0-9_-]+$"),
        """
        Where to go on: opaque, signed by the service, and good for the list that gave it alone. It stands in the hrefs `page.next` and \
        `page.previous`, which are best followed as they are; without it, the list begins at its start. No client can make a cursor up, and an \
        altered one is refused (400, `invalid-cursor`).
        """, example: nil
    ) { (query) throws(Problem) in
        let cursor: String?
        do throws(Problem) { cursor = try query.text("cursor") } catch { throw Problem(.badRequest, .invalidCursor, error.detail) }
        guard cursor?.utf8.allSatisfy({ $0 < 0x80 }) != false else { throw FeedError.cursor(.invalid).problem }
        return cursor
    }

    static let layout = Parameter.word(
        "layout", default: CellLayout.collection, "Which form of cells: those of collections or those of tables.", example: .table)

    static let width = Parameter.integer(
        "width", in: SizeRule.widths,
        "The client's width in points, from which sizes are computed by each cell's rule; without it they are fixed.", example: 390)

    static let scale = Parameter.integer(
        "scale", in: FeedRequest.scales, default: 1,
        """
        Pixels per point of the client's screen: the hrefs of sized images are those of images with so many. The wish is handed on to \
        `page.next` and `page.previous`.
        """, example: 2)

    static let changes = Parameter.flag(
        "changes",
        """
        Whether the page is to tell, in `page.since`, what its changes are asked for with. The wish is handed on to `page.next` and \
        `page.previous`.
        """)

    static let client = Parameter.text(
        "client", .string(pattern: "^[A-Za-z0-9_-]{16}$"),
        "The digest that `PUT /clients/{name}` gave: what the client can show, in place of `Accept-Cells`. Handed on to `next` and `previous`.",
        example: nil
    ) { (query) throws(Problem) in
        guard let digest = try query.text("client") else { return nil }
        guard digest.utf8.count == 16, digest.utf8.allSatisfy({ isPlain($0) && $0 != UInt8(ascii: ",") }) else {
            throw Problem(.badRequest, .unknownClient, "client is not the digest of a registered client: register it again.")
        }
        return digest
    }

    static let acceptCells = Parameter.field(
        "Accept-Cells", .string,
        """
        Which cells the client can show (a list of RFC 9651): identifiers, each with the newest version that it knows (`;v=2`) or refused (`;q=0`), \
        and `*` for all others; and, where it says so, the types of bindings and of actions that it knows, `(text image date);bindings` and \
        `(request link);actions`. Without it everything is given. Items none of whose cells it knows are left out, and `page.omitted` says so.
        """, example: #""UserSnapshotCollectionViewCell, CircularUserCollectionViewCell;v=2, *;q=0""#)

    static let acceptLanguage = Parameter.field(
        "Accept-Language", .string,
        """
        Which of the languages that the service has texts in is wanted, looked up as RFC 4647 says; the first that is declared where it is none of \
        them. What is known of the viewer goes before it, in a field that is configuration (`feed.language-header`). Not looked at where no \
        languages are declared.
        """, example: #""de-CH, fr;q=0.5""#)

    static let since = Parameter.text(
        "since", .string(minLength: 1, pattern: "^[A-Za-z0-9_,-]+$"),
        """
        The `page.since` of each page that the client holds, in the order of the feed and with commas in between; at most 16. Each page must be \
        the `next` one of the page before. A client that holds more asks about those around what it shows, and drops those behind them.
        """, isRequired: true, example: #""AZ-OYdNyCY8QFAAAAAt1c2VyOmFuZHJlYQ""#
    ) { (query) throws(Problem) in
        guard let since = try query.text("since") else { return nil }
        guard !since.isEmpty, since.utf8.allSatisfy(isPlain) else { throw wrongSince }
        return since
    }

    static let wrongSince = Problem(
        .badRequest, .invalidParameter, "since must be the page.since of each page that is held, with commas in between.")

    static let lastEvent = Parameter.field(
        "Last-Event-ID", .string,
        "The id of the last event that came, where a stream is taken up again: in place of `since`. Only with `Accept: text/event-stream`.",
        example: #""AZ-OYdNyCY8QFAAAAAt1c2VyOmFuZHJlYQ""#)

    /// Returns true for the characters of base64url and the comma.
    static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ","):
            true
        default: false
        }
    }

    static let simulate = Parameter.flag("simulate", "Tells what would run, and runs nothing.")

    /// The schema of a path segment without control characters.
    static let plain = Schema.string(minLength: 1, pattern: #"^[^\u0000-\u001f\u007f]+$"#)

    static let cell = Parameter.segment(
        "id", plain.with("format", .text("cell-id")), "The cell's id, percent-encoded.", example: #""user:tt""#)

    // MARK: Fields that are read elsewhere

    /// The default name of the field that names the viewer. ``APIDescription`` replaces it with the configured name.
    static let viewerField = "X-Viewer-ID"

    static let viewer = Parameter.field(
        viewerField, .string(maxLength: 256),
        """
        Who asks, set by whatever authenticates in front of the service. UTF-8, at most 256 characters; empty is nobody. Names that differ in a \
        byte are two. The field's name is configuration.
        """, example: #""viewer-1""#)

    static let requiredViewer = Parameter.field(
        viewerField, .string(minLength: 1, maxLength: 256),
        "Whose it is, set by whatever authenticates in front of the service. At most 256 characters. The field's name is configuration.",
        isRequired: true, example: #""viewer-1""#)

    static let ifNoneMatch = Parameter.ifNoneMatch
}

/// The responses that several routes of feeds share.
extension ResponseDescription {
    /// The responses that every route of the service's listener may send.
    static let usual: [ResponseDescription] = [
        .badRequest, .requestTimeout, .contentTooLarge, .uriTooLong, .unsupportedMediaType, .expectationFailed, .headerTooLarge,
        .internalServerError, .notImplemented, .serviceUnavailable, .versionNotSupported,
    ]

    private static let serviceUnavailable = problem(
        .serviceUnavailable, "The service stops, is overloaded, or its store does not answer.",
        [.init(.storeUnavailable, "The store does not respond. Try again."), .init(nil, "The response took too long.")],
        [.problemCaching, .retryAfter]
    ).named("ServiceUnavailable")

    static let tooManyListeners = problem(
        .serviceUnavailable, "The service stops or is overloaded, its store does not answer, or there are too many listeners.",
        [.init(.storeUnavailable, "The store does not respond. Try again."), .init(nil, "There are too many listeners.")],
        [.problemCaching, .retryAfter])

    /// Returns the responses of a route that serves pages of cells.
    ///
    /// - Parameters:
    ///   - text: A description of the faults of a request.
    ///   - wrong: The problems for these faults.
    static func page(_ text: String, _ wrong: [ProblemExample]) -> [ResponseDescription] {
        [
            .json(.ok, "A page.", .page, [.pageCaching, .eTag, .vary, .link, .contentEncoding, .contentLanguage]),
            ResponseDescription.empty(
                .notModified, "The client's copy is current.",
                [
                    .init("ETag", "The validator of the client's copy."), .init("Cache-Control", "As in 200."),
                    .init("Vary", "As in 200."), .init("Link", "As in 200."),
                ]
            ).named("PageNotModified"),
            .badRequest(text, wrong + [.wrongClient]), .notAcceptable, .preconditionFailed,
        ]
    }
}

extension ResponseDescription.ProblemExample {
    static let wrongLimit = ResponseDescription.ProblemExample(.invalidParameter, "limit must be a whole number from 1 to 100.")
    static let wrongCursor = ResponseDescription.ProblemExample(.invalidCursor, "cursor is not one that this feed gave out.")
    static let wrongClient = ResponseDescription.ProblemExample(
        .unknownClient, "client is not the digest of a registered client: register it again.")
    static let wrongViewer = ResponseDescription.ProblemExample(.invalidParameter, "X-Viewer-ID must be at most 256 characters long.")
}

extension ResponseDescription.Header {
    static let pageCaching = ResponseDescription.Header(
        "Cache-Control", "How long the page may be used without asking again. `private` where it is one viewer's own.", isRequired: true,
        example: "no-cache"
    ).named("PageCacheControl")
    static let link = ResponseDescription.Header(
        "Link", "`page.next` and `page.previous` as links (RFC 8288), with the relations `next` and `prev`. Missing on the only page.",
        example: #"</feed?cursor=kWaF&limit=20>; rel="next""#
    ).named("Link")
    static let contentLanguage = ResponseDescription.Header(
        "Content-Language", "The language of the texts (RFC 5646). Missing where no languages are declared.", example: "de"
    ).named("ContentLanguage")
    static let verdict = ResponseDescription.Header(
        "X-Verdict",
        """
        The ledger's verdict: that of the click where there is one, else of the first thing recorded. Only where configuration has it told \
        (`events.tell-verdict`).
        """, .verdict
    ).named("Verdict")
    static let location = ResponseDescription.Header(
        "Location", "Where the person goes: the stored clickthrough URL.", .uri, isRequired: true, example: "https://shop.example.com/1"
    ).named("Location")
}
