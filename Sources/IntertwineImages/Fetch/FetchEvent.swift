package enum FetchEvent {
    case reached(FetchStage)
    /// The request was sent a second time, because the reused connection was lost before the first byte of a response.
    case repeated
    case redirected(FetchURL)
    /// The addresses are the reason, unless they are empty.
    case refused(FetchURL, addresses: [IPAddress])
    case head(FetchHead)
    case bytes(UnsafeRawBufferPointer)
    case ended(FetchError?)

    package typealias Handler = @Sendable (FetchEvent) -> Bool
}

package enum FetchStage: Sendable, Hashable {
    case resolving, connecting, headers, body
}

/// It is never reused.
package struct FetchID: Hashable, Sendable {
    let number: UInt64
}

package enum FetchError: String, Error, Sendable, Hashable, CaseIterable {
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
    case rejected = "rejected"
    case shuttingDown = "shutting-down"
    /// libcurl failed on this side, for example because memory was exhausted.
    case internalError = "internal-error"

    package var isWorthRetrying: Bool {
        switch self {
        case .connectFailed, .connectionLost: true
        default: false
        }
    }
}
