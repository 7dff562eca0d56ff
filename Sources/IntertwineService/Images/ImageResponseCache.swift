internal import IntertwineHTTPServer
internal import IntertwineImages
internal import IntertwinePrimitives
internal import IntertwineRouting
internal import Synchronization

/// A cache of encoded image responses, which event loops look up by the bytes of the request's target.
///
/// The response head contains the image's age, so a response is encoded again at most once a second. A response is stored with its image and
/// evicted with it; this cache stores the targets only. Therefore no image stays in memory beyond the limit of the image cache.
final class ImageResponseCache: Sendable {
    /// The maximum size of all entries in bytes.
    private static let capacity = 8 << 20
    /// The approximate size of an entry in bytes without its texts.
    private static let overhead = 1_536

    private struct Entry {
        let target: [UInt8]
        let lookup: ImageLookup
        /// The end of the path's validity, in seconds since 1970-01-01 UTC.
        let expires: Int64

        var size: Int { ImageResponseCache.overhead + target.count + lookup.source.utf8.count }
    }

    /// The encoded response of an image within one second.
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
    /// The entries by the hash of their target.
    private let entries = Mutex(BoundedCache<UInt64, Entry>(limit: capacity) { $1.size })

    init(manager: ImageNetworkManager, signer: ImageURLSigner, takedowns: TakedownImageFilter) {
        self.manager = manager
        self.signer = signer
        self.takedowns = takedowns
    }

    /// Returns the encoded response to a request if its image is in memory and fresh.
    ///
    /// - Parameter now: Seconds since 1970-01-01 UTC.
    func cachedResponse(for head: borrowing RequestHead, now: Int64) -> EncodedResponse? {
        let hash = head.targetHash
        guard let entry = entries.withLock({ $0[hash] }), head.hasTarget(entry.target),
            signer.isValid(until: entry.expires, now: now), !takedowns.contains(entry.lookup.source)
        else { return nil }
        let kinds = head.withField("accept") { AcceptedFormats($0) } ?? .anything
        return manager.cached(entry.lookup, kinds).map { response($0, now: now) }
    }

    /// Stores a validated path if its image is in memory.
    func store(path: String, _ request: ImageRequest, expires: Int64, now: Int64) {
        guard let image = manager.peek(request.source, request.sizing, request.kinds) else { return }
        let entry = Entry(target: Array(path.utf8), lookup: ImageLookup(request.source, request.sizing), expires: expires)
        entries.withLock { $0[RequestHead.hash(ofTarget: entry.target)] = entry }
        _ = response(image, now: now)
    }

    /// Returns the response that is stored with the image; encodes it if there is no response for this second.
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
