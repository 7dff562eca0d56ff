package import IntertwineFeed
package import IntertwineImages
package import IntertwineStorage

package enum SourceError: Error, Sendable, CustomStringConvertible {
    case fetch(FetchError, page: Int, refusal: FetchRejection?)
    case status(Int, page: Int, retryAfter: Duration?)
    case document(RemotePageError, page: Int)
    case item(BadSourceItem)
    /// No item was valid, so that the list may be an error with status 200.
    case allInvalid([String])
    case tooMuch(String)
    /// The next page is one that was read before.
    case circle(page: Int)
    /// The second page is the first one.
    case ignored
    /// A page has no items, although an earlier answer told that it has.
    case missing(page: Int, isCounted: Bool)
    case refused(SnapshotRejection)
    case store(StoreError)

    package var description: String {
        switch self {
        case .fetch(let failure, let page, let refusal): "page \(page): \(failure.explained(by: refusal))"
        case .status(let status, let page, _): "page \(page): the origin returned \(status)\(Self.hint(for: status))"
        case .document(let fault, let page):
            "page \(page), \(fault)" + (fault.isOfLocation ? "; `items` in the source's declaration is the pointer to the list" : "")
        case .item(let item): "\(item)"
        case .allInvalid(let items): "all items of the list are invalid: \(items.first ?? "")"
        case .tooMuch(let reason): reason
        case .circle(let page): "page \(page) names a next page that was read before"
        case .ignored: "page 2 has the list of page 1; the API may not know the parameter of `next`"
        case .missing(let page, true): "page \(page) has no items, although the page before told that there are more"
        case .missing(let page, false):
            "page \(page) is missing, and had items at the last synchronization; the next one takes it for the end"
        case .refused(let refusal): "\(refusal)"
        case .store(let error): "\(error)"
        }
    }

    private static func hint(for status: Int) -> String {
        switch status {
        case 401, 403: "; if it requires a key, set headers in the source's declaration"
        case 404, 410: "; the URL may be wrong"
        case 429: ", too many requests; a longer `every` sends fewer"
        default: ""
        }
    }

    package var cause: Cause {
        switch self {
        case .fetch: .fetch
        case .status: .status
        case .document, .circle, .ignored, .missing: .document
        case .item, .allInvalid: .item
        case .tooMuch: .limit
        case .refused(.busy): .busy
        case .refused: .refused
        case .store: .store
        }
    }

    package enum Cause: String, Sendable, CaseIterable {
        case fetch, status, document, item, limit, refused, store
        case busy
    }

    package var retryAfter: Duration? {
        if case .status(_, _, let pause) = self { pause } else { nil }
    }
}

extension FetchError {
    package func explained(by refusal: FetchRejection?) -> String {
        "\(leading(to: refusal))\(reason(refusal)) (\(rawValue))"
    }

    private func leading(to refusal: FetchRejection?) -> String {
        guard let refusal else { return "" }
        let origin = refusal.origin.map { "\($0.withoutQuery) redirects to " } ?? ""
        return "\(origin)\(refusal.url.withoutQuery): "
    }

    private func reason(_ refusal: FetchRejection?) -> String {
        switch self {
        case .addressDenied:
            let addresses = (refusal?.addresses ?? []).map(\.description)
            let (shown, network) = (addresses.joined(separator: ", "), addresses.first.map { "\($0)/\($0.contains(":") ? 128 : 32)" })
            return
                "the address \(shown.isEmpty ? "" : "\(shown) ")is private or local, and denied; if it is intended, "
                + "allow its network, as in sources.allowed-networks: [\(network ?? "10.1.0.0/16")]"
        case .portDenied: return "the port \(refusal.map { "\($0.url.port) " } ?? "")is not among sources.allowed-ports"
        case .hostDenied: return "the host is not allowed"
        case .malformedURL: return "the address is not a valid URL"
        case .schemeDenied: return "the address is neither http nor https"
        case .userinfoDenied: return "the address has a user name in it; use headers in the source's declaration instead"
        case .downgradeDenied: return "a redirect leads from https to http, which is not followed"
        case .tooManyRedirects: return "too many redirects, one after another"
        case .hostNotFound: return "the host is unknown to DNS"
        case .resolveFailed: return "the DNS lookup of the host failed"
        case .resolveTimeout: return "the DNS lookup timed out"
        case .resolverBusy: return "too many DNS lookups are running"
        case .connectFailed: return "the connection was refused"
        case .connectTimeout: return "the connection timed out"
        case .tlsFailed: return "TLS failed: the certificate is not trusted, or does not belong to the host"
        case .headTimeout: return "the origin sent no response in time"
        case .totalTimeout: return "the page took longer than the source's deadline"
        case .tooSlow: return "the page was received too slowly"
        case .connectionLost: return "the connection was lost"
        case .headTooLarge: return "the head of the response is too large"
        case .bodyTooLarge: return "the page is too large"
        case .truncated: return "the page is truncated"
        case .protocolError: return "the response is not valid HTTP"
        case .cancelled, .rejected, .shuttingDown: return "the request was cancelled"
        case .internalError: return "an internal error occurred"
        }
    }
}

package struct BadSourceItem: Sendable, Hashable, CustomStringConvertible {
    package var page: Int
    package var number: Int
    package var fault: ItemError
    package var isKept = false

    package var description: String { "page \(page), item \(number): \(fault)\(isKept ? "; the value is left out" : "")" }
}

/// An exponential backoff with jitter: the delay doubles after each failure up to a bound.
struct Backoff: Sendable, Hashable {
    var first: Duration
    var longest: Duration

    init(interval: Duration) {
        first = max(.milliseconds(100), min(.seconds(10), interval))
        longest = max(.seconds(3_600), interval)
    }

    func delay(after failures: Int, requested: Duration? = nil, chance: Double) -> Duration {
        let doubled = first * (1 << min(max(failures, 1) - 1, 20))
        let bounded = min(doubled, longest)
        // Half of the delay is fixed and half is random, so that clients that failed together retry at different times.
        let drawn = bounded * (0.5 + 0.5 * min(max(chance, 0), 1))
        return max(drawn, min(requested ?? .zero, .seconds(86_400)))
    }
}
