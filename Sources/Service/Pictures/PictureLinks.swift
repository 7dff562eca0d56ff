internal import Feed
internal import Fetch
internal import Images
internal import Synchronization

/// Mints the hrefs of pictures, and remembers them for as long as they are the same: a page needs dozens, and most pages need the same.
final class PictureLinks: Sendable {
    private static let capacity = 16_384

    private let signer: ImageURLSigner
    private let minted = Mutex<[String: ImageURLSigner.Minted]>([:])

    init(signer: ImageURLSigner) {
        self.signer = signer
    }

    /// The href of a picture; the source itself, which no proxy of ours will fetch, where it is no URL that could be signed.
    ///
    /// - Parameter now: milliseconds since 1970-01-01 UTC.
    func href(_ source: String, now: Int64) -> String {
        let seconds = now / 1_000
        if let known = minted.withLock({ $0[source] }), seconds < known.changes { return known.path }
        guard let url = try? FetchURL(source) else { return source }
        let new = signer.mint(url, now: seconds)
        minted.withLock { minted in
            if minted.count >= Self.capacity { minted = [:] }
            minted[source] = new
        }
        return new.path
    }
}
