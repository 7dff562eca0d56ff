internal import HTTPTypes
internal import IntertwineImages
internal import IntertwineRouting

/// The API description of `GET /images/{signature}/{source}`: an image, or the reason why it is not available.
enum ImageRouteDescription {
    static let operation = APIOperation(
        "getImage", tag: "Images", "An image",
        """
        The proxied image. Its URL is minted and signed by the service, and valid for a week at least. Requests for one image share \
        one download; it ends when nobody waits for it any more. Closing the connection takes the request back. A client that does not accept \
        the format of the image gets it converted, in its own size, if the service has image workers. `Sec-Purpose: prefetch` \
        puts it behind what is looked at. `Cache-Control: only-if-cached` asks no origin: 504 where nothing is stored. Small images \
        that come quickly are answered whole the first time too, with their `ETag` and in parts.
        """,
        parameters: [signature, source] + fields, responses: responses)

    static let sized = APIOperation(
        "getSizedImage", tag: "Images", "An image of the size that it is shown at",
        """
        As `/images/{signature}/{source}`, made to fit its cell: upright, in sRGB, without anything that the camera noted, never larger than \
        the original, in the best format that the client names (AVIF, WebP; else JPEG or PNG, and animations as WebP or GIF). All sizes and \
        formats of an image share one download, and those who wait for the same one share its making. It is as fresh as the original. \
        A service without image workers answers with the original, and so does one that has no decoder for it (`Image-Error: no-decoder`); \
        of an animation in AVIF, or one that would take too long (`too-many-frames`), the first frame is made. Where the image cannot be had, and configuration has something to show \
        in its place (`images.fallbacks`), that is the answer, for half a minute, with `Image-Error`.
        """,
        parameters: [
            signature, source,
            Parameter.segment(
                "variant",
                .string(
                    pattern: "^[1-9][0-9]*x[1-9][0-9]*(-fit|-attention|-[0-9]+-[0-9]+)?(~[A-Za-z0-9_-]+([.][A-Z0-9]{1,2})?)?(@[23]x)?$"),
                """
                Width and height in points, `-fit`, `-attention` or a point in thousandths where not the middle of the image fills them, \
                behind `~` what is shown where there is no image, and `@2x` or `@3x`. The signature is good for all scales, and for nothing else.
                """, example: #""150x150-attention@2x""#),
        ] + fields, responses: responses)

    private static let signature = Parameter.segment(
        "signature", FeedParameters.plain, "Version, key, expiry and code, in base64url.",
        example: #""AXuJAAecoioHpRy2i46ncVRsnkNx24E""#)
    private static let source = Parameter.segment(
        "source", FeedParameters.plain, "The image's URL in base64url.",
        example: #""aHR0cHM6Ly9waWN0dXJlcy5leGFtcGxlLmNvbS90dC5wbmc""#)

    private static let fields: [any RequestParameter] = [
        Parameter.field(
            "X-Request-ID", .string,
            """
            Names the request in the answer and in the log: 1 to 128 token characters of the client's choice. By a UUID it can be \
            cancelled; any other name cancels nothing.
            """, example: #""0e2b1b5a-6c0f-4b7e-8f6a-3a5d0c9f7e11""#),
        Parameter<Void>.ifNoneMatch,
        Parameter.field(
            "Range", .string, "A single range of bytes (RFC 9110, section 14). Others are ignored.", example: #""bytes=0-99""#),
        Parameter.field(
            "Accept", .string, "The formats that the client takes; AVIF and WebP are asked for where they are named.",
            example: #""image/avif,image/webp,*/*;q=0.8""#),
    ]

    private static let responses: [ResponseDescription] = [
        .json(.ok, "The image.", .any, imageHeaders, type: "image/*"),
        .json(.partialContent, "A part of the image.", .any, imageHeaders + [contentRange], type: "image/*"),
        .empty(.notModified, "The client's copy is current.", imageHeaders),
        none(
            .forbidden, "The URL was not made here, or its source must not be fetched.", ["address-denied", "upstream-403"],
            or: [.init(.invalidImageURL, "This image URL was not made here.")]),
        none(.notFound, "The origin has no such image.", ["upstream-404"]),
        none(
            .gone, "The URL has expired, the item that shows the image was taken down, or its origin says that the image is gone.",
            ["upstream-410"],
            or: [
                .init(.expiredImageURL, "This image URL has expired; the feed has a new one."),
                .init(.takenDown, "This image was taken down."),
            ]),
        .preconditionFailed,
        none(.notAcceptable, "There is an image, in no format that the client takes.", ["not-acceptable"]),
        none(
            .unsupportedMediaType, "What the origin has is no image that is passed on.",
            ["type-denied", "type-mismatch", "encoded-body"],
            or: [.init(nil, "Request bodies must not have a content coding.", name: "blank")],
            [
                .init(
                    "Accept-Encoding", "The codings of request bodies that are taken, where the request's was not.", .word("identity"))
            ]),
        .problem(
            .rangeNotSatisfiable, "The range is beyond the end of the content.",
            [.init(nil, "The range is beyond the end of the content.")], [contentRange]),
        none(.init(code: 499), "The request was taken back. The connection ends with it.", ["cancelled"]),
        none(
            .internalServerError, "An internal error.", ["internal-error"],
            or: [.init(nil, "An internal error occurred.", name: "blank")]),
        none(.badGateway, "The origin does not answer as it should.", ["upstream-500", "connect-failed", "body-too-large"]),
        none(
            .serviceUnavailable, "Too many downloads are running, or the origin sent Retry-After.", ["overloaded", "host-resting"],
            or: [.storeUnavailable, .init(nil, "The response took too long.", name: "blank")]),
        none(
            .gatewayTimeout, "The origin is too slow, or the request is only-if-cached and no image is stored.",
            ["head-timeout", "total-timeout"]),
        none(
            .init(code: 508), "The request has come through this proxy before (`Via`): the origin leads back to it.",
            ["loop-detected"]),
    ]

    /// Returns the response without an image: the proxy's reasons, and other problems with the given status.
    private static func none(
        _ status: HTTPResponse.Status, _ text: String, _ reasons: [String], or told: [ResponseDescription.ProblemExample] = [],
        _ fields: [ResponseDescription.Header] = []
    ) -> ResponseDescription {
        let images = reasons.map { ResponseDescription.ProblemExample(.image(code: $0), "The image could not be fetched.") }
        let others = told.map { Schema.word($0.uri) }
        let type = others.isEmpty ? Schema.imageProblemType : .choice(others + [.imageProblemType])
        let further = ImageError.codes.filter { $0.status == status.code && !reasons.contains($0.code) }
        let upstream = reasons.contains { $0.hasPrefix("upstream-") } ? ["upstream-status"] : []
        return .problem(
            status, text, told + images, failure + fields, types: type,
            others: (upstream + further.map(\.code)).map { .image(code: $0) })
    }

    private static let imageHeaders: [ResponseDescription.Header] = [
        ResponseDescription.Header(
            "Cache-Control", "How long the image may be used, after what its origin says.", isRequired: true,
            example: "public, max-age=3600, must-revalidate"
        ).named("PictureCacheControl"),
        ResponseDescription.Header(
            "Cache-Status", "How the answer came about (RFC 9211).", isRequired: true, example: "Intertwine; hit; ttl=3600"
        )
        .named("CacheStatus"),
        ResponseDescription.Header("Age", "Seconds since the origin gave or confirmed it.", .string(pattern: "^[0-9]+$"), example: "0")
            .named("Age"),
        .init("ETag", "A strong validator. Missing while the image is on its way from its origin."),
        ResponseDescription.Header("Last-Modified", "When the image last changed, as its origin says.").named("LastModified"),
        ResponseDescription.Header("Accept-Ranges", "Single ranges may be asked for.", .word("bytes")).named("AcceptRanges"),
        ResponseDescription.Header(
            "Content-Security-Policy", "An image runs nothing.", isRequired: true, example: "default-src 'none'; sandbox"
        )
        .named("ContentSecurityPolicy"),
        ResponseDescription.Header("X-Content-Type-Options", "The type is what it says.", .word("nosniff"), isRequired: true)
            .named("ContentTypeOptions"),
        ResponseDescription.Header(
            "Content-Disposition", "A file name without anything of the origin's.", isRequired: true,
            example: #"inline; filename="image.png""#
        ).named("ContentDisposition"),
        ResponseDescription.Header("Vary", "An image is chosen by the formats that the client takes.", isRequired: true, example: "Accept")
            .named("PictureVary"),
        ResponseDescription.Header(
            "Cross-Origin-Resource-Policy", "Pages of any origin may show it.", .word("cross-origin"), isRequired: true
        )
        .named("CrossOriginResourcePolicy"),
    ]

    private static let contentRange = ResponseDescription.Header(
        "Content-Range", "Which part this is.", isRequired: true, example: "bytes 0-99/4096"
    )
    .named("ContentRange")

    private static let failure: [ResponseDescription.Header] = [
        .problemCaching,
        ResponseDescription.Header(
            "Image-Error",
            "The reason why there is no image, as at the end of the problem's type. `malformed`, `forged` or `expired` if the URL is refused.",
            example: "upstream-404"
        ).named("ImageError"),
        .init("Cache-Status", "How the answer came about (RFC 9211)."), .retryAfter,
        .init("Content-Security-Policy", "An image runs nothing."),
        .init("X-Content-Type-Options", "The type is what it says.", .word("nosniff")),
    ]
}

extension Schema {
    /// Returns the schema of image requests, identified by their `X-Request-ID`.
    ///
    /// - Parameter limit: The maximum length of each list.
    static func viewport(limit: Int) -> Schema {
        Schema.object([
            .optional("visible", .list(of: .uuid, maximum: limit), "Those that are seen now: they go first."),
            .optional("gone", .list(of: .uuid, maximum: limit), "Downloads without waiters: they are cancelled."),
        ]).described("Requests for images, by their `X-Request-ID`.").examples(
            #"{"visible": ["0e2b1b5a-6c0f-4b7e-8f6a-3a5d0c9f7e11"], "gone": []}"#
        ).named("Viewport")
    }

    static let cancelled = Schema.object([.required("cancelled", .count, "How many requests were cancelled.")]).named("Cancelled")

    static let imageProblemType = Schema.string(
        pattern: "^/problems/image-(upstream-[1-9][0-9]{2}|\(ImageError.codes.map(\.code).joined(separator: "|")))$"
    ).titled("Image problem type").described(
        "The reason why there is no image: `upstream-` and the status of the origin, or a reason of the image proxy."
    ).examples(#""/problems/image-upstream-404""#, #""/problems/image-address-denied""#).named("ImageProblemType")
}

extension Problem.ProblemType {
    /// The type of an image that is not available.
    static func image(_ error: ImageError) -> Problem.ProblemType { image(code: error.code) }

    /// The type of an image that is not available, by ``ImageError/code``.
    static func image(code: String) -> Problem.ProblemType {
        Problem.ProblemType(
            "image-\(code)",
            code.hasPrefix("upstream-")
                ? "The origin of the image responded with an error. The type ends in the status. Show the placeholder of the cell."
                : "The image proxy has no image. The end of the type names the reason, as the field Image-Error does. Show the placeholder of the cell."
        )
    }
}
