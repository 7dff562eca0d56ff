/// An event of a fetch. ``ended(_:)`` occurs exactly once and last.
public enum FetchEvent {
    /// The fetch has reached a stage. A redirect returns a fetch to an earlier stage.
    case reached(FetchStage)
    /// The request was sent a second time, because the reused connection was lost before the first byte of a response.
    case repeated
    /// The response redirects to this URL. If the handler returns false, the fetch waits until ``CurlClient/proceed(_:)``.
    case redirected(FetchURL)
    /// The policy refuses the URL of the fetch or of a redirect, and the fetch ends. The addresses are the reason, unless they are empty.
    case refused(FetchURL, addresses: [IPAddress])
    /// The head of the response. If the handler returns false, the fetch ends with `rejected`.
    case head(FetchHead)
    /// Bytes of the body, valid only during the call. If the handler returns false, the fetch ends with `rejected`.
    case bytes(UnsafeRawBufferPointer)
    case ended(FetchError?)

    /// A handler of the events of one fetch. It is called on the loop of the client, and does not block. The result matters to three events.
    public typealias Handler = @Sendable (FetchEvent) -> Bool
}

/// The progress of a fetch.
public enum FetchStage: Sendable, Hashable {
    case resolving, connecting, headers, body
}

/// An identifier of one fetch within its ``CurlClient``. It is never reused.
public struct FetchID: Hashable, Sendable {
    let number: UInt64
}

/// The reason why a fetch failed or is incomplete.
public enum FetchError: String, Error, Sendable, Hashable, CaseIterable {
    // Errors before any packet is sent.
    case malformedURL = "malformed-url"
    case schemeDenied = "scheme-denied"
    case userinfoDenied = "userinfo-denied"
    case portDenied = "port-denied"
    case hostDenied = "host-denied"
    case addressDenied = "address-denied"
    case downgradeDenied = "downgrade-denied"
    case tooManyRedirects = "too-many-redirects"
    // Errors of the connection.
    case hostNotFound = "host-not-found"
    case resolveFailed = "resolve-failed"
    case resolveTimeout = "resolve-timeout"
    /// The lookup never began, because the resolver was busy with other names.
    case resolverBusy = "resolver-busy"
    case connectFailed = "connect-failed"
    case connectTimeout = "connect-timeout"
    case tlsFailed = "tls-failed"
    // Errors of the response.
    case headTimeout = "head-timeout"
    case totalTimeout = "total-timeout"
    case tooSlow = "too-slow"
    case connectionLost = "connection-lost"
    case headTooLarge = "head-too-large"
    case bodyTooLarge = "body-too-large"
    case truncated = "truncated"
    case protocolError = "protocol-error"
    // Errors of this side.
    case cancelled = "cancelled"
    /// The handler of the events stopped the fetch.
    case rejected = "rejected"
    case shuttingDown = "shutting-down"
    case internalError = "internal-error"

    /// True if a second attempt may succeed. The first attempt has certainly delivered no content to anyone.
    public var isWorthRetrying: Bool {
        switch self {
        case .connectFailed, .connectionLost: true
        default: false
        }
    }
}
