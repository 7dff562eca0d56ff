package import HTTPTypes
package import IntertwineHTTPServer
package import IntertwineRouting
package import Logging

/// Decides which requests of the operators' listener may pass, and slows wrong tokens down.
package final class OperatorGuard: Sendable {
    let access: OperatorAccess
    private let open: Set<String>
    private let logger: Logger
    private let guesses = AuthFailureLimiter()

    /// - Parameters:
    ///   - token: what a request must carry; empty for nothing, on a loopback address alone.
    ///   - open: paths that may be read without a token: what stands there tells nothing.
    package init(token: String, open: Set<String>, logger: Logger) {
        access = OperatorAccess(token: token)
        (self.open, self.logger) = (open, logger)
    }

    /// Nil if the request may pass. The right token passes whatever else came from its address: a token of at least 16 bytes is not guessed,
    /// and wrong ones must not lock operators out who share an address with their sender.
    package func problem(of request: HTTPRequest, from peer: PeerAddress) -> Problem? {
        guard let problem = access.refusal(of: request) else { return nil }
        guard problem.status == .unauthorized else { return problem }
        guard OperatorAccess.hasToken(request) else {
            let isRead = request.method == .get || request.method == .head
            return isRead && request.path.map(open.contains) == true ? nil : problem
        }
        if let seconds = guesses.wait(of: peer) {
            return Problem(
                .tooManyRequests, nil, "Too many wrong tokens came from this address.", fields: [.retryAfter: String(seconds)])
        }
        if guesses.fail(peer) {
            logger.warning("an address has sent too many wrong admin tokens; its wrong ones are not looked at for a minute")
        }
        return problem
    }
}
