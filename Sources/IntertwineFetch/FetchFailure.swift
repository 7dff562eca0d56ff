/// Why a fetch brought nothing, or not all.
public enum FetchFailure: String, Error, Sendable, Hashable, CaseIterable {
    // Refused before any packet was sent.
    case malformedURL = "malformed-url"
    case schemeDenied = "scheme-denied"
    case userinfoDenied = "userinfo-denied"
    case portDenied = "port-denied"
    case hostDenied = "host-denied"
    case addressDenied = "address-denied"
    case downgradeDenied = "downgrade-denied"
    case tooManyRedirects = "too-many-redirects"
    // The way there.
    case hostNotFound = "host-not-found"
    case resolveFailed = "resolve-failed"
    case resolveTimeout = "resolve-timeout"
    /// Other names kept the resolver so long that this one's lookup was never begun.
    case resolverBusy = "resolver-busy"
    case connectFailed = "connect-failed"
    case connectTimeout = "connect-timeout"
    case tlsFailed = "tls-failed"
    // The answer.
    case headTimeout = "head-timeout"
    case totalTimeout = "total-timeout"
    case tooSlow = "too-slow"
    case connectionLost = "connection-lost"
    case headTooLarge = "head-too-large"
    case bodyTooLarge = "body-too-large"
    case truncated = "truncated"
    case protocolError = "protocol-error"
    // Ours.
    case cancelled = "cancelled"
    /// The delegate wanted no more.
    case rejected = "rejected"
    case shuttingDown = "shutting-down"
    case internalError = "internal-error"

    /// A second attempt may succeed, and a first one has certainly shown nothing to anybody.
    public var isWorthRetrying: Bool {
        switch self {
        case .connectFailed, .connectionLost: true
        default: false
        }
    }
}
