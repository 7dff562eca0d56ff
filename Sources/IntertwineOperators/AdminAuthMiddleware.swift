internal import HTTPTypes
package import IntertwineHTTPServer
internal import IntertwineRouting
package import Logging

/// Authenticates requests of the admin API before any route handles them, and records writes in the audit log.
///
/// A request without access gets the response of ``OperatorGuard``, independent of its path. An authenticated write, or an attempt at one,
/// leaves an entry in the audit log.
package struct AdminAuthMiddleware: HTTPHandler {
    private let guarding: OperatorGuard
    private let next: any HTTPHandler
    private let audit: AuditLog
    /// Returns milliseconds since 1970-01-01 UTC.
    private let clock: @Sendable () -> Int64
    private let logger: Logger

    /// - Parameters:
    ///   - token: The token that a request must carry; empty if none is required, on a loopback address only.
    ///   - open: Paths that may be read without a token. Their responses must contain no data of the service.
    ///   - clock: Returns milliseconds since 1970-01-01 UTC.
    package init(
        token: String, next: any HTTPHandler, open: Set<String> = [], audit: AuditLog, clock: @escaping @Sendable () -> Int64,
        logger: Logger
    ) {
        guarding = OperatorGuard(token: token, open: open, logger: logger)
        (self.next, self.audit, self.clock, self.logger) = (next, audit, clock, logger)
    }

    package func handle(_ head: borrowing RequestHead, peer: PeerAddress) -> HandlerResult {
        let request = head.request
        if let problem = guarding.problem(of: request, from: peer) {
            if Self.isWrite(request.method), problem.status != .unauthorized, problem.status != .tooManyRequests {
                recordRefusal(of: request, problem.status)
            }
            return .respond(problem.response())
        }
        let result = next.handle(head, peer: peer)
        guard Self.isWrite(request.method) else { return result }
        if let response = result.response { recordRefusal(of: request, response.status) }
        return result.around { [self] in try await record($0, $1) }
    }

    /// Records a write that the server has refused.
    package func record(_ refusal: RefusedRequest) {
        // A request whose head could not be parsed carries no token. If a token is required, such a request is not authorized to write.
        guard refusal.path != nil || guarding.access.name == OperatorAccess.loopback else { return }
        let method: HTTPRequest.Method
        switch refusal.method {
        case .post: method = .post
        case .put: method = .put
        case .patch: method = .patch
        case .delete: method = .delete
        default: return
        }
        recordRefusal(method, refusal.path ?? "", HTTPResponse.Status(code: refusal.status))
    }

    /// Performs a request that needs an audit entry, and records it.
    private func record(_ request: ServerRequest, _ respond: RequestTask.Responder) async throws -> HandlerResponse {
        let action: AuditLog.AuditAction
        do {
            action = try await audit.begin(entry(request.head.method, request.head.path ?? "", outcome: ""))
        } catch {
            logger.error("audit log cannot be written; nothing was done", metadata: ["error": "\(error)"])
            throw Problem(
                .serviceUnavailable, .storeUnavailable, "The audit log cannot be written, so nothing was done.", fields: [.retryAfter: "1"])
        }
        let context = AuditContext()
        let result: Result<HandlerResponse, any Error>
        do {
            result = .success(try await AuditContext.$current.withValue(context) { try await respond(request) })
        } catch {
            result = .failure(error)
        }
        let (status, outcome): (HTTPResponse.Status, String)
        switch result {
        case .success(let response): (status, outcome) = (response.decoded.status, "done")
        case .failure(let error): (status, outcome) = (Problem(error).status, Problem(error).detail)
        }
        do {
            try await audit.finish(action, status: status.code, outcome: outcome, context: context, now: clock())
        } catch {
            // The write is done, and the journal contains its entry.
            logger.error("audit log cannot be written; a line is still to come", metadata: ["error": "\(error)"])
        }
        return try result.get()
    }

    private func recordRefusal(of request: HTTPRequest, _ status: HTTPResponse.Status) {
        recordRefusal(request.method, request.path ?? "", status)
    }

    /// Records the refusal without waiting for the disk, because this runs on the event loop. Nothing was changed.
    private func recordRefusal(_ method: HTTPRequest.Method, _ path: String, _ status: HTTPResponse.Status) {
        // A status that was created from its number alone has no reason phrase, so the title comes from the problem details.
        var entry = entry(method, path, outcome: "refused: \(ProblemDetails(status: status.code, detail: "").title)")
        entry.status = status.code
        audit.refuse(entry)
    }

    private func entry(_ method: HTTPRequest.Method, _ path: String, outcome: String) -> AuditEntry {
        AuditEntry(
            who: guarding.access.name, method: method.rawValue,
            path: AuditEntry.shown(ViewerErasureRoutes.nameless(path)),
            outcome: outcome, now: clock())
    }

    private static func isWrite(_ method: HTTPRequest.Method) -> Bool {
        ![.get, .head, .options].contains(method)
    }
}
