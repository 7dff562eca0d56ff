internal import IntertwineFeed
internal import IntertwineFetch
internal import IntertwineImages

/// Mints the hrefs of pictures. They are not remembered here: the cells that show them are.
struct PictureLinks: Sendable {
    let signer: ImageURLSigner

    /// The href of a picture; the source itself, which no proxy of ours will fetch, where it is no URL that could be signed.
    ///
    /// - Parameter now: milliseconds since 1970-01-01 UTC.
    func href(_ source: String, now: Int64) -> String {
        if FetchURL.isPlain(source) { return signer.path(forPlain: source, now: now / 1_000) }
        guard let url = try? FetchURL(source) else { return source }
        return signer.path(for: url, now: now / 1_000)
    }
}
