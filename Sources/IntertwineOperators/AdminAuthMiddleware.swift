package import HTTPTypes
package import IntertwineHTTPServer
package import IntertwineRouting
package import Logging

/// Authenticates requests of the admin API before any route handles them, and records writes in the audit log.
///
/// A request without access gets the response of ``OperatorGuard``, independent of its path. An authenticated write, or an attempt at one,
/// leaves an entry in the audit log.
package struct AdminAuthMiddleware: HTTPHandler {
    private let guarding: OperatorGuard
    private let router: Router
    private let audit: AuditLog
    /// Returns milliseconds since 1970-01-01 UTC.
    private let clock: @Sendable () -> Int64
    private let logger: Logger

    /// - Parameters:
    ///   - token: The token that a request must carry; empty if none is required, on a loopback address only.
    ///   - open: Paths that may be read without a token. Their responses must contain no data of the service.
    ///   - clock: Returns milliseconds since 1970-01-01 UTC.
    package init(
        token: String, router: Router, open: Set<String> = [], audit: AuditLog, clock: @escaping @Sendable () -> Int64, logger: Logger
    ) {
        guarding = OperatorGuard(token: token, open: open, logger: logger)
        (self.router, self.audit, self.clock, self.logger) = (router, audit, clock, logger)
    }

    package func plan(for request: HTTPRequest, peer: PeerAddress) -> HandlerResult {
        if let problem = guarding.problem(of: request, from: peer) {
            return .respond(refusal(of: request, problem.status, problem.response()))
        }
        guard Self.isWrite(request.method) else { return router.plan(for: request, peer: peer) }
        switch router.destination(of: request) {
        case .route(let match): return match.plan { await record($0, match) }
        case .other(let plan):
            if let answer = plan.response { recordRefusal(of: request, answer.status) }
            return plan
        }
    }

    package func refuse(_ request: HTTPRequest, peer: PeerAddress, with response: ServerResponse) -> ServerResponse {
        guard let problem = guarding.problem(of: request, from: peer) else {
            return refusal(of: request, response.status, router.refuse(request, peer: peer, with: response))
        }
        var instead = problem.response()
        instead.closesConnection = response.closesConnection
        return refusal(of: request, problem.status, instead)
    }

    package func refused(_ method: RequestMethod?, peer: PeerAddress, status: Int) {
        // A request whose head could not be parsed carries no token. If a token is required, such a request is not authorized to write.
        guard guarding.access.name == OperatorAccess.loopback else { return }
        let name: HTTPRequest.Method
        switch method {
        case .post: name = .post
        case .put: name = .put
        case .patch: name = .patch
        case .delete: name = .delete
        default: return
        }
        var entry = AuditEntry(
            who: guarding.access.name, method: name.rawValue, path: "",
            outcome: "refused: \(ProblemDetails(status: status, detail: "").title)",
            now: clock())
        entry.status = status
        audit.refuse(entry)
    }

    /// Performs a request that needs an audit entry, and records it.
    private func record(_ request: ServerRequest, _ match: RouteMatch) async -> ServerResponse {
        let deed: AuditLog.AuditAction
        do {
            deed = try await audit.begin(entry(request.head, outcome: ""))
        } catch {
            logger.error("audit log cannot be written; nothing was done", metadata: ["error": "\(error)"])
            return Problem(
                .serviceUnavailable, .storeUnavailable, "The audit log cannot be written, so nothing was done.", fields: [.retryAfter: "1"]
            ).response(to: request.id)
        }
        let note = AuditContext()
        let (response, problem) = await AuditContext.$current.withValue(note) { await router.respond(request, by: match) }
        do {
            try await audit.finish(deed, status: response.status.code, outcome: problem?.detail ?? "done", context: note, now: clock())
        } catch {
            // The write is done, and the journal contains its entry.
            logger.error("audit log cannot be written; a line is still to come", metadata: ["error": "\(error)"])
        }
        return response
    }

    private func refusal(of request: HTTPRequest, _ status: HTTPResponse.Status, _ response: ServerResponse) -> ServerResponse {
        if Self.isWrite(request.method), status != .unauthorized, status != .tooManyRequests { recordRefusal(of: request, status) }
        return response
    }

    /// Records the refusal without waiting for the disk, because this runs on the event loop. Nothing was changed.
    private func recordRefusal(of request: HTTPRequest, _ status: HTTPResponse.Status) {
        // A status that was created from its number alone has no reason phrase, so the title comes from the problem details.
        var entry = entry(request, outcome: "refused: \(ProblemDetails(status: status.code, detail: "").title)")
        entry.status = status.code
        audit.refuse(entry)
    }

    private func entry(_ request: HTTPRequest, outcome: String) -> AuditEntry {
        AuditEntry(
            who: guarding.access.name, method: request.method.rawValue,
            path: AuditEntry.shown(ViewerErasureRoutes.nameless(request.path ?? "")),
            outcome: outcome, now: clock())
    }

    private static func isWrite(_ method: HTTPRequest.Method) -> Bool {
        ![.get, .head, .options].contains(method)
    }
}
