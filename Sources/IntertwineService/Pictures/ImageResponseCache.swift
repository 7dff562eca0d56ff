internal import IntertwineHTTPServer
internal import IntertwineImages
internal import IntertwineRouting
internal import Synchronization

/// Pictures in memory as finished answers, looked up on the event loops by the bytes of the request's target.
///
/// The picture's age stands in its head, so an answer is made anew once a second for as long as someone asks.
/// An answer belongs to its picture and goes with it: here are only the targets, so no picture stays in memory beyond the cache's cap.
final class ImageResponseCache: Sendable {
    /// Bytes of all targets, with what they lead to.
    private static let capacity = 8 << 20
    /// What an entry costs besides its texts, roughly.
    private static let overhead = 1_536

    private struct Entry {
        let target: [UInt8]
        let lookup: ImageLookup
        /// Seconds since 1970-01-01 UTC after which the path is valid no more.
        let expires: Int64

        var size: Int { ImageResponseCache.overhead + target.count + lookup.source.utf8.count }
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var size = 0
    }

    /// What a picture is answered with within one second.
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
    private let state = Mutex(State())

    /// Whether answers differ by the request's origin.
    private let variesByOrigin: Bool

    init(manager: ImageNetworkManager, signer: ImageURLSigner, takedowns: TakedownImageFilter, variesByOrigin: Bool = false) {
        self.manager = manager
        self.signer = signer
        self.takedowns = takedowns
        self.variesByOrigin = variesByOrigin
    }

    /// The finished answer to a request, if its picture lies in memory and is fresh.
    ///
    /// - Parameter now: seconds since 1970-01-01 UTC.
    func cachedResponse(for head: borrowing RequestHead, now: Int64) -> EncodedResponse? {
        guard head.method == .get || head.method == .head else { return nil }
        let hash = head.targetHash
        guard let entry = state.withLock({ $0.entries[hash] }), head.hasTarget(entry.target),
            signer.isValid(until: entry.expires, now: now), !takedowns.contains(entry.lookup.source)
        else { return nil }
        let kinds = head.withField("accept") { AcceptedFormats($0) } ?? .anything
        return manager.cached(entry.lookup, kinds).map { response($0, now: now) }
    }

    /// Keeps the path, which was found valid, where its picture lies in memory.
    func store(path: String, _ request: ImageRequest, expires: Int64, now: Int64) {
        guard let image = manager.peek(request.source, request.sizing, request.kinds) else { return }
        let entry = Entry(target: Array(path.utf8), lookup: ImageLookup(request.source, request.sizing), expires: expires)
        state.withLock { state in
            if state.size + entry.size > Self.capacity { state = State() }
            let old = state.entries.updateValue(entry, forKey: RequestHead.hash(ofTarget: entry.target))
            state.size += entry.size - (old?.size ?? 0)
        }
        _ = response(image, now: now)
    }

    /// The answer that lies with the picture, made anew where there is none for this second.
    private func response(_ image: CachedImage, now: Int64) -> EncodedResponse {
        if let answer = image.companion.withLock({ $0 as? CachedImageResponse }), answer.second == now { return answer.response }
        let finished = make(image, now: now)
        image.companion.withLock { $0 = CachedImageResponse(second: now, response: finished) }
        return finished
    }

    private func make(_ image: CachedImage, now: Int64) -> EncodedResponse {
        let response = ImageResponses.response(ImageResponse(image, CacheStatus(.hit), now: now))
        return EncodedResponse(
            variesByOrigin ? response.adding(CORSPolicy.vary) : response, compressionLevel: nil,
            route: image.isSized ? ImageRoutes.sized : ImageRoutes.original)
    }
}
