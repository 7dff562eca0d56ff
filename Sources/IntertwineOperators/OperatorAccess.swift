internal import Crypto
internal import Glibc
internal import HTTPTypes
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import IntertwineRouting
internal import Synchronization

/// Who may ask the operators' listener: whoever has the token, or where there is none, whoever can reach the loopback address.
struct OperatorAccess: Sendable {
    /// Whoever asks where there is no token.
    static let loopback = "loopback"

    private let digest: SHA256Digest?

    /// - Parameter token: empty for none.
    init(token: String) {
        digest = token.isEmpty ? nil : SHA256.hash(data: Array(token.utf8))
    }

    /// Whether a request has a token that could be the right one, and so is a guess where it is refused.
    static func hasToken(_ request: HTTPRequest) -> Bool { token(in: request) != nil }

    /// Nil where the request may pass.
    func refusal(of request: HTTPRequest) -> Problem? {
        guard let digest else { return refusalOfPage(request) }
        guard let given = Self.token(in: request) else {
            return Problem(.unauthorized, nil, "A bearer token is required.", fields: [.wwwAuthenticate: #"Bearer realm="intertwine""#])
        }
        // Digests are compared in constant time, and of equal length whatever was sent.
        guard SHA256.hash(data: Array(given.utf8)) == digest else {
            return Problem(
                .unauthorized, nil, "The bearer token is not valid.",
                fields: [.wwwAuthenticate: #"Bearer realm="intertwine", error="invalid_token""#])
        }
        return nil
    }

    /// How the audit log names whoever asks: by the beginning of the token's digest, which tells tokens apart and gives none away.
    var name: String {
        guard let digest else { return Self.loopback }
        return "token:" + Hexadecimal.text(digest.prefix(4))
    }

    /// Without a token a web page in an operator's browser must not be able to write: browsers say where such a request comes from. Nor may
    /// it read, by having its own name lead to the loopback address: then the request is for that name.
    private func refusalOfPage(_ request: HTTPRequest) -> Problem? {
        if let authority = request.authority, !Self.isNumeric(authority) {
            return Problem(.misdirectedRequest, nil, "Without a token this listener is asked by its IP address, or as localhost.")
        }
        guard request.method != .get, request.method != .head, request.headerFields[.origin] != nil else { return nil }
        return Problem(.forbidden, nil, "Requests from web pages are not taken without a token.")
    }

    /// Whether an authority, with a port or without, is an IP address or `localhost`: what no name server has a say in.
    private static func isNumeric(_ authority: String) -> Bool {
        var address = in6_addr()
        if authority.first == "[", let end = authority.lastIndex(of: "]") {
            return inet_pton(AF_INET6, String(authority[..<end].dropFirst()), &address) == 1
        }
        let host = String(authority.prefix { $0 != ":" }).lowercased()
        return host == "localhost" || inet_pton(AF_INET, host, &address) == 1
    }

    private static func token(in request: HTTPRequest) -> String? {
        let fields = request.headerFields[values: .authorization]
        guard fields.count == 1, let field = fields.first else { return nil }
        let parts = field.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        // One blank or more (RFC 9110 section 11.4).
        return String(parts[1].drop { $0 == " " })
    }
}

/// Counts wrong tokens by address: after ten within a minute, further wrong ones of the address are refused unseen until the minute is over.
final class AuthFailureLimiter: Sendable {
    /// Wrong tokens of one address within ``window``.
    private static let limit = 10
    private static let window = Duration.seconds(60)
    /// Addresses that are remembered; beyond it, the one whose window began first is forgotten.
    static let capacity = 4_096

    private struct Guesses {
        var count = 0
        var end: ContinuousClock.Instant
    }

    /// By ``PeerAddress/network``.
    private let addresses = Mutex<[PeerAddress: Guesses]>([:])
    /// Monotonic: setting the clock neither ends a window nor draws it out.
    private let now: @Sendable () -> ContinuousClock.Instant

    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.now = now
    }

    /// Whole seconds until wrong tokens of the address are looked at again; nil where they are now.
    func wait(of peer: PeerAddress) -> Int? {
        let now = now()
        return addresses.withLock { addresses in
            guard let guesses = addresses[peer.network], guesses.count >= Self.limit, now < guesses.end else { return nil }
            return max(1, Int((guesses.end - now).components.seconds) + 1)
        }
    }

    /// Takes note of a wrong token.
    ///
    /// - Returns: whether it was the last that is looked at.
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
