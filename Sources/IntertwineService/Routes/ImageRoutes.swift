internal import Foundation
internal import HTTPTypes
internal import IntertwineHTTPServer
internal import IntertwineImages
internal import IntertwineSample

struct ImageRoutes: Sendable {
    static let original = "/images/{signature}/{source}"
    static let sized = "/images/{signature}/{source}/{variant}"
    private static let viewportLimit = 1_000
    /// The maximum size of a body in bytes: two lists of that many UUIDs, with spaces.
    private static let viewportBodyLimit = 256 << 10

    private static let viewportShape =
        #"The body must be a JSON object {"visible": [UUID, …], "gone": [UUID, …]}, of at most \#(viewportLimit) each."#

    let manager: ImageNetworkManager
    let signer: ImageURLSigner
    let responseCache: ImageResponseCache
    let takedowns: TakedownImageFilter
    let prefetcher: ImagePrefetcher?
    let timeLimit: Duration
    /// Operators see the images of items that are scheduled or drafts. The cache for the event loop, which serves everybody, gets none of them.
    var isForOperators = false

    private struct Viewport: Decodable {
        let visible: [UUID]
        let gone: [UUID]

        private enum CodingKeys: CodingKey { case visible, gone }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            visible = container.contains(.visible) ? try container.decode([UUID].self, forKey: .visible) : []
            gone = container.contains(.gone) ? try container.decode([UUID].self, forKey: .gone) : []
        }
    }

    private static let request = Parameter.segment(
        "id", .uuid, "The `X-Request-ID` of the request.", example: #""0e2b1b5a-6c0f-4b7e-8f6a-3a5d0c9f7e11""#)

    var routes: [Route] {
        let cancelling = APIOperation(
            "cancelImage", tag: "Images", "Cancel an image request",
            "The cancelled request gets 499, and the service closes its connection.",
            parameters: [Self.request],
            responses: [
                .empty(.noContent, "The request is cancelled."),
                .problem(
                    .notFound, "No image request with this id is in progress.",
                    [.init(.unknownRequest, "No image request with this id is in progress.")]),
            ])
        let seeing = APIOperation(
            "reportViewport", tag: "Images", "Report the visible images",
            "Raises the priority of the requests for visible images, and cancels the requests that the client no longer needs.",
            body: RequestBodyDescription(.viewport(limit: Self.viewportLimit)),
            responses: [
                .json(
                    .ok, "The priorities are set, and the requests are cancelled.", .cancelled, [.noStore], example: #"{"cancelled": 1}"#),
                .badRequest(
                    "The body has another form, or a list has more than 1,000 ids.",
                    [.init(.invalidBody(at: "/visible", .tooMany, Self.viewportShape))]),
            ])
        return [
            Route(
                .get, Self.original, ImageRouteDescription.operation, cancelsOnPeerClose: true, timeLimit: timeLimit,
                cached: { cachedImage($0, $1) }
            ) { try await image($0) },
            Route(
                .get, Self.sized, ImageRouteDescription.sized, cancelsOnPeerClose: true, timeLimit: timeLimit,
                cached: { cachedImage($0, $1) }
            ) { try await image($0) },
            Route(.delete, "/images/requests/{id}", cancelling) { try await cancel($0) },
            Route(.post, "/images/viewport", seeing, bodyLimit: Self.viewportBodyLimit) { try await viewport($0) },
        ]
    }

    private func cachedImage(_ head: borrowing RequestHead, _ match: RouteMatch) -> EncodedResponse? {
        responseCache.cachedResponse(for: head, now: match.now / 1_000)
    }

    private func image(_ request: RouteRequest) async throws -> ServerResponse {
        let path = request.head.path ?? ""
        let now = request.now / 1_000
        let verified = try Self.verified { () throws(ImageURLError) in try signer.verify(path, now: now) }
        if takedowns.contains(verified.source) {
            throw Self.refusal(.gone, .takenDown, "This image was taken down.", "taken-down")
        }
        let isHidden = takedowns.hides(verified.source)
        if isHidden, !isForOperators {
            throw Self.refusal(.notFound, .notPublic, "The item of this image is not public.", "not-public")
        }
        if verified.sizing == nil || !manager.resizesImages, let sample = SampleImages.image(at: verified.source) {
            return ImageResponses.response(sample: sample)
        }
        let fields = request.head.headerFields
        // A name that is no UUID comes from a proxy, and identifies no request here.
        let id = fields[.xRequestID].flatMap { UUID(uuidString: $0) }
        let imageRequest = ImageRequest(
            verified.source, sizing: verified.sizing, id: id, priority: Self.isPrefetch(fields) ? .prefetch : .visible,
            via: fields[.via], cacheControl: fields[.cacheControl], accept: fields[.accept])
        prefetcher?.record(imageRequest)
        let answer = await manager.image(imageRequest)
        // The event loop serves the next request for this image from the cache.
        if !isHidden, case .complete = answer.body {
            responseCache.store(path: verified.path, imageRequest, expires: verified.expires, now: now)
        }
        return ImageResponses.response(answer, to: request.request.id)
    }

    private func cancel(_ request: RouteRequest) async throws -> ServerResponse {
        guard let id = UUID(uuidString: try request[Self.request]), await manager.cancel(id) else {
            throw Problem(.notFound, .unknownRequest, "No image request with this id is in progress.")
        }
        return ServerResponse(status: .noContent)
    }

    private func viewport(_ request: RouteRequest) async throws -> ServerResponse {
        let viewport = try request.body(as: Viewport.self, Self.viewportShape)
        let (visible, gone) = (viewport.visible, viewport.gone)
        let long = [("/visible", visible), ("/gone", gone)].filter { $0.1.count > Self.viewportLimit }
        guard long.isEmpty else {
            throw Problem.invalidBody(
                Self.viewportShape, long.map { InvalidValue(.pointer($0.0), .tooMany, Self.viewportShape) })
        }
        let cancelled = await manager.viewport(visible: visible, gone: gone)
        return .noStore(encoded: Array("{\"cancelled\":\(cancelled)}".utf8))
    }

    private static func isPrefetch(_ fields: HTTPFields) -> Bool {
        [fields[.secPurpose], fields[.purpose]].contains { $0?.lowercased().contains("prefetch") == true }
    }

    private static func verified<Value>(_ verify: () throws(ImageURLError) -> Value) throws(Problem) -> Value {
        do {
            return try verify()
        } catch {
            switch error {
            case .malformed: throw refusal(.forbidden, .invalidImageURL, "The URL is not an image URL of this service.", "malformed")
            case .forged: throw refusal(.forbidden, .invalidImageURL, "This service did not sign the image URL.", "forged")
            case .expired:
                throw refusal(.gone, .expiredImageURL, "The image URL has expired. A new page of the feed has a new URL.", "expired")
            }
        }
    }

    private static func refusal(_ status: HTTPResponse.Status, _ kind: Problem.ProblemType, _ detail: String, _ reason: String) -> Problem {
        Problem(status, kind, detail, fields: HTTPFields(imageError: reason))
    }
}
