internal import HTTPTypes
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import Logging

enum OperatorRole: String, Comparable, CaseIterable, Sendable {
    case read
    case edit
    case publish

    @TaskLocal static var current = OperatorRole.publish

    static var mayRelease: Bool { current >= .publish }

    private static let publishing: Set = ["/admin/takedowns/{id}", "/admin/images", "/admin/viewers/{id}", "/admin/events/void"]

    init(requiredBy method: HTTPRequest.Method, on route: String?) {
        if [.get, .head, .options].contains(method) || route == PreviewRoutes.item {
            self = .read
        } else {
            self = route.map(Self.publishing.contains) == true ? .publish : .edit
        }
    }

    static func < (left: OperatorRole, right: OperatorRole) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
}

struct OperatorIdentity: Sendable {
    /// The operator who reads ``ConsoleRoutes/system``.
    @TaskLocal static var current = OperatorIdentity(name: "", role: .publish)

    var name: String
    var role: OperatorRole?

    func refusal(of method: HTTPRequest.Method, on route: String?) -> Problem? {
        let required = OperatorRole(requiredBy: method, on: route)
        guard role.map({ $0 < required }) ?? true else { return nil }
        return Problem(
            .forbidden, .roleRequired, "The operation requires the role \(required.rawValue).",
            fields: [.wwwAuthenticate: #"Bearer error="insufficient_scope", scope="\#(required.rawValue)""#])
    }
}

final class OperatorGuard: Sendable {
    enum Admission {
        case admitted(OperatorIdentity)
        case refused(Problem)
        /// The JSON Web Token of the request is not known, and must be verified in a task.
        case unverified([UInt8])
    }

    let access: OperatorAccess
    private let settings: AdminSettings
    private let tokens: TokenVerifier?
    private let open: Set<String>
    private let logger: Logger
    private let guesses = AuthFailureLimiter()
    private let reports = ReportThrottle()

    /// Their responses must contain no data of the service.
    init(_ settings: AdminSettings, tokens: TokenVerifier?, open: Set<String>, logger: Logger) {
        access = OperatorAccess(token: settings.token, verifiesTokens: settings.jwt.isEnabled)
        (self.settings, self.tokens, self.open, self.logger) = (settings, tokens, open, logger)
    }

    /// Returns the refusal of a request; nil if the request may pass, or if its token must be verified in a task.
    func problem(of request: HTTPRequest, from peer: PeerAddress) -> Problem? {
        if case .refused(let problem) = admission(of: request, from: peer, now: 0) { problem } else { nil }
    }

    /// The right token passes even if the rate limit of its address is exceeded. Why: a token of at least 16 bytes cannot be guessed, and
    /// wrong tokens must not lock out operators who share an address with their sender.
    func admission(of request: HTTPRequest, from peer: PeerAddress, now: Int64) -> Admission {
        guard let problem = access.refusal(of: request) else { return .admitted(OperatorIdentity(name: access.name, role: .publish)) }
        guard problem.status == .unauthorized else { return .refused(problem) }
        guard let token = OperatorAccess.token(in: request) else {
            let isRead = request.method == .get || request.method == .head
            guard isRead, request.path.map(open.contains) == true else { return .refused(problem) }
            return .admitted(OperatorIdentity(name: "", role: .read))
        }
        guard settings.jwt.isEnabled else { return .refused(refusal(of: problem, from: peer, now: now)) }
        let known = tokens?.cachedIdentity(of: token.span, now: now)
        return known.map { .admitted(identity($0)) } ?? .unverified(token)
    }

    func verify(_ token: [UInt8], from peer: PeerAddress, now: Int64) async throws(Problem) -> OperatorIdentity {
        do throws(TokenError) {
            guard let tokens else { throw .keysUnavailable }
            return identity(try await tokens.verify(token, now: now))
        } catch {
            guard !error.isTemporary else { throw Problem(.serviceUnavailable, nil, error.reason, fields: [.retryAfter: "1"]) }
            throw refusal(of: Problem(.unauthorized, nil, error.reason, fields: [.wwwAuthenticate: error.challenge]), from: peer, now: now)
        }
    }

    private func identity(_ sender: VerifiedIdentity) -> OperatorIdentity {
        let roles = [(settings.publishRoles, OperatorRole.publish), (settings.editRoles, .edit), (settings.readRoles, .read)]
        return OperatorIdentity(
            name: "jwt:" + sender.subject, role: roles.first { names, _ in names.contains(where: sender.roles.contains) }?.1)
    }

    private func refusal(of problem: Problem, from peer: PeerAddress, now: Int64) -> Problem {
        if let seconds = guesses.wait(of: peer) {
            return Problem(
                .tooManyRequests, nil, "Too many wrong tokens came from this address.", fields: [.retryAfter: String(seconds)])
        }
        if guesses.fail(peer), reports.repetitions(of: "guesses", now: now) != nil {
            logger.warning("too many wrong admin tokens from an address; wrong ones get 429 for a minute, right ones are accepted")
        }
        return problem
    }
}
