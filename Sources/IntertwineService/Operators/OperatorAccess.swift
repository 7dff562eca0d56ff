internal import Glibc
internal import HTTPTypes
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import Synchronization

/// The access rule of the admin API: a client needs the token or, if neither a token nor keys are configured, access to the loopback address.
struct OperatorAccess: Sendable {
    /// The actor in the audit log if no token is configured.
    static let loopback = "loopback"

    private let digest: SHA256Digest?
    private let requiresToken: Bool

    /// - Parameters:
    ///   - token: The required token; empty for none.
    ///   - verifiesTokens: True if JSON Web Tokens are accepted beside the token.
    init(token: String, verifiesTokens: Bool = false) {
        digest = token.isEmpty ? nil : SHA256.hash(data: Array(token.utf8))
        requiresToken = digest != nil || verifiesTokens
    }

    /// Returns the token that a request carries. If such a request is refused, it counts as a guess.
    static func token(in request: HTTPRequest) -> [UInt8]? {
        (try? BearerCredentials.token(in: request.headerFields[values: .authorization])) ?? nil
    }

    /// Returns the refusal of a request; nil if the request may pass.
    func refusal(of request: HTTPRequest) -> Problem? {
        guard requiresToken else { return refusalOfPage(request) }
        guard let token = Self.token(in: request) else {
            return Problem(.unauthorized, nil, "A bearer token is required.", fields: [.wwwAuthenticate: TokenError.missingTokenChallenge])
        }
        // The digests are compared in constant time, and have equal length for every input.
        guard let digest, SHA256.hash(data: token) == digest else {
            return Problem(
                .unauthorized, nil, "The bearer token is not valid.",
                fields: [.wwwAuthenticate: #"Bearer realm="intertwine", error="invalid_token""#])
        }
        return nil
    }

    /// A Boolean value indicating whether requests need no token.
    var isOpen: Bool { !requiresToken }

    /// The actor in the audit log: the beginning of the token's digest, which distinguishes tokens and discloses none.
    var name: String {
        guard let digest else { return Self.loopback }
        return "token:" + Hexadecimal.text(digest.prefix(4))
    }

    /// Refuses requests of web pages of other origins if no token is configured.
    ///
    /// Browsers name the origin of a write, so a page of another origin in an operator's browser cannot write. The pages of the admin listener
    /// can. DNS rebinding cannot be used: a request that names a host by another name than `localhost` is refused.
    private func refusalOfPage(_ request: HTTPRequest) -> Problem? {
        if let authority = request.authority, !Self.isNumeric(authority) {
            return Problem(.misdirectedRequest, nil, "Without a token, the Host field must be an IP address or localhost.")
        }
        guard request.method != .get, request.method != .head, let origin = request.headerFields[.origin] else { return nil }
        if let authority = request.authority, origin == "http://\(authority)" { return nil }
        return Problem(.forbidden, nil, "Requests from web pages of other origins require a token.")
    }

    /// Returns true if an authority, with or without a port, is an IP address or `localhost`: no DNS lookup decides about it.
    private static func isNumeric(_ authority: String) -> Bool {
        var address = in6_addr()
        if authority.first == "[", let end = authority.lastIndex(of: "]") {
            return inet_pton(AF_INET6, String(authority[..<end].dropFirst()), &address) == 1
        }
        let host = String(authority.prefix { $0 != ":" }).lowercased()
        return host == "localhost" || inet_pton(AF_INET, host, &address) == 1
    }
}

/// A limiter of authentication failures by address. After ten wrong tokens within a minute, further wrong tokens of the address are refused
/// without a check until the minute is over. JSON Web Tokens are always verified, so that a valid one passes.
final class AuthFailureLimiter: Sendable {
    /// The maximum number of wrong tokens of one address within ``window``.
    private static let limit = 10
    private static let window = Duration.seconds(60)
    /// The maximum number of stored addresses. Beyond it, the address with the oldest window is removed.
    static let capacity = 4_096

    private struct Guesses {
        var count = 0
        var end: ContinuousClock.Instant
    }

    /// The failures by ``PeerAddress/network``.
    private let addresses = Mutex<[PeerAddress: Guesses]>([:])
    /// Returns the monotonic time. Setting the system clock neither ends nor extends a window.
    private let now: @Sendable () -> ContinuousClock.Instant

    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.now = now
    }

    /// Returns the whole seconds until tokens of the address are checked again; nil if they are checked now.
    func wait(of peer: PeerAddress) -> Int? {
        let now = now()
        return addresses.withLock { addresses in
            guard let guesses = addresses[peer.network], guesses.count >= Self.limit, now < guesses.end else { return nil }
            return max(1, Int((guesses.end - now).components.seconds) + 1)
        }
    }

    /// Records a wrong token.
    ///
    /// - Returns: True if it was the last that is checked within the window.
    func fail(_ peer: PeerAddress) -> Bool {
        let now = now()
        return addresses.withLock { addresses in
            var guesses = addresses[peer.network] ?? Guesses(end: now + Self.window)
            if now >= guesses.end { guesses = Guesses(end: now + Self.window) }
            if addresses[peer.network] == nil, addresses.count >= Self.capacity { Self.makeRoom(in: &addresses, now) }
            guesses.count += 1
            addresses[peer.network] = guesses
            return guesses.count == Self.limit
        }
    }

    private static func makeRoom(in addresses: inout [PeerAddress: Guesses], _ now: ContinuousClock.Instant) {
        addresses = addresses.filter { now < $0.value.end }
        guard addresses.count >= capacity, let oldest = addresses.min(by: { $0.value.end < $1.value.end }) else { return }
        addresses[oldest.key] = nil
    }
}
