internal import Glibc
internal import HTTPTypes
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import Synchronization

/// The access rule of the admin API: a client needs the token or, if neither a token nor keys are configured, access to the loopback address.
struct OperatorAccess: Sendable {
    static let loopback = "loopback"

    private let digest: SHA256Digest?
    private let requiresToken: Bool

    init(token: String, verifiesTokens: Bool = false) {
        digest = token.isEmpty ? nil : SHA256.hash(data: Array(token.utf8))
        requiresToken = digest != nil || verifiesTokens
    }

    static func token(in request: HTTPRequest) -> [UInt8]? {
        (try? BearerCredentials.token(in: request.headerFields[values: .authorization])) ?? nil
    }

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

    var isOpen: Bool { !requiresToken }

    var name: String {
        guard let digest else { return Self.loopback }
        return "token:" + Hexadecimal.text(digest.prefix(4))
    }

    /// Browsers name the origin of a write, so a page of another origin in an operator's browser cannot write.
    private func refusalOfPage(_ request: HTTPRequest) -> Problem? {
        if let authority = request.authority, !Self.isNumeric(authority) {
            return Problem(.misdirectedRequest, nil, "Without a token, the Host field must be an IP address or localhost.")
        }
        guard request.method != .get, request.method != .head, let origin = request.headerFields[.origin] else { return nil }
        if let authority = request.authority, origin == "http://\(authority)" { return nil }
        return Problem(.forbidden, nil, "Requests from web pages of other origins require a token.")
    }

    private static func isNumeric(_ authority: String) -> Bool {
        var address = in6_addr()
        if authority.first == "[", let end = authority.lastIndex(of: "]") {
            return inet_pton(AF_INET6, String(authority[..<end].dropFirst()), &address) == 1
        }
        let host = String(authority.prefix { $0 != ":" }).lowercased()
        return host == "localhost" || inet_pton(AF_INET, host, &address) == 1
    }
}

/// JSON Web Tokens are always verified, so that a valid one passes.
final class AuthFailureLimiter: Sendable {
    private static let limit = 10
    private static let window = Duration.seconds(60)
    static let capacity = 4_096

    private struct Guesses {
        var count = 0
        var end: ContinuousClock.Instant
    }

    private let addresses = Mutex<[PeerAddress: Guesses]>([:])
    private let now: @Sendable () -> ContinuousClock.Instant

    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.now = now
    }

    func wait(of peer: PeerAddress) -> Int? {
        let now = now()
        return addresses.withLock { addresses in
            guard let guesses = addresses[peer.network], guesses.count >= Self.limit, now < guesses.end else { return nil }
            return max(1, Int((guesses.end - now).components.seconds) + 1)
        }
    }

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
