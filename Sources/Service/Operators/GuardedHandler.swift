internal import Foundation
internal import HTTPServer
internal import HTTPTypes
internal import Logging

/// Lets nobody through to the routes who has no access: whatever the path, the answer is the same. What whoever has access writes, or tries
/// to write, leaves an entry in the audit log.
struct GuardedHandler: HTTPHandler {
    let access: OperatorAccess
    let router: Router
    let audit: AuditLog
    /// Milliseconds since 1970-01-01 UTC.
    let clock: @Sendable () -> Int64
    let logger: Logger

    func plan(for request: HTTPRequest, peer: PeerAddress) -> RequestPlan {
        if let problem = access.refusal(of: request) { return .answer(refusal(of: request, problem.status, problem.response)) }
        if Self.isWrite(request.method) {
            let methods = router.methods(at: request.path ?? "")
            let status: HTTPResponse.Status? = methods.isEmpty ? .notFound : methods.contains(request.method) ? nil : .methodNotAllowed
            if let status { recordRefusal(of: request, status) }
        }
        return router.plan(for: request, peer: peer)
    }

    func refuse(_ request: HTTPRequest, with response: ServerResponse) -> ServerResponse {
        guard let problem = access.refusal(of: request) else { return refusal(of: request, response.status, response) }
        var instead = problem.response
        instead.closesConnection = response.closesConnection
        return refusal(of: request, problem.status, instead)
    }

    func respond(to request: ServerRequest) async -> ServerResponse {
        let (response, problem) = await router.answer(to: request)
        guard Self.isWrite(request.head.method) else { return response }
        do {
            try audit.append(entry(request.head, response.status, problem?.detail ?? "done"))
            return response
        } catch {
            logger.error("audit log cannot be written", metadata: ["error": "\(error)"])
            return Problem(error).response
        }
    }

    private func refusal(of request: HTTPRequest, _ status: HTTPResponse.Status, _ response: ServerResponse) -> ServerResponse {
        if Self.isWrite(request.method), status != .unauthorized { recordRefusal(of: request, status) }
        return response
    }

    /// On the event loop, so it does not wait for the disk: nothing was changed.
    private func recordRefusal(of request: HTTPRequest, _ status: HTTPResponse.Status) {
        do {
            // A status that was made of its number alone has no phrase of its own.
            let reason = ProblemDetails(status: status.code, detail: "").title
            try audit.append(entry(request, status, "refused: \(reason)"), waitsForDisk: false)
        } catch {
            logger.error("audit log cannot be written", metadata: ["error": "\(error)"])
        }
    }

    private func entry(_ request: HTTPRequest, _ status: HTTPResponse.Status, _ outcome: String) -> AuditLog.Entry {
        AuditLog.Entry(
            time: Date(timeIntervalSince1970: Double(clock()) / 1_000).formatted(.iso8601), who: access.name,
            method: request.method.rawValue, path: AuditLog.shown(request.path ?? ""), status: status.code, outcome: outcome)
    }

    private static func isWrite(_ method: HTTPRequest.Method) -> Bool {
        ![.get, .head, .options].contains(method)
    }
}
