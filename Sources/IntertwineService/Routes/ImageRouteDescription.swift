internal import HTTPTypes
internal import IntertwineHTTPServer
internal import IntertwineImages

/// The API description of `GET /images/{signature}/{source}`: an image, or the reason why it is not available.
enum ImageRouteDescription {
    static let operation = APIOperation(
        "getImage", tag: "Images", "An image",
        """
        The image of an origin, through the proxy. The service signs the URL, which is valid for at least one week. Concurrent requests \
        for one image are coalesced into one download, which is cancelled if all of them are cancelled. A client cancels a request by \
        closing the connection. If the client does not accept the format of the image and the service has image workers, the image is \
        converted in its original size. `Sec-Purpose: prefetch` lowers the priority of the request. `Cache-Control: only-if-cached` \
        reads the cache only: a cache miss is 504. The first response to a small image has an `ETag` and supports ranges if the origin \
        is fast.
        """,
        parameters: [signature, source] + fields, responses: responses)

    static let sized = APIOperation(
        "getSizedImage", tag: "Images", "An image in the size of its display",
        """
        The image of `/images/{signature}/{source}`, resized for its cell. It is upright, in sRGB, without metadata, and never larger \
        than the original. Its format is the best one that the client accepts: AVIF, WebP, else JPEG or PNG. Animations are WebP or GIF. \
        All sizes and formats of an image share one download, and concurrent requests for one variant share its rendering. The image has \
        the freshness of the original. The response is the original if the service has no image workers, or no decoder for the format \
        (`Image-Error: no-decoder`). The response is the first frame of an animation in AVIF, or of one that would take too long \
        (`too-many-frames`). If the image is not available and `images.fallbacks` has a fallback, the response is the fallback with \
        `Image-Error`, fresh for 30 seconds.
        """,
        parameters: [
            signature, source,
            Parameter.segment(
                "variant",
                .string(
                    pattern: "^[1-9][0-9]*x[1-9][0-9]*(-fit|-attention|-[0-9]+-[0-9]+)?(~[A-Za-z0-9_-]+([.][A-Z0-9]{1,2})?)?(@[23]x)?$"),
                """
                The width and height in points, then the parts that differ from the default. `-fit`, `-attention` or a point in \
                thousandths replaces the crop around the center. `~` begins the fallback that is shown without an image. `@2x` or `@3x` \
                is the scale. The signature covers all scales of this variant, and no other variant.
                """, example: #""150x150-attention@2x""#),
        ] + fields, responses: responses)

    private static let signature = Parameter.segment(
        "signature", FeedParameters.plain, "The version, key, expiry and signature, in base64url.",
        example: #""AXuJAAecoioHpRy2i46ncVRsnkNx24E""#)
    private static let source = Parameter.segment(
        "source", FeedParameters.plain, "The source URL of the image, in base64url.",
        example: #""aHR0cHM6Ly9waWN0dXJlcy5leGFtcGxlLmNvbS90dC5wbmc""#)

    private static let fields: [any RequestParameter] = [
        Parameter.field(
            "X-Request-ID", .string,
            """
            The id of the request in the response and in the log: 1 to 128 token characters. Only a request with a UUID can be cancelled \
            by its id.
            """, example: #""0e2b1b5a-6c0f-4b7e-8f6a-3a5d0c9f7e11""#),
        Parameter<Void>.ifNoneMatch,
        Parameter.field(
            "Range", .string, "A single range of bytes (RFC 9110, section 14). The service ignores other ranges.", example: #""bytes=0-99""#
        ),
        Parameter.field(
            "Accept", .string, "The accepted formats. AVIF and WebP must be named; `*/*` does not select them.",
            example: #""image/avif,image/webp,*/*;q=0.8""#),
    ]

    private static let responses: [ResponseDescription] = [
        .json(.ok, "The image.", .any, imageHeaders, type: "image/*"),
        .json(.partialContent, "A part of the image.", .any, imageHeaders + [contentRange], type: "image/*"),
        .empty(.notModified, "The client's copy is current.", imageHeaders),
        none(
            .forbidden, "The service did not sign the URL, or the address of its source is denied.", ["address-denied", "upstream-403"],
            or: [.init(.invalidImageURL, "This service did not sign the image URL.")]),
        none(
            .notFound, "The origin has no such image, or the item that shows it is not public.", ["upstream-404"],
            or: [.init(.notPublic, "The item of this image is not public.")]),
        none(
            .gone, "The URL has expired, the item that shows the image was taken down, or its origin says that the image is gone.",
            ["upstream-410"],
            or: [
                .init(.expiredImageURL, "The image URL has expired. A new page of the feed has a new URL."),
                .init(.takenDown, "This image was taken down."),
            ]),
        .preconditionFailed,
        none(.notAcceptable, "The image is available in no format that the client accepts.", ["not-acceptable"]),
        none(
            .unsupportedMediaType, "The content of the origin is not an image of a supported type.",
            ["type-mismatch"],
            or: [.init(nil, "Request bodies must not have a content coding.", name: "blank")],
            [
                .init(
                    "Accept-Encoding", "The accepted codings of request bodies; present if the coding of the request was rejected.",
                    .word("identity"))
            ]),
        .problem(
            .rangeNotSatisfiable, "The range is beyond the end of the content.",
            [.init(nil, "The range is beyond the end of the content.")], [contentRange]),
        none(.init(code: 499), "The client cancelled the request, and the service closes the connection.", ["cancelled"]),
        none(
            .internalServerError, "An internal error.", ["internal-error"],
            or: [.init(nil, "An internal error occurred.", name: "blank")]),
        none(.badGateway, "The origin does not respond correctly.", ["upstream-500", "connect-failed", "body-too-large"]),
        none(
            .serviceUnavailable, "Too many downloads are running, or the origin sent Retry-After.", ["overloaded", "host-resting"],
            or: [.storeUnavailable, .init(nil, "The response took too long.", name: "blank")]),
        none(
            .gatewayTimeout, "The origin is too slow, or the request is only-if-cached and no image is stored.",
            ["head-timeout", "total-timeout"]),
        none(
            .init(code: 508), "The request has passed this proxy before (`Via`): the origin redirects to it.",
            ["loop-detected"]),
    ]

    private static func none(
        _ status: HTTPResponse.Status, _ text: String, _ reasons: [String], or problems: [ResponseDescription.ProblemExample] = [],
        _ fields: [ResponseDescription.Header] = []
    ) -> ResponseDescription {
        let images = reasons.map { ResponseDescription.ProblemExample(.image(code: $0), "The image could not be fetched.") }
        let others = problems.map { Schema.word($0.uri) }
        let type = others.isEmpty ? Schema.imageProblemType : .choice(others + [.imageProblemType])
        return .problem(status, text, problems + images, failure + fields, types: type)
    }

    private static let imageHeaders: [ResponseDescription.Header] = [
        ResponseDescription.Header(
            "Cache-Control", "The freshness lifetime of the image, from the fields of its origin.", isRequired: true,
            example: "public, max-age=3600, must-revalidate"
        ).named("PictureCacheControl"),
        ResponseDescription.Header(
            "Cache-Status", "The handling by the cache: hit, miss or revalidation (RFC 9211).", isRequired: true,
            example: "Intertwine; hit; ttl=3600"
        )
        .named("CacheStatus"),
        ResponseDescription.Header(
            "Age", "The seconds since the origin generated or validated the image.", .string(pattern: "^[0-9]+$"), example: "0"
        )
        .named("Age"),
        .init("ETag", "A strong validator. Absent during the download from the origin."),
        ResponseDescription.Header("Last-Modified", "The time of the image's last change, from its origin.").named("LastModified"),
        ResponseDescription.Header("Accept-Ranges", "The service supports single ranges.", .word("bytes")).named("AcceptRanges"),
        ResponseDescription.Header(
            "Content-Security-Policy", "The image can neither run scripts nor load resources.", isRequired: true,
            example: "default-src 'none'; sandbox"
        )
        .named("ContentSecurityPolicy"),
        ResponseDescription.Header("X-Content-Type-Options", "Browsers must not guess the media type.", .word("nosniff"), isRequired: true)
            .named("ContentTypeOptions"),
        ResponseDescription.Header(
            "Content-Disposition", "A fixed file name without data of the origin.", isRequired: true,
            example: #"inline; filename="image.png""#
        ).named("ContentDisposition"),
        ResponseDescription.Header("Vary", "The accepted formats select the image.", isRequired: true, example: "Accept")
            .named("PictureVary"),
        ResponseDescription.Header(
            "Cross-Origin-Resource-Policy", "Pages of any origin may show the image.", .word("cross-origin"), isRequired: true
        )
        .named("CrossOriginResourcePolicy"),
    ]

    private static let contentRange = ResponseDescription.Header(
        "Content-Range", "The range of the response.", isRequired: true, example: "bytes 0-99/4096"
    )
    .named("ContentRange")

    private static let failure: [ResponseDescription.Header] = [
        .problemCaching,
        ResponseDescription.Header(
            "Image-Error",
            "The reason for the missing image, as at the end of the problem's type. `malformed`, `forged` or `expired` if the URL is rejected.",
            example: "upstream-404"
        ).named("ImageError"),
        .init("Cache-Status", "The handling by the cache: hit, miss or revalidation (RFC 9211)."), .retryAfter,
        .init("Content-Security-Policy", "The image can neither run scripts nor load resources."),
        .init("X-Content-Type-Options", "Browsers must not guess the media type.", .word("nosniff")),
    ]
}

extension Schema {
    static func viewport(limit: Int) -> Schema {
        Schema.object([
            .optional("visible", .list(of: .uuid, maximum: limit), "The requests for images that are visible now. They have priority."),
            .optional("gone", .list(of: .uuid, maximum: limit), "The requests that the client no longer needs. The service cancels them."),
        ]).described("The client's image requests, by their `X-Request-ID`.").examples(
            #"{"visible": ["0e2b1b5a-6c0f-4b7e-8f6a-3a5d0c9f7e11"], "gone": []}"#
        ).named("Viewport")
    }

    static let cancelled = Schema.object([.required("cancelled", .count, "The number of cancelled requests.")]).named("Cancelled")

    static let imageProblemType = Schema.string(
        pattern: "^/problems/image-(upstream-[1-9][0-9]{2}|\(ImageError.codes.map(\.code).joined(separator: "|")))$"
    ).titled("Image problem type").described(
        "The reason for the missing image: `upstream-` and the status of the origin, or an error of the image proxy."
    ).examples(#""/problems/image-upstream-404""#, #""/problems/image-address-denied""#).named("ImageProblemType")
}

extension Problem.ProblemType {
    static func image(_ error: ImageError) -> Problem.ProblemType { image(code: error.code) }

    static func image(code: String) -> Problem.ProblemType {
        Problem.ProblemType(
            "image-\(code)",
            code.hasPrefix("upstream-")
                ? "The origin of the image responded with an error. The type ends in the status. Show the placeholder of the cell."
                : "The image proxy has no image. The end of the type names the reason, as the field Image-Error does. Show the placeholder of the cell."
        )
    }
}
