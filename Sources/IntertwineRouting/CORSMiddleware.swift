package import HTTPTypes
package import IntertwineHTTPServer
internal import IntertwinePrimitives

/// Handles requests of web pages to the public listener: it answers preflights, adds the CORS fields, and refuses writes of foreign pages.
///
/// A write is a request whose method is not GET, HEAD, OPTIONS or TRACE. If a page belongs neither to the service nor to an allowed origin,
/// the response is 403. Routes of the API accept bodies only as `application/json` (415): browsers send that to another origin only after
/// a preflight.
package struct CORSMiddleware: HTTPHandler {
    /// The policy; nil if no other origin is allowed: responses then have no CORS fields.
    private let policy: CORSPolicy?
    /// The public URL of the service, empty if not configured. It may change while the service runs.
    private let publicURL: @Sendable () -> String
    /// The request fields that identify the viewer. They may change while the service runs.
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

    /// An encoded response already names `Origin` in `Vary`.
    package func cachedResponse(for head: borrowing RequestHead) -> EncodedResponse? { router.cachedResponse(for: head) }

    package func cachedResponseFields(for head: borrowing RequestHead) -> EncodedFields? {
        guard let policy else { return nil }
        return head.withField("origin") { policy.encodedFields(for: $0) } ?? nil
    }

    package func pendingFields(for head: borrowing RequestHead) -> HTTPFields {
        policy?.fields(for: head.withField("origin") { String(decoding: $0) }) ?? [:]
    }

    package func pendingResponse(for head: borrowing RequestHead, peer: PeerAddress) -> PendingResponse? {
        router.pendingResponse(for: head, peer: peer)
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

    /// Returns the refusal of a request, nil if it may pass.
    private func refusal(of request: HTTPRequest) -> HandlerResult? {
        guard ![.get, .head, .options, .trace].contains(request.method) else { return nil }
        let route: Route? = if case .route(let match) = router.destination(of: request) { match.route } else { nil }
        let problem: Problem
        if isForeign(request) {
            problem = Problem(.forbidden, .foreignOrigin, "This origin is not allowed to write.")
        } else if route?.operation != nil, !JSONBody.isOnly(in: request) {
            problem = Problem(
                .unsupportedMediaType, nil, "Request bodies must be application/json.", fields: [.accept: RequestBodyDescription.json])
        } else {
            return nil
        }
        return .respond(problem.response(), route: route?.pattern)
    }

    /// Returns true if a page without permission to write sent the request. It relies on fields that browsers set and pages cannot change.
    private func isForeign(_ request: HTTPRequest) -> Bool {
        let site = request.headerFields[.secFetchSite]
        // The browser compares origins with its own URL of the service, so a proxy that changes the Host field has no influence.
        if site == "same-origin" { return false }
        guard let origin = request.headerFields[.origin] else { return site == "cross-site" || site == "same-site" }
        return !(policy?.allows(origin) ?? false) && !isOwn(origin, authority: request.authority)
    }

    /// Returns true if an origin is that of the service: of the Host field, or of the public URL.
    private func isOwn(_ origin: String, authority: String?) -> Bool {
        let schemes = ["http", "https"]
        if let authority, schemes.contains(where: { Self.origin($0, authority) == origin }) { return true }
        let publicURL = publicURL()
        guard let scheme = schemes.first(where: { publicURL.hasPrefix("\($0)://") }) else { return false }
        return Self.origin(scheme, publicURL.dropFirst(scheme.utf8.count + 3).prefix { $0 != "/" }) == origin
    }

    /// Returns an origin as browsers serialize it (RFC 6454 section 6.2): in lower case, without the default port of the scheme.
    private static func origin(_ scheme: String, _ authority: some StringProtocol) -> String {
        let authority = authority.lowercased()
        let port = scheme == "http" ? ":80" : ":443"
        return "\(scheme)://" + (authority.hasSuffix(port) ? String(authority.dropLast(port.count)) : authority)
    }
}

/// Validation of the media type of request bodies.
private enum JSONBody {
    /// Returns true if the request has no body, or a JSON body. A body without a media type is refused.
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
    package static let foreignOrigin = Problem.ProblemType(
        "foreign-origin",
        "A web page of another origin sent a request that writes. Operators permit origins with the setting cors.origins.")
}

extension HTTPField.Name {
    private static func known(_ name: String) -> HTTPField.Name {
        guard let known = HTTPField.Name(name) else { preconditionFailure("\(name) is not a token (RFC 9110 section 5.1)") }
        return known
    }

    fileprivate static let secFetchSite = known("Sec-Fetch-Site")
}
