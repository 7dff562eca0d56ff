internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer

struct RequestIdentity: Sendable, Hashable {
    var viewer: String?
    var attributes: [String] = []
    /// The end of the token's validity in milliseconds since 1970-01-01 UTC; nil without a token.
    var end: Int64?
    var revocation: Revocation?

    init(viewer: String? = nil) {
        self.viewer = viewer
    }

    init(_ token: VerifiedIdentity) {
        (viewer, attributes, end, revocation) = (token.subject, token.attributes, token.end, token.revocation)
    }
}

/// Reads the viewer of a request: from the request field of a trusted proxy, or from a bearer token.
/// A class, because every request reads it.
final class ViewerReader: Sendable {
    private static let longestName = 256

    let field: HTTPField.Name?
    private let attributesField: HTTPField.Name?
    private let fieldName: [UInt8]?
    private let attributesFieldName: [UInt8]?
    private let isRequired: Bool
    private let proxies: TrustedNetworks
    private let hosts: HostNames
    private let tokens: TokenVerifier?
    private let rejections: WriteLimiter

    init(
        _ settings: ViewerSettings, proxies: TrustedNetworks, hosts: HostNames = HostNames(), tokens: TokenVerifier?,
        rejections: WriteLimiter
    ) {
        field = HTTPField.Name(settings.header)
        attributesField = HTTPField.Name(settings.attributesHeader)
        fieldName = field.map { Array($0.canonicalName.utf8) }
        attributesFieldName = attributesField.map { Array($0.canonicalName.utf8) }
        isRequired = settings.isRequired
        (self.proxies, self.hosts, self.tokens, self.rejections) = (proxies, hosts, tokens, rejections)
    }

    // MARK: On the event loop

    /// Returns false if it must be parsed to know.
    func isAnonymous(_ head: borrowing RequestHead, from peer: PeerAddress) -> Bool {
        if isRequired || hasField(head) || hasCredentials(head) { return false }
        return !hasAttributes(head) || proxies.contains(peer: peer.address)
    }

    func identity(of head: borrowing RequestHead, from peer: PeerAddress, now: Int64) -> RequestIdentity? {
        if isAnonymous(head, from: peer) { return RequestIdentity() }
        if hasCredentials(head) {
            guard !hasField(head), !hasAttributes(head) else { return nil }
            return knownSender(of: head, now: now).map(RequestIdentity.init)
        }
        guard let fieldName, proxies.contains(peer: peer.address), let name = head.singleASCIIValue(of: fieldName),
            name.utf8.count <= Self.longestName, name != ".", name != "..", hosts.accepts(head, from: peer.address)
        else { return nil }
        return RequestIdentity(viewer: name)
    }

    func knownSender(of head: borrowing RequestHead, now: Int64) -> VerifiedIdentity? {
        guard let tokens else { return nil }
        return head.withAuthorization { value in
            BearerCredentials.withToken(in: value) { tokens.cachedIdentity(of: $0, now: now) } ?? nil
        } ?? nil
    }

    private func hasField(_ head: borrowing RequestHead) -> Bool { fieldName.map { head.hasField($0) } ?? false }

    private func hasAttributes(_ head: borrowing RequestHead) -> Bool { attributesFieldName.map { head.hasField($0) } ?? false }

    private func hasCredentials(_ head: borrowing RequestHead) -> Bool { tokens != nil && head.hasAuthorization }

    // MARK: In a task

    func identity(
        of request: HTTPRequest, from peer: String, client address: @autoclosure () -> String, now: Int64
    ) async throws(Problem) -> RequestIdentity {
        let names = field.map { request.headerFields[values: $0] } ?? []
        let stated = try viewer(named: names.first, isRepeated: names.count > 1, from: peer)
        guard stated == nil || hosts.accepts(request, from: peer) else { throw .untrustedHost }
        try checkAttributes(of: request, from: peer)
        guard let tokens, let token = try Self.token(in: request) else {
            guard !isRequired || stated != nil else { throw .missingToken }
            return RequestIdentity(viewer: stated)
        }
        let sender = try await sender(of: token, by: tokens, address(), now: now)
        if let field, let stated, !stated.utf8.elementsEqual(sender.subject.utf8) {
            throw .invalidParameter(field.rawName, .invalid, "\(field.rawName) names another viewer than the token.")
        }
        return RequestIdentity(sender)
    }

    func viewerIgnoringErrors(of request: HTTPRequest, from peer: String, now: Int64) -> String? {
        let names = field.map { request.headerFields[values: $0] } ?? []
        if let name = try? viewer(named: names.first, isRepeated: names.count > 1, from: peer) { return name }
        guard let tokens, let token = try? Self.token(in: request) else { return nil }
        return tokens.cachedIdentity(of: token.span, now: now)?.subject
    }

