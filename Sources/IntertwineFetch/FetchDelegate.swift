/// Receives the events of one fetch, on the loop of the ``CurlClient``. ``fetchEnded(_:_:)`` is called exactly once and last.
public protocol FetchDelegate: AnyObject, Sendable {
    /// Receives the stage that the fetch has reached. A redirect returns a fetch to an earlier stage.
    func fetch(_ id: FetchID, reached stage: FetchStage)
    /// Reports that the request was sent a second time, because the reused connection was lost before the first byte of a response.
    /// The default does nothing.
    func fetchRepeats(_ id: FetchID)
    /// Receives the target of a redirect.
    ///
    /// - Returns: False to hold the fetch there until ``CurlClient/proceed(_:)``. The default never holds a fetch.
    func fetch(_ id: FetchID, redirectedTo url: FetchURL) -> Bool
    /// Receives the head of the response.
    ///
    /// - Returns: False to stop the fetch, which then ends with `rejected`.
    func fetch(_ id: FetchID, received head: FetchHead) -> Bool
    /// Receives bytes of the body.
    ///
    /// - Parameter bytes: The bytes, valid only during the call.
    /// - Returns: False to stop the fetch.
    func fetch(_ id: FetchID, received bytes: UnsafeRawBufferPointer) -> Bool
    /// Reports that the policy refuses the URL of the fetch or of a redirect. The fetch ends right after. The default does nothing.
    ///
    /// - Parameter addresses: The host's addresses, if they are the reason for the refusal.
    func fetch(_ id: FetchID, refused url: FetchURL, at addresses: [IPAddress])
    func fetchEnded(_ id: FetchID, _ failure: FetchError?)
}

extension FetchDelegate {
    public func fetchRepeats(_ id: FetchID) {}
    public func fetch(_ id: FetchID, redirectedTo url: FetchURL) -> Bool { true }
    public func fetch(_ id: FetchID, refused url: FetchURL, at addresses: [IPAddress]) {}
}

/// The progress of a fetch.
public enum FetchStage: String, Sendable, Hashable, CaseIterable, Comparable {
    case resolving, connecting, headers, body

    private var order: Int {
        switch self {
        case .resolving: 0
        case .connecting: 1
        case .headers: 2
        case .body: 3
        }
    }

    public static func < (left: FetchStage, right: FetchStage) -> Bool { left.order < right.order }
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
    /// The delegate stopped the fetch.
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
