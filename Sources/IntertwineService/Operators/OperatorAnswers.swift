internal import HTTPTypes
package import IntertwineHTTPServer

extension ResponseDescription {
    static let usualForOperators: [ResponseDescription] = [
        problem(
            .unauthorized, "A token is required, and the request has none, or a wrong one. All paths and methods require it.",
            [.init(nil, "A bearer token is required.")],
            [
                .problemCaching,
                ResponseDescription.Header(
                    "WWW-Authenticate", "The authentication scheme (RFC 6750).", isRequired: true, example: #"Bearer realm="intertwine""#
                )
                .named("Authenticate"),
            ]
        ).named("Unauthorized"),
        problem(
            .tooManyRequests,
            """
            The address sent ten wrong tokens. Wrong tokens are rejected until the minute is over; the right token is accepted. Or the store refused 100 \
            writes of the operator within a minute.
            """,
            [.init(nil, "Too many wrong tokens came from this address.")], [.problemCaching, .retryAfter]
        ).named("TooManyRequests"),
        otherProblems(
            "Any other HTTP error, as on the service listener.",
            [
                .problemCaching, .init("Accept-Encoding", "With 415: the accepted codings of request bodies.", .word("identity")),
                .retryAfter, .init("Allow", "With 405: the supported methods."),
            ], example: Problem(.expectationFailed, nil, "The only supported expectation is 100-continue.")
        ).named("Error"),
    ]

    static let forbidden = problem(
        .forbidden,
        "The service has no token, and the request comes from a web page of another origin; or the role of the operator is not sufficient.",
        [
            .init(.roleRequired, "The operation requires the role edit."),
            .init(nil, "Requests from web pages of other origins require a token."),
        ], [.problemCaching]
    ).named("Forbidden")

    package static let storeUnavailable = problem(
        .serviceUnavailable, "The store does not respond, or another import is writing.", [.storeUnavailable],
        [.problemCaching, .retryAfter]
    ).named("StoreUnavailable")

    static let otherItem = problem(
        .preconditionFailed, "The item has changed, or `If-Match` was sent and there is no item.",
        [.init(.preconditionFailed, "The item has changed.")], [.noStore, .currentETag])
}

extension ResponseDescription.Header {
    static let currentETag = ResponseDescription.Header("ETag", "The entity tag of the stored item.").named("CurrentETag")
}

extension ResponseDescription.ProblemExample {
    static let wrongCondition = ResponseDescription.ProblemExample(Precondition.malformed("If-Match"))
}

enum OperatorDescription {
    static func route(describing routes: [Route]) -> Route {
        OpenAPIDocument(
            title: "Intertwine, for operators", summary: "The admin API.",
            text: """
                The admin API has its own listener: `admin.host` and `admin.port`, by default 127.0.0.1:8081. If `admin.token` is set or `admin.jwt` has keys, all \
                paths and methods require a token. A JSON Web Token has a role: `read` permits reads, `edit` also writes of items, and `publish` \
                also takedowns, purges of images and erasures of viewers. `admin.token` permits everything.

                Every error is a problem (RFC 9457, `application/problem+json`). Its `type` names the kind of problem (`ProblemType`). Each path with `GET` supports `HEAD`. Other methods get 405 with `Allow`. \
                Every response has `X-Request-ID`, the id of the request in the log. Each write has lines in `audit.log`, rejected ones too.
                """,
            tags: [
                ("Items", "The items of the store."), ("Reports", "Counted events and campaigns."),
                ("Explanations", "The reasons for the cells of a page."), ("Images", "The images in the cache of the proxy."),
                ("Audit", "The audit log, the operator and the settings."),
                ("Sources", "The JSON APIs that the store is synchronized with."), ("Health", "Health and metrics."),
                ("Description", "The description of the API."),
            ],
            responses: ResponseDescription.usualForOperators, token: "`admin.token`, or a JSON Web Token if `admin.jwt` has keys."
        ).route(caching: .noCache, describing: routes)
    }
}

extension Problem.ProblemType {
    static let roleRequired = Problem.ProblemType(
        "role-required", "The role in the token of the operator does not permit the operation. The detail names the required role.")
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
