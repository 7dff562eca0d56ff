import Foundation

/// An error of a request.
///
/// ```swift
/// do {
///     try await list.reload()
/// } catch let error as FeedClientError where error.isRetryable {
///     button.isHidden = false
/// }
/// ```
public enum FeedClientError: Error, Hashable, Sendable {
    /// No response was received in any attempt.
    case unreachable(reason: String)
    /// The server cannot serve now; `retryAfter` is its suggested delay in seconds, if any.
    case unavailable(FeedProblem, retryAfter: Double?)
    /// The server refused the request; a retry would not help.
    case refused(FeedProblem)
    /// An intermediary sent a redirect or a web page, such as its login page. Nothing was performed. The app can open `location` in a browser.
    case signInRequired(status: Int, location: String?)
    /// The response is not as requested: truncated, or sent by an intermediary.
    case invalidResponse(reason: String)
    /// A link that this client cannot open: only http and https are supported.
    case invalidLink(String)
    /// The closure `FeedClient.authorize` failed, for example because the viewer has signed out.
    case unauthorized(reason: String)

    /// A Boolean value indicating whether an equal request may succeed later.
    public var isRetryable: Bool {
        switch self {
        case .unreachable, .unavailable, .invalidResponse: true
        // A page that a network sends in place of a response may disappear. A redirect does not.
        case .signInRequired(let status, _): status < 300
        case .refused, .invalidLink, .unauthorized: false
        }
    }

    /// A Boolean value indicating whether the viewer must sign in before an equal request can succeed.
    public var needsSignIn: Bool {
        switch self {
        case .signInRequired, .unauthorized: true
        case .refused(let problem):
            // 407 is of a proxy, 511 of a network, 419, 440 and 498 of frameworks whose session expired.
            [401, 407, 419, 440, 498, 511].contains(problem.status)
                || problem.status == 403 && (problem.type == nil || problem.isType("viewer-required"))
        case .unreachable, .unavailable, .invalidResponse, .invalidLink: false
        }
    }

    /// Returns the error of a redirect or a web page; nil for other responses. The service sends neither: 304 answers `If-None-Match`, which a
    /// conditional request has.
    static func signIn(_ status: Int, _ fields: [String: String], body: Data = Data(), isConditional: Bool = false) -> FeedClientError? {
        // Some login pages have no media type, or that of the request.
        let isWebPage =
            fields["content-type"]?.lowercased().contains("html") == true
            || body.first { !" \t\r\n\u{FEFF}".utf8.contains($0) } == UInt8(ascii: "<")
        let isRedirect = (300..<400).contains(status) && !(status == 304 && isConditional)
        guard isRedirect || (200..<300).contains(status) && isWebPage else { return nil }
        return .signInRequired(status: status, location: fields["location"])
    }

    /// True if a list with this error cannot be followed any more: the viewer or the feed is refused, not the position in it.
    var isFinal: Bool {
        switch self {
        case .refused(let problem): [401, 403, 404].contains(problem.status)
        case .invalidLink, .unauthorized: true
        case .unreachable, .unavailable, .invalidResponse, .signInRequired: false
        }
    }
}

/// The server's description of an error (RFC 9457).
///
/// ```swift
/// do {
///     try await list.loadNext()
/// } catch FeedClientError.refused(let problem) where problem.isType("viewer-required") {
///     show("Sign in to see this feed.")
/// }
/// ```
public struct FeedProblem: Hashable, Sendable {
    /// An invalid parameter, or an invalid member of the body.
    public struct FieldError: Hashable, Sendable {
        /// The name of the parameter; nil for a member of the body.
        public let parameter: String?
        /// The JSON pointer (RFC 6901) to the member of the body; nil for a parameter.
        public let pointer: String?
        /// The kind of error: `required`, `invalid`, `out-of-range`, or another code.
        public let code: String
        /// The explanation of this error.
        public let detail: String?

        /// Decodes an error, an object with a `code`; nil for any other value.
        init?(_ value: JSONValue) {
            guard let code = value["code"]?.text else { return nil }
            self.code = code
            parameter = value["parameter"]?.text
            pointer = value["pointer"]?.text
            detail = value["detail"]?.text
        }
    }

    /// A URI that identifies the kind of problem, such as `/problems/invalid-parameter`; nil if the status is sufficient.
    public let type: String?
    /// The summary of the kind of problem.
    public let title: String
    /// The HTTP status.
    public let status: Int
    /// The explanation of this occurrence.
    public let detail: String?
    /// The invalid parameters and members of the body.
    public let errors: [FieldError]
    /// The id of the request, for the server's operators: `urn:intertwine:request:…`.
    public let instance: String?
    /// The outcomes of the commands, if one of them failed (status 422).
    public let commands: [CommandOutcome]

    /// Creates a problem, for example for a test.
    public init(
        type: String? = nil, title: String, status: Int, detail: String? = nil, errors: [FieldError] = [], instance: String? = nil,
        commands: [CommandOutcome] = []
    ) {
        self.type = type
        self.title = title
        self.status = status
        self.detail = detail
        self.errors = errors
        self.instance = instance
        self.commands = commands
    }

    /// Creates the problem of an error response, from its body if possible and otherwise from its status.
    init(_ response: HTTPResponse) {
        let value = try? JSONValue(parsing: response.body)
        self.init(
            type: value?["type"]?.text, title: value?["title"]?.text ?? "The server answered \(response.status)",
            status: response.status, detail: value?["detail"]?.text,
            errors: value?["errors"]?.array?.compactMap(FieldError.init) ?? [], instance: value?["instance"]?.text,
            commands: value?["commands"]?.array?.compactMap(CommandOutcome.init) ?? [])
    }
    /// Returns true if the problem has a type of the server with this name, such as `viewer-required`.
    ///
    /// ```swift
    /// let problem = FeedProblem(type: "/problems/viewer-required", title: "A viewer is required", status: 403)
    /// problem.isType("viewer-required")  // true
    /// ```
    public func isType(_ name: String) -> Bool { type?.hasSuffix("/problems/\(name)") == true }
}
