package import FoundationEssentials

/// A request of one client for one image.
package struct ImageRequest: Sendable {
    /// The URL of the image, as returned by ``ImageURLSigner/verify(_:now:)``.
    package var source: String
    /// The name under which the request can be cancelled and reprioritized.
    package var id: UUID?
    /// The priority of the request, by which waiting downloads are ordered.
    package var priority: ImagePriority
    /// The `Via` field of the request: the proxies that it has passed (RFC 9110 section 7.6.3).
    package var via: String?
    /// A Boolean value indicating that only a stored image is acceptable, without a request to the origin (RFC 9111 section 5.2.1.7).
    var isOnlyIfCached: Bool
    /// The formats that the client accepts.
    package var kinds: AcceptedFormats
    /// The requested size; nil for the original.
    package var sizing: ResizeMode?
    /// A Boolean value indicating that a stream is not acceptable, because the image is resized. The caller counts such a request.
    var requiresCompleteBody = false
    /// A Boolean value indicating that the caller decodes the image, and so learns its metadata.
    var isDecoded = false
    /// A Boolean value indicating that a stale image is acceptable during its revalidation, if its origin permits that.
    var allowsStale = true

    /// Creates a request for an image.
    ///
    /// ```swift
    /// let sizing = ProcessingOptions(width: 150, height: 150).flatMap { ResizeMode($0, scale: 2) }
    /// let request = ImageRequest("https://example.com/a.jpg", sizing: sizing, accept: "image/avif,image/webp,*/*")
    /// let response = await manager.image(request)
    /// ```
    ///
    /// - Parameters:
    ///   - source: The URL of the image.
    ///   - sizing: The requested size; nil for the original.
    ///   - cacheControl: The `Cache-Control` field of the request.
    ///   - accept: The `Accept` field of the request.
    package init(
        _ source: String, sizing: ResizeMode? = nil, id: UUID? = nil, priority: ImagePriority = .visible, via: String? = nil,
        cacheControl: String? = nil, accept: String? = nil
    ) {
        self.source = source
        self.sizing = sizing
        self.id = id
        self.priority = priority
        self.via = via
        kinds = AcceptedFormats(accept)
        isOnlyIfCached = cacheControl.map { CacheControl($0).has("only-if-cached") } ?? false
    }

    /// The coalescing key: the source and the formats for the origin.
    var key: String { CachedImage.key(source, kinds.accepted) }

    /// True if the request has passed a proxy of this kind before. Serving it could create an infinite loop.
    var isLoop: Bool {
        guard let via else { return false }
        return via.split(separator: ",").contains { entry in
            // An entry has the protocol, followed by the name of the recipient.
            entry.split(separator: " ").dropFirst().first?.lowercased() == ImageNetworkManager.viaName
        }
    }
}

/// The priority of an image request. A download has the priority of its most urgent waiter.
package enum ImagePriority: Int, Sendable, Hashable, CaseIterable, Comparable {
    /// The image is not near the viewport; it is the first to be rejected.
    case prefetch
    /// The image is about to be visible.
    case near
    /// The image is visible.
    case visible

    /// Returns true if the left priority is less urgent.
    package static func < (left: ImagePriority, right: ImagePriority) -> Bool { left.rawValue < right.rawValue }
}

/// A selection of images by source.
///
/// ```swift
/// await manager.purge(.prefix(try FetchURL("https://example.com/covers/")))
/// if let host = HostPattern("*.example.com") { await manager.purge(.host(host)) }
/// ```
package enum ImageSelection: Sendable, Hashable {
    /// One image, in every format.
    case source(String)
    /// All images whose URLs have a prefix, in canonical form.
    case prefix(FetchURL)
    /// All images of a host, or of all subdomains of one, on any port.
    case host(HostPattern)
    /// All images.
    case all

    func contains(_ source: String) -> Bool {
        switch self {
        case .source(let other): source == other
        case .prefix(let url): source.utf8.starts(with: url.text.utf8)
        case .host(let pattern): (try? FetchURL(source)).map { pattern.matches($0.host) } ?? false
        case .all: true
        }
    }
}
