internal import HTTPTypes
internal import IntertwineRouting

/// What several of the feed's routes answer.
extension Answer {
    /// What every route of the service's listener may answer.
    static let usual: [Answer] = [
        .badRequest, .requestTimeout, .contentTooLarge, .uriTooLong, .unsupportedCoding, .expectationFailed, .headerTooLarge,
        .internalServerError, .notImplemented, .serviceUnavailable, .versionNotSupported,
    ]

    /// What content that has an entity tag and comes in two codings may be answered with besides itself.
    static let negotiated: [Answer] = [.notModified, .notAcceptable, .preconditionFailed]

    static let serviceUnavailable = problem(
        .serviceUnavailable, "The service stops, is overloaded, or its store does not answer.",
        [.init(.storeUnavailable, "The store does not answer. Try again."), .init(nil, "The answer took too long.")],
        [.problemCaching, .retryAfter]
    ).named("ServiceUnavailable")

    /// A page of cells.
    ///
    /// - Parameters:
    ///   - text: what may be wrong with the request.
    ///   - wrong: the problems that tell it.
    static func page(_ text: String, _ wrong: [Told]) -> [Answer] {
        [
            .json(.ok, "A page.", .page, [.pageCaching, .eTag, .vary, .link, .contentEncoding]),
            Answer.empty(
                .notModified, "What the client has is still right.",
                [
                    .init("ETag", "The validator of what the client has."), .init("Cache-Control", "As in 200."),
                    .init("Vary", "As in 200."), .init("Link", "As in 200."),
                ]
            ).named("PageNotModified"),
            .badRequest(text, wrong), .notAcceptable, .preconditionFailed,
        ]
    }
}

extension Answer.Told {
    static let wrongLimit = Answer.Told(.invalidParameter, "limit must be a whole number from 1 to 100.")
    static let wrongCursor = Answer.Told(.invalidCursor, "cursor is not one that this feed gave out.")
    static let wrongViewer = Answer.Told(.invalidParameter, "X-Viewer-ID must be at most 256 characters long.")
    static let storeUnavailable = Answer.Told(.storeUnavailable, "The store does not answer. Try again.")
}

extension Answer.Field {
    static let pageCaching = Answer.Field(
        "Cache-Control", "How long the page may be used without asking again. `private` where it is one viewer's own.", isRequired: true,
        example: "no-cache"
    ).named("PageCacheControl")
    static let link = Answer.Field(
        "Link", "`page.next` and `page.previous` as links (RFC 8288), with the relations `next` and `prev`. Missing on the only page.",
        example: #"</feed?cursor=kWaF&limit=20>; rel="next""#
    ).named("Link")
    static let verdict = Answer.Field(
        "X-Verdict",
        """
        The ledger's verdict: that of the click where there is one, else of the first thing recorded. Only where configuration has it told \
        (`events.tell-verdict`).
        """, .verdict
    ).named("Verdict")
    static let location = Answer.Field(
        "Location", "Where the person goes: the stored clickthrough URL.", .uri, isRequired: true, example: "https://shop.example.com/1"
    ).named("Location")
}
