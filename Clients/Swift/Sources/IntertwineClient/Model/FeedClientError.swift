import Foundation

/// What a request can come to instead of its answer.
public enum FeedClientError: Error, Hashable, Sendable {
    /// Nobody answered, however often it was tried.
    case unreachable(reason: String)
    /// The server says that it cannot serve now, and perhaps in how many seconds it can.
    case unavailable(Problem, retryAfter: Double?)
    /// The server refused; to ask again would not help.
    case refused(Problem)
    /// The answer is not what was asked for: cut short, or the word of somebody in between.
    case unreadable(reason: String)
    /// A link that leads nowhere this client goes: only http and https.
    case noLink(String)

    /// Whether the same request may be answered later.
    public var isPassing: Bool {
        switch self {
        case .unreachable, .unavailable, .unreadable: true
        case .refused, .noLink: false
        }
    }
}

/// What the server says is wrong (RFC 9457).
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

    /// Of an answer that is an error, whether it says more than its status or not.
    init(_ answer: HTTPAnswer) {
        let value = try? JSONValue(parsing: answer.body)
        self.init(
            type: value?["type"]?.text, title: value?["title"]?.text ?? "The server answered \(answer.status)",
            status: answer.status, detail: value?["detail"]?.text)
    }
}
