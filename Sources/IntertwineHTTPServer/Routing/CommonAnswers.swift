internal import HTTPTypes

// Descriptions of the server's own responses, and of header fields that several responses share.

extension ResponseDescription.Header {
    package static let noStore = ResponseDescription.Header(
        "Cache-Control", "The response must not be stored.", .word("no-store"), isRequired: true
    )
    .named("NoStore")
    package static let noCache = ResponseDescription.Header(
        "Cache-Control", "The response must be revalidated before each use.", .word("no-cache"), isRequired: true
    )
    .named("NoCache")
    package static let problemCaching = ResponseDescription.Header(
        "Cache-Control", "`no-store`. Absent if the request was rejected before it was parsed.", .word("no-store")
    ).named("ProblemCacheControl")
    package static let eTag = ResponseDescription.Header(
        "ETag", "A strong validator of this representation.", .string(pattern: #"^"[!#-~]*"$"#), isRequired: true,
        example: #""a7f926ae9b1ba20481b0fe74""#
    ).named("ETag")
    static let problemVary = ResponseDescription.Header("Vary", "The request fields that select a response of the resource.")
        .named("ProblemVary")
    package static let vary = ResponseDescription.Header(
        "Vary", "The request fields that select the response.", isRequired: true, example: "X-Viewer-ID, Accept-Encoding"
    ).named("Vary")
    package static let contentEncoding = ResponseDescription.Header("Content-Encoding", "`gzip` if the client accepts it.", .word("gzip"))
        .named("ContentEncoding")
    package static let retryAfter = ResponseDescription.Header(
        "Retry-After", "The number of seconds to wait before a retry.", .string(pattern: "^[0-9]+$"), example: "1"
    ).named("RetryAfter")
    package static let acceptEncoding = ResponseDescription.Header(
        "Accept-Encoding", "The accepted codings of request bodies; present if the body has a content coding.", .word("identity")
    ).named("AcceptEncoding")
}

extension ResponseDescription {
    package static let negotiated: [ResponseDescription] = [.notModified, .notAcceptable, .preconditionFailed]

    package static func badRequest(_ text: String, _ problems: [ProblemExample], _ fields: [Header] = [.problemCaching])
        -> ResponseDescription
    {
        .problem(.badRequest, text, problems + [notUnderstood], fields)
    }

    private static let notUnderstood = ProblemExample(nil, "The Host field is missing.")

    package static let badRequest = problem(.badRequest, "The request is malformed.", [notUnderstood], [.problemCaching])
        .named("BadRequest")
    package static let notModified = empty(
        .notModified, "The client's copy is current.",
        [
            .init("ETag", "The validator of the client's copy."), .init("Cache-Control", "As in 200."), .init("Link", "As in 200."),
            .init("Vary", "As in 200."),
        ]
    ).named("NotModified")
    package static let notAcceptable = problem(
        .notAcceptable, "The client accepts none of the available content codings.",
        [.init(nil, "Available content codings: identity, gzip.")],
        [.init("Vary", "Accept-Encoding selects the coding.")]
    ).named("NotAcceptable")
    package static let preconditionFailed = problem(
        .preconditionFailed, "A precondition of the request failed.", [.init(nil, "A precondition of the request failed.")], []
    ).named("PreconditionFailed")
    package static let requestTimeout = problem(
        .requestTimeout, "The request was received too slowly.", [.init(nil, "The body of the request took too long.")], []
    ).named("RequestTimeout")
    package static let contentTooLarge = problem(
        .contentTooLarge, "The body is longer than the operation accepts.", [.init(nil, "The body is longer than 65536 bytes.")],
        []
    ).named("ContentTooLarge")
    package static let uriTooLong = problem(
        .uriTooLong, "The request line is too long.", [.init(nil, "The request line is too long.")], []
    ).named("URITooLong")
    package static let unsupportedMediaType = problem(
        .unsupportedMediaType, "The body has a content coding, or is not JSON.",
        [
            .init(nil, "Request bodies must be application/json."),
            .init(nil, "Request bodies must not have a content coding.", name: "coded"),
        ],
        [.problemCaching, .acceptEncoding, .init("Accept", "The media type of request bodies.", .word("application/json"))]
    ).named("UnsupportedMediaType")
    package static let foreignOrigin = problem(
        .forbidden, "A web page of another origin sent the request, and `cors.origins` does not have that origin.",
        [.foreignOrigin], [.problemCaching]
    ).named("ForeignOrigin")
    package static let expectationFailed = problem(
        .expectationFailed, "The request has another expectation than `100-continue`.",
        [.init(nil, "The only supported expectation is 100-continue.")], []
    ).named("ExpectationFailed")
    package static let headerTooLarge = problem(
        .requestHeaderFieldsTooLarge, "There are too many header fields, or they are too long.",
        [.init(nil, "The header fields are too long.")], []
    ).named("HeaderTooLarge")
    package static let internalServerError = problem(
        .internalServerError, "An internal error.", [.init(nil, "An internal error occurred.")], [.problemCaching]
    ).named("InternalServerError")
    package static let notImplemented = problem(
        .notImplemented, "The transfer coding of the body is not supported.", [.init(nil, "The transfer coding is not supported.")],
        []
    ).named("NotImplemented")
    package static let versionNotSupported = problem(
        .httpVersionNotSupported, "The request has another HTTP version than 1.0 and 1.1.",
        [.init(nil, "Supported versions: HTTP/1.0, HTTP/1.1.")], []
    ).named("HTTPVersionNotSupported")
}

extension ResponseDescription.ProblemExample {
    package static let foreignOrigin = ResponseDescription.ProblemExample(.foreignOrigin, "This origin is not allowed to write.")
    package static let storeUnavailable = ResponseDescription.ProblemExample(.storeUnavailable, "The store cannot do this now. Try again.")
}
