internal import HTTPServer
internal import HTTPTypes

/// Stands before the router where other origins are allowed: answers preflights, and adds to answers what browsers ask for.
struct CrossOriginHandler: HTTPHandler {
    let policy: CrossOriginPolicy
    /// The field that names the viewer; it may change while the service runs.
    let viewerHeader: @Sendable () -> String
    let router: Router

    /// A finished answer is passed on as it is where the request has no origin; it names `Origin` in `Vary` already.
    func canned(for head: borrowing RequestHead) -> CannedResponse? {
        guard let canned = router.canned(for: head) else { return nil }
        let origin = head.withField("origin") { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
        guard let origin else { return canned }
        return canned.adding(policy.fields(for: origin))
    }

    /// What names an origin goes the long way, where its own fields are added.
    func deferred(for head: borrowing RequestHead, peer: PeerAddress) -> DeferredAnswer? {
        guard !head.hasField("origin") else { return nil }
        return router.deferred(for: head, peer: peer)?.adding(policy.fields(for: nil))
    }

    func plan(for request: HTTPRequest, peer: PeerAddress) -> RequestPlan {
        let origin = request.headerFields[.origin]
        if request.method == .options, let origin, request.headerFields[.accessControlRequestMethod] != nil,
            let fields = policy.preflight(for: origin, methods: router.methods(at: request.path ?? ""), viewerHeader: viewerHeader())
        {
            return .answer(ServerResponse(status: .noContent, fields: fields))
        }
        return router.plan(for: request, peer: peer).adding(policy.fields(for: origin))
    }

    func respond(to request: ServerRequest) async -> ServerResponse {
        await router.respond(to: request).adding(policy.fields(for: request.head.headerFields[.origin]))
    }
}
