internal import IntertwineFeed
internal import IntertwineFetch
internal import IntertwineImages
internal import IntertwinePrimitives

/// Image URLs for operators who want to see what the proxy makes of a picture.
public enum ImageAddress {
    /// The href under which the service with this configuration serves a picture.
    ///
    /// - Throws: ``ConfigurationError`` where the source is no URL that can be fetched, or the signing key cannot be read.
    public static func mint(_ source: String, configuration: ServiceConfiguration) throws -> String {
        let signer = try PictureProxy.signer(configuration: configuration, keys: try configuration.signingKeys())
        guard let url = try? FetchURL(source) else { throw ConfigurationError("'\(source)' is not an absolute http or https URL") }
        do {
            try configuration.images.policy.check(url)
        } catch {
            throw ConfigurationError("'\(source)' would be refused: \(error.rawValue)")
        }
        let path = signer.path(for: url, now: WallClock.now() / 1_000)
        return configuration.server.publicURL + path
    }
}
