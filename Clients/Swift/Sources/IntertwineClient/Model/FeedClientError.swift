import Foundation

/// An error of a request.
public enum FeedClientError: Error, Hashable, Sendable {
    /// No response was received in any attempt.
    case unreachable(reason: String)
    /// The server cannot serve now; `retryAfter` is its suggested delay in seconds, if any.
    case unavailable(Problem, retryAfter: Double?)
    /// The server refused the request; a retry would not help.
    case refused(Problem)
    /// The response is not as requested: truncated, or sent by an intermediary.
    case invalidResponse(reason: String)
    /// A link that this client cannot open: only http and https are supported.
    case invalidLink(String)

    /// A Boolean value indicating whether an equal request may succeed later.
    public var isTemporary: Bool {
        switch self {
        case .unreachable, .unavailable, .invalidResponse: true
        case .refused, .invalidLink: false
        }
    }
}

/// The server's description of an error (RFC 9457).
public struct Problem: Hashable, Sendable, Codable {
    public let type: String?
    public let title: String
    public let status: Int
    public let detail: String?

    public init(type: String? = nil, title: String, status: Int, detail: String? = nil) {
        self.type = type
        self.title = title
        self.status = status
        self.detail = detail
    }

    /// Creates the problem of an error response, from its body if possible and otherwise from its status.
    init(_ response: HTTPResponse) {
        let value = try? JSONValue(parsing: response.body)
        self.init(
            type: value?["type"]?.text, title: value?["title"]?.text ?? "The server answered \(response.status)",
            status: response.status, detail: value?["detail"]?.text)
    }
}
