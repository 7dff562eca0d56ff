internal import HTTPServer
internal import Images
internal import Synchronization

/// Pictures in memory as finished answers, looked up on the event loops by the bytes of the request's target.
///
/// The picture's age stands in its head, so an answer is made anew once a second for as long as someone asks.
final class FinishedPictures: Sendable {
    private static let capacity = 8_192

    private struct Entry {
        let target: [UInt8]
        let source: String
        /// Seconds since 1970-01-01 UTC after which the path is valid no more.
        let expires: Int64
        var image: CachedImage
        var second: Int64
        var canned: CannedResponse
    }

    private let manager: ImageNetworkManager
    private let entries = Mutex<[UInt64: Entry]>([:])

    /// Whether answers differ by the request's origin.
    private let variesByOrigin: Bool

    init(manager: ImageNetworkManager, variesByOrigin: Bool = false) {
        self.manager = manager
        self.variesByOrigin = variesByOrigin
    }

    /// The finished answer to a request, if its picture lies in memory and is fresh.
    ///
    /// - Parameter now: seconds since 1970-01-01 UTC.
    func canned(for head: borrowing RequestHead, now: Int64) -> CannedResponse? {
        guard head.method == .get || head.method == .head else { return nil }
        // A name that is no UUID is refused, whether the picture is there or not.
        guard head.withField("x-request-id", Self.isUUID) ?? true else { return nil }
        let hash = head.targetHash
        guard let entry = entries.withLock({ $0[hash] }), head.hasTarget(entry.target), now < entry.expires else { return nil }
        guard let image = manager.cached(entry.source) else { return nil }
        if image === entry.image, now == entry.second { return entry.canned }
        let canned = make(image, now: now)
        entries.withLock { entries in
            entries[hash]?.image = image
            entries[hash]?.second = now
            entries[hash]?.canned = canned
        }
        return canned
    }

    /// Keeps the answer for a path that was found valid, where the picture lies in memory.
    func keep(path: String, source: String, expires: Int64, now: Int64) {
        guard let image = manager.cached(source) else { return }
        let target = Array(path.utf8)
        let entry = Entry(
            target: target, source: source, expires: expires, image: image, second: now, canned: make(image, now: now))
        entries.withLock { entries in
            if entries.count >= Self.capacity { entries.removeAll(keepingCapacity: true) }
            entries[RequestHead.hash(ofTarget: target)] = entry
        }
    }

    private func make(_ image: CachedImage, now: Int64) -> CannedResponse {
        let response = PictureFormat.response(ImageAnswer(image, CacheStatus(.hit), now: now))
        return CannedResponse(
            variesByOrigin ? response.adding(CrossOriginPolicy.vary) : response, compressionLevel: nil,
            route: "/images/{signature}/{source}")
    }

    /// Five groups of hexadecimal digits (RFC 9562 section 4).
    private static func isUUID(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count == 36 else { return false }
        return bytes.indices.allSatisfy { index in
            switch index {
            case 8, 13, 18, 23: bytes[index] == UInt8(ascii: "-")
            default: Character(UnicodeScalar(bytes[index])).isHexDigit
            }
        }
    }
}
