internal import Foundation
public import HTTPTypes
internal import IntertwineHTTPServer

/// A client for one listener of the service, in memory or on a socket, with equal calls and responses.
///
/// ```swift
/// let page = try await service.client.get("/feed?limit=5")
/// let campaigns = try await service.operators.get("/admin/campaigns")
/// ```
public struct TestClient: Sendable {
    private let exchange: @Sendable (HTTPRequest, [UInt8]) async throws -> TestResponse
    private let open: @Sendable (HTTPRequest) async throws -> TestStream

    init(
        _ exchange: @escaping @Sendable (HTTPRequest, [UInt8]) async throws -> TestResponse,
        open: @escaping @Sendable (HTTPRequest) async throws -> TestStream = { _ in throw TestServiceError.noSocket }
    ) {
        (self.exchange, self.open) = (exchange, open)
    }

    /// Sends a GET request and returns the response, with any status.
    ///
    /// ```swift
    /// let page = try await service.client.get("/feed?limit=5", fields: ["X-Viewer-ID": "ann"])
    /// page.status  // 200
    /// ```
    public func get(_ path: String, fields: [String: String] = [:]) async throws -> TestResponse {
        try await send(.get, path, fields: fields)
    }

    /// Sends a POST request with a text as its body. A body without `Content-Type` is sent as JSON.
    public func post(_ path: String, fields: [String: String] = [:], body: String = "") async throws -> TestResponse {
        try await send(.post, path, fields: fields, body: Array(body.utf8))
    }

    /// Sends a value as JSON.
    ///
    /// ```swift
    /// let response = try await service.client.post("/orders", json: ["recipe": "ramen"])
    /// response.status  // 201
    /// ```
    public func post(_ path: String, fields: [String: String] = [:], json value: some Encodable) async throws -> TestResponse {
        try await send(.post, path, fields: fields, body: Array(try JSONEncoder().encode(value)))
    }

    /// Sends a value as JSON.
    public func put(_ path: String, fields: [String: String] = [:], json value: some Encodable) async throws -> TestResponse {
        try await send(.put, path, fields: fields, body: Array(try JSONEncoder().encode(value)))
    }

    /// Sends a PUT request with a text as its body. A body without `Content-Type` is sent as JSON.
    public func put(_ path: String, fields: [String: String] = [:], body: String = "") async throws -> TestResponse {
        try await send(.put, path, fields: fields, body: Array(body.utf8))
    }

    /// Sends a DELETE request without a body.
    public func delete(_ path: String, fields: [String: String] = [:]) async throws -> TestResponse {
        try await send(.delete, path, fields: fields)
    }

    /// Sends a request with fields of one value each.
    ///
    /// - Parameters:
    ///   - path: The path with its query.
    ///   - fields: The header fields by name. Invalid names are left out. A body without `Content-Type` is sent as JSON.
    /// - Throws: An error if no complete response arrives.
    public func send(
        _ method: HTTPRequest.Method, _ path: String, fields: [String: String] = [:], body: [UInt8] = []
    ) async throws -> TestResponse {
        try await send(method, path, fields: HTTPFields(fields), body: body)
    }

    /// Sends a request with any fields.
    ///
    /// - Parameter fields: The header fields, which may have several values of one name. A body without `Content-Type` is sent as JSON.
    /// - Throws: An error if no complete response arrives.
    public func send(
        _ method: HTTPRequest.Method, _ path: String, fields: HTTPFields, body: [UInt8] = []
    ) async throws -> TestResponse {
        var request = HTTPRequest(method: method, scheme: "http", authority: "localhost", path: path, headerFields: fields)
        if !body.isEmpty, request.headerFields[.contentType] == nil { request.headerFields[.contentType] = "application/json" }
        return try await exchange(request, body)
    }
}

extension TestClient {
    /// Opens a response whose body does not end, such as live updates, and reads its lines as they arrive.
    ///
    /// ```swift
    /// let updates = try await service.client.stream("/feed/changes?syncToken=\(token)")
    /// let data = try await updates.first { $0.hasPrefix("data:") }
    /// ```
    ///
    /// The request has `Accept: text/event-stream` unless the fields have another value. The connection closes when the stream is released.
    /// It requires the transport ``TestService/Transport/socket``.
    /// - Throws: ``TestServiceError/noSocket`` in memory, or an error if no head of a response arrives.
    public func stream(_ path: String, fields: [String: String] = [:]) async throws -> TestStream {
        let fields = HTTPFields(["Accept": "text/event-stream"].merging(fields) { $1 })
        return try await open(HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: path, headerFields: fields))
    }
}

extension HTTPFields {
    fileprivate init(_ fields: [String: String]) {
        self.init(fields.compactMap { name, value in HTTPField.Name(name).map { HTTPField(name: $0, value: value) } })
    }
}

/// A response of the service.
public struct TestResponse: Sendable {
    /// The HTTP status.
    public let status: Int
    /// The header fields.
    public let fields: HTTPFields
    /// The body, decoded from its transfer coding.
    public let body: [UInt8]

    /// The body as text, such as JSON.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Decodes the body from JSON.
    ///
    /// ```swift
    /// struct Order: Decodable { var recipe: String }
    /// let order = try await service.client.get("/orders/1").decoded(as: Order.self)
    /// ```
    public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: Data(body))
    }

    /// The value of a header field; nil if the field is absent.
    ///
    /// ```swift
    /// let page = try await service.client.get("/feed")
    /// page["Content-Type"]  // "application/json"
    /// ```
    public subscript(name: String) -> String? {
        HTTPField.Name(name).flatMap { fields[$0] }
    }
}

extension TestClient {
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
    /// The call requires the transport ``TestService/Transport/socket``.
    case noSocket
}
