internal import Foundation
public import HTTPTypes
internal import IntertwineHTTPServer

/// A client for one listener of the service, in memory or on a socket, with equal calls and responses.
public struct TestClient: Sendable {
    private let exchange: @Sendable (HTTPRequest, [UInt8]) async throws -> TestResponse

    init(_ exchange: @escaping @Sendable (HTTPRequest, [UInt8]) async throws -> TestResponse) {
        self.exchange = exchange
    }

    public func get(_ path: String, fields: [String: String] = [:]) async throws -> TestResponse {
        try await send(.get, path, fields: fields)
    }

    public func post(_ path: String, fields: [String: String] = [:], body: String = "") async throws -> TestResponse {
        try await send(.post, path, fields: fields, body: Array(body.utf8))
    }

    public func put(_ path: String, fields: [String: String] = [:], body: String = "") async throws -> TestResponse {
        try await send(.put, path, fields: fields, body: Array(body.utf8))
    }

    public func delete(_ path: String, fields: [String: String] = [:]) async throws -> TestResponse {
        try await send(.delete, path, fields: fields)
    }

    /// - Parameters:
    ///   - path: The path with its query.
    ///   - fields: The header fields by name. Invalid names are left out. A body without `Content-Type` is sent as JSON.
    /// - Throws: An error if no complete response arrives.
    public func send(
        _ method: HTTPRequest.Method, _ path: String, fields: [String: String] = [:], body: [UInt8] = []
    ) async throws -> TestResponse {
        var request = HTTPRequest(method: method, scheme: "http", authority: "localhost", path: path)
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { request.headerFields[name] = value }
        }
        if !body.isEmpty, request.headerFields[.contentType] == nil { request.headerFields[.contentType] = "application/json" }
        return try await exchange(request, body)
    }
}

/// A response of the service.
public struct TestResponse: Sendable {
    public let status: Int
    public let fields: HTTPFields
    public let body: [UInt8]

    /// The body as text, such as JSON.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Decodes the body from JSON.
    public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: Data(body))
    }

    /// The value of a header field; nil if the field is absent.
    public subscript(name: String) -> String? {
        HTTPField.Name(name).flatMap { fields[$0] }
    }
}

extension TestClient {
    /// Creates a client that calls a handler without a socket.
    init(_ handler: any HTTPHandler) {
        self.init { request, body in
            guard let peer = PeerAddress("127.0.0.1", port: 1) else { throw TestServiceError.noResponse }
            let (response, bytes) = try await handler.response(to: request, body: body, from: peer)
            var fields = response.fields
            if let tag = response.entityTag { fields[.eTag] = tag }
            return TestResponse(status: response.status.code, fields: fields, body: bytes)
        }
    }
}

/// The reason why a request had no response.
public enum TestServiceError: Error, Hashable, Sendable {
    /// The listener does not exist: `admin.enabled` is false.
    case noListener
    /// The connection ended without a complete response.
    case noResponse
}
