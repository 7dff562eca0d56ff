internal import HTTPTypes
package import IntertwineRouting

/// The responses of the admin API's routes.
extension ResponseDescription {
    /// The responses that every route of the admin API may send.
    static let usualForOperators: [ResponseDescription] = [
        problem(
            .unauthorized, "There is a token, and the request does not have it. So it is for every path and method.",
            [.init(nil, "A bearer token is required.")],
            [
                .problemCaching,
                ResponseDescription.Header(
                    "WWW-Authenticate", "How to ask (RFC 6750).", isRequired: true, example: #"Bearer realm="intertwine""#
                )
                .named("Authenticate"),
            ]
        ).named("Unauthorized"),
        problem(
            .tooManyRequests, "Ten wrong tokens came from this address: it is not listened to for a while, whatever the token.",
            [.init(nil, "Too many wrong tokens came from this address.")], [.problemCaching, .retryAfter]
        ).named("TooManyRequests"),
        otherProblems(
            "Any other error of HTTP, as the service listener answers it.",
            [
                .problemCaching, .init("Accept-Encoding", "With 415: the codings of request bodies that are taken.", .word("identity")),
                .retryAfter, .init("Allow", "With 405: the methods that are answered."),
            ], example: Problem(.expectationFailed, nil, "The only supported expectation is 100-continue.")
        ).named("Error"),
    ]

    /// The response to a write of a web page if no token is configured.
    static let forbidden = problem(
        .forbidden, "There is no token, and the request comes from a web page.",
        [.init(nil, "Requests from web pages are not taken without a token.")], [.problemCaching]
    ).named("Forbidden")

    package static let storeUnavailable = problem(
        .serviceUnavailable, "The store does not answer, or another import is writing.", [.storeUnavailable],
        [.problemCaching, .retryAfter]
    ).named("StoreUnavailable")

    /// The response if the item does not meet a condition.
    static let otherItem = problem(
        .preconditionFailed, "The item has changed, or `If-Match` was sent and there is no item.",
        [.init(.preconditionFailed, "The item has changed.")], [.noStore, .currentETag])
}

extension ResponseDescription.Header {
    /// The tag in responses that refuse a write, if the item exists.
    static let currentETag = ResponseDescription.Header("ETag", "The tag of the item that is there.").named("CurrentETag")
}

extension ResponseDescription.ProblemExample {
    static let wrongCondition = ResponseDescription.ProblemExample(Precondition.malformed("If-Match"))
}

/// The OpenAPI description of the admin API.
package enum OperatorDescription {
    /// Returns the pages of the problem types of the given routes.
    package static func problemPages(describing routes: [Route]) -> ProblemPages {
        ProblemPages(describing: routes, common: ResponseDescription.usualForOperators, caching: .noCache)
    }

    /// Returns the route that serves the description of the given routes.
    package static func route(describing routes: [Route]) -> Route {
        OpenAPIDocument(
            title: "Intertwine, for operators", summary: "The API of the operators' listener.",
            text: """
                The listener is another one than that of the feed: `admin.host` and `admin.port`, 127.0.0.1:8081 unless configured otherwise. Where \
                there is a token (`admin.token`), every path and method wants it.

                Every error is a problem (RFC 9457, `application/problem+json`). Its `type` is the path of a page that explains it, which needs no token. \
                `HEAD` is answered wherever `GET` is; other methods are answered \
                405 with `Allow`. Every answer has `X-Request-ID`, the request's name in the log. Each write, refused or not, leaves a line in \
                `audit.log`. Kinds of item that are configured are imported and operated on like users and advertisements.
                """,
            tags: [
                .init("Items", "What the feed is made of."), .init("Reports", "What people did."),
                .init("Explanations", "Why a page looks as it does."), .init("Images", "Images that the proxy keeps."),
                .init("Sources", "JSON APIs that the store is kept in step with."), .init("Health", "For monitoring."),
                .init("Description", "What describes the API."),
            ],
            responses: ResponseDescription.usualForOperators, token: "`admin.token`."
        ).route(caching: .noCache, describing: routes)
    }
}

/// The problem types of the admin API.
extension Problem.ProblemType {
    static let unknownItem = Problem.ProblemType(
        "unknown-item", "The item does not exist, is not taken down, or its kind is not declared.")
    static let invalidItem = Problem.ProblemType(
        "invalid-item", "The JSON is not a valid item of its kind. Nothing was changed. The member errors has a JSON Pointer to the field.")
    static let invalidOperation = Problem.ProblemType(
        "invalid-operation",
        "An operation cannot be performed. Nothing was changed. The member errors has a JSON Pointer to the operation or its field.")
    static let preconditionFailed = Problem.ProblemType(
        "precondition-failed", "The item has changed since it was read. Read it again, and repeat the change with its new entity tag.")
    static let preconditionRequired = Problem.ProblemType(
        "precondition-required", "The item exists and differs. Send its entity tag in If-Match to replace it.")
}
