public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A complete response. Header field names are in lower case.
public struct HTTPResponse: Sendable {
    /// The HTTP status.
    public let status: Int
    /// The header fields, by lower-case name.
    public let fields: [String: String]
    /// The body.
    public let body: Data

    /// Creates a response, for example in a stub of `Transport`.
    public init(status: Int, fields: [String: String] = [:], body: Data = Data()) {
        self.status = status
        self.fields = Dictionary(fields.map { ($0.lowercased(), $1) }, uniquingKeysWith: { first, _ in first })
        self.body = body
    }

    /// Returns the seconds that the server asks to wait, given as a number or a date (RFC 9110, section 10.2.3).
    func retryAfter(now: Date) -> Double? {
        guard let field = fields["retry-after"]?.trimmingCharacters(in: .whitespaces) else { return nil }
        if let seconds = Double(field), seconds.isFinite { return max(0, seconds) }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        return formatter.date(from: field).map { max(0, $0.timeIntervalSince(now)) }
    }
}

/// A response whose body is still being received.
public struct HTTPResponseStream: Sendable {
    /// The HTTP status.
    public let status: Int
    /// The header fields, by lower-case name.
    public let fields: [String: String]
    /// The chunks of the body.
    public let chunks: AsyncThrowingStream<Data, any Error>

    /// Creates a response.
    public init(status: Int, fields: [String: String], chunks: AsyncThrowingStream<Data, any Error>) {
        self.status = status
        self.fields = fields
        self.chunks = chunks
    }
}

/// A transport of requests.
///
/// Redirects are returned as responses and not followed. Cancelling the task closes the connection of its request.
///
/// ```swift
/// struct OfflineTransport: Transport {
///     func send(_ request: URLRequest, limit: Int) async throws -> HTTPResponse { throw URLError(.notConnectedToInternet) }
///     func stream(_ request: URLRequest) async throws -> HTTPResponseStream { throw URLError(.notConnectedToInternet) }
/// }
/// ```
public protocol Transport: Sendable {
    /// Sends a request and returns the complete response.
    ///
    /// - Parameter limit: The maximum number of bytes of the body; a longer body is an error.
    func send(_ request: URLRequest, limit: Int) async throws -> HTTPResponse
    /// Sends a request and returns the response after its head, with the body as a stream.
    func stream(_ request: URLRequest) async throws -> HTTPResponseStream
}
