package import HTTPTypes
package import IntertwineHTTPServer
internal import IntertwinePrimitives

/// Handles what web pages send to the public listener: it answers preflights, adds the CORS fields, and refuses writes of foreign pages.
///
/// A write is a request whose method is not GET, HEAD, OPTIONS or TRACE. A page that is neither the service's own nor of an allowed origin
/// gets 403. Routes of the API take bodies as `application/json` alone (415): browsers send that to another origin only after a preflight.
package struct CORSMiddleware: HTTPHandler {
    /// Nil if no other origin is allowed: responses then have no CORS fields.
    private let policy: CORSPolicy?
    /// The service's URL for its clients, empty if none is configured; may change while the service runs.
    private let publicURL: @Sendable () -> String
    /// The fields that tell of the viewer; they may change while the service runs.
    private let viewerFields: @Sendable () -> [String]
    private let router: Router

    package init(
        policy: CORSPolicy?, publicURL: @escaping @Sendable () -> String, viewerFields: @escaping @Sendable () -> [String],
        router: Router
    ) {
        self.policy = policy
        self.publicURL = publicURL
        self.viewerFields = viewerFields
        self.router = router
    }

    /// A finished response names `Origin` in `Vary` already.
    package func cachedResponse(for head: borrowing RequestHead) -> EncodedResponse? { router.cachedResponse(for: head) }

    package func finishedFields(for head: borrowing RequestHead) -> EncodedFields? {
        guard let policy else { return nil }
        return head.withField("origin") { policy.encodedFields(for: $0) } ?? nil
    }

    package func pendingResponse(for head: borrowing RequestHead, peer: PeerAddress) -> PendingResponse? {
        let deferred = router.pendingResponse(for: head, peer: peer)
        guard let policy else { return deferred }
        let origin = head.withField("origin") { String(decoding: $0) }
        return deferred?.addingToUnfinished { policy.fields(for: origin) }
    }

    package func plan(for request: HTTPRequest, peer: PeerAddress) -> HandlerResult {
        let origin = request.headerFields[.origin]
        if request.method == .options, let origin, request.headerFields[.accessControlRequestMethod] != nil,
            let fields = policy?.preflight(for: origin, methods: router.methods(at: request.path ?? ""), viewerFields: viewerFields())
        {
            return .respond(ServerResponse(status: .noContent, fields: fields))
        }
        let plan = refusal(of: request) ?? router.plan(for: request, peer: peer)
        return policy.map { plan.adding($0.fields(for: origin)) } ?? plan
    }

    package func refuse(_ request: HTTPRequest, peer: PeerAddress, with response: ServerResponse) -> ServerResponse {
        let response = router.refuse(request, peer: peer, with: response)
        return policy.map { response.adding($0.fields(for: request.headerFields[.origin])) } ?? response
    }

    package func refusalFields(_ field: (StaticString) -> String?) -> HTTPFields {
        policy?.fields(ofRefusalTo: field("origin")) ?? [:]
    }

    /// Nil if the request may pass.
    private func refusal(of request: HTTPRequest) -> HandlerResult? {
        guard ![.get, .head, .options, .trace].contains(request.method) else { return nil }
        let route: Route? = if case .route(let match) = router.destination(of: request) { match.route } else { nil }
        let problem: Problem
        if isForeign(request) {
            problem = Problem(.forbidden, .foreignOrigin, "Pages of this origin may not write here.")
        } else if route?.operation != nil, !JSONBody.isOnly(in: request) {
            problem = Problem(
                .unsupportedMediaType, nil, "Request bodies must be application/json.", fields: [.accept: RequestBodyDescription.json])
        } else {
            return nil
        }
        return .respond(problem.response, route: route?.pattern)
    }

    /// Whether a page that may not write had its browser send the request. Browsers say so, and pages cannot change what they say.
    private func isForeign(_ request: HTTPRequest) -> Bool {
        let site = request.headerFields[.secFetchSite]
        // The browser compares its own address of the service, whatever a proxy makes of the Host field.
        if site == "same-origin" { return false }
        guard let origin = request.headerFields[.origin] else { return site == "cross-site" || site == "same-site" }
        return !(policy?.allows(origin) ?? false) && !isOwn(origin, authority: request.authority)
    }

    /// Whether an origin is that of the service: of the Host field, or of the public URL.
    private func isOwn(_ origin: String, authority: String?) -> Bool {
        let schemes = ["http", "https"]
        if let authority, schemes.contains(where: { Self.origin($0, authority) == origin }) { return true }
        let publicURL = publicURL()
        guard let scheme = schemes.first(where: { publicURL.hasPrefix("\($0)://") }) else { return false }
        return Self.origin(scheme, publicURL.dropFirst(scheme.utf8.count + 3).prefix { $0 != "/" }) == origin
    }

    /// An origin as browsers write it (RFC 6454 section 6.2): in lower case, without the port that is the scheme's own.
    private static func origin(_ scheme: String, _ authority: some StringProtocol) -> String {
        let authority = authority.lowercased()
        let port = scheme == "http" ? ":80" : ":443"
        return "\(scheme)://" + (authority.hasSuffix(port) ? String(authority.dropLast(port.count)) : authority)
    }
}

/// The media type of request bodies.
private enum JSONBody {
    /// Whether the request has no body, or one in JSON. A body without a media type could be anything.
    static func isOnly(in request: HTTPRequest) -> Bool {
        let fields = request.headerFields
        if let type = fields[.contentType] {
            let essence = type.prefix { $0 != ";" && $0 != " " && $0 != "\t" }
            return essence.lowercased() == RequestBodyDescription.json
        }
        return fields[.transferEncoding] == nil && fields[.contentLength].map { Int($0) == 0 } ?? true
    }
}

extension Problem.ProblemType {
    package static let foreignOrigin = Problem.ProblemType("foreign-origin")
}

extension HTTPField.Name {
    private static func known(_ name: String) -> HTTPField.Name {
        guard let known = HTTPField.Name(name) else { preconditionFailure("\(name) is no token (RFC 9110 section 5.1)") }
        return known
    }

    fileprivate static let secFetchSite = known("Sec-Fetch-Site")
}
