public import IntertwineFeed
public import IntertwineFetch
public import IntertwineStorage

/// Why a synchronisation changed nothing. The description is one line for whoever runs the source.
public enum SourceError: Error, Sendable, CustomStringConvertible {
    /// - Parameter refusal: where it leads, where that is why.
    case fetch(FetchError, page: Int, refusal: FetchRejection?)
    /// - Parameter retryAfter: how long the origin asks to be left alone.
    case status(Int, page: Int, retryAfter: Duration?)
    /// The page is no JSON, or its list is not where it should be.
    case document(RemotePageError, page: Int)
    /// An item is not valid, under `BadItemPolicy.stop`.
    case item(BadSourceItem)
    /// A limit of the source's.
    case tooMuch(String)
    /// The page that should come next is one that was there before.
    case circle(page: Int)
    /// The pages changed each time they were read.
    case changing(attempts: Int)
    case refused(SnapshotRejection)
    case store(StoreError)

    public var description: String {
        switch self {
        case .fetch(let failure, let page, let refusal): "page \(page): \(failure.explained(by: refusal))"
        case .status(let status, let page, _): "page \(page): the origin answered \(status)\(Self.hint(for: status))"
        case .document(let fault, let page):
            "page \(page), \(fault)" + (fault.isOfLocation ? "; `items` in the source's declaration says where the list stands" : "")
        case .item(let item): "\(item)"
        case .tooMuch(let reason): reason
        case .circle(let page): "page \(page) names a next page that was read before"
        case .changing(let attempts): "the pages changed while they were read, \(attempts) times in a row"
        case .refused(let refusal): "\(refusal)"
        case .store(let error): "\(error)"
        }
    }

    private static func hint(for status: Int) -> String {
        switch status {
        case 401, 403: "; where it wants a key, give it one by headers in the source's declaration"
        case 404, 410: "; the address may be wrong"
        case 429: ", too many requests; a longer `every` asks more rarely"
        default: ""
        }
    }

    /// For metrics: what was at fault.
    public var cause: Cause {
        switch self {
        case .fetch: .fetch
        case .status: .status
        case .document, .circle: .document
        case .item: .item
        case .tooMuch: .limit
        case .changing: .changing
        case .refused(.busy): .busy
        case .refused: .refused
        case .store: .store
        }
    }

    public enum Cause: String, Sendable, CaseIterable {
        case fetch, status, document, item, limit, changing, refused, store
        /// Nothing is wrong: somebody else synchronises the same source just now.
        case busy
    }

    /// How long the origin asks to be left alone; nil where it says nothing.
    public var retryAfter: Duration? {
        if case .status(_, _, let pause) = self { pause } else { nil }
    }
}

/// Where a source leads that may not be asked.
public struct FetchRejection: Sendable, Hashable {
    public var url: FetchURL
    /// Of its host, where they are what is refused.
    public var addresses: [IPAddress]
    /// What redirects there; nil where the source, or the page before, names it.
    public var origin: FetchURL?

    public init(url: FetchURL, addresses: [IPAddress] = [], origin: FetchURL? = nil) {
        self.url = url
        self.addresses = addresses
        self.origin = origin
    }
}

extension FetchError {
    /// Why a page of a source did not come, and what to do about it, in a sentence for whoever runs the source.
    ///
    /// - Parameter refusal: where it leads; nil where that is not known.
    public func explained(by refusal: FetchRejection?) -> String {
        "\(leading(to: refusal))\(reason(refusal)) (\(rawValue))"
    }

    private func leading(to refusal: FetchRejection?) -> String {
        guard let refusal else { return "" }
        let origin = refusal.origin.map { "\(Self.shown($0)) redirects to " } ?? ""
        return "\(origin)\(Self.shown(refusal.url)): "
    }

    /// Without its query, where keys are often kept.
    private static func shown(_ url: FetchURL) -> String {
        url.text.firstIndex(of: "?").map { url.text[..<$0] + "?…" } ?? url.text
    }

    private func reason(_ refusal: FetchRejection?) -> String {
        switch self {
        case .addressDenied:
            let addresses = (refusal?.addresses ?? []).map(\.description)
            let (shown, network) = (addresses.joined(separator: ", "), addresses.first.map { "\($0)/\($0.contains(":") ? 128 : 32)" })
            return
                "the address \(shown.isEmpty ? "" : "\(shown) ")is private or this machine's own, and is not asked; where that is meant, "
                + "allow its network, as in sources.allowed-networks: [\(network ?? "10.1.0.0/16")]"
        case .portDenied: return "the port \(refusal.map { "\($0.url.port) " } ?? "")is not among sources.allowed-ports"
        case .hostDenied: return "the host is not allowed"
        case .malformedURL: return "the address is no URL that can be asked"
        case .schemeDenied: return "the address is neither http nor https"
        case .userinfoDenied: return "the address has a user name in it; use headers in the source's declaration instead"
        case .downgradeDenied: return "a redirect leads from https to http, which is not followed"
        case .tooManyRedirects: return "too many redirects, one after another"
        case .hostNotFound: return "the host is not known to DNS"
        case .resolveFailed: return "DNS could not be asked for the host"
        case .resolveTimeout: return "DNS did not answer in time"
        case .resolverBusy: return "too many names are being looked up just now"
        case .connectFailed: return "nobody takes connections there"
        case .connectTimeout: return "the connection was not taken in time"
        case .tlsFailed: return "TLS failed: the certificate is not trusted, or does not belong to the host"
        case .headTimeout: return "the origin did not begin to answer in time"
        case .totalTimeout: return "the page took longer than the source's deadline"
        case .tooSlow: return "the page came too slowly"
        case .connectionLost: return "the connection was lost"
        case .headTooLarge: return "the answer's head is too large"
        case .bodyTooLarge: return "the page is too large"
        case .truncated: return "the page was cut off"
        case .protocolError: return "the answer is not HTTP as it should be"
        case .cancelled, .rejected, .shuttingDown: return "it was given up"
        case .internalError: return "something went wrong here"
        }
    }
}

/// An item of a source that is not valid.
public struct BadSourceItem: Sendable, Hashable, CustomStringConvertible {
    /// From 1.
    public var page: Int
    /// Its number on the page, from 1.
    public var number: Int
    public var fault: ItemError

    public var description: String { "page \(page), item \(number): \(fault)" }
}

/// How long to wait after a failure: twice as long each time, up to a bound, and never the same for everybody.
public struct Backoff: Sendable, Hashable {
    /// After the first failure, at most.
    public var first: Duration
    public var longest: Duration

    /// - Parameter interval: how often the source is asked while all is well; failures never make it be asked more than ten times as often.
    public init(interval: Duration) {
        first = max(.milliseconds(100), min(.seconds(10), interval))
        longest = max(.seconds(3_600), interval)
    }

    /// - Parameters:
    ///   - failures: in a row, at least 1.
    ///   - requested: what the origin asked for, which holds for up to a day.
    ///   - chance: from 0 to 1.
    public func delay(after failures: Int, requested: Duration? = nil, chance: Double) -> Duration {
        let doubled = first * (1 << min(max(failures, 1) - 1, 20))
        let bounded = min(doubled, longest)
        // Half of it is certain, half is chance: those who failed together do not come back together.
        let drawn = bounded * (0.5 + 0.5 * min(max(chance, 0), 1))
        return max(drawn, min(requested ?? .zero, .seconds(86_400)))
    }
}
