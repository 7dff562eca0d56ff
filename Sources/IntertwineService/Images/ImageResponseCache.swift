internal import IntertwineHTTPServer
internal import IntertwineImages
internal import IntertwinePrimitives
internal import Synchronization

/// The images whose responses event loops find by the bytes of the request's target, and the rules by which they may be served.
/// The response head contains the image's age, so a response is encoded again at most once a second.
final class ImageResponseCache: Sendable {
    /// The approximate size of an entry in bytes without its texts.
    private static let overhead = 1_536

    private final class CachedImageResponse: Sendable {
        let second: Int64
        let response: EncodedResponse

        init(second: Int64, response: EncodedResponse) {
            self.second = second
            self.response = response
        }
    }

    private let manager: ImageNetworkManager
    private let signer: ImageURLSigner
    private let takedowns: TakedownImageFilter
    /// The images by target, with the end of the path's validity in seconds since 1970-01-01 UTC.
    private let entries = ResponseCache<[UInt8], (lookup: ImageLookup, expires: Int64)>(capacity: 8 << 20)

    init(manager: ImageNetworkManager, signer: ImageURLSigner, takedowns: TakedownImageFilter) {
        self.manager = manager
        self.signer = signer
        self.takedowns = takedowns
    }

    func cachedResponse(for head: borrowing RequestHead, now: Int64) -> EncodedResponse? {
        guard let entry = entries.withContent(for: head, { $0 }), signer.isValid(until: entry.expires, now: now),
            !takedowns.contains(entry.lookup.source), !takedowns.hides(entry.lookup.source)
        else { return nil }
        let kinds = head.withField("accept") { AcceptedFormats($0) } ?? .anything
        return manager.cached(entry.lookup, kinds).map { response($0, now: now) }
    }

    func store(path: String, _ request: ImageRequest, expires: Int64, now: Int64) {
        guard let image = manager.peek(request.source, request.sizing, request.kinds) else { return }
        let (target, lookup) = (Array(path.utf8), ImageLookup(request.source, request.sizing))
        entries.store((lookup, expires), for: target, target: target, size: Self.overhead + lookup.source.utf8.count)
        _ = response(image, now: now)
    }

    private func response(_ image: CachedImage, now: Int64) -> EncodedResponse {
        if let answer = image.companion.withLock({ $0 as? CachedImageResponse }), answer.second == now { return answer.response }
        let encoded = make(image, now: now)
        image.companion.withLock { $0 = CachedImageResponse(second: now, response: encoded) }
        return encoded
    }

    private func make(_ image: CachedImage, now: Int64) -> EncodedResponse {
        let response = ImageResponses.response(ImageResponse(image, CacheStatus(.hit), now: now), to: nil)
        return EncodedResponse(
            response, compressionLevel: nil, route: image.isSized ? ImageRoutes.sized : ImageRoutes.original)
    }
}
