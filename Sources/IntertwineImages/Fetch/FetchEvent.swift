/// An event of a fetch. ``ended(_:)`` occurs exactly once and last.
///
/// ```swift
/// let id = client.start(request) { event in
///     if case .head(let head) = event { return head.status == 200 }
///     if case .ended(let failure) = event { print(failure?.rawValue ?? "complete") }
///     return true
/// }
/// ```
package enum FetchEvent {
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
    /// The end of the fetch; nil if the response is complete.
    case ended(FetchError?)

    /// A handler of the events of one fetch. It is called on the loop of the client, and does not block. The result matters to three events.
    package typealias Handler = @Sendable (FetchEvent) -> Bool
}

/// The progress of a fetch.
package enum FetchStage: Sendable, Hashable {
    /// The stages in their order: name resolution, connection with TLS handshake, request and head of the response, body.
    case resolving, connecting, headers, body
}

/// An identifier of one fetch within its ``CurlClient``. It is never reused.
package struct FetchID: Hashable, Sendable {
    let number: UInt64
}

/// The reason why a fetch failed or is incomplete.
package enum FetchError: String, Error, Sendable, Hashable, CaseIterable {
    // Errors before any packet is sent.
    /// The text is not a URL of a host, or is longer than ``FetchURL/longest``.
    case malformedURL = "malformed-url"
    /// The scheme is neither http nor https.
    case schemeDenied = "scheme-denied"
    /// The URL contains a user name or a password.
    case userinfoDenied = "userinfo-denied"
    /// The port is not one of ``AddressPolicy/allowedPorts``.
    case portDenied = "port-denied"
    /// The host matches ``AddressPolicy/deniedHosts``, or does not match ``AddressPolicy/allowedHosts``.
    case hostDenied = "host-denied"
    /// The policy permits no address of the host; see ``AddressPolicy/permits(_:)``.
    case addressDenied = "address-denied"
    /// A redirect leads from https to http.
    case downgradeDenied = "downgrade-denied"
    /// The number of redirects exceeds ``FetchLimits/redirects``.
    case tooManyRedirects = "too-many-redirects"
    // Errors of the connection.
    /// The host name does not exist or has no address.
    case hostNotFound = "host-not-found"
    /// The lookup of the host name failed, or the queue of the resolver is full.
    case resolveFailed = "resolve-failed"
    /// The lookup of the host name took longer than ``FetchLimits/resolve``.
    case resolveTimeout = "resolve-timeout"
    /// The lookup never began, because the resolver was busy with other names.
    case resolverBusy = "resolver-busy"
    /// No permitted address of the host accepted a connection.
    case connectFailed = "connect-failed"
    /// The connection, including the TLS handshake, took longer than ``FetchLimits/connect``.
    case connectTimeout = "connect-timeout"
    /// The TLS handshake failed, or the certificate is not trusted.
    case tlsFailed = "tls-failed"
    // Errors of the response.
    /// The head of the response took longer than ``FetchLimits/head``.
    case headTimeout = "head-timeout"
    /// The whole fetch took longer than ``FetchLimits/total``.
    case totalTimeout = "total-timeout"
    /// The body stayed below ``FetchLimits/slowBytesPerSecond`` for ``FetchLimits/slowSeconds``.
    case tooSlow = "too-slow"
    /// The connection was lost while the request was sent or the response was received.
    case connectionLost = "connection-lost"
    /// The head of the response exceeds ``FetchLimits/headBytes`` or ``FetchLimits/headLines``.
    case headTooLarge = "head-too-large"
    /// The declared or received body exceeds ``FetchLimits/bodyBytes``, or its framing exceeds ``FetchLimits/framingBytes``.
    case bodyTooLarge = "body-too-large"
    /// The connection ended before the declared end of the body.
    case truncated = "truncated"
    /// The response violates HTTP, for example by contradictory lengths.
    case protocolError = "protocol-error"
    // Errors of this side.
    /// The caller cancelled the fetch.
    case cancelled = "cancelled"
    /// The handler of the events stopped the fetch.
    case rejected = "rejected"
    /// The client is shut down; see ``CurlClient/shutDown()``.
    case shuttingDown = "shutting-down"
    /// libcurl failed on this side, for example because memory was exhausted.
    case internalError = "internal-error"

    /// True if a second attempt may succeed. The first attempt has certainly delivered no content to anyone.
    ///
    /// ```swift
    /// FetchError.connectFailed.isWorthRetrying  // true
    /// FetchError.hostDenied.isWorthRetrying  // false
    /// ```
    package var isWorthRetrying: Bool {
        switch self {
        case .connectFailed, .connectionLost: true
        default: false
        }
    }
}
