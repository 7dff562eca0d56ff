internal import HTTPTypes

// Descriptions of the server's own responses, and of header fields that several responses share.

extension ResponseDescription.Header {
    package static let noStore = ResponseDescription.Header("Cache-Control", "Never to be kept.", .word("no-store"), isRequired: true)
        .named("NoStore")
    package static let noCache = ResponseDescription.Header(
        "Cache-Control", "To be asked for again each time.", .word("no-cache"), isRequired: true
    )
    .named("NoCache")
    package static let problemCaching = ResponseDescription.Header(
        "Cache-Control", "`no-store`. Missing where the request was refused before it was understood.", .word("no-store")
    ).named("ProblemCacheControl")
    package static let eTag = ResponseDescription.Header(
        "ETag", "A strong validator of this representation.", .string(pattern: #"^"[!#-~]*"$"#), isRequired: true,
        example: #""a7f926ae9b1ba20481b0fe74""#
    ).named("ETag")
    package static let problemVary = ResponseDescription.Header("Vary", "The request fields by which answers of the resource are chosen.")
        .named("ProblemVary")
    package static let vary = ResponseDescription.Header(
        "Vary", "The request fields by which the answer is chosen.", isRequired: true, example: "X-Viewer-ID, Accept-Encoding"
    ).named("Vary")
    package static let contentEncoding = ResponseDescription.Header("Content-Encoding", "`gzip`, to those who accept it.", .word("gzip"))
        .named("ContentEncoding")
    package static let retryAfter = ResponseDescription.Header(
        "Retry-After", "Seconds after which it pays to ask again.", .string(pattern: "^[0-9]+$"), example: "1"
    ).named("RetryAfter")
    package static let acceptEncoding = ResponseDescription.Header(
        "Accept-Encoding", "The codings of request bodies that are taken; with a coded body.", .word("identity")
    ).named("AcceptEncoding")
}

extension ResponseDescription {
    /// The additional responses of content that has an entity tag and two codings.
    package static let negotiated: [ResponseDescription] = [.notModified, .notAcceptable, .preconditionFailed]

    /// Returns the description of 400 with an operation's own problems and the general ones.
    package static func badRequest(_ text: String, _ told: [ProblemExample], _ fields: [Header] = [.problemCaching]) -> ResponseDescription
    {
        .problem(.badRequest, text, told + [notUnderstood], fields)
    }

    private static let notUnderstood = ProblemExample(nil, "The Host field is missing.")

    package static let badRequest = problem(.badRequest, "The request cannot be understood.", [notUnderstood], [.problemCaching])
        .named("BadRequest")
    /// The response to a client that sends its current entity tag.
    package static let notModified = empty(
        .notModified, "What the client has is still right.",
        [.init("ETag", "The validator of what the client has."), .init("Cache-Control", "As in 200."), .init("Vary", "As in 200.")]
    ).named("NotModified")
    package static let notAcceptable = problem(
        .notAcceptable, "The client accepts neither the content as it is nor its gzip coding.",
        [.init(nil, "This can be had as it is and in gzip coding; neither is accepted.")],
        [.init("Vary", "The coding is chosen by Accept-Encoding.")]
    ).named("NotAcceptable")
    package static let preconditionFailed = problem(
        .preconditionFailed, "A condition of the request is not met.", [.init(nil, "A condition of the request is not met.")], []
    ).named("PreconditionFailed")
    package static let requestTimeout = problem(
        .requestTimeout, "The request came too slowly.", [.init(nil, "The body of the request took too long.")], []
    ).named("RequestTimeout")
    package static let contentTooLarge = problem(
        .contentTooLarge, "The body is longer than the operation takes.", [.init(nil, "The body is longer than 65536 bytes.")],
        []
    ).named("ContentTooLarge")
    package static let uriTooLong = problem(
        .uriTooLong, "The request line is too long.", [.init(nil, "The request line is too long.")], []
    ).named("URITooLong")
    package static let unsupportedMediaType = problem(
        .unsupportedMediaType, "The body has a content coding, or is not JSON.",
        [.init(nil, "Request bodies must be application/json."), .init(nil, "Request bodies must not be coded.", name: "coded")],
        [.problemCaching, .acceptEncoding, .init("Accept", "The media type of request bodies.", .word("application/json"))]
    ).named("UnsupportedMediaType")
    /// The refusal of operations that write.
    package static let foreignOrigin = problem(
        .forbidden, "A web page of another origin sent the request, and `cors.origins` does not have that origin.",
        [.init(.foreignOrigin, "Pages of this origin may not write here.")], [.problemCaching]
    ).named("ForeignOrigin")
    package static let expectationFailed = problem(
        .expectationFailed, "The request expects something besides `100-continue`.",
        [.init(nil, "The only expectation that can be met is 100-continue.")], []
    ).named("ExpectationFailed")
    package static let headerTooLarge = problem(
        .requestHeaderFieldsTooLarge, "There are too many header fields, or they are too long.",
        [.init(nil, "The header fields are too long.")], []
    ).named("HeaderTooLarge")
    package static let internalServerError = problem(
        .internalServerError, "A fault of the service.", [.init(nil, "Something went wrong here.")], [.problemCaching]
    ).named("InternalServerError")
    package static let notImplemented = problem(
        .notImplemented, "The body comes in a transfer coding that is not known.", [.init(nil, "The transfer coding is not known here.")],
        []
    ).named("NotImplemented")
    package static let versionNotSupported = problem(
        .httpVersionNotSupported, "The request is of another version of HTTP than 1.0 and 1.1.",
        [.init(nil, "Only HTTP/1.1 and HTTP/1.0 are spoken here.")], []
    ).named("HTTPVersionNotSupported")
}

extension ResponseDescription.ProblemExample {
    package static let storeUnavailable = ResponseDescription.ProblemExample(.storeUnavailable, "The store does not answer. Try again.")
}
