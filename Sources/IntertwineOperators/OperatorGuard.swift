package import HTTPTypes
package import IntertwineHTTPServer
package import IntertwineRouting
package import Logging

/// The access check of the admin listener, with a rate limit for wrong tokens.
package final class OperatorGuard: Sendable {
    let access: OperatorAccess
    private let open: Set<String>
    private let logger: Logger
    private let guesses = AuthFailureLimiter()

    /// - Parameters:
    ///   - token: The token that a request must carry; empty if none is required, on a loopback address only.
    ///   - open: Paths that may be read without a token. Their responses must contain no data of the service.
    package init(token: String, open: Set<String>, logger: Logger) {
        access = OperatorAccess(token: token)
        (self.open, self.logger) = (open, logger)
    }

    /// Returns the refusal of a request; nil if the request may pass.
    ///
    /// The right token passes even if the rate limit of its address is exceeded. Why: a token of at least 16 bytes cannot be guessed, and wrong
    /// tokens must not lock out operators who share an address with their sender.
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
            logger.warning("too many wrong admin tokens from an address; its tokens are rejected for a minute")
        }
        return problem
    }
}
