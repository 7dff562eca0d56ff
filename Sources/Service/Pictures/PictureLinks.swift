internal import Feed
internal import Fetch
internal import Images
internal import Synchronization

/// Mints the hrefs of pictures, and remembers those of the current hour: a page needs dozens, and most pages need the same.
final class PictureLinks: Sendable {
    private static let capacity = 16_384

    private struct Minted {
        var hour: Int64 = -1
        var hrefs: [String: String] = [:]
    }

    private let signer: ImageURLSigner
    private let minted = Mutex(Minted())

    init(signer: ImageURLSigner) {
        self.signer = signer
    }

    /// The href of a picture; the source itself, which no proxy of ours will fetch, where it is no URL that could be signed.
    ///
    /// - Parameter now: milliseconds since 1970-01-01 UTC.
    func href(_ source: String, now: Int64) -> String {
        let hour = now / 3_600_000
        if let href = minted.withLock({ $0.hour == hour ? $0.hrefs[source] : nil }) { return href }
        guard let url = try? FetchURL(source) else { return source }
        let href = signer.path(for: url, now: now / 1_000)
        minted.withLock { minted in
            if minted.hour != hour || minted.hrefs.count >= Self.capacity { minted = Minted(hour: hour) }
            minted.hrefs[source] = href
        }
        return href
    }
}
