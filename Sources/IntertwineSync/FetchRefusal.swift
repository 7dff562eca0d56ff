public import IntertwineFetch

/// Where a source leads that may not be asked.
public struct FetchRefusal: Sendable, Hashable {
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

extension FetchFailure {
    /// Why a page of a source did not come, and what to do about it, in a sentence for whoever runs the source.
    ///
    /// - Parameter refusal: where it leads; nil where that is not known.
    public func explained(by refusal: FetchRefusal?) -> String {
        "\(leading(to: refusal))\(reason(refusal)) (\(rawValue))"
    }

    private func leading(to refusal: FetchRefusal?) -> String {
        guard let refusal else { return "" }
        let origin = refusal.origin.map { "\(Self.shown($0)) redirects to " } ?? ""
        return "\(origin)\(Self.shown(refusal.url)): "
    }

    /// Without its query, where keys are often kept.
    private static func shown(_ url: FetchURL) -> String {
        url.text.firstIndex(of: "?").map { url.text[..<$0] + "?…" } ?? url.text
    }

    private func reason(_ refusal: FetchRefusal?) -> String {
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
