public import FoundationEssentials
public import IntertwineFetch

/// One client's wish for one picture.
public struct ImageRequest: Sendable {
    /// As ``ImageURLSigner/verify(_:now:)`` gives it.
    public var source: String
    /// The name under which it can be cancelled and reprioritised.
    public var id: UUID?
    public var priority: ImagePriority
    /// Tells the client from others; nil if the service itself makes the request.
    public var viewer: String?
    /// The `Via` field that the request came with: the proxies it has passed (RFC 9110 section 7.6.3).
    public var via: String?
    /// Whether only a stored picture will do, and the origin is not to be asked (RFC 9111 section 5.2.1.7).
    public var isOnlyIfCached: Bool
    /// The formats that the client takes.
    public var kinds: AcceptedFormats
    /// The size that is wanted; nil for the original.
    public var sizing: ResizeMode?
    /// Whether a body on its way is no answer: it is for who makes another picture of it. Such a request is counted by whoever made it.
    var requiresCompleteBody = false
    /// Whether who asks decodes it, and so finds out what it looks like.
    var isDecoded = false
    /// Whether it will do while it is being fetched anew, where its origin permits that.
    var allowsStale = true

    /// - Parameters:
    ///   - cacheControl: the `Cache-Control` field that the request came with.
    ///   - accept: and its `Accept` field.
    public init(
        _ source: String, sizing: ResizeMode? = nil, id: UUID? = nil, priority: ImagePriority = .visible, viewer: String? = nil,
        via: String? = nil, cacheControl: String? = nil, accept: String? = nil
    ) {
        self.source = source
        self.sizing = sizing
        self.id = id
        self.priority = priority
        self.viewer = viewer
        self.via = via
        kinds = AcceptedFormats(accept)
        isOnlyIfCached = cacheControl.map { CacheControl($0).has("only-if-cached") } ?? false
    }

    /// Names what is asked for.
    var key: String { CachedImage.key(source, kinds.accepted) }

    /// Whether the request has passed a proxy of this kind before. Answered with a picture, it could go round for ever.
    var isLoop: Bool {
        guard let via else { return false }
        return via.split(separator: ",").contains { entry in
            // The protocol, and then who received by it.
            entry.split(separator: " ").dropFirst().first?.lowercased() == ImageNetworkManager.viaName
        }
    }
}

/// How soon a picture is wanted. A flight has the priority of its most urgent waiter.
public enum ImagePriority: Int, Sendable, Hashable, CaseIterable, Comparable {
    /// Nobody looks yet; first to be shed.
    case prefetch
    /// About to come into view.
    case near
    /// In view.
    case visible

    public static func < (left: ImagePriority, right: ImagePriority) -> Bool { left.rawValue < right.rawValue }
}

/// Which pictures are meant, by their sources.
public enum ImageSelection: Sendable, Hashable {
    /// One, in every format.
    case source(String)
    /// All whose URLs begin so, in canonical form.
    case prefix(FetchURL)
    /// All of a host, or of all hosts below one, on any port.
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