    func viewer(named value: String?, isRepeated: Bool, from peer: String) throws(Problem) -> String? {
        guard let field else { return nil }
        if isRepeated || value?.isEmpty == false, !proxies.contains(peer: peer) { throw .untrustedViewer(field.rawName) }
        if isRepeated { throw .invalidParameter(field.rawName, .duplicate, "\(field.rawName) must occur once.") }
        guard let value, !value.isEmpty else { return nil }
        guard value.utf8.count <= Self.longestName || value.unicodeScalars.count <= Self.longestName else {
            throw .invalidParameter(
                field.rawName, .tooLong, "\(field.rawName) must be at most \(Self.longestName) characters long.")
        }
        // Path segments such as these would make the viewer unreachable for an erasure.
        guard value != ".", value != ".." else {
            throw .invalidParameter(field.rawName, .invalid, "\(field.rawName) must not be '.' or '..'.")
        }
        // These are all control characters. A look at each category took 4 % of the instructions of a like.
        guard !value.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) }) else {
            throw .invalidParameter(field.rawName, .invalid, "\(field.rawName) must not contain control characters.")
        }
        guard !value.unicodeScalars.contains("\u{FFFD}") else {
            throw .invalidParameter(field.rawName, .invalid, "\(field.rawName) must be valid UTF-8.")
        }
        return value
    }

    private func checkAttributes(of request: HTTPRequest, from peer: String) throws(Problem) {
        guard let attributesField, request.headerFields[values: attributesField].contains(where: { !$0.isEmpty }) else { return }
        guard proxies.contains(peer: peer) else { throw .untrustedViewer(attributesField.rawName) }
    }

    private static func token(in request: HTTPRequest) throws(Problem) -> [UInt8]? {
        do throws(TokenError) {
            return try BearerCredentials.token(in: request.headerFields[values: .authorization])
        } catch {
            throw .rejectedToken(error)
        }
    }

    private func sender(
        of token: [UInt8], by tokens: TokenVerifier, _ address: String, now: Int64
    ) async throws(Problem) -> VerifiedIdentity {
        if let known = tokens.cachedIdentity(of: token.span, now: now) { return known }
        let network = WriteLimiter.network(of: address)
        // A system clock that is set forward must not refill the bucket of a sender of forged tokens.
        let moment = MonotonicInstant.now().nanoseconds / 1_000_000
        if let seconds = rejections.pause(.tokens, network: network, now: moment) { throw .tooManyTokens(seconds) }
        do throws(TokenError) {
            return try await tokens.verify(token, now: now)
        } catch {
            if !error.isTemporary { rejections.consume(.tokens, network: network, now: moment) }
            throw .rejectedToken(error)
        }
    }
}

extension Problem {
    static let untrustedHost = Problem(
        .forbidden, .untrustedViewer, "The Host field does not name this service: its names are in server.public-url and server.host.")

    static let missingToken = requiringToken("The request names no viewer, and the service requires one.")

    /// `detail`: The reason for which the request must name a viewer.
    static func requiringToken(_ detail: String) -> Problem {
        Problem(.unauthorized, .bearerTokenRequired, detail, fields: [.wwwAuthenticate: TokenError.missingTokenChallenge])
    }

    static func rejectedToken(_ error: TokenError) -> Problem {
        error.isTemporary
            ? Problem(.serviceUnavailable, nil, error.reason, fields: [.retryAfter: "1"])
            : Problem(.unauthorized, .bearerTokenRejected, error.reason, fields: [.wwwAuthenticate: error.challenge])
    }

    static func tooManyTokens(_ seconds: Int) -> Problem {
        Problem(
            .tooManyRequests, .rateLimited, "Too many rejected tokens came from this address. Try again later.",
            fields: [.retryAfter: String(seconds)])
    }
}

extension Route {
    /// For services that accept bearer tokens: the request may succeed with credentials (RFC 9110 section 15.5.2).
    func challenging() -> Route {
        var route = self
        route.handle = { [handle] request in
            do {
                return try await handle(request)
            } catch {
                let problem = Problem(error)
                guard problem.kind == .viewerRequired else { throw error }
                throw Problem.requiringToken(problem.detail)
            }
        }
        return route
    }
}

extension Problem.ProblemType {
    static let bearerTokenRequired = Problem.ProblemType(
        "bearer-token-required",
        "The service (viewers.required) or the operation requires a viewer, the request names none, and the service accepts bearer tokens.")
    static let bearerTokenRejected = Problem.ProblemType(
        "bearer-token-rejected",
        "The bearer token has expired, or it is not valid for this service. The detail has the reason. Repeat the request with a new token."
    )
}

extension ResponseDescription {
    static let unauthorized = problem(
        .unauthorized, "The bearer token is not valid, or a viewer is required and the request names none (`viewers.required`).",
        [.init(.rejectedToken(.expired)), .init(.missingToken)],
        [
            .problemCaching,
            Header(
                "WWW-Authenticate", "The scheme `Bearer`, with `error` if the request has a token (RFC 6750).", isRequired: true,
                example: TokenError.expired.challenge
            ).named("Authenticate"),
        ]
    ).named("Unauthorized")
    static let tooManyTokens = problem(
        .tooManyRequests, "The address sent too many rejected tokens: `limits.rejected-tokens-per-address`. Verified tokens are accepted.",
        [.init(.tooManyTokens(1))], [.problemCaching, .retryAfter]
    ).named("TooManyTokens")
}
