package import FoundationEssentials

package struct ImageRequest: Sendable {
    package var source: String
    package var id: UUID?
    package var priority: ImagePriority
    /// The `Via` field of the request: the proxies that it has passed (RFC 9110 section 7.6.3).
    package var via: String?
    /// A Boolean value indicating that only a stored image is acceptable, without a request to the origin (RFC 9111 section 5.2.1.7).
    var isOnlyIfCached: Bool
    package var kinds: AcceptedFormats
    package var sizing: ResizeMode?
    /// A Boolean value indicating that a stream is not acceptable, because the image is resized.
    var requiresCompleteBody = false
    var isDecoded = false
    var allowsStale = true

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

    var key: String { CachedImage.key(source, kinds.accepted) }

    var isLoop: Bool {
        guard let via else { return false }
        return via.split(separator: ",").contains { entry in
            // An entry has the protocol, followed by the name of the recipient.
            entry.split(separator: " ").dropFirst().first?.lowercased() == ImageNetworkManager.viaName
        }
    }
}

package enum ImagePriority: Int, Sendable, Hashable, CaseIterable, Comparable {
    case prefetch
    case near
    case visible

    package static func < (left: ImagePriority, right: ImagePriority) -> Bool { left.rawValue < right.rawValue }
}

package enum ImageSelection: Sendable, Hashable {
    case source(String)
    case prefix(FetchURL)
    case host(HostPattern)
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
