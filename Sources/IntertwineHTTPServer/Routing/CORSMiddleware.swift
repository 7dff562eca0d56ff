package import HTTPTypes
internal import IntertwinePrimitives

/// Handles requests of web pages to the public listener: it answers preflights, adds the CORS fields, and refuses writes of foreign pages.
/// Routes of the API accept bodies only as `application/json` (415): browsers send that to another origin only after a preflight.
package final class CORSMiddleware: HTTPHandler {
    private let policy: CORSPolicy?
    private let publicURL: @Sendable () -> String
    private let viewerFields: @Sendable () -> [String]
    private let next: any HTTPHandler

    package init(
        policy: CORSPolicy?, publicURL: @escaping @Sendable () -> String, viewerFields: @escaping @Sendable () -> [String],
        next: any HTTPHandler
    ) {
        self.policy = policy
        self.publicURL = publicURL
        self.viewerFields = viewerFields
        self.next = next
    }

    package func handle(_ head: borrowing RequestHead, peer: PeerAddress) -> HandlerResult {
        if head.isSafe, head.method != .options {
            guard let policy else { return next.handle(head, peer: peer) }
            return next.handle(head, peer: peer).adding(policy.encodedFields(for: head))
        }
        let result = next.handle(head, peer: peer)
        if head.refusal == nil {
            if head.method == .options, let preflight = preflight(head, result.response?.fields[.allow] ?? "") { return preflight }
            if !head.isSafe, isForeign(head) {
                return allow(.respond(Self.foreignOrigin.response(), route: result.route), head)
            }
        }
        return allow(result, head)
    }

    package func refusalFields(_ field: (StaticString) -> String?) -> HTTPFields {
        policy?.fields(ofRefusalTo: field("origin")) ?? [:]
    }

    private func allow(_ result: HandlerResult, _ head: borrowing RequestHead) -> HandlerResult {
        guard let policy else { return result }
        return result.adding(policy.encodedFields(for: head))
    }

    private func preflight(_ head: borrowing RequestHead, _ methods: String) -> HandlerResult? {
        guard head.hasField("access-control-request-method"), let origin = head.request.headerFields[.origin] else { return nil }
        return policy?.preflight(for: origin, methods: methods, viewerFields: viewerFields())
            .map { .respond(ServerResponse(status: .noContent, fields: $0)) }
    }

    private static let foreignOrigin = Problem(.forbidden, .foreignOrigin, "This origin is not allowed to write.")

    /// It relies on fields that browsers set and pages cannot change.
    private func isForeign(_ head: borrowing RequestHead) -> Bool {
        guard head.hasField("origin") || head.hasField("sec-fetch-site") else { return false }
        return isForeign(head.request)
    }

    private func isForeign(_ request: HTTPRequest) -> Bool {
        let site = request.headerFields[.secFetchSite]
        // The browser compares origins with its own URL of the service, so a proxy that changes the Host field has no influence.
        if site == "same-origin" { return false }
        guard let origin = request.headerFields[.origin] else { return site == "cross-site" || site == "same-site" }
        return !(policy?.allows(origin) ?? false) && !isOwn(origin, authority: request.authority)
    }

    private func isOwn(_ origin: String, authority: String?) -> Bool {
        let schemes = ["http", "https"]
        if let authority {
            // A proxy may pass a domain name without its port. Cookies and sites do not distinguish the ports of a name either. The ports of
            // this machine belong to different programs.
            let isDomain = authority.contains(".") && !authority.contains(":") && authority.last?.isLetter == true
            let named = isDomain ? Self.withoutPort(origin) : origin
            if schemes.contains(where: { Self.origin($0, authority) == named }) { return true }
        }
        let publicURL = publicURL()
        guard let scheme = schemes.first(where: { publicURL.hasPrefix("\($0)://") }) else { return false }
        return Self.origin(scheme, publicURL.dropFirst(scheme.utf8.count + 3).prefix { $0 != "/" }) == origin
    }

    private static func withoutPort(_ origin: String) -> String {
        guard let colon = origin.lastIndex(of: ":"), UInt16(origin[colon...].dropFirst()) != nil else { return origin }
        return String(origin[..<colon])
    }

    /// Returns an origin as browsers serialize it (RFC 6454 section 6.2): in lower case, without the default port of the scheme.
    private static func origin(_ scheme: String, _ authority: some StringProtocol) -> String {
        let authority = authority.lowercased()
        let port = scheme == "http" ? ":80" : ":443"
        return "\(scheme)://" + (authority.hasSuffix(port) ? String(authority.dropLast(port.count)) : authority)
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
