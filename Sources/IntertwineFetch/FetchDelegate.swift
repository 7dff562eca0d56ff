/// Receives one fetch. All calls are made on the loop of the ``CurlClient``; ``fetchEnded(_:_:)`` exactly once and last.
public protocol FetchDelegate: AnyObject, Sendable {
    /// A redirect makes a fetch go back to an earlier stage.
    func fetch(_ id: FetchID, reached stage: FetchStage)
    /// The request has gone out a second time: the connection that was kept for it was lost before it brought a byte. Nothing by default.
    func fetchRepeats(_ id: FetchID)
    /// A redirect leads on.
    /// - Returns: false to hold the fetch there until ``CurlClient/proceed(_:)``. By default nothing is held.
    func fetch(_ id: FetchID, redirectedTo url: FetchURL) -> Bool
    /// - Returns: false to want no more; the fetch then ends with `rejected`.
    func fetch(_ id: FetchID, received head: FetchHead) -> Bool
    /// - Parameter bytes: valid during the call only.
    /// - Returns: false to want no more.
    func fetch(_ id: FetchID, received bytes: UnsafeRawBufferPointer) -> Bool
    /// The policy refuses where the fetch, or a redirect of it, leads; it ends with that right after. Nothing by default.
    /// - Parameter addresses: of the host, as far as they are what is refused.
    func fetch(_ id: FetchID, refused url: FetchURL, at addresses: [IPAddress])
    func fetchEnded(_ id: FetchID, _ failure: FetchError?)
}

extension FetchDelegate {
    public func fetchRepeats(_ id: FetchID) {}
    public func fetch(_ id: FetchID, redirectedTo url: FetchURL) -> Bool { true }
    public func fetch(_ id: FetchID, refused url: FetchURL, at addresses: [IPAddress]) {}
}

/// How far a fetch has come.
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

/// Names one fetch within its ``CurlClient``; never used twice.
public struct FetchID: Hashable, Sendable {
    let number: UInt64
}

/// Why a fetch brought nothing, or not all.
public enum FetchError: String, Error, Sendable, Hashable, CaseIterable {
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
