internal import HTTPTypes
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import IntertwineStorage
internal import Logging

/// Authenticates requests of the admin API before any route handles them, and records writes in the audit log.
struct AdminAuthMiddleware: HTTPHandler {
    let guarding: OperatorGuard
    let next: any HTTPHandler
    let audit: AuditLog
    /// Returns milliseconds since 1970-01-01 UTC.
    let clock: @Sendable () -> Int64
    let logger: Logger
    private let failures = ReportThrottle()

    func handle(_ head: borrowing RequestHead, peer: PeerAddress) -> HandlerResult {
        let request = head.request
        switch guarding.admission(of: request, from: peer, now: clock()) {
        case .refused(let problem):
            if Self.isWrite(request.method), problem.status != .unauthorized, problem.status != .tooManyRequests {
                recordRefusal(of: request, problem.status, by: guarding.access.name)
            }
            return .respond(problem.response())
        case .admitted(let sender):
            let result = next.handle(head, peer: peer)
            if let response = refusal(of: request, result, by: sender) { return .respond(response, route: result.route) }
            guard Self.isWrite(request.method, on: result.route) else {
                guard result.route == ConsoleRoutes.system else { return result }
                return result.around { request, respond in
                    try await OperatorIdentity.$current.withValue(sender) { try await respond(request) }
                }
            }
            return result.around(sender: sender.name) { [self] in try await record($0, $1, by: sender) }
        case .unverified(let token):
            let result = next.handle(head, peer: peer)
            if let response = result.response {
                return .task(
                    RequestTask(streamsBody: true) { [self] in try await verified(token, $0, result) { _ in .response(response) } },
                    route: result.route)
            }
            return result.around(beforeBody: true) { [self] request, respond in try await verified(token, request, result, respond) }
        }
    }

    private func verified(
        _ token: [UInt8], _ request: ServerRequest, _ result: HandlerResult, _ respond: @escaping RequestTask.Responder
    ) async throws -> HandlerResponse {
        let sender: OperatorIdentity
        do throws(Problem) {
            sender = try await guarding.verify(token, from: request.peer, now: clock())
        } catch {
            return .response(error.response(to: request.id))
        }
        if let response = refusal(of: request.head, result, by: sender) { return .response(response) }
        guard Self.isWrite(request.head.method, on: result.route) else {
            return try await OperatorIdentity.$current.withValue(sender) { try await respond(request) }
        }
        return try await record(request, respond, by: sender)
    }

    private func refusal(of request: HTTPRequest, _ result: HandlerResult, by sender: OperatorIdentity) -> ServerResponse? {
        let response = sender.refusal(of: request.method, on: result.route)?.response() ?? result.response
        if let response, Self.isWrite(request.method, on: result.route) { recordRefusal(of: request, response.status, by: sender.name) }
        return response
    }

    func record(_ refusal: RefusedRequest) {
        // A request whose head could not be parsed, or whose token was not verified, has no known sender. If a token is required, it is not
        // authorized to write.
        guard let sender = refusal.sender ?? (guarding.access.isOpen ? OperatorAccess.loopback : nil) else { return }
        let method: HTTPRequest.Method
        switch refusal.method {
        case .post: method = .post
        case .put: method = .put
        case .patch: method = .patch
        case .delete: method = .delete
        default: return
        }
        recordRefusal(method, refusal.path ?? "", HTTPResponse.Status(code: refusal.status), by: sender)
    }

    private func record(
        _ request: ServerRequest, _ respond: RequestTask.Responder, by sender: OperatorIdentity
    ) async throws -> HandlerResponse {
        let entry = entry(request.head.method, request.head.path ?? "", outcome: "", by: sender.name)
        let context = AuditContext(begins: { [self] in try await begin(entry, by: sender) })
        let result: Result<HandlerResponse, any Error>
        do {
            result = .success(
                try await OperatorRole.$current.withValue(sender.role ?? .read) {
                    try await ItemRevision.$author.withValue(sender.name) {
                        try await AuditContext.$current.withValue(context) { try await respond(request) }
                    }
                })
        } catch {
            result = .failure(error)
        }
        let (status, outcome): (HTTPResponse.Status, String)
        switch result {
        case .success(let response): (status, outcome) = (response.decoded.status, "done")
        case .failure(let error): (status, outcome) = (Problem(error).status, Problem(error).detail)
        }
        guard let action = context.begun else {
            // A check, such as a dry run, succeeds and writes nothing.
            if status.kind != .successful {
                var refused = entry
                (refused.outcome, refused.status) = ("refused: \(outcome)", status.code)
                await audit.recordRefusal(refused)
            }
            return try result.get()
        }
        if context.isRefusal(status.code) { audit.countRefusal(of: sender.name) }
        do {
            try await audit.finish(action, status: status.code, outcome: outcome, context: context, now: clock())
        } catch {
            report("audit log cannot be written; an action has no outcome in it", error)
            throw Problem(
                .serviceUnavailable, .storeUnavailable,
                "The audit log cannot be written. The request had the status \(status.code), of which the log has only the begin.",
                fields: [.retryAfter: "1"])
        }
        return try result.get()
    }

    private func begin(_ entry: AuditEntry, by sender: OperatorIdentity) async throws -> AuditEntry {
        if let seconds = audit.wait(of: sender.name) {
            throw Problem(.tooManyRequests, nil, "Too many writes were refused. Nothing was done.", fields: [.retryAfter: String(seconds)])
        }
        do {
            return try await audit.begin(entry)
        } catch {
            report("audit log cannot be written; nothing was done", error)
            throw Problem(
                .serviceUnavailable, .storeUnavailable, "The audit log cannot be written, so nothing was done.", fields: [.retryAfter: "1"])
        }
    }

    /// Logs a fault of the audit log, once a minute. Why: each write fails while its disk is full.
    private func report(_ line: Logger.Message, _ error: any Error) {
        guard let repeated = failures.repetitions(of: "\(line)", now: clock()) else { return }
        var metadata: Logger.Metadata = ["error": "\(error)"]
        if repeated > 0 { metadata["since-the-last-line"] = "\(repeated)" }
        logger.error(line, metadata: metadata)
    }

    private func recordRefusal(of request: HTTPRequest, _ status: HTTPResponse.Status, by sender: String) {
        recordRefusal(request.method, request.path ?? "", status, by: sender)
    }

    /// Records the refusal without waiting for the disk, because this runs on the event loop.
    private func recordRefusal(_ method: HTTPRequest.Method, _ path: String, _ status: HTTPResponse.Status, by sender: String) {
        // A status that was created from its number alone has no reason phrase, so the title comes from the problem details.
        var entry = entry(method, path, outcome: "refused: \(status.phrase)", by: sender)
        entry.status = status.code
        audit.refuse(entry)
    }

    private func entry(_ method: HTTPRequest.Method, _ path: String, outcome: String, by sender: String) -> AuditEntry {
        AuditEntry(
            who: sender, method: method.rawValue,
            path: AuditEntry.shown(ViewerErasureRoutes.withoutViewer(path)),
            outcome: outcome, now: clock())
    }

    /// A preview has a body, but writes nothing.
    private static func isWrite(_ method: HTTPRequest.Method, on route: String? = nil) -> Bool {
        ![.get, .head, .options].contains(method) && route != PreviewRoutes.item
    }
}
